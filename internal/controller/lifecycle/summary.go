// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type severity int

const (
	converged severity = iota
	progressing
	stalled
)

// Summary collects what keeps an object from being ready. The gravest contribution wins; among equals the first does
// (api 6.3). The zero Summary is converged.
type Summary struct {
	severity        severity
	set             bool
	ready           metav1.ConditionStatus
	reason, message string
}

// Stalled says that a person must act.
func (s *Summary) Stalled(reason, message string) {
	s.contribute(stalled, metav1.ConditionFalse, reason, message)
}

// Progressing says that the object heals or proceeds by itself.
func (s *Summary) Progressing(reason, message string) {
	s.contribute(progressing, metav1.ConditionFalse, reason, message)
}

// Unknown is Progressing with Ready=Unknown: nothing was observed yet.
func (s *Summary) Unknown(reason, message string) {
	s.contribute(progressing, metav1.ConditionUnknown, reason, message)
}

// Converged gives Ready=True another reason than Succeeded, such as Suspended.
func (s *Summary) Converged(reason, message string) {
	s.contribute(converged, metav1.ConditionTrue, reason, message)
}

func (s *Summary) contribute(sev severity, ready metav1.ConditionStatus, reason, message string) {
	if s.set && sev <= s.severity {
		return
	}
	*s = Summary{severity: sev, set: true, ready: ready, reason: reason, message: message}
}

// IsConverged reports whether nothing keeps the object from being ready.
func (s *Summary) IsConverged() bool { return s.severity == converged }

// IsStalled reports whether a person must act.
func (s *Summary) IsStalled() bool { return s.severity == stalled }

// Apply marks the trio. An absent Reconciling or Stalled means False (decisions 76).
func (s *Summary) Apply(obj conditions.Setter) {
	switch s.severity {
	case stalled:
		conditions.Delete(obj, meta.ReconcilingCondition)
		conditions.MarkStalled(obj, s.reason, "%s", s.message)
		conditions.MarkFalse(obj, meta.ReadyCondition, s.reason, "%s", s.message)
	case progressing:
		conditions.Delete(obj, meta.StalledCondition)
		conditions.MarkReconciling(obj, s.reason, "%s", s.message)
		if s.ready == metav1.ConditionUnknown {
			conditions.MarkUnknown(obj, meta.ReadyCondition, s.reason, "%s", s.message)
		} else {
			conditions.MarkFalse(obj, meta.ReadyCondition, s.reason, "%s", s.message)
		}
	default:
		conditions.Delete(obj, meta.ReconcilingCondition)
		conditions.Delete(obj, meta.StalledCondition)
		reason, message := s.reason, s.message
		if reason == "" {
			reason, message = meta.SucceededReason, "Reconciliation succeeded"
		}
		conditions.MarkTrue(obj, meta.ReadyCondition, reason, "%s", message)
	}
}
