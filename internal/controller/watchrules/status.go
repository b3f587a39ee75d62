// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watchrules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/controller/lifecycle"
	"github.com/configbutler/gitops-reverser/internal/rules"
	"github.com/configbutler/gitops-reverser/internal/watch"
)

// report writes the rule's conditions. The gates contribute to Ready in the order of api 7: namespace, resources, target,
// streams.
func (r *Reconciler) report(obj *v1alpha3.WatchRule, v verdict, pass *lifecycle.Pass) {
	s, target, result := &pass.Summary, v.target, v.result
	obj.Status.Streams, obj.Status.UnresolvedSample = nil, nil
	if obj.Spec.Suspend {
		const text = "suspended: the rule selects nothing, Git stays as it is"
		conditions.MarkUnknown(obj, v1alpha3.SourceNamespaceAuthorizedCondition, meta.SuspendedReason, text)
		conditions.MarkUnknown(obj, v1alpha3.ResourcesResolvedCondition, meta.SuspendedReason, text)
		conditions.MarkUnknown(obj, v1alpha3.StreamsRunningCondition, meta.SuspendedReason, text)
		reportTarget(obj, target, s)
		if s.IsConverged() {
			s.Converged(meta.SuspendedReason, text)
		}
		return
	}
	if result.Authorized.Status == "" {
		conditions.MarkUnknown(obj, v1alpha3.SourceNamespaceAuthorizedCondition, meta.ProgressingReason,
			"not looked at while the rule is refused")
	}
	answer(obj, v1alpha3.SourceNamespaceAuthorizedCondition, result.Authorized, s)
	if result.Effect == rules.Remove {
		refused(obj, result, s)
		reportTarget(obj, target, s)
		return
	}
	status := r.reportResources(obj, target, s)
	reportTarget(obj, target, s)
	if status == nil {
		return
	}
	reportCells(obj, *status)
	if !v.idle {
		weighCells(*status, s)
	}
	if s.IsConverged() {
		reportReady(target, *status, s)
	}
}

// reportReady says what a converged rule does.
func reportReady(target *v1alpha3.GitTarget, w watch.Status, s *lifecycle.Summary) {
	ready := conditions.Get(target, meta.ReadyCondition)
	switch {
	case ready != nil && ready.Reason == meta.SuspendedReason:
		s.Converged(meta.SuspendedReason, fmt.Sprintf("mirroring rests: GitTarget %s, or a provider of it, is suspended", target.Name))
	case w.Total > 0:
		s.Converged(meta.SucceededReason, fmt.Sprintf("%d resource type(s) are mirrored by GitTarget %s", w.Total, target.Name))
	default:
		s.Converged(meta.SucceededReason, "the source serves no type that this rule selects")
	}
}

// refused shows a rule that a gate keeps from being compiled.
func refused(obj *v1alpha3.WatchRule, result rules.Result, s *lifecycle.Summary) {
	if result.Refused.Status == "" {
		conditions.MarkUnknown(obj, v1alpha3.ResourcesResolvedCondition, meta.ProgressingReason,
			"not looked at while the source namespace is not authorized")
	}
	answer(obj, v1alpha3.ResourcesResolvedCondition, result.Refused, s)
	conditions.MarkUnknown(obj, v1alpha3.StreamsRunningCondition, v1alpha3.NotReadyReason, "the rule is refused")
}

// answer writes a condition of the compiler and lets it contribute.
func answer(obj *v1alpha3.WatchRule, condition string, a rules.Answer, s *lifecycle.Summary) {
	switch a.Status {
	case rules.True:
		conditions.MarkTrue(obj, condition, a.Reason, "%s", a.Message)
		return
	case rules.False:
		conditions.MarkFalse(obj, condition, a.Reason, "%s", a.Message)
	case rules.Unknown:
		conditions.MarkUnknown(obj, condition, a.Reason, "%s", a.Message)
	default:
		return
	}
	if a.Stalled {
		s.Stalled(a.Reason, a.Message)
	} else {
		s.Progressing(a.Reason, a.Message)
	}
}

// reportResources resolves the target's rules as the planner does and shows this rule's part. It returns the state of the
// rule's streams, nil when nothing is resolved.
func (r *Reconciler) reportResources(obj *v1alpha3.WatchRule, target *v1alpha3.GitTarget,
	s *lifecycle.Summary) *watch.Status {
	pending := func(reason, text string) *watch.Status {
		answer(obj, v1alpha3.ResourcesResolvedCondition, rules.Answer{Status: rules.Unknown, Reason: reason,
			Message: text}, s)
		conditions.MarkUnknown(obj, v1alpha3.StreamsRunningCondition, v1alpha3.NotReadyReason, "nothing is resolved yet")
		return nil
	}
	name := client.ObjectKeyFromObject(target)
	src, ok := r.Sources.Get(target.GetKubeProviderName())
	if !ok || !src.Catalog().Ready() {
		text := "the source cluster's types are not known yet"
		if ok && src.Reachability().Status == string(metav1.ConditionFalse) {
			text += ": " + src.Reachability().Message
		}
		return pending(v1alpha3.CatalogNotReadyReason, text)
	}
	resolution := rules.Resolve(r.Store.ForTarget(name), src.Catalog())
	i := slices.IndexFunc(resolution.Rules, func(a rules.RuleAnswer) bool { return a.Key == ruleOf(obj).Key })
	if i < 0 {
		return pending(meta.ProgressingReason, "the rule is not compiled yet")
	}
	mine := resolution.Rules[i]
	answer(obj, v1alpha3.ResourcesResolvedCondition, mine.Resolved, s)
	obj.Status.UnresolvedSample = mine.Unresolved[:min(5, len(mine.Unresolved))]
	var status watch.Status
	if k, ok := r.Targets.Get(name); ok {
		status, _ = r.Watch.Status(k)
	}
	status = status.ForCells(mine.Cells)
	return &status
}

// reportCells shows the rule's streams.
func reportCells(obj *v1alpha3.WatchRule, w watch.Status) {
	obj.Status.Streams = &v1alpha3.StreamsStatus{
		Summary: fmt.Sprintf("%d/%d", w.Ready, w.Total), Total: int32(w.Total), Ready: int32(w.Ready),
		Replaying: int32(w.Replaying), Blocked: int32(w.Blocked),
	}
	for _, t := range w.Types {
		if t.Phase != watch.Streaming && len(obj.Status.Streams.PendingSample) < 5 {
			obj.Status.Streams.PendingSample = append(obj.Status.Streams.PendingSample, change.Type{Group: t.Group,
				Resource: t.Resource}.GroupResource())
		}
	}
	reason, message := cmp.Or(w.Reason, v1alpha3.NotReadyReason), w.Message
	switch w.Running {
	case string(metav1.ConditionTrue):
		conditions.MarkTrue(obj, v1alpha3.StreamsRunningCondition, reason, "%s", message)
	case string(metav1.ConditionFalse):
		conditions.MarkFalse(obj, v1alpha3.StreamsRunningCondition, reason, "%s", message)
	default:
		conditions.MarkUnknown(obj, v1alpha3.StreamsRunningCondition, reason, "%s", message)
	}
}

// weighCells lets the streams contribute to Ready.
func weighCells(w watch.Status, s *lifecycle.Summary) {
	for _, t := range w.Types {
		// A watch that fails is retried; what else blocks needs a person (decisions 60).
		if t.Phase == watch.Blocked && t.Reason != v1alpha3.WatchErrorReason {
			s.Stalled(t.Reason, t.Message)
			return
		}
	}
	if w.Total > 0 && w.Running != string(metav1.ConditionTrue) {
		s.Progressing(cmp.Or(w.Reason, v1alpha3.NotReadyReason), w.Message)
	}
}

// reportTarget projects the GitTarget's Ready. Only what a person must cure there stalls the rule.
func reportTarget(obj *v1alpha3.WatchRule, target *v1alpha3.GitTarget, s *lifecycle.Summary) {
	ready := conditions.Get(target, meta.ReadyCondition)
	switch {
	case ready == nil:
		conditions.MarkUnknown(obj, v1alpha3.GitTargetReadyCondition, v1alpha3.NotReadyReason,
			"the GitTarget did not report yet")
		s.Progressing(v1alpha3.NotReadyReason, "the GitTarget did not report yet")
	case ready.Status == metav1.ConditionTrue:
		conditions.MarkTrue(obj, v1alpha3.GitTargetReadyCondition, meta.SucceededReason, "the GitTarget is ready")
	default:
		if ready.Status == metav1.ConditionFalse {
			conditions.MarkFalse(obj, v1alpha3.GitTargetReadyCondition, ready.Reason, "%s", ready.Message)
		} else {
			conditions.MarkUnknown(obj, v1alpha3.GitTargetReadyCondition, ready.Reason, "%s", ready.Message)
		}
		if conditions.IsStalled(target) {
			s.Stalled(ready.Reason, ready.Message)
		} else {
			s.Progressing(ready.Reason, ready.Message)
		}
	}
}
