// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cursor_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/branch/core/cursor"
)

// stream is a line with its receipts by name, and where the cursor stands.
type stream struct {
	line cursor.Line[string]
	set  cursor.Set[string]
	at   string
}

func (s *stream) take(version string, snapshot bool) *cursor.Receipt[string] {
	r := cursor.Open[string]()
	s.line.Track(version, r, snapshot)
	return r
}

func (s *stream) close(lost bool, rs ...*cursor.Receipt[string]) {
	s.set.Close(rs, lost)
	s.set.Flush(func(_, v string) { s.at = v })
}

func TestDecision29_CursorFollowsOnlyThePublishedPrefix(t *testing.T) {
	g := NewWithT(t)
	var s stream
	a, b, c := s.take("1", false), s.take("2", false), s.take("3", false)
	s.close(false, c)
	g.Expect(s.at).To(BeEmpty(), "the third is done, the first is not")
	s.close(false, a)
	g.Expect(s.at).To(Equal("1"))
	s.close(false, b)
	g.Expect(s.at).To(Equal("3"))
}

func TestDecision29_OneReceiptForManyEvents(t *testing.T) {
	g := NewWithT(t)
	var s stream
	r := s.take("1", false)
	s.line.Track("2", r, false)
	s.line.Track("", r, false)
	s.close(false, r)
	g.Expect(s.at).To(Equal("2"))
}

func TestLostItemHoldsTheCursorUntilASnapshot(t *testing.T) {
	g := NewWithT(t)
	var s stream
	lost, later := s.take("1", false), s.take("2", false)
	s.close(true, lost)
	s.close(false, later)
	g.Expect(s.at).To(BeEmpty())
	g.Expect(s.line.Lost).To(BeTrue())
	snap := s.take("5", true)
	s.close(false, snap)
	g.Expect(s.at).To(Equal("5"))
}

func TestSnapshotStandsForNothingBehindAnOpenItem(t *testing.T) {
	g := NewWithT(t)
	var s stream
	lost, open, snap := s.take("1", false), s.take("2", false), s.take("3", true)
	s.close(true, lost)
	s.close(false, snap)
	g.Expect(s.at).To(BeEmpty(), "the snapshot may need no write only because of the open one")
	s.close(false, open)
	g.Expect(s.at).To(Equal("3"))
}

func TestSnapshotPlannedBeforeALossDoesNotCoverIt(t *testing.T) {
	g := NewWithT(t)
	var s stream
	a, snap := s.take("1", false), s.take("2", true)
	snap.Planned()
	s.close(true, a)
	s.close(false, snap)
	g.Expect(s.at).To(BeEmpty())
	next := s.take("4", true)
	next.Planned()
	s.close(false, next)
	g.Expect(s.at).To(Equal("4"))
}

func TestSplitReceiptNeedsEveryPart(t *testing.T) {
	g := NewWithT(t)
	var s stream
	r := s.take("7", false)
	r.Split(2)
	s.close(false, r)
	s.close(false, r)
	g.Expect(s.at).To(BeEmpty())
	s.close(false, r)
	g.Expect(s.at).To(Equal("7"))
}

func TestRefusedObjectHoldsItsOwnStreamOnly(t *testing.T) {
	g := NewWithT(t)
	var s stream
	var other cursor.Line[string]
	other.Owner = "other"
	before, r := s.take("1", false), s.take("2", false)
	other.Track("3", r, false)
	s.set.Refuse(&s.line, []*cursor.Receipt[string]{r})
	s.set.Close([]*cursor.Receipt[string]{before, r}, false)
	moved := map[string]string{}
	s.set.Flush(func(owner, v string) { moved[owner] = v })
	g.Expect(moved).To(Equal(map[string]string{"": "1", "other": "3"}))
	snap := s.take("5", true)
	s.close(false, snap)
	g.Expect(s.at).To(Equal("5"))
}

func TestSupersededItemIsCoveredByTheSnapshot(t *testing.T) {
	g := NewWithT(t)
	var s stream
	held := s.take("2", false)
	s.set.Supersede([]*cursor.Receipt[string]{held})
	s.close(false)
	g.Expect(s.at).To(BeEmpty())
	snap := s.take("3", true)
	s.close(false, snap)
	g.Expect(s.at).To(Equal("3"))
}

func TestSettledItemsBehindAnOpenOneAreFolded(t *testing.T) {
	g := NewWithT(t)
	var s stream
	first := s.take("0", false)
	for range 10000 {
		r := s.take("1", false)
		s.close(false, r)
	}
	g.Expect(cursor.Length(&s.line)).To(Equal(2))
	s.close(false, first)
	g.Expect(s.at).To(Equal("1"))
	g.Expect(cursor.Length(&s.line)).To(BeZero())
}
