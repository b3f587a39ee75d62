// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
)

// TestWhatStartsAPass: an operator's own status patch never starts one of the same object, and of another's status only
// what a dependent looks at.
func TestWhatStartsAPass(t *testing.T) {
	for name, tt := range map[string]struct {
		edit                   func(*v1alpha3.KubeProvider)
		changed, ready, labels bool
	}{
		"nothing":   {func(*v1alpha3.KubeProvider) {}, false, false, false},
		"the spec":  {func(p *v1alpha3.KubeProvider) { p.Generation++ }, true, true, false},
		"a request": {func(p *v1alpha3.KubeProvider) { p.Annotations = map[string]string{RequestAnnotation: "now"} }, true, false, false},
		"a re-key":  {func(p *v1alpha3.KubeProvider) { p.Annotations = map[string]string{RekeyAnnotation: "now"} }, true, false, false},
		"Flux's": {func(p *v1alpha3.KubeProvider) {
			p.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "now"}
		}, false, false, false},
		"a label":    {func(p *v1alpha3.KubeProvider) { p.Labels = map[string]string{"a": "b"} }, false, false, true},
		"a message":  {func(p *v1alpha3.KubeProvider) { conditions.MarkTrue(p, meta.ReadyCondition, "Old", "other words") }, false, true, false},
		"the reason": {func(p *v1alpha3.KubeProvider) { conditions.MarkTrue(p, meta.ReadyCondition, "New", "") }, false, true, false},
		"the status": {func(p *v1alpha3.KubeProvider) { conditions.MarkFalse(p, meta.ReadyCondition, "Old", "") }, false, true, false},
		"stalled":    {func(p *v1alpha3.KubeProvider) { conditions.MarkStalled(p, "Old", "") }, false, true, false},
		"another":    {func(p *v1alpha3.KubeProvider) { conditions.MarkFalse(p, v1alpha3.ValidatedCondition, "X", "") }, false, false, false},
		"the echo":   {func(p *v1alpha3.KubeProvider) { p.Status.LastHandledReconcileAt = "now" }, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			before := &v1alpha3.KubeProvider{}
			conditions.MarkTrue(before, meta.ReadyCondition, "Old", "")
			after := before.DeepCopy()
			tt.edit(after)
			e := event.UpdateEvent{ObjectOld: before, ObjectNew: after}
			g.Expect(Changed().Update(e)).To(Equal(tt.changed))
			g.Expect(ReadyFlipped().Update(e)).To(Equal(tt.ready))
			g.Expect(SpecChanged().Update(e)).To(Equal(name == "the spec"))
			g.Expect(LabelsChanged().Update(e)).To(Equal(tt.labels))
		})
	}
	g := NewWithT(t)
	for _, p := range []predicate.Predicate{ReadyFlipped(), SpecChanged(), LabelsChanged()} {
		g.Expect(p.Create(event.CreateEvent{Object: &v1alpha3.KubeProvider{}})).To(BeTrue())
		g.Expect(p.Create(event.CreateEvent{Object: &v1alpha3.KubeProvider{}, IsInInitialList: true})).To(BeFalse())
		g.Expect(p.Delete(event.DeleteEvent{Object: &v1alpha3.KubeProvider{}})).To(BeTrue())
	}
	g.Expect(Changed().Create(event.CreateEvent{Object: &v1alpha3.KubeProvider{}, IsInInitialList: true})).To(BeTrue())
}
