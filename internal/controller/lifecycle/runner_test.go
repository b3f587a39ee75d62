// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/metrics"
	"github.com/configbutler/gitops-reverser/tests/kstatus"
)

var providers = schema.GroupResource{Group: v1alpha3.GroupVersion.Group, Resource: "kubeproviders"}

// bench is a Runner over one stored KubeProvider.
type bench struct {
	*GomegaWithT
	t *testing.T
	*Runner
	events    []string
	patches   int
	forgotten int
	name      types.NamespacedName
	// before runs in place of each patch of the status, when it is set.
	before func() error
}

func newBench(t *testing.T, obj *v1alpha3.KubeProvider) *bench {
	b := &bench{GomegaWithT: NewWithT(t), t: t, name: client.ObjectKeyFromObject(obj)}
	scheme := runtime.NewScheme()
	b.Expect(v1alpha3.AddToScheme(scheme)).To(Succeed())
	c := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(obj).WithObjects(obj).WithInterceptorFuncs(interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch,
			opts ...client.SubResourcePatchOption) error {
			if b.before != nil {
				if err := b.before(); err != nil {
					return err
				}
			}
			b.patches++
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	}).Build()
	b.Runner = &Runner{
		Client: c, Recorder: b, Kind: v1alpha3.KubeProviderKind, Metrics: metrics.New(prometheus.NewRegistry()),
		Forget: func(context.Context, types.NamespacedName) { b.forgotten++ },
	}
	return b
}

// Eventf implements events.Recorder.
func (b *bench) Eventf(o, _ runtime.Object, kind, reason, _, message string, args ...any) {
	b.AnnotatedEventf(o, nil, nil, kind, reason, "", message, args...)
}

// AnnotatedEventf implements events.Recorder.
func (b *bench) AnnotatedEventf(_, _ runtime.Object, _ map[string]string, kind, reason, _, message string,
	args ...any) {
	b.events = append(b.events, kind+" "+reason+" "+fmt.Sprintf(message, args...))
}

func provider(annotations ...string) *v1alpha3.KubeProvider {
	p := &v1alpha3.KubeProvider{ObjectMeta: metav1.ObjectMeta{Name: "one", Generation: 3,
		Annotations: map[string]string{}}}
	for i := 0; i < len(annotations); i += 2 {
		p.Annotations[annotations[i]] = annotations[i+1]
	}
	return p
}

func (b *bench) pass(c contribution) (ctrl.Result, error) {
	return b.passing(func() (Pass, error) {
		var p Pass
		c.to(&p.Summary)
		return p, nil
	})
}

func (b *bench) passing(steps func() (Pass, error)) (ctrl.Result, error) {
	return b.Run(b.t.Context(), b.name, &v1alpha3.KubeProvider{}, func(context.Context) (Pass, error) { return steps() })
}

func (b *bench) stored() *v1alpha3.KubeProvider {
	b.t.Helper()
	p := &v1alpha3.KubeProvider{}
	b.Expect(b.Get(b.t.Context(), b.name, p)).To(Succeed())
	return p
}

// TestScenario35_APassThatChangesNothingSendsNothing: no patch, no event.
func TestScenario35_APassThatChangesNothingSendsNothing(t *testing.T) {
	b := newBench(t, provider())
	for range 3 {
		_, err := b.pass(waits)
		b.Expect(err).NotTo(HaveOccurred())
	}
	sent := b.patches
	b.Expect(sent).To(BeNumerically(">", 0))
	b.Expect(b.events).To(Equal([]string{"Warning Waits waits"}))
	_, err := b.pass(waits)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(b.patches).To(Equal(sent))
}

// TestScenario35_ALostRaceMakesNoEvent: the status is read afresh soon, and nothing is reported that was not stored.
func TestScenario35_ALostRaceMakesNoEvent(t *testing.T) {
	b := newBench(t, provider())
	b.before = func() error { return apierrors.NewConflict(providers, "one", errors.New("somebody was faster")) }
	result, err := b.pass(waits)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(result.RequeueAfter).To(Equal(100 * time.Millisecond))
	b.Expect(b.events).To(BeEmpty())
	b.before = nil
	_, err = b.pass(waits)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(b.events).To(Equal([]string{"Warning Waits waits"}))
}

func TestObjectDeletedDuringItsPass(t *testing.T) {
	b := newBench(t, provider())
	b.before = func() error { return apierrors.NewNotFound(providers, "one") }
	result, err := b.pass(stuck)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(result).To(Equal(ctrl.Result{}))
	b.Expect(b.events).To(BeEmpty())
}

func TestStatusThatCannotBeStored(t *testing.T) {
	b := newBench(t, provider())
	b.before = func() error { return apierrors.NewForbidden(providers, "one", errors.New("no patch")) }
	_, err := b.pass(stuck)
	b.Expect(err).To(MatchError(And(ContainSubstring("store the status of KubeProvider"), ContainSubstring("no patch"))))
	b.Expect(b.events).To(BeEmpty())
}

// TestScenario36_OneEventPerStoredChange: each flip of Ready is one event with the stored reason, Normal when True.
func TestScenario36_OneEventPerStoredChange(t *testing.T) {
	b := newBench(t, provider())
	again := contribution{"stalled", func(s *Summary) { s.Stalled("Stuck", "other words") }}
	for _, c := range []contribution{green, stuck, stuck, again, waits, dark, {"nothing", func(*Summary) {}}} {
		_, err := b.pass(c)
		b.Expect(err).NotTo(HaveOccurred())
		b.Expect(kstatus.Legal(t.Context(), b.stored())).To(Succeed())
	}
	b.Expect(b.events).To(Equal([]string{
		"Normal Suspended green", "Warning Stuck stuck", "Warning Waits waits", "Warning Dark dark", "Normal Succeeded Reconciliation succeeded",
	}))
}

// TestLongMessagesAreCut: a status with a message that the API server refuses would never be stored.
func TestLongMessagesAreCut(t *testing.T) {
	b := newBench(t, provider())
	long := contribution{"long", func(s *Summary) { s.Stalled("Stuck", strings.Repeat("ä", 40_000)) }}
	for range 2 {
		_, err := b.pass(long)
		b.Expect(err).NotTo(HaveOccurred())
	}
	for _, c := range b.stored().Status.Conditions {
		b.Expect(len(c.Message)).To(And(BeNumerically("<=", 1024), BeNumerically(">", 1000)), c.Type)
		b.Expect(c.Message).To(HaveSuffix("ä ..."))
	}
	b.Expect(b.events).To(HaveLen(1))
	b.Expect(len(b.events[0])).To(BeNumerically("<", 1100))
	b.Expect(b.patches).To(BeNumerically("<=", 2), "a cut message is no change")
}

// TestReadError: what cannot be read is no refusal and says nothing about the data plane; it heals by itself.
func TestReadError(t *testing.T) {
	b := newBench(t, provider(RequestAnnotation, "now"))
	for _, before := range []contribution{green, stuck, waits} {
		_, err := b.pass(before)
		b.Expect(err).NotTo(HaveOccurred())
		_, err = b.passing(func() (Pass, error) { return Pass{}, errors.New("the API server is away") })
		b.Expect(err).To(MatchError("the API server is away"))
		p := b.stored()
		b.Expect(kstatus.Legal(t.Context(), p)).To(Succeed())
		b.Expect(conditions.Get(p, meta.ReadyCondition)).To(And(
			HaveField("Status", metav1.ConditionFalse), HaveField("Reason", meta.FailedReason), HaveField("Message",
				"the API server is away")), before.name)
		b.Expect(conditions.IsReconciling(p)).To(BeTrue(), before.name)
		b.Expect(conditions.IsStalled(p)).To(BeFalse(), before.name)
	}
}

// TestScenario39_TheRequestIsEchoedAtTheEnd: only our annotation counts, and only when what it asks for is done.
func TestScenario39_TheRequestIsEchoedAtTheEnd(t *testing.T) {
	b := newBench(t, provider(RequestAnnotation, "monday", meta.ReconcileRequestAnnotation, "flux"))
	echo := func() string { return b.stored().Status.LastHandledReconcileAt }
	_, err := b.passing(func() (Pass, error) { return Pass{Pending: true}, nil })
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(echo()).To(BeEmpty(), "it is not done")
	_, err = b.passing(func() (Pass, error) { return Pass{}, errors.New("away") })
	b.Expect(err).To(HaveOccurred())
	b.Expect(echo()).To(BeEmpty(), "nothing was done")
	_, err = b.pass(stuck)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(echo()).To(Equal("monday"), "a refusal is an answer")
	p := b.stored()
	delete(p.Annotations, RequestAnnotation)
	b.Expect(b.Update(t.Context(), p)).To(Succeed())
	_, err = b.pass(green)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(echo()).To(Equal("monday"), "Flux's annotation asks for nothing")
}

func TestObservedGeneration(t *testing.T) {
	b := newBench(t, provider())
	_, err := b.pass(waits)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(b.stored().Status.ObservedGeneration).To(BeNumerically("<", 3), "it is on its way")
	_, err = b.pass(stuck)
	b.Expect(err).NotTo(HaveOccurred())
	p := b.stored()
	b.Expect(p.Status.ObservedGeneration).To(BeEquivalentTo(3))
	for _, c := range p.Status.Conditions {
		b.Expect(c.ObservedGeneration).To(BeEquivalentTo(3), c.Type)
	}
}

func TestForgottenObjects(t *testing.T) {
	p := provider()
	p.Finalizers = []string{"example.org/somebody"}
	b := newBench(t, p)
	_, err := b.pass(green)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(b.Delete(t.Context(), b.stored())).To(Succeed())
	patches := b.patches
	_, err = b.pass(green)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(b.forgotten).To(Equal(1), "another's finalizer keeps the object, not its work")
	b.Expect(b.patches).To(Equal(patches))
	p = b.stored()
	p.Finalizers = nil
	b.Expect(b.Update(t.Context(), p)).To(Succeed())
	_, err = b.pass(green)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(b.forgotten).To(Equal(2))
	b.Expect(b.events).To(HaveLen(1))
}
