// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
)

func gated(c *core.TargetConfig) { c.RenderGate = true }

// verify snapshots both cells with a verdict.
func (b *bed) verify(k change.TargetKey, v core.GateVerdict, cells ...change.Cell) {
	b.t.Helper()
	b.plan = func(w core.Write) core.Written {
		in := core.Written{Outcome: core.WriteNothing, Decision: "d"}
		switch w.Work.Kind {
		case core.KindWindow:
			in.Outcome, in.Commit = core.WriteCommitted, b.id()
		case core.KindResync:
			in.Gate, in.GateText = v, "spec.region: ${REGION}"
		}
		return in
	}
	for _, c := range cells {
		b.snap(k, c)
		b.run()
	}
	b.plan = nil
}

func drops(b *bed) map[string]int {
	out := map[string]int{}
	for _, o := range b.observed(core.ObservedDrop) {
		out[o.Reason] += o.Count
	}
	return out
}

func TestScenario58_PendingGateHoldsEditsWithTheirAuthors(t *testing.T) {
	b := newBed(t)
	k := b.target("a", gated)
	b.Expect(b.ts(k).Gate).To(Equal(core.GatePending))
	b.edit(k, alice, "x", "1")
	b.edit(k, bob, "y", "1")
	b.edit(k, bob, "z", "1")
	b.wait(8 * time.Second)
	b.idle()
	b.Expect(b.ts(k).Held).To(Equal(3))
	b.verify(k, core.GateClean, deploy)
	b.Expect(b.ts(k).Gate).To(Equal(core.GatePending), "a cell has not reported yet")
	b.verify(k, core.GateClean, cm)
	b.Expect(b.ts(k).Gate).To(Equal(core.GateOpen))
	b.Expect(b.ts(k).Held).To(BeZero())
	b.clear()
	b.wait(10 * time.Second)
	b.run()
	b.Expect(all[core.Write](b)).To(BeEmpty(), "the snapshot of their cell superseded them")
	b.Expect(drops(b)).To(BeEmpty())
}

func TestScenario58_HeldEditsOfAnotherCellAreCommittedInOrder(t *testing.T) {
	b := newBed(t)
	k := b.target("a", gated)
	b.verify(k, core.GateClean, cm)
	b.edit(k, alice, "x", "1")
	b.edit(k, bob, "x", "2")
	b.idle()
	b.Expect(b.ts(k).Held).To(Equal(2))
	b.verify(k, core.GateClean, deploy)
	b.wait(5 * time.Second)
	b.run()
	var by []change.Author
	for _, w := range all[core.Write](b) {
		if w.Work.Kind == core.KindWindow {
			by = append(by, w.Work.Author)
		}
	}
	b.Expect(by).To(Equal([]change.Author{alice, bob}))
	b.Expect(b.observed(core.ObservedCommit)).To(HaveLen(2), "both are published")
}

func TestHeldDeleteOfAnAbsentObjectSurvivesTheSnapshot(t *testing.T) {
	b := newBed(t)
	k := b.target("a", gated)
	b.verify(k, core.GateClean, deploy)
	b.edit(k, alice, "gone", "")
	b.edit(k, alice, "x", "1")
	b.verify(k, core.GateClean, cm)
	b.wait(5 * time.Second)
	b.Expect(names(outstanding[core.Write](b))).To(Equal([]string{"gone="}))
}

func TestDivergentGateDropsAndCounts(t *testing.T) {
	b := newBed(t)
	k := b.target("a", gated)
	b.edit(k, alice, "held", "1")
	b.verify(k, core.GateDiverges, deploy)
	b.Expect(b.ts(k)).To(And(HaveField("Gate", core.GateDivergent), HaveField("GateText", "spec.region: ${REGION}")))
	b.edit(k, alice, "x", "1")
	b.ticket++
	b.do(core.Offered{Ticket: b.ticket, Atomic: []change.Change{b.change(k, alice, cm, "z", "1")}})
	b.Expect(drops(b)).To(Equal(map[string]int{"divergent": 3}))
	b.verify(k, core.GateClean, cm)
	b.Expect(b.ts(k).Gate).To(Equal(core.GateDivergent), "sticky: another cell proves nothing")
	b.clear()
	b.edit(k, alice, "lost meanwhile", "1")
	b.verify(k, core.GateClean, deploy)
	b.Expect(b.ts(k).Gate).To(Equal(core.GateOpen), "its own cell was measured clean")
	b.Expect(all[core.Request](b)).To(ContainElement(core.Request{Target: k, Cell: cm, Why: core.RequestGate}),
		"what was dropped comes back with a snapshot")
}

func TestDivergentFolderIsMeasuredAgainAfterAForeignCommit(t *testing.T) {
	b := newBed(t)
	k := b.target("a", gated)
	b.verify(k, core.GateDiverges, deploy)
	b.clear()
	b.wait(time.Minute)
	b.remote.Tip = b.id()
	b.do(core.Hint{Source: core.HintPush, Tip: b.remote.Tip})
	b.run()
	b.Expect(all[core.Request](b)).To(ConsistOf(core.Request{Target: k, Cell: deploy, Why: core.RequestGate}))
}

func TestLiveWriteMayReportDivergence(t *testing.T) {
	b := newBed(t)
	k := b.target("a", gated)
	b.verify(k, core.GateClean, cm, deploy)
	b.wait(10 * time.Second)
	b.edit(k, alice, "x", "1")
	b.wait(5 * time.Second)
	b.answer(core.Written{Outcome: core.WriteCommitted,
		Commit: b.id(), Decision: "d", Gate: core.GateDiverges, GateText: "x"})
	b.Expect(b.ts(k).Gate).To(Equal(core.GateDivergent))
	b.Expect(outstanding[core.Push](b).Count).To(Equal(1), "what is decided is published")
}

func TestNewEpochStartsTheGateOver(t *testing.T) {
	b := newBed(t)
	k := b.target("a", gated)
	b.verify(k, core.GateClean, cm, deploy)
	b.clear()
	b.do(core.CellsDeclared{Target: k, Epoch: 2, Cells: []change.Cell{cm}})
	b.Expect(b.ts(k).Gate).To(Equal(core.GatePending))
	b.Expect(all[core.Request](b)).To(
		ConsistOf(core.Request{Target: k, Cell: cm, Why: core.RequestGate}), "a running stream has no reason of its own")
	b.verify(k, core.GateClean, cm) // still stamped with epoch 1
	b.Expect(b.ts(k).Gate).To(Equal(core.GatePending), "results of an old epoch are ignored")
	b.do(core.CellsDeclared{Target: k, Epoch: 3})
	b.Expect(b.ts(k).Gate).To(Equal(core.GateOpen), "no cells")
	b.Expect(b.offer(k, alice, cm, "x", "1")).To(Equal(change.UnknownTarget))
}

// TestEpochThatFollowsAnotherAtOnce: a snapshot that was asked for in between proves nothing, so it is asked for again.
func TestEpochThatFollowsAnotherAtOnce(t *testing.T) {
	b := newBed(t)
	k := b.target("a", gated)
	b.verify(k, core.GateClean, cm, deploy)
	b.clear()
	b.do(core.CellsDeclared{Target: k, Epoch: 2, Cells: []change.Cell{cm}})
	b.do(core.CellsDeclared{Target: k, Epoch: 3, Cells: []change.Cell{cm}})
	want := core.Request{Target: k, Cell: cm, Why: core.RequestGate}
	b.Expect(all[core.Request](b)).To(ConsistOf(want), "one is on its way")
	b.clear()
	b.ticket++
	b.do(core.Snapped{Ticket: b.ticket, Snapshot: change.Snapshot{Target: k, Cell: cm}, Stamp: core.Stamp{Epoch: 2}})
	b.Expect(all[core.Request](b)).To(ConsistOf(want), "it began before the present epoch")
	b.run()
	b.Expect(b.ts(k).Gate).To(Equal(core.GatePending))
	b.clear()
	b.ticket++
	b.do(core.Snapped{Ticket: b.ticket, Snapshot: change.Snapshot{Target: k, Cell: cm}, Stamp: core.Stamp{Epoch: 3}})
	b.plan = func(core.Write) core.Written {
		return core.Written{Outcome: core.WriteNothing, Decision: "d", Gate: core.GateClean}
	}
	b.run()
	b.Expect(b.ts(k).Gate).To(Equal(core.GateOpen))
	b.Expect(all[core.Request](b)).To(BeEmpty())
}

// TestGateDoesNotWaitForBlockedCells: a type nobody may read would else hold back every change of the others.
func TestGateDoesNotWaitForBlockedCells(t *testing.T) {
	b := newBed(t)
	k := b.target("a", gated)
	b.verify(k, core.GateClean, cm)
	b.edit(k, alice, "x", "1")
	b.Expect(b.ts(k).Gate).To(Equal(core.GatePending))
	b.do(core.CellsDeclared{Target: k, Epoch: 1, Cells: []change.Cell{cm, deploy}, Blocked: []change.Cell{deploy}})
	b.Expect(b.ts(k).Gate).To(Equal(core.GateOpen))
	b.Expect(b.ts(k).Held).To(BeZero())
	b.wait(5 * time.Second)
	committed, _ := b.committed()
	b.Expect(committed.Work.Author).To(Equal(alice))
	b.accepted()
	b.do(core.CellsDeclared{Target: k, Epoch: 1, Cells: []change.Cell{cm, deploy}})
	b.Expect(b.ts(k).Gate).To(Equal(core.GatePending), "it can be read again and has not been compared")
	b.verify(k, core.GateDiverges, deploy)
	b.do(core.CellsDeclared{Target: k, Epoch: 1, Cells: []change.Cell{cm, deploy}, Blocked: []change.Cell{deploy}})
	b.Expect(b.ts(k).Gate).To(Equal(core.GateDivergent), "what was found stays found")
}

func TestHoldGivesUpAfterTenMinutes(t *testing.T) {
	b := newBed(t)
	k := b.target("a", gated)
	b.edit(k, alice, "x", "1")
	b.edit(k, alice, "y", "1")
	b.wait(10*time.Minute - time.Second)
	b.Expect(drops(b)).To(BeEmpty())
	b.wait(time.Second)
	b.Expect(drops(b)).To(Equal(map[string]int{"hold_expired": 2}))
	b.Expect(all[core.Request](b)).To(ConsistOf(core.Request{Target: k, Cell: cm, Why: core.RequestHold}))
}

func TestHoldGivesUpPastTheBudget(t *testing.T) {
	b := newBed(t, func(c *core.Config) { c.BufferMax = 4096 })
	k := b.target("a", gated)
	for i := range 4 {
		b.edit(k, alice, fmt.Sprint("o", i), "1")
	}
	b.Expect(drops(b)).To(Equal(map[string]int{"hold_budget": 4}))
	b.Expect(all[core.Request](b)).To(ConsistOf(core.Request{Target: k, Cell: cm, Why: core.RequestHold}))
	b.Expect(b.status().Bytes).To(BeZero())
}

func TestDecision74_RecoveredChangesPassThePendingGate(t *testing.T) {
	b := newBed(t)
	k := b.target("a", gated)
	for i, a := range []change.Author{alice, alice, bob} {
		b.ticket++
		in := core.Offered{Ticket: b.ticket, Change: b.change(k, a, cm, fmt.Sprint("o", i), "1"), Recovered: true}
		b.Expect(b.verdict(b.do(in))).To(Equal(change.Accepted))
	}
	b.snap(k, cm, item(cm, "o1", "1", 9))
	b.fetched()
	first, _ := b.committed()
	second, _ := b.committed()
	b.Expect(names(first)).To(Equal([]string{"o0=1", "o1=1"}), "no snapshot supersedes them")
	b.Expect(first.Work.Recovered).To(BeTrue())
	b.Expect(second.Work.Author).To(Equal(bob))
	third, _ := b.committed()
	b.Expect(third.Work.Kind).To(Equal(core.KindResync))
}

func TestWindowThatTheGateOvertookGoesBackIntoTheHold(t *testing.T) {
	b := newBed(t)
	k := b.target("a", gated)
	b.verify(k, core.GateClean, cm, deploy)
	b.wait(10 * time.Second)
	b.edit(k, alice, "x", "1")
	b.save(k, "s", func(s *core.Save) { s.MaxDuration = 5 * time.Second })
	b.do(core.CellsDeclared{Target: k, Epoch: 2, Cells: []change.Cell{cm, deploy}})
	b.edit(k, bob, "x", "2")
	b.wait(5 * time.Second)
	b.idle()
	b.Expect(b.final("s")).To(
		And(HaveField("State", core.SaveFailed), HaveField("Text", ContainSubstring("not established"))))
	b.Expect(b.ts(k).Held).To(Equal(2))
	for _, c := range []change.Cell{deploy} {
		b.ticket++
		b.do(core.Snapped{Ticket: b.ticket, Snapshot: change.Snapshot{Target: k, Cell: c}, Stamp: core.Stamp{Epoch: 2}})
		b.looked()
		b.answer(core.Written{Outcome: core.WriteNothing, Decision: "d", Gate: core.GateClean})
	}
	b.do(core.CellsDeclared{Target: k, Epoch: 2, Cells: []change.Cell{deploy}})
	b.wait(5 * time.Second)
	first, _ := b.committed()
	second, _ := b.committed()
	b.Expect([]string{first.Work.Author.Username, second.Work.Author.Username}).To(
		Equal([]string{"alice", "bob"}), "in order, with their authors")
}
