// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"github.com/fluxcd/pkg/runtime/jitter"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/kstatus"
)

// contribution is one call on a Summary.
type contribution struct {
	name string
	to   func(*Summary)
}

var (
	green = contribution{"converged", func(s *Summary) { s.Converged(meta.SuspendedReason, "green") }}
	waits = contribution{"progressing", func(s *Summary) { s.Progressing("Waits", "waits") }}
	dark  = contribution{"unknown", func(s *Summary) { s.Unknown("Dark", "dark") }}
	stuck = contribution{"stalled", func(s *Summary) { s.Stalled("Stuck", "stuck") }}
)

// TestScenario33_TheGravestContributionWins: a folder refusal and a provider that is being checked in one pass give
// Stalled, whatever comes first; among equals the first wins.
func TestScenario33_TheGravestContributionWins(t *testing.T) {
	other := func(c contribution, reason string) contribution {
		return contribution{c.name + "2", func(s *Summary) {
			switch c.name {
			case "stalled":
				s.Stalled(reason, "second")
			case "unknown":
				s.Unknown(reason, "second")
			default:
				s.Progressing(reason, "second")
			}
		}}
	}
	for _, tt := range []struct {
		in     []contribution
		ready  metav1.ConditionStatus
		reason string
	}{
		{nil, metav1.ConditionTrue, meta.SucceededReason},
		{[]contribution{green}, metav1.ConditionTrue, meta.SuspendedReason},
		{[]contribution{green, waits}, metav1.ConditionFalse, "Waits"},
		{[]contribution{waits, green}, metav1.ConditionFalse, "Waits"},
		{[]contribution{waits, stuck}, metav1.ConditionFalse, "Stuck"},
		{[]contribution{stuck, waits}, metav1.ConditionFalse, "Stuck"},
		{[]contribution{stuck, other(stuck, "Second")}, metav1.ConditionFalse, "Stuck"},
		{[]contribution{waits, other(waits, "Second")}, metav1.ConditionFalse, "Waits"},
		{[]contribution{dark, waits}, metav1.ConditionUnknown, "Dark"},
		{[]contribution{waits, dark}, metav1.ConditionFalse, "Waits"},
		{[]contribution{dark, stuck}, metav1.ConditionFalse, "Stuck"},
	} {
		name := "nothing"
		for _, c := range tt.in {
			name += " " + c.name
		}
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var s Summary
			for _, c := range tt.in {
				c.to(&s)
			}
			obj := &v1alpha3.KubeProvider{}
			s.Apply(obj)
			ready := conditions.Get(obj, meta.ReadyCondition)
			g.Expect(ready.Status).To(Equal(tt.ready))
			g.Expect(ready.Reason).To(Equal(tt.reason))
		})
	}
}

// TestScenario31_TheTrioIsLegal walks every transition between two results of passes.
func TestScenario31_TheTrioIsLegal(t *testing.T) {
	results := []contribution{{"nothing", func(*Summary) {}}, green, waits, dark, stuck}
	for _, before := range results {
		for _, after := range results {
			t.Run(fmt.Sprintf("%s to %s", before.name, after.name), func(t *testing.T) {
				g := NewWithT(t)
				obj := &v1alpha3.KubeProvider{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
				for _, c := range []contribution{before, after} {
					var s Summary
					c.to(&s)
					s.Apply(obj)
					obj.Status.ObservedGeneration = obj.Generation
					g.Expect(kstatus.Legal(t.Context(), obj)).To(Succeed())
				}
				g.Expect(conditions.IsStalled(obj)).To(Equal(after.name == stuck.name))
				g.Expect(conditions.IsReconciling(obj)).To(Equal(after.name == waits.name || after.name == dark.name))
				g.Expect(conditions.IsStalled(obj) && conditions.IsReconciling(obj)).To(BeFalse())
			})
		}
	}
}

func TestPauseOfAPass(t *testing.T) {
	const interval = 5 * time.Minute
	for _, tt := range []struct {
		name string
		pass Pass
		to   []contribution
		in   []time.Duration
		want time.Duration
	}{
		{name: "converged comes back at its interval", want: interval},
		{name: "suspended, too", to: []contribution{green}, want: interval},
		{name: "what progresses comes back soon", to: []contribution{waits}, want: 10 * time.Second},
		{name: "what stalls comes back soon", to: []contribution{stuck}, want: 10 * time.Second},
		{name: "a pass may say when", pass: Pass{RequeueAfter: time.Hour}, to: []contribution{stuck}, want: time.Hour},
		{name: "the shortest wish counts", in: []time.Duration{time.Minute, time.Second, time.Minute}, want: time.Second},
		{name: "a wish never delays", to: []contribution{waits}, in: []time.Duration{time.Minute}, want: 10 * time.Second},
		{name: "a wish that is over is soon", in: []time.Duration{-time.Second}, want: time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, c := range tt.to {
				c.to(&tt.pass.Summary)
			}
			for _, d := range tt.in {
				tt.pass.Within(d)
			}
			NewWithT(t).Expect(tt.pass.Pause(interval)).To(BeNumerically("~", tt.want, tt.want/5))
		})
	}
}

// TestJitterIsForAllPasses: passes of several objects end at the same time (run it with -race).
func TestJitterIsForAllPasses(t *testing.T) {
	options := jitter.IntervalOptions{Percentage: 10}
	NewWithT(t).Expect(options.SetGlobalJitter(Random())).To(Succeed())
	var passes sync.WaitGroup
	var low, high atomic.Bool
	for range 4 {
		passes.Go(func() {
			for range 1000 {
				var p Pass
				switch d := p.Pause(time.Minute); {
				case d < 54*time.Second-time.Millisecond || d > 66*time.Second+time.Millisecond:
					t.Errorf("%s is out of bounds", d)
				case d < time.Minute:
					low.Store(true)
				default:
					high.Store(true)
				}
			}
		})
	}
	passes.Wait()
	NewWithT(t).Expect(low.Load() && high.Load()).To(BeTrue())
}
