// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package targets

import (
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/branch"
	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/controller/access"
	"github.com/configbutler/gitops-reverser/internal/controller/lifecycle"
	"github.com/configbutler/gitops-reverser/internal/watch"
)

var ownedConditions = []string{
	v1alpha3.ValidatedCondition, v1alpha3.EncryptionConfiguredCondition, v1alpha3.GitProviderReadyCondition,
	v1alpha3.KubeProviderReadyCondition, v1alpha3.SourceClusterReachableCondition, v1alpha3.StreamsRunningCondition,
	v1alpha3.GitPathAcceptedCondition, v1alpha3.RenderMatchesLiveCondition, v1alpha3.LayoutResolvedCondition,
}

// view is what the data plane says at one moment.
type view struct {
	watch  watch.Status
	branch branch.Status
	reach  cluster.Reachability
}

func (r *Reconciler) observe(obj *v1alpha3.GitTarget, key change.TargetKey) view {
	var v view
	v.watch, _ = r.Watch.Status(key)
	v.branch, _ = r.Branches.Status(key)
	v.reach = cluster.Reachability{Status: "Unknown", Reason: cluster.ReasonAwaitingDiscovery,
		Message: "not contacted yet"}
	if s, ok := r.Sources.Get(obj.GetKubeProviderName()); ok {
		v.reach = s.Reachability()
	}
	return v
}

// forgetObservations removes what an undeclared target cannot know any more.
func forgetObservations(obj *v1alpha3.GitTarget) {
	for _, c := range ownedConditions {
		if c != v1alpha3.ValidatedCondition {
			conditions.Delete(obj, c)
		}
	}
	conditions.MarkUnknown(obj, v1alpha3.EncryptionConfiguredCondition, v1alpha3.BlockedReason,
		"not looked at while Validated is not True")
	obj.Status.Streams, obj.Status.Preview, obj.Status.Retention = nil, nil, nil
}

// report writes the conditions and lets each gate contribute to Ready. The gravest contribution wins and among equals
// the first, so the order is that of api 6.3.
func (r *Reconciler) report(obj *v1alpha3.GitTarget, v validated, enc Encryption, w view, pass *lifecycle.Pass) {
	s := &pass.Summary
	reportEncryption(obj, enc, w.watch, s)
	reportPath(obj, w.branch.Target, s)
	reportStreams(obj, w.watch, s)
	reportRender(obj, w.branch.Target, s)
	reportLayout(obj, w.branch.Target)
	reportParent(obj, w.branch, s)
	reportDependencies(obj, v.grant, w.reach, s)
	reportPublication(w.branch, s)
	await(v.grant, w, s)
	reportSuspension(obj, v.grant, w.branch, s)
	reportReady(obj, w.watch, s)
	r.reportStatus(obj, w, pass)
}

// reportReady says what a converged target does.
func reportReady(obj *v1alpha3.GitTarget, w watch.Status, s *lifecycle.Summary) {
	if !s.IsConverged() {
		return
	}
	text := "no WatchRule selects a type: nothing is mirrored yet"
	if w.Total > 0 {
		text = fmt.Sprintf("%d resource type(s) are mirrored to %s on branch %s", w.Total, obj.Spec.Path, obj.Spec.Branch)
	}
	s.Converged(meta.SucceededReason, text)
}

func reportEncryption(obj *v1alpha3.GitTarget, enc Encryption, w watch.Status, s *lifecycle.Summary) {
	withheld := ""
	for _, t := range w.Types {
		if t.Reason == v1alpha3.EncryptionRequiredReason {
			withheld = t.Resource
			break
		}
	}
	switch {
	case enc.Ready:
		conditions.MarkTrue(obj, v1alpha3.EncryptionConfiguredCondition, meta.SucceededReason, "%s", enc.Message)
	case obj.Spec.Encryption == nil && withheld == "":
		conditions.MarkTrue(obj, v1alpha3.EncryptionConfiguredCondition, v1alpha3.NotRequiredReason,
			"no sensitive type is selected")
	default:
		reason, text := enc.Reason, enc.Message
		if withheld != "" {
			text = fmt.Sprintf("%s are not mirrored: %s", withheld, text)
		}
		conditions.MarkFalse(obj, v1alpha3.EncryptionConfiguredCondition, reason, "%s", text)
		s.Stalled(v1alpha3.EncryptionNotConfiguredReason, text)
	}
}

func reportPath(obj *v1alpha3.GitTarget, t core.TargetStatus, s *lifecycle.Summary) {
	switch {
	case t.Refusal != nil:
		conditions.MarkFalse(obj, v1alpha3.GitPathAcceptedCondition, t.Refusal.Reason, "%s", t.Refusal.Text)
		s.Stalled(t.Refusal.Reason, t.Refusal.Text)
	case t.Report != nil:
		conditions.MarkTrue(obj, v1alpha3.GitPathAcceptedCondition, meta.SucceededReason, "the folder can be written")
	default:
		conditions.MarkUnknown(obj, v1alpha3.GitPathAcceptedCondition, v1alpha3.NotCheckedReason, "%s", textNotRead)
	}
}

func reportRender(obj *v1alpha3.GitTarget, t core.TargetStatus, s *lifecycle.Summary) {
	switch t.Gate {
	case core.GateDivergent:
		conditions.MarkFalse(obj, v1alpha3.RenderMatchesLiveCondition, v1alpha3.RenderDoesNotMatchLiveReason, "%s",
			t.GateText)
		s.Stalled(v1alpha3.RenderDoesNotMatchLiveReason, t.GateText)
	case core.GateOpen:
		conditions.MarkTrue(obj, v1alpha3.RenderMatchesLiveCondition, meta.SucceededReason,
			"every token of the folder has its live value")
	default:
		conditions.MarkUnknown(obj, v1alpha3.RenderMatchesLiveCondition, v1alpha3.RecheckingReason, "%s", textNotCompared)
	}
}

const (
	textNotRead     = "the folder was not read yet"
	textNotCompared = "not every collection was compared yet"
	// layoutSample bounds the files a message names.
	layoutSample = 3
)

func reportLayout(obj *v1alpha3.GitTarget, t core.TargetStatus) {
	report, ok := t.Report.(*branch.PlanReport)
	if !ok {
		conditions.MarkUnknown(obj, v1alpha3.LayoutResolvedCondition, v1alpha3.NotCheckedReason, "%s", textNotRead)
		return
	}
	unrendered := ""
	if n := report.Unrendered; n > 0 {
		files := report.UnrenderedSample
		unrendered = fmt.Sprintf("; %d documents are read by no build: %s", n, strings.Join(files[:min(layoutSample,
			len(files))], ", "))
		if len(files) > layoutSample {
			unrendered += " and others"
		}
	}
	switch l := report.Layout; {
	case l.Ambiguous:
		conditions.MarkFalse(obj, v1alpha3.LayoutResolvedCondition, v1alpha3.AmbiguousReason,
			"several kustomizations are roots: %s; new objects have no place until spec.path names one of them%s", strings.Join(l.Roots, ", "), unrendered)
	case l.Root != "":
		conditions.MarkTrue(obj, v1alpha3.LayoutResolvedCondition, v1alpha3.SingleKustomizationReason,
			"%s is the only root%s", l.Root, unrendered)
	default:
		conditions.MarkTrue(obj, v1alpha3.LayoutResolvedCondition, v1alpha3.NoneReason, "the folder holds plain manifests")
	}
}

func reportStreams(obj *v1alpha3.GitTarget, w watch.Status, s *lifecycle.Summary) {
	obj.Status.Streams = &v1alpha3.StreamsStatus{
		Summary: fmt.Sprintf("%d/%d", w.Ready, w.Total), Total: int32(w.Total), Ready: int32(w.Ready),
		Replaying: int32(w.Replaying), Blocked: int32(w.Blocked), PendingSample: pendingSample(w),
	}
	mark(obj, v1alpha3.StreamsRunningCondition, w.Running, w.Reason, w.Message)
	for _, t := range w.Types {
		switch t.Reason {
		case v1alpha3.WatchNotPermittedReason, v1alpha3.TooManyStreamsReason:
			s.Stalled(t.Reason, t.Message)
			return
		}
	}
}

// pendingSample names up to five types that are not followed.
func pendingSample(w watch.Status) []string {
	var out []string
	for _, t := range w.Types {
		if t.Phase != watch.Streaming && len(out) < 5 {
			out = append(out, change.Type{Group: t.Group, Resource: t.Resource}.GroupResource())
		}
	}
	return out
}

// await contributes what was not found out yet. Nothing is awaited of a suspended provider, nor of a folder for which
// nothing is selected: zero types are converged (api 6.3).
func await(g access.Grant, w view, s *lifecycle.Summary) {
	if g.KubeProvider.Spec.Suspend {
		return
	}
	if w.reach.Status == string(metav1.ConditionUnknown) {
		s.Unknown(w.reach.Reason, w.reach.Message)
	}
	if w.watch.Total > 0 && !w.branch.ProviderSuspended {
		if w.branch.Target.Gate == core.GatePending {
			s.Progressing(v1alpha3.RecheckingReason, textNotCompared)
		}
		if w.branch.Target.Report == nil {
			s.Progressing(v1alpha3.NotCheckedReason, textNotRead)
		}
	}
	switch {
	case !w.watch.Planned:
		s.Progressing(v1alpha3.NotReadyReason, "the selected types are being resolved")
	case w.watch.Total > 0 && w.watch.Running != string(metav1.ConditionTrue) && w.watch.Reason != v1alpha3.EncryptionRequiredReason:
		s.Progressing(meta.ProgressingReason, w.watch.Message)
	case w.watch.PlanProblem != "":
		s.Progressing(meta.ProgressingReason, w.watch.PlanProblem)
	}
}

// mark sets a condition from a status in words.
func mark(obj *v1alpha3.GitTarget, condition, status, reason, message string) {
	if reason == "" {
		reason = v1alpha3.NotReadyReason
	}
	switch status {
	case string(metav1.ConditionTrue):
		conditions.MarkTrue(obj, condition, reason, "%s", message)
	case string(metav1.ConditionFalse):
		conditions.MarkFalse(obj, condition, reason, "%s", message)
	default:
		conditions.MarkUnknown(obj, condition, reason, "%s", message)
	}
}

func reportDependencies(obj *v1alpha3.GitTarget, g access.Grant, reach cluster.Reachability, s *lifecycle.Summary) {
	reportDependency(obj, g.GitProvider, v1alpha3.GitProviderReadyCondition, v1alpha3.GitProviderNotReadyReason,
		"GitProvider "+g.GitProvider.Name, s)
	reportDependency(obj, g.KubeProvider, v1alpha3.KubeProviderReadyCondition, v1alpha3.KubeProviderNotReadyReason,
		"KubeProvider "+g.KubeProvider.Name, s)
	reason := reach.Reason
	if reason == cluster.ReasonReachable {
		reason = meta.SucceededReason
	}
	mark(obj, v1alpha3.SourceClusterReachableCondition, reach.Status, reason, reach.Message)
	switch {
	case g.KubeProvider.Spec.Suspend || reach.Status != string(metav1.ConditionFalse):
	case reason == cluster.ReasonAuthenticationFailed, reason == cluster.ReasonAccessDenied:
		// Only a person can give the credential what it lacks (decisions 60).
		s.Stalled(reason, reach.Message)
	default:
		s.Progressing(reason, reach.Message)
	}
}

// reportDependency projects a provider's Ready. Its trouble heals without us unless it is stalled itself.
func reportDependency(obj *v1alpha3.GitTarget, provider conditions.Getter, condition, reason, name string,
	s *lifecycle.Summary) {
	ready := conditions.Get(provider, meta.ReadyCondition)
	switch {
	case ready == nil:
		conditions.MarkUnknown(obj, condition, reason, "%s did not report yet", name)
		s.Progressing(reason, name+" did not report yet")
	case ready.Status == metav1.ConditionTrue:
		conditions.MarkTrue(obj, condition, meta.SucceededReason, "%s is ready", name)
	default:
		text := fmt.Sprintf("%s: %s: %s", name, ready.Reason, ready.Message)
		mark(obj, condition, string(ready.Status), reason, text)
		if conditions.IsStalled(provider) {
			s.Stalled(reason, text)
		} else {
			s.Progressing(reason, text)
		}
	}
}
