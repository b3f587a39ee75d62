// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watchrules

import (
	"fmt"
	"slices"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/controller/lifecycle"
	"github.com/configbutler/gitops-reverser/internal/rules"
	"github.com/configbutler/gitops-reverser/internal/watch"
)

// report writes the rule's conditions; the gates contribute to Ready in the order of api 7.
func (r *Reconciler) report(obj *v1alpha3.WatchRule, target *v1alpha3.GitTarget, result rules.Result, pass *lifecycle.Pass) {
	answer(obj, v1alpha3.SourceNamespaceAuthorizedCondition, result.Authorized, &pass.Summary)
	if result.Refused.Status != "" {
		answer(obj, v1alpha3.ResourcesResolvedCondition, result.Refused, &pass.Summary)
		conditions.MarkUnknown(obj, v1alpha3.StreamsRunningCondition, v1alpha3.NotReadyReason, "the rule is refused")
		obj.Status.Streams = nil
	} else if result.Effect != rules.Remove {
		r.reportStreams(obj, target, pass)
	} else {
		conditions.MarkUnknown(obj, v1alpha3.ResourcesResolvedCondition, meta.ProgressingReason, "not looked at while the source namespace is not authorized")
		conditions.MarkUnknown(obj, v1alpha3.StreamsRunningCondition, v1alpha3.NotReadyReason, "the rule is refused")
		obj.Status.Streams = nil
	}
	reportTarget(obj, target, &pass.Summary)
	if obj.Spec.Suspend && pass.IsConverged() {
		pass.Converged(meta.SuspendedReason, "suspended: the rule selects nothing, Git stays as it is")
	}
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

// reportStreams resolves the target's rules as the planner did and shows this rule's part.
func (r *Reconciler) reportStreams(obj *v1alpha3.WatchRule, target *v1alpha3.GitTarget, pass *lifecycle.Pass) {
	name := types.NamespacedName{Namespace: target.Namespace, Name: target.Name}
	src, ok := r.Sources.Get(target.GetKubeProviderName())
	if !ok || !src.Catalog().Ready() {
		answer(obj, v1alpha3.ResourcesResolvedCondition, rules.Answer{
			Status: rules.Unknown, Reason: v1alpha3.CatalogNotReadyReason, Message: "the source cluster's types are not known yet",
		}, &pass.Summary)
		conditions.MarkUnknown(obj, v1alpha3.StreamsRunningCondition, v1alpha3.NotReadyReason, "nothing is resolved yet")
		return
	}
	resolution := rules.Resolve(r.Store.ForTarget(name), src.Catalog())
	i := slices.IndexFunc(resolution.Rules, func(a rules.RuleAnswer) bool { return a.Key == ruleOf(obj).Key })
	if i < 0 {
		conditions.MarkUnknown(obj, v1alpha3.ResourcesResolvedCondition, meta.ProgressingReason, "the rule is not compiled yet")
		pass.Progressing(meta.ProgressingReason, "the rule is not compiled yet")
		return
	}
	mine := resolution.Rules[i]
	answer(obj, v1alpha3.ResourcesResolvedCondition, mine.Resolved, &pass.Summary)
	obj.Status.UnresolvedSample = mine.Unresolved[:min(5, len(mine.Unresolved))]
	var status watch.Status
	if k, ok := r.Targets.Get(name); ok {
		status, _ = r.Watch.Status(k)
	}
	reportCells(obj, status.ForCells(mine.Cells), pass)
}

func reportCells(obj *v1alpha3.WatchRule, s watch.Status, pass *lifecycle.Pass) {
	obj.Status.Streams = &v1alpha3.StreamsStatus{
		Summary: fmt.Sprintf("%d/%d", s.Ready, s.Total), Total: int32(s.Total), Ready: int32(s.Ready),
		Replaying: int32(s.Replaying), Blocked: int32(s.Blocked),
	}
	for _, t := range s.Types {
		if t.Phase != watch.Streaming && len(obj.Status.Streams.PendingSample) < 5 {
			obj.Status.Streams.PendingSample = append(obj.Status.Streams.PendingSample, t.Resource)
		}
	}
	reason, message := s.Reason, s.Message
	if reason == "" {
		reason = v1alpha3.NotReadyReason
	}
	switch s.Running {
	case string(metav1.ConditionTrue):
		conditions.MarkTrue(obj, v1alpha3.StreamsRunningCondition, reason, "%s", message)
	case string(metav1.ConditionFalse):
		conditions.MarkFalse(obj, v1alpha3.StreamsRunningCondition, reason, "%s", message)
	default:
		conditions.MarkUnknown(obj, v1alpha3.StreamsRunningCondition, reason, "%s", message)
	}
	switch {
	case s.Blocked > 0:
		pass.Stalled(reason, message)
	case s.Total > 0 && s.Running != string(metav1.ConditionTrue):
		pass.Progressing(reason, message)
	}
}

// reportTarget projects the GitTarget's Ready. Only what a person must cure there stalls the rule.
func reportTarget(obj *v1alpha3.WatchRule, target *v1alpha3.GitTarget, s *lifecycle.Summary) {
	ready := conditions.Get(target, meta.ReadyCondition)
	switch {
	case ready == nil:
		conditions.MarkUnknown(obj, v1alpha3.GitTargetReadyCondition, v1alpha3.NotReadyReason, "the GitTarget did not report yet")
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
