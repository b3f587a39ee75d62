// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package pace_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/branch/core/pace"
)

func TestLadderDoublesUpToItsEnd(t *testing.T) {
	g := NewWithT(t)
	var got []time.Duration
	for n := 1; n <= 8; n++ {
		got = append(got, pace.Ladder(n, 10*time.Second, 5*time.Minute)/time.Second)
	}
	g.Expect(got).To(Equal([]time.Duration{10, 20, 40, 80, 160, 300, 300, 300}))
}

func TestJitterStaysInBoundsAndRepeatsForASeed(t *testing.T) {
	g := NewWithT(t)
	a := pace.Jitter{Seed: 3, Min: 200 * time.Millisecond, Max: 2 * time.Second}
	b, c := a, a
	c.Seed = 4
	different := false
	for range 1000 {
		d := a.Next()
		g.Expect(d).To(And(BeNumerically(">=", a.Min), BeNumerically("<", a.Max)))
		g.Expect(b.Next()).To(Equal(d))
		different = different || c.Next() != d
	}
	g.Expect(different).To(BeTrue())
}

func TestSoonestIgnoresWhatIsNotSet(t *testing.T) {
	g := NewWithT(t)
	var s pace.Soonest
	s.Add(time.Time{})
	g.Expect(s.At).To(BeZero())
	early, late := time.Unix(1, 0), time.Unix(2, 0)
	s.Add(late)
	s.Add(early)
	s.Add(late)
	g.Expect(s.At).To(Equal(early))
}

func TestDue(t *testing.T) {
	g := NewWithT(t)
	now := time.Unix(10, 0)
	g.Expect(pace.Due(time.Time{}, now)).To(BeFalse())
	g.Expect(pace.Due(now, now)).To(BeTrue())
	g.Expect(pace.Due(now.Add(1), now)).To(BeFalse())
}
