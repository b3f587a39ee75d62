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
	"github.com/configbutler/gitops-reverser/internal/controller/lifecycle"
	"github.com/configbutler/gitops-reverser/internal/watch"
)

var ownedConditions = []string{
	v1alpha3.ValidatedCondition, v1alpha3.EncryptionConfiguredCondition, v1alpha3.GitProviderReadyCondition,
	v1alpha3.KubeProviderReadyCondition, v1alpha3.SourceClusterReachableCondition, v1alpha3.StreamsRunningCondition,
	v1alpha3.GitPathAcceptedCondition, v1alpha3.RenderMatchesLiveCondition, v1alpha3.LayoutResolvedCondition,
	v1alpha3.ApplyTriggerReadyCondition,
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
	v.reach = cluster.Reachability{Status: "Unknown", Reason: cluster.ReasonAwaitingDiscovery, Message: "not contacted yet"}
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
	conditions.MarkUnknown(obj, v1alpha3.EncryptionConfiguredCondition, v1alpha3.BlockedReason, "not looked at while Validated is not True")
	obj.Status.Streams, obj.Status.Preview, obj.Status.Retention = nil, nil, nil
}

// report writes the conditions and lets each gate contribute to Ready, gravest first (api 6.3).
func (r *Reconciler) report(obj *v1alpha3.GitTarget, v validated, enc Encryption, w view, pass *lifecycle.Pass) {
	reportEncryption(obj, enc, w.watch, &pass.Summary)
	reportFolder(obj, w, &pass.Summary)
	reportStreams(obj, w.watch, v.grant.KubeProvider.Spec.Suspend, &pass.Summary)
	reportDependencies(obj, v, w, &pass.Summary)
	reportPublication(obj, w.branch, &pass.Summary)
	reportStatus(obj, w, pass)
	reportSuspension(obj, v, w.branch, &pass.Summary)
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
		conditions.MarkTrue(obj, v1alpha3.EncryptionConfiguredCondition, v1alpha3.NotRequiredReason, "no sensitive type is selected")
	default:
		reason, text := enc.Reason, enc.Message
		if withheld != "" {
			text = fmt.Sprintf("%s are not mirrored: %s", withheld, text)
		}
		conditions.MarkFalse(obj, v1alpha3.EncryptionConfiguredCondition, reason, "%s", text)
		s.Stalled(v1alpha3.EncryptionNotConfiguredReason, text)
	}
}

func reportFolder(obj *v1alpha3.GitTarget, w view, s *lifecycle.Summary) {
	t := w.branch.Target
	report, _ := t.Report.(*branch.PlanReport)
	switch {
	case t.Refusal != nil:
		conditions.MarkFalse(obj, v1alpha3.GitPathAcceptedCondition, t.Refusal.Reason, "%s", t.Refusal.Text)
		s.Stalled(t.Refusal.Reason, t.Refusal.Text)
	case report != nil:
		conditions.MarkTrue(obj, v1alpha3.GitPathAcceptedCondition, meta.SucceededReason, "the folder can be written")
	default:
		conditions.MarkUnknown(obj, v1alpha3.GitPathAcceptedCondition, v1alpha3.NotCheckedReason, "the folder was not read yet")
		unchecked(w, s, v1alpha3.NotCheckedReason, "the folder was not read yet")
	}
	switch {
	case t.Gate == core.GateDivergent:
		conditions.MarkFalse(obj, v1alpha3.RenderMatchesLiveCondition, v1alpha3.RenderDoesNotMatchLiveReason, "%s", t.GateText)
		s.Stalled(v1alpha3.RenderDoesNotMatchLiveReason, t.GateText)
	case t.Gate == core.GateOpen:
		conditions.MarkTrue(obj, v1alpha3.RenderMatchesLiveCondition, meta.SucceededReason, "every token of the folder has its live value")
	default:
		conditions.MarkUnknown(obj, v1alpha3.RenderMatchesLiveCondition, v1alpha3.RecheckingReason, "not every collection was compared yet")
		unchecked(w, s, v1alpha3.RecheckingReason, "not every collection was compared yet")
	}
	reportLayout(obj, report)
}

// unchecked lets a gate that was not measured yet contribute, where something is selected that will measure it.
func unchecked(w view, s *lifecycle.Summary, reason, message string) {
	if w.watch.Total > 0 && w.branch.Failing == nil && !w.branch.ProviderSuspended {
		s.Progressing(reason, message)
	}
}

func reportLayout(obj *v1alpha3.GitTarget, report *branch.PlanReport) {
	if report == nil {
		conditions.MarkUnknown(obj, v1alpha3.LayoutResolvedCondition, v1alpha3.NotCheckedReason, "the folder was not read yet")
		return
	}
	switch l := report.Layout; {
	case l.Ambiguous:
		conditions.MarkFalse(obj, v1alpha3.LayoutResolvedCondition, v1alpha3.AmbiguousReason,
			"several kustomizations are roots: %s; new objects have no place until spec.path names one of them", strings.Join(l.Roots, ", "))
	case l.Root != "":
		text := fmt.Sprintf("%s is the only root", l.Root)
		if report.Unrendered > 0 {
			text += fmt.Sprintf("; no build reads %s", strings.Join(report.UnrenderedSample, ", "))
		}
		conditions.MarkTrue(obj, v1alpha3.LayoutResolvedCondition, v1alpha3.SingleKustomizationReason, "%s", text)
	default:
		conditions.MarkTrue(obj, v1alpha3.LayoutResolvedCondition, v1alpha3.NoneReason, "the folder holds plain manifests")
	}
}

func reportStreams(obj *v1alpha3.GitTarget, w watch.Status, sourceSuspended bool, s *lifecycle.Summary) {
	obj.Status.Streams = &v1alpha3.StreamsStatus{
		Summary: fmt.Sprintf("%d/%d", w.Ready, w.Total), Total: int32(w.Total), Ready: int32(w.Ready),
		Replaying: int32(w.Replaying), Blocked: int32(w.Blocked),
	}
	for _, t := range w.Types {
		if t.Phase != watch.Streaming && len(obj.Status.Streams.PendingSample) < 5 {
			name := t.Resource
			if t.Group != "" {
				name = t.Group + "/" + name
			}
			obj.Status.Streams.PendingSample = append(obj.Status.Streams.PendingSample, name)
		}
	}
	mark(obj, v1alpha3.StreamsRunningCondition, w.Running, w.Reason, w.Message)
	switch {
	case sourceSuspended:
	case !w.Planned:
		s.Progressing(v1alpha3.NotReadyReason, "the selected types are being resolved")
	case w.Blocked > 0 && w.Reason != v1alpha3.EncryptionRequiredReason:
		s.Stalled(w.Reason, w.Message)
	case w.Total > 0 && w.Running != string(metav1.ConditionTrue) && w.Reason != v1alpha3.EncryptionRequiredReason:
		s.Progressing(meta.ProgressingReason, w.Message)
	case w.PlanProblem != "":
		s.Progressing(meta.ProgressingReason, w.PlanProblem)
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

func reportDependencies(obj *v1alpha3.GitTarget, v validated, w view, s *lifecycle.Summary) {
	reportDependency(obj, v.grant.GitProvider, v1alpha3.GitProviderReadyCondition, v1alpha3.GitProviderNotReadyReason, "GitProvider "+v.grant.GitProvider.Name, s)
	reportDependency(obj, v.grant.KubeProvider, v1alpha3.KubeProviderReadyCondition, v1alpha3.KubeProviderNotReadyReason, "KubeProvider "+v.grant.KubeProvider.Name, s)
	reason := w.reach.Reason
	if reason == cluster.ReasonReachable {
		reason = meta.SucceededReason
	}
	mark(obj, v1alpha3.SourceClusterReachableCondition, w.reach.Status, reason, w.reach.Message)
	switch {
	case v.grant.KubeProvider.Spec.Suspend:
	case w.reach.Status == string(metav1.ConditionFalse):
		s.Progressing(reason, w.reach.Message)
	case w.reach.Status == string(metav1.ConditionUnknown):
		s.Unknown(reason, w.reach.Message)
	}
	if obj.Spec.ApplyTriggerRef == nil {
		conditions.Delete(obj, v1alpha3.ApplyTriggerReadyCondition)
		return
	}
	text := fmt.Sprintf("this version does not serve %s; remove spec.applyTriggerRef", obj.Spec.ApplyTriggerRef.Kind)
	conditions.MarkFalse(obj, v1alpha3.ApplyTriggerReadyCondition, v1alpha3.NotImplementedReason, "%s", text)
	s.Stalled(v1alpha3.NotImplementedReason, text)
}

// reportDependency projects a provider's Ready. Its trouble heals without us unless it is stalled itself.
func reportDependency(obj *v1alpha3.GitTarget, provider conditions.Getter, condition, reason, name string, s *lifecycle.Summary) {
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

// reportPublication shows trouble of the branch on every target of it (decisions 32).
func reportPublication(obj *v1alpha3.GitTarget, b branch.Status, s *lifecycle.Summary) {
	if p := b.Target.PushRejected; p != nil {
		s.Stalled(v1alpha3.PushRejectedReason, trouble(p, b))
	}
	if b.Parent == core.ParentMissing && !b.Exists && !b.VerifiedAt.IsZero() {
		s.Stalled(v1alpha3.ParentBranchNotFoundReason, fmt.Sprintf(
			"branch %q does not exist, and neither does its parentBranch %q; nothing is written until one appears", obj.Spec.Branch, obj.Spec.ParentBranch))
	}
	if f := b.Failing; f != nil {
		if f.Reason.Stalled() {
			s.Stalled(string(f.Reason), trouble(f, b))
		} else {
			s.Progressing(meta.ProgressingReason, trouble(f, b))
		}
	}
	if f := b.Target.WriteFailed; f != nil {
		s.Stalled(string(f.Reason), trouble(f, b))
	}
}

// trouble tells since when, why and what comes next, with absolute times only: the message moves with an attempt, not
// with the clock (decisions 67).
func trouble(t *core.Trouble, b branch.Status) string {
	const layout = "2006-01-02T15:04:05Z"
	text := fmt.Sprintf("not published since %s: %s: %s", t.Since.UTC().Format(layout), t.Reason, t.Text)
	if !t.Next.IsZero() {
		text += "; next attempt at " + t.Next.UTC().Format(layout)
	}
	if b.IntakePaused {
		text += "; intake is paused until a publication lands"
	}
	return text
}

func reportSuspension(obj *v1alpha3.GitTarget, v validated, b branch.Status, s *lifecycle.Summary) {
	switch {
	case !s.IsConverged():
	case obj.Spec.Suspend:
		s.Converged(meta.SuspendedReason, "suspended: nothing new is committed; status.preview shows what a resume would do")
	case v.grant.KubeProvider.Spec.Suspend:
		s.Converged(meta.SuspendedReason, "the KubeProvider is suspended: no stream is open, Git stays as it is")
	case b.ProviderSuspended:
		s.Converged(meta.SuspendedReason, fmt.Sprintf("the GitProvider is suspended; %d writes wait", b.Target.Waiting))
	}
}
