// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
)

// Changed lets a change of spec or of a request annotation through, so that an operator's own status patch never
// starts a pass.
func Changed() predicate.Predicate {
	return predicate.Or(predicate.GenerationChangedPredicate{}, annotationChanged{})
}

type annotationChanged struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (annotationChanged) Update(e event.UpdateEvent) bool {
	if e.ObjectOld == nil || e.ObjectNew == nil {
		return false
	}
	before, after := e.ObjectOld.GetAnnotations(), e.ObjectNew.GetAnnotations()
	return before[RequestAnnotation] != after[RequestAnnotation] || before[RekeyAnnotation] != after[RekeyAnnotation]
}

// Create implements predicate.Predicate.
func (annotationChanged) Create(event.CreateEvent) bool { return true }

// ReadyFlipped lets a change of spec or of Ready through, its words included: dependents repeat them. At the start every
// dependent has a pass of its own.
func ReadyFlipped() predicate.Predicate {
	return predicate.And(later{}, predicate.Or(predicate.GenerationChangedPredicate{}, readyFlipped{}))
}

// SpecChanged lets a change of spec through: what concerns a dependent of a dependent.
func SpecChanged() predicate.Predicate {
	return predicate.And(later{}, predicate.GenerationChangedPredicate{})
}

// later keeps out the objects that were there at the start.
type later struct{ predicate.Funcs }

// Create implements predicate.Predicate.
func (later) Create(e event.CreateEvent) bool { return !e.IsInInitialList }

type readyFlipped struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (readyFlipped) Update(e event.UpdateEvent) bool {
	a, b := readyOf(e.ObjectOld), readyOf(e.ObjectNew)
	return a != b
}

func readyOf(o client.Object) [4]string {
	g, ok := o.(conditions.Getter)
	if !ok {
		return [4]string{}
	}
	c := conditions.Get(g, meta.ReadyCondition)
	if c == nil {
		return [4]string{}
	}
	return [4]string{string(c.Status), c.Reason, c.Message, boolText(conditions.IsStalled(g))}
}

func boolText(b bool) string {
	if b {
		return "stalled"
	}
	return ""
}

// LabelsChanged lets a change of labels through, for Namespaces.
func LabelsChanged() predicate.Predicate {
	return predicate.And(later{}, predicate.LabelChangedPredicate{})
}
