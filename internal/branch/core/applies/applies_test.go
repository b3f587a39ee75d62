// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package applies_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/branch/core/applies"
)

// TestApplyU29: writes after the mark do not delay the send.
func TestApplyU29_OnlyWritesUpToTheMarkDelayAnApply(t *testing.T) {
	g := NewWithT(t)
	var s applies.Set
	s.Want(applies.Due{Applier: "flux", Attempt: "1", Mark: 5})
	g.Expect(s.Waiting(4)).To(BeTrue())
	g.Expect(s.Take(4)).To(BeEmpty())
	g.Expect(s.Waiting(6)).To(BeFalse())
	g.Expect(s.Take(6)).To(ConsistOf(applies.Due{Applier: "flux", Attempt: "1", Mark: 5}))
	g.Expect(s.Take(6)).To(BeEmpty(), "handed over once")
}

// TestApplyU25: the epoch moves at the send and at the end, and not for an attempt that was never sent.
func TestApplyU25_EpochMovesAtSendAndEnd(t *testing.T) {
	g := NewWithT(t)
	var s applies.Set
	g.Expect(s.Ended("flux")).To(BeFalse())
	epoch, ahead := s.State("flux")
	g.Expect(epoch).To(BeZero())
	g.Expect(ahead).To(BeFalse())
	s.Sent("flux")
	epoch, ahead = s.State("flux")
	g.Expect(epoch).To(BeEquivalentTo(1))
	g.Expect(ahead).To(BeTrue())
	s.Want(applies.Due{Applier: "flux", Attempt: "2"})
	g.Expect(s.Take(0)).To(BeEmpty(), "one attempt is out at a time")
	g.Expect(s.Ended("flux")).To(BeTrue())
	epoch, ahead = s.State("flux")
	g.Expect(epoch).To(BeEquivalentTo(2))
	g.Expect(ahead).To(BeFalse())
	g.Expect(s.Take(0)).To(HaveLen(1))
}
