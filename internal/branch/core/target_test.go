// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
)

func (b *bed) configure(k change.TargetKey, f func(*core.TargetConfig)) {
	b.t.Helper()
	c := config()
	f(&c)
	b.do(core.TargetSet{Target: k, Config: c})
}

func TestScenario62_ReplayOfASnapshotCarriesItsDecisionAndNoItems(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.snap(k, cm, item(cm, "x", "1", 1))
	b.fetched()
	first, _ := b.committed()
	b.Expect(first.Work.Snapshot.Items).To(HaveLen(1))
	b.moved()
	b.fetched()
	replay, _ := b.committed()
	b.Expect(replay.Decision).To(Equal("decision 1"), "membership is used once: a document added meanwhile survives")
	b.Expect(replay.Work.Snapshot.Items).To(BeEmpty())
	b.Expect(replay.Work.Snapshot.Cell).To(Equal(cm))
}

func TestScenario63_PruneTightenedBeforeTheRetry(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "")
	b.wait(5 * time.Second)
	w, old := b.committed()
	b.Expect(w.Prune).To(Equal(core.PruneAlways))
	b.pushed(core.Pushed{Outcome: core.PushFailed, Text: "connection refused"})
	b.configure(k, func(c *core.TargetConfig) { c.Prune = core.PruneNever })
	again := outstanding[core.Write](b)
	b.Expect(again.Prune).To(Equal(core.PruneNever))
	b.Expect(again.Decision).To(Equal("decision 2"))
	b.Expect(again.Onto).To(Equal(b.remote.Tip), "the local commit with the delete is given up")
	b.nothing()
	b.wait(time.Minute)
	for _, p := range all[core.Push](b)[1:] {
		b.Expect(p.Tip).NotTo(Equal(old))
	}
	b.Expect(b.status()).To(And(HaveField("Retained", 0), HaveField("Failing", BeNil())))
}

func TestPruneTightenedDuringAPlan(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "")
	b.wait(5 * time.Second)
	outstanding[core.Write](b)
	b.configure(k, func(c *core.TargetConfig) { c.Prune = core.PruneNever })
	b.committed()
	again := outstanding[core.Write](b)
	b.Expect(again.Prune).To(Equal(core.PruneNever))
	b.Expect(again.Decision).NotTo(BeNil())
}

func TestPruneNeverWidensAnOldDecision(t *testing.T) {
	b := newBed(t)
	k := b.target("a", func(c *core.TargetConfig) { c.Prune = core.PruneOnEvent })
	b.warm(k)
	b.clear()
	b.commitOne(k, "x", "1")
	b.configure(k, func(c *core.TargetConfig) { c.Prune = core.PruneAlways })
	b.Expect(all[core.Request](b)).To(HaveLen(2), "Always lists the cells again")
	b.moved()
	b.fetched()
	b.Expect(outstanding[core.Write](b).Prune).To(Equal(core.PruneOnEvent))
}

func TestUnknownPruneModeRetainsEverything(t *testing.T) {
	g := NewWithT(t)
	g.Expect(core.Tightest("Sometimes", core.PruneAlways)).To(Equal(core.PruneMode("Sometimes")))
	g.Expect(core.Tightest(core.PruneAlways, "")).To(Equal(core.PruneMode("")))
	g.Expect(core.Tightest(core.PruneOnEvent, core.PruneNever)).To(Equal(core.PruneNever))
}

func TestScenario64_SnapshotOfASuspendedTargetIsPreviewed(t *testing.T) {
	b := newBed(t)
	k := b.target("a", func(c *core.TargetConfig) { c.Suspended = true })
	ticket := b.snap(k, cm, item(cm, "x", "1", 1))
	b.fetched()
	w := outstanding[core.Write](b)
	b.Expect(w.Dry).To(BeTrue())
	b.answer(core.Written{Outcome: core.WriteNothing, Counts: core.Counts{Created: 3, Deleted: 1}, Report: "names"})
	b.Expect(all[core.Settle](b)).To(ConsistOf(core.Settle{Ticket: ticket, Outcome: change.Settled}))
	b.idle()
	b.Expect(all[core.Push](b)).To(BeEmpty())
	s := b.ts(k)
	b.Expect(s.Preview).To(ConsistOf(And(
		HaveField("Cell", cm), HaveField("Counts", core.Counts{Created: 3, Deleted: 1}), HaveField("Report", "names"))))
	b.Expect(s.Retention).To(BeEmpty())
	b.Expect(b.status().Retained).To(BeZero())
	b.Expect(all[core.Advance](b)).To(BeEmpty(), "nothing of it is in Git")
	b.clear()
	b.edit(k, alice, "x", "2")
	b.Expect(drops(b)).To(Equal(map[string]int{"suspended": 1}))
	b.wait(time.Hour)
	b.Expect(all[core.Write](b)).To(BeEmpty())
	b.clear()
	b.configure(k, func(*core.TargetConfig) {})
	b.Expect(all[core.Request](b)).To(HaveLen(2), "resume starts a fresh snapshot of every collection")
	b.Expect(b.ts(k).Preview).To(BeEmpty())
}

func TestSuspendIsAValveNotAnUndo(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.commitOne(k, "x", "1") // decided: pushed
	b.edit(k, alice, "y", "1")
	b.save(k, "attached", func(s *core.Save) { s.MaxDuration = 3 * time.Second })
	b.save(k, "waiting", func(s *core.Save) { s.AttachTimeout = time.Minute })
	b.configure(k, func(c *core.TargetConfig) { c.Suspended = true })
	b.Expect(b.final("waiting")).To(
		And(HaveField("State", core.SaveFailed), HaveField("Text", ContainSubstring("suspended"))))
	b.accepted()
	b.wait(5 * time.Second)
	b.idle()
	b.Expect(b.final("attached")).To(
		And(HaveField("State", core.SaveFailed), HaveField("Text", ContainSubstring("suspended"))))
	b.Expect(drops(b)).To(Equal(map[string]int{"suspended": 1}))
	b.Expect(b.save(k, "new")[0].State).To(Equal(core.SaveFailed))
	b.Expect(b.ts(k).Suspended).To(BeTrue())
}

// TestSuspendDuringTheCooldown: what waits for the push cooldown is decided, and goes out.
func TestSuspendDuringTheCooldown(t *testing.T) {
	now := func(c *core.TargetConfig) { c.IdleTimeout = 0 }
	b := newBed(t)
	k := b.target("a", now)
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.committed()
	b.accepted()
	b.edit(k, alice, "y", "1")
	_, id := b.committed()
	b.idle() // the cooldown
	b.configure(k, func(c *core.TargetConfig) { now(c); c.Suspended = true })
	b.edit(k, alice, "z", "1")
	b.wait(5 * time.Second)
	b.Expect(b.accepted()).To(And(HaveField("Tip", id), HaveField("Count", 1)))
	b.wait(time.Hour)
	b.idle()
	b.Expect(drops(b)).To(Equal(map[string]int{"suspended": 1}))
}

func TestDecision61_SuspendedProviderMakesNoRequestAndCounts(t *testing.T) {
	b := newBed(t)
	k, other := b.target("a"), b.target("b")
	b.warm(k)
	b.configure(k, func(c *core.TargetConfig) { c.ProviderSuspended = true })
	b.edit(other, alice, "x", "1")
	b.edit(k, alice, "x", "1")
	b.do(core.Hint{Source: core.HintPush})
	b.wait(time.Hour)
	b.idle()
	b.Expect(b.status().ProviderSuspended).To(BeTrue())
	b.Expect([]int{b.ts(k).Waiting, b.ts(other).Waiting}).To(Equal([]int{1, 1}))
	b.configure(k, func(*core.TargetConfig) {})
	b.run()
	b.Expect(b.status().Retained).To(BeZero())
}

func TestDecision62_RefusedFolderIsRecheckedByOneLook(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.snap(k, cm)
	b.fetched()
	b.refused("foreign-file: foo.tgz")
	b.Expect(b.ts(k).Refusal).To(And(HaveField("Text", "foreign-file: foo.tgz"), HaveField("FromRead", false)))
	b.Expect(all[core.Settle](b)).To(ConsistOf(HaveField("Outcome", change.RefusedOutcome)))
	b.clear()
	for range 6 {
		b.wait(10 * time.Second)
		b.looked()
	}
	b.Expect(requests(b)).To(HaveLen(6))
	b.Expect(all[core.Request](b)).To(BeEmpty(), "no snapshot while nothing changed")
	b.remote.Tip = b.id()
	b.wait(10 * time.Second)
	b.looked()
	b.fetched()
	b.refused("foreign-file: foo.tgz")
	b.Expect(all[core.Request](b)).To(BeEmpty(), "still refused")
	b.remote.Tip = b.id()
	b.wait(10 * time.Second)
	b.looked()
	b.fetched()
	b.answer(core.Written{Outcome: core.WriteNothing})
	b.Expect(all[core.Request](b)).To(HaveLen(2), "the folder became clean")
	b.Expect(b.ts(k).Refusal).NotTo(BeNil(), "an accepted snapshot clears it")
	b.wait(time.Second)
	b.snap(k, cm)
	b.looked()
	b.nothing()
	b.Expect(b.ts(k).Refusal).To(BeNil())
	b.wait(time.Hour)
	b.idle()
}

func TestScenario19_LiveWriteNeverClearsARefusal(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "cannot be written")
	b.wait(5 * time.Second)
	b.refused("unplaceable-edit")
	b.commitOne(k, "y", "1")
	b.accepted()
	b.Expect(b.ts(k).Refusal).NotTo(BeNil())
	b.Expect(all[core.Request](b)).To(BeEmpty())
	b.wait(4 * time.Second)
	b.edit(k, alice, "x", "can")
	b.wait(5 * time.Second)
	b.committed()
	b.Expect(all[core.Request](b)).To(ConsistOf(core.Request{Target: k, Cell: cm, Why: core.RequestHealed}),
		"the refused object changed: a snapshot may clear it")
	b.accepted()
	b.Expect(b.ts(k).Refusal).NotTo(BeNil(), "no live write clears it")
	b.wait(10 * time.Second)
	b.run()
	b.Expect(b.ts(k).Refusal).NotTo(BeNil())
	b.snap(k, cm, item(cm, "x", "can", 99))
	b.run()
	b.Expect(b.ts(k).Refusal).To(BeNil(), "an accepted snapshot does")
}

func TestScenario20_ForeignPushBreaksTheFolderWithoutAWrite(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.wait(time.Minute)
	b.remote.Tip = b.id()
	b.do(core.Hint{Source: core.HintPush, Tip: b.remote.Tip})
	b.looked()
	b.fetched()
	b.refused("impure-managed-file")
	b.Expect(b.ts(k).Refusal).To(And(HaveField("FromRead", true), HaveField("Text", "impure-managed-file")))
	for _, w := range all[core.Write](b) {
		b.Expect(w.Dry).To(BeTrue(), "the folder is read, nothing is written")
	}
	b.remote.Tip = b.id()
	b.wait(10 * time.Second)
	b.looked()
	b.fetched()
	b.answer(core.Written{Outcome: core.WriteNothing})
	b.Expect(b.ts(k).Refusal).To(BeNil(), "a clean read clears what a read found")
}

func TestChangedRevisionAsksForWhatWasLost(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.wait(5 * time.Second)
	b.answer(core.Written{Outcome: core.WriteFailed,
		Err: &core.Failure{Reason: core.ReasonWriteFailed, Text: "wrong passphrase"}})
	b.configure(k, func(c *core.TargetConfig) { c.Revision = "new passphrase" })
	b.Expect(all[core.Request](b)).To(ConsistOf(core.Request{Target: k, Cell: cm, Why: core.RequestConfigured}))
}

func TestChangedRevisionEndsTheBackoff(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.commitOne(k, "x", "1")
	b.pushed(core.Pushed{Outcome: core.PushFailed, Reason: core.ReasonAuthenticationFailed, Text: "401"})
	b.Expect(b.status().Failing.Reason.Stalled()).To(BeTrue())
	b.configure(k, func(c *core.TargetConfig) { c.Revision = "rotated" })
	b.accepted()
	b.Expect(b.status().Failing).To(BeNil())
}

func TestFailingSnapshotsAreAskedForOnALadder(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	var waits []time.Duration
	for range 4 {
		b.snap(k, cm, item(cm, "x", "1", 1))
		if b.op == nil || b.t.Failed() {
			t.Fatal("nothing is planned")
		}
		if _, ok := b.op.(core.Look); ok {
			b.looked()
		}
		b.answer(core.Written{Outcome: core.WriteFailed, Err: &core.Failure{Reason: core.ReasonWriteFailed, Text: "no"}})
		start := b.now
		b.clear()
		for len(all[core.Request](b)) == 0 {
			b.now = b.m.Next()
			b.do(core.Tick{})
		}
		waits = append(waits, b.now.Sub(start)/time.Second)
	}
	b.Expect(waits).To(Equal([]time.Duration{10, 20, 40, 80}))
}

func TestSnapshotOfANarrowedRuleIsDiscarded(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	ticket := b.snap(k, cm)
	b.do(core.CellsDeclared{Target: k, Epoch: 2, Cells: []change.Cell{deploy}})
	b.fetched()
	b.Expect(all[core.Settle](b)).To(ConsistOf(core.Settle{Ticket: ticket, Outcome: change.Discarded}))
	b.Expect(all[core.Write](b)).To(BeEmpty())
}

func TestDecision66_NamespacesAndDefinitionsGoFirst(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	ns := change.Cell{Resource: "namespaces"}
	crds := change.Cell{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
	b.do(core.CellsDeclared{Target: k, Epoch: 1, Cells: []change.Cell{cm, deploy, ns, crds}})
	b.edit(k, alice, "x", "1")
	for _, c := range []change.Cell{cm, deploy, ns, crds} { // the first waits for the window, all for the base
		b.snap(k, c, item(c, "o", "1", 1))
	}
	b.wait(time.Second)
	b.run()
	var order []string
	var seqs []core.Seq
	for _, w := range all[core.Write](b) {
		seqs = append(seqs, w.Seq)
		if w.Work.Kind == core.KindWindow {
			order = append(order, "window")
			continue
		}
		order = append(order, w.Work.Snapshot.Cell.Resource)
	}
	b.Expect(order).To(Equal([]string{"window", "namespaces", "customresourcedefinitions", "configmaps", "deployments"}))
	b.Expect(seqs).To(Equal([]core.Seq{1, 2, 3, 4, 5}))
}

func TestVersionMovesOnlyWithThePicture(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.edit(k, alice, "x", "1")
	v := b.m.Version()
	b.edit(k, alice, "x", "2")
	b.Expect(b.m.Version()).To(Equal(v))
	b.edit(k, bob, "x", "3")
	b.Expect(b.m.Version()).To(BeNumerically(">", v))
	b.Expect(b.status().Version).To(Equal(b.m.Version()))
}

func TestShutdownPublishesOnceIgnoringTheCooldown(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.commitOne(k, "x", "1")
	b.accepted()
	b.edit(k, alice, "y", "1")
	b.do(core.Shutdown{Until: b.now.Add(time.Minute)})
	b.committed()
	b.Expect(outstanding[core.Push](b).Deadline).To(Equal(b.now.Add(time.Minute)))
	b.Expect(b.offer(k, alice, cm, "z", "1")).To(Equal(change.Stopped))
	b.accepted()
	b.Expect(b.status()).To(And(HaveField("Stopped", true), HaveField("Retained", 0)))
	b.Expect(b.m.Next()).To(BeZero())
}

func TestShutdownEndsAtItsDeadline(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	ticket := b.snap(k, cm)
	fetch := outstanding[core.Fetch](b)
	b.do(core.Shutdown{Until: b.now.Add(10 * time.Second)})
	b.wait(10 * time.Second)
	b.Expect(all[core.Abort](b)).To(ConsistOf(core.Abort{Op: fetch.Op}))
	b.Expect(b.status().Stopped).To(BeFalse(), "the lane is not free yet")
	b.fetchFailed(core.Failure{Reason: core.ReasonCancelled})
	b.Expect(b.status().Stopped).To(BeTrue())
	b.Expect(all[core.Settle](b)).To(
		ConsistOf(And(HaveField("Ticket", ticket), HaveField("Outcome", change.FailedOutcome))))
}

func TestShutdownOfAnIdleMachineStopsAtOnce(t *testing.T) {
	b := newBed(t)
	b.target("a")
	b.do(core.Shutdown{Until: b.now.Add(time.Minute)})
	b.Expect(b.status().Stopped).To(BeTrue())
}

func TestDecision29_AdvanceFollowsPublication(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.snap(k, cm, item(cm, "x", "1", 1))
	b.fetched()
	b.committed()
	b.Expect(all[core.Advance](b)).To(BeEmpty(), "merely committed")
	b.edit(k, alice, "x", "2") // version 2
	b.Expect(b.offer(k, bob, deploy, "d", "1")).To(Equal(change.Accepted))
	b.accepted()
	b.Expect(all[core.Advance](b)).To(ConsistOf(core.Advance{Target: k, Cell: cm, RV: "1"}))
	b.clear()
	b.committed()
	b.edit(k, alice, "same as before", "2") // version 4
	b.wait(4 * time.Second)
	b.nothing() // bob's needs no write
	b.Expect(all[core.Advance](b)).To(BeEmpty(), "it sits on a commit that is not published")
	b.wait(time.Second)
	b.nothing() // neither does alice's second
	b.accepted()
	b.Expect(all[core.Advance](b)).To(ConsistOf(
		core.Advance{Target: k, Cell: cm, RV: "4"}, core.Advance{Target: k, Cell: deploy, RV: "3"}))
}

func TestDecision29_RefusedWriteHoldsTheCursorUntilASnapshot(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.wait(5 * time.Second)
	b.refused("no")
	b.commitOne(k, "y", "1")
	b.accepted()
	b.Expect(all[core.Advance](b)).To(BeEmpty())
	b.wait(time.Second)
	b.snap(k, cm, item(cm, "x", "1", 4))
	b.looked()
	b.nothing()
	b.Expect(all[core.Advance](b)).To(ConsistOf(core.Advance{Target: k, Cell: cm, RV: "4"}))
}

func TestNoDifferenceOnALostWriteProvesNothing(t *testing.T) {
	b := newBed(t)
	k, other := b.target("a"), b.target("b")
	b.warm(k)
	b.wait(time.Second)
	b.edit(other, alice, "x", "1")
	b.wait(5 * time.Second)
	b.committed()
	outstanding[core.Push](b)
	b.snap(k, deploy, item(deploy, "x", "1", 3))
	b.moved() // the snapshot is planned on the replayed commit
	b.fetched()
	b.committed()
	b.nothing()
	b.Expect(all[core.Advance](b)).To(BeEmpty())
	b.moved()
	b.fetched()
	b.clear()
	b.refused("not any more")
	b.Expect(all[core.Advance](b)).To(BeEmpty())
	b.Expect(all[core.Request](b)).To(ContainElement(core.Request{Target: k, Cell: deploy, Why: core.RequestLost}))
}

func TestPlanThatTheResumeOvertookIsShownAsNeither(t *testing.T) {
	b := newBed(t)
	k := b.target("a", func(c *core.TargetConfig) { c.Suspended = true })
	b.snap(k, cm)
	b.fetched()
	b.configure(k, func(c *core.TargetConfig) { c.Suspended = false })
	b.answer(core.Written{Outcome: core.WriteNothing, Counts: core.Counts{Created: 1}})
	b.Expect(b.ts(k).Preview).To(BeEmpty(), "the target is not suspended any more")
	b.wait(time.Second)
	b.snap(k, cm)
	b.looked()
	b.configure(k, func(c *core.TargetConfig) { c.Suspended = true })
	b.nothing()
	b.Expect(b.ts(k).Retention).To(BeEmpty(), "retention is not shown while suspended")
}

// TestRefusalEndsWhenEveryCellItTouchedPassed: the snapshot of another type proves nothing for the refused one.
func TestRefusalEndsWhenEveryCellItTouchedPassed(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.snap(k, cm, item(cm, "x", "1", 1))
	b.snap(k, deploy)
	b.fetched()
	b.refused("unplaceable-edit: x")
	b.nothing()
	b.Expect(b.ts(k).Refusal).To(HaveField("Text", "unplaceable-edit: x"))
	b.wait(time.Second)
	b.snap(k, cm)
	b.looked()
	b.nothing()
	b.Expect(b.ts(k).Refusal).To(BeNil())
}

func TestRefusalShowsWhatIsStillRefused(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.snap(k, cm)
	b.snap(k, deploy)
	b.fetched()
	b.refused("first")
	b.refused("second")
	b.wait(time.Second)
	b.snap(k, deploy)
	b.looked()
	b.nothing()
	b.Expect(b.ts(k).Refusal).To(HaveField("Text", "first"))
}

// TestRefusedSnapshotIsTakenAgainWhenItsObjectChanged: decisions 62, for a refusal the first snapshot found.
func TestRefusedSnapshotIsTakenAgainWhenItsObjectChanged(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	bad := item(cm, "x", "cannot be written", 1)
	b.snap(k, cm, bad)
	b.fetched()
	b.answer(core.Written{
		Outcome: core.WriteRefused, Refusal: &core.Refusal{Reason: "WriteBoundaryRefused", Text: "x"},
		Refused: []change.ObjectID{bad.Object},
	})
	b.clear()
	b.edit(k, alice, "y", "1")
	b.wait(5 * time.Second)
	b.committed()
	b.accepted()
	b.Expect(all[core.Request](b)).To(BeEmpty(), "another object changed")
	b.wait(4 * time.Second)
	b.edit(k, alice, "x", "back to what Git has")
	b.wait(5 * time.Second)
	b.nothing()
	b.Expect(all[core.Request](b)).To(ConsistOf(core.Request{Target: k, Cell: cm, Why: core.RequestHealed}))
}

func TestRefusedCellThatIsNotDeclaredAnyMoreMakesTheFolderBeRead(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.snap(k, cm)
	b.fetched()
	b.refused("unplaceable-edit: x")
	b.do(core.CellsDeclared{Target: k, Epoch: 1, Cells: []change.Cell{deploy}})
	b.Expect(outstanding[core.Write](b).Work.Kind).To(Equal(core.KindTouch))
	b.clear()
	b.answer(core.Written{Outcome: core.WriteNothing})
	b.Expect(all[core.Request](b)).To(ConsistOf(core.Request{Target: k, Cell: deploy, Why: core.RequestHealed}))
	b.wait(time.Second)
	b.snap(k, deploy)
	b.looked()
	b.nothing()
	b.Expect(b.ts(k).Refusal).To(BeNil())
}

// TestFailedWriteIsMadeUpForAlthoughOthersPass: a write of another type must not end the wait for the snapshot that
// brings the lost one back.
func TestFailedWriteIsMadeUpForAlthoughOthersPass(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.wait(5 * time.Second)
	b.answer(core.Written{Outcome: core.WriteFailed, Err: &core.Failure{Reason: core.ReasonWriteFailed, Text: "no key"}})
	b.snap(k, deploy)
	b.looked()
	b.nothing()
	b.Expect(b.ts(k).WriteFailed).To(HaveField("Text", "no key"))
	b.clear()
	b.wait(10 * time.Second)
	b.Expect(all[core.Request](b)).To(ConsistOf(core.Request{Target: k, Cell: cm, Why: core.RequestLost}))
	b.snap(k, cm)
	b.looked()
	b.committed()
	b.Expect(b.ts(k).WriteFailed).To(BeNil())
}

func TestFolderThatCouldNotBeReadIsReadAfterTheNextFetch(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.wait(time.Minute)
	b.remote.Tip = b.id()
	b.do(core.Hint{Source: core.HintPush, Tip: b.remote.Tip})
	b.looked()
	b.fetched()
	b.answer(core.Written{Outcome: core.WriteFailed, Err: &core.Failure{Reason: core.ReasonStore, Text: "corrupt"}})
	b.idle()
	b.wait(10 * time.Second)
	b.fetched()
	b.Expect(outstanding[core.Write](b).Work.Kind).To(Equal(core.KindTouch))
}

// TestSuspensionOfTheProviderIsNoContention: the time in between does not count as time lost to other writers.
func TestSuspensionOfTheProviderIsNoContention(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.commitOne(k, "x", "1")
	for range 3 {
		b.moved()
		b.run3()
	}
	b.configure(k, func(c *core.TargetConfig) { c.ProviderSuspended = true })
	b.moved()
	b.wait(time.Hour)
	b.idle()
	b.configure(k, func(c *core.TargetConfig) { c.ProviderSuspended = false })
	b.run3()
	b.moved()
	b.Expect(b.status().Failing).To(BeNil())
}

// run3 answers the fetch and the replay that follow a lost race, after its pause.
func (b *bed) run3() {
	b.t.Helper()
	b.wait(2 * time.Second)
	b.fetched()
	b.committed()
}

// TestReplayOfAnOlderWriteMakesUpForNothing: what failed came later.
func TestReplayOfAnOlderWriteMakesUpForNothing(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "old")
	b.wait(5 * time.Second)
	b.committed()
	b.edit(k, bob, "x", "new")
	b.edit(k, alice, "y", "1")
	b.moved()
	b.fetched()
	b.committed()
	b.answer(core.Written{Outcome: core.WriteFailed, Err: &core.Failure{Reason: core.ReasonWriteFailed, Text: "no key"}})
	b.moved()
	b.fetched()
	b.committed()
	b.accepted()
	b.Expect(b.ts(k).WriteFailed).To(HaveField("Text", "no key"))
	b.clear()
	b.wait(10 * time.Second)
	b.Expect(all[core.Request](b)).To(ContainElement(core.Request{Target: k, Cell: cm, Why: core.RequestLost}))
}
