// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package pace_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/branch/core/pace"
)

func schedule() *pace.Schedule {
	return &pace.Schedule{
		RetryMin: 10 * time.Second, RetryMax: 5 * time.Minute, Cooldown: 5 * time.Second, Cycle: 5 * time.Minute,
		Jitter: pace.Jitter{Min: 200 * time.Millisecond, Max: 2 * time.Second},
	}
}

var noon = time.Unix(43200, 0)

func TestScheduleFailuresClimbTheLadder(t *testing.T) {
	g := NewWithT(t)
	s := schedule()
	g.Expect(s.MayDial(noon)).To(BeTrue())
	g.Expect(s.Fail(noon, 0)).To(Equal(noon.Add(10 * time.Second)))
	g.Expect(s.Fail(noon, time.Hour)).To(Equal(noon.Add(time.Hour)), "the host's own wish")
	g.Expect(s.Backing(noon)).To(BeTrue())
	g.Expect(s.Wake(noon)).To(Equal(noon.Add(time.Hour)))
	s.Revive()
	g.Expect(s.MayDial(noon)).To(BeTrue())
	g.Expect(s.Fail(noon, 0)).To(Equal(noon.Add(40*time.Second)), "a revived branch has not succeeded yet")
	s.Succeed(noon)
	g.Expect(s.Fail(noon, 0)).To(Equal(noon.Add(10 * time.Second)))
}

func TestScheduleCooldownConcernsNewCyclesOnly(t *testing.T) {
	g := NewWithT(t)
	s := schedule()
	g.Expect(s.Cooling(noon)).To(BeFalse(), "the first push is immediate")
	s.Succeed(noon)
	g.Expect(s.Cooling(noon.Add(4 * time.Second))).To(BeTrue())
	g.Expect(s.Cooling(noon.Add(5 * time.Second))).To(BeFalse())
	s.Begin(noon.Add(time.Second))
	g.Expect(s.Cooling(noon.Add(2*time.Second))).To(BeFalse(), "a cycle that runs goes on")
}

func TestScheduleContention(t *testing.T) {
	g := NewWithT(t)
	s := schedule()
	s.Begin(noon)
	for range 2 {
		s.Push()
		g.Expect(s.Lost(noon, false)).To(Equal(pace.AtOnce))
	}
	s.Push()
	g.Expect(s.Lost(noon, true)).To(Equal(pace.TooLong), "there is no time for a pause")
	g.Expect(s.Lost(noon, false)).To(Equal(pace.AfterAPause))
	g.Expect(s.Pausing(noon)).To(BeTrue())
	g.Expect(s.Wake(noon).Sub(noon)).To(And(BeNumerically(">=", 200*time.Millisecond), BeNumerically("<", 2*time.Second)))
	g.Expect(s.Lost(noon.Add(5*time.Minute), false)).To(Equal(pace.TooLong))
	s.Hurry()
	g.Expect(s.MayDial(noon)).To(BeTrue())
}
