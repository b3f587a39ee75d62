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

func TestScenario80_DeletedBranchIsRecreatedFromItsParent(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.commitOne(k, "x", "1")
	b.remote = core.Remote{Parent: b.id(), ParentState: core.ParentFound}
	b.pushed(core.Pushed{Outcome: core.PushMoved})
	b.fetched()
	w, tip := b.committed()
	b.Expect(w.Onto).To(Equal(b.remote.Parent))
	b.Expect(names(w)).To(Equal([]string{"x=1"}), "the pending write")
	b.Expect(w.Decision).To(Equal("decision 2"))
	parent := b.remote.Parent
	p := b.accepted()
	b.Expect(p.Expected).To(BeZero())
	b.Expect(p.Parent).To(Equal(parent))
	b.Expect(p.Tip).To(Equal(tip))
	b.Expect(all[core.Request](b)).To(ContainElements(
		core.Request{Target: k, Cell: cm, Why: core.RequestRecreated},
		core.Request{Target: k, Cell: deploy, Why: core.RequestRecreated},
	), "what the branch held before comes from snapshots")
}

func TestScenario81_EmptyRepositoryGetsARootCommit(t *testing.T) {
	b := newBed(t)
	b.remote = core.Remote{ParentState: core.ParentUnborn}
	k := b.target("a", func(c *core.TargetConfig) { c.Bootstrap = true })
	b.snap(k, cm, item(cm, "x", "1", 1))
	b.fetched()
	w, id := b.committed()
	b.Expect(w.Onto).To(BeZero())
	b.Expect(w.Work.Bootstrap).To(BeTrue())
	b.Expect(w.Work.Snapshot.Items).To(HaveLen(1))
	b.Expect(b.accepted()).To(And(HaveField("Expected", BeZero()), HaveField("Parent", BeZero()), HaveField("Tip", id)))
	b.Expect(b.status()).To(And(HaveField("Exists", true), HaveField("Tip", id)))
}

func TestWipedRepositoryIsAsAnEmptyOne(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.commitOne(k, "x", "1")
	b.remote = core.Remote{ParentState: core.ParentUnborn}
	b.pushed(core.Pushed{Outcome: core.PushMoved})
	b.fetched()
	w, _ := b.committed()
	b.Expect(w.Onto).To(BeZero())
	b.accepted()
}

func TestScenario82_MissingParentHoldsTheWork(t *testing.T) {
	b := newBed(t)
	b.remote = core.Remote{ParentState: core.ParentMissing}
	k := b.target("a")
	b.edit(k, alice, "x", "1")
	b.wait(5 * time.Second)
	b.fetched()
	b.idle()
	f := b.status().Failing
	b.Expect(f.Reason).To(Equal(core.ReasonParentBranchNotFound))
	b.Expect(f.Next).To(Equal(b.now.Add(10 * time.Second)))
	b.Expect(b.status().Parent).To(Equal(core.ParentMissing))
	b.wait(10 * time.Second)
	b.looked() // one probe per deadline
	b.idle()
	b.remote = core.Remote{Parent: b.id(), ParentState: core.ParentFound}
	b.wait(19 * time.Second)
	b.idle()
	b.wait(time.Second)
	b.looked()
	b.fetched()
	w, _ := b.committed()
	b.Expect(w.Onto).To(Equal(b.remote.Parent), "no orphan")
	b.Expect(all[core.Push](b)).To(HaveLen(1), "nothing was pushed before")
	b.accepted() // without another edit
	b.Expect(b.status().Failing).To(BeNil())
	b.Expect(all[core.Write](b)).To(HaveLen(1))
}

func TestScenario83_WarmWorkerStartsFromTheParentsNewTip(t *testing.T) {
	b := newBed(t)
	b.remote = core.Remote{Parent: b.id(), ParentState: core.ParentFound}
	k := b.target("a")
	b.warm(k)
	b.wait(7 * 24 * time.Hour)
	b.commitOne(k, "x", "1")
	old := b.remote.Parent
	b.remote.Parent = b.id()
	p := b.pushed(core.Pushed{Outcome: core.PushMoved}) // the two-step push sees the parent
	b.Expect(p.Parent).To(Equal(old))
	b.fetched()
	w, _ := b.committed()
	b.Expect(w.Onto).To(Equal(b.remote.Parent))
	b.accepted()
}

func TestNoOpWhileTheBranchIsAbsentCreatesNothing(t *testing.T) {
	b := newBed(t)
	b.remote = core.Remote{Parent: b.id(), ParentState: core.ParentFound}
	k := b.target("a")
	b.snap(k, cm, item(cm, "x", "1", 1))
	b.fetched()
	b.nothing()
	b.idle()
	b.wait(time.Hour)
	b.Expect(all[core.Push](b)).To(BeEmpty())
	b.Expect(b.status().Exists).To(BeFalse())
}

func TestScenario103_AbsentBranchAfterAFailedPushIsAbsent(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	old := b.remote.Tip
	b.commitOne(k, "x", "1")
	b.remote = core.Remote{Parent: b.id(), ParentState: core.ParentFound}
	b.pushed(core.Pushed{Outcome: core.PushUnknown})
	b.looked()
	b.fetched()
	b.Expect(b.status().Exists).To(BeFalse())
	w, _ := b.committed()
	b.Expect(w.Onto).NotTo(Equal(old))
	b.Expect(b.accepted().Expected).To(BeZero())
}

func TestScenario86_DeletedTargetLeavesTheOtherWriting(t *testing.T) {
	b := newBed(t)
	one, two := b.target("one"), b.target("two")
	b.warm(two)
	b.edit(one, alice, "x", "1")
	b.do(core.TargetGone{Target: one})
	w, _ := b.committed()
	b.Expect(w.Prune).To(Equal(core.PruneNever), "a deleted GitTarget counts as Never")
	b.accepted()
	b.Expect(b.offer(one, alice, cm, "x", "2")).To(Equal(change.UnknownTarget))
	b.clear()
	b.commitOne(two, "y", "1")
	b.wait(5 * time.Second)
	b.accepted()
	b.Expect(requests(b)).To(Equal([]string{"push"}), "the worker of both goes on, with its base")
	b.Expect(b.status().Targets).To(HaveLen(1))
}

// TestScenario87: another repository is another machine; it starts without trust, base or writes.
func TestScenario87_NewRepositoryStartsFromNothing(t *testing.T) {
	b := newBed(t)
	b.Expect(b.status().BaseTrusted).To(BeFalse())
	k := b.target("a")
	b.edit(k, alice, "x", "1")
	b.wait(5 * time.Second)
	b.Expect(outstanding[core.Fetch](b)).To(And(HaveField("Want", BeZero()), HaveField("Why", core.WhyPublication)))
}

func TestRefresherLooksOncePerInterval(t *testing.T) {
	b := newBed(t, func(c *core.Config) { c.RefreshInterval = 10 * time.Minute })
	k := b.target("a")
	b.warm(k)
	for range 10 {
		b.wait(time.Minute)
		b.do(core.Hint{Source: core.HintRefresh})
		if b.op != nil {
			break
		}
	}
	b.looked()
	b.idle()
	b.Expect(requests(b)).To(Equal([]string{"look"}))
	b.wait(time.Minute)
	b.do(core.Hint{Source: core.HintRefresh})
	b.idle()
	b.Expect(b.status().VerifiedBy).To(Equal("Fetch"))
}

func TestRefreshIntervalZeroNeverLooks(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.wait(24 * time.Hour)
	b.do(core.Hint{Source: core.HintRefresh})
	b.idle()
}

func TestHintOnAnIdleBranchLooksAndReadsWhatMoved(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.wait(time.Minute)
	b.remote.Tip = b.id()
	b.do(core.Hint{Source: core.HintPush, Tip: b.remote.Tip})
	b.looked()
	b.Expect(b.fetched().Why).To(Equal(core.WhyRefresh))
	w := b.answer(core.Written{Outcome: core.WriteNothing, Report: "layout"})
	b.Expect(w.Work.Kind).To(Equal(core.KindTouch))
	b.Expect(w.Dry).To(BeTrue())
	b.idle()
	b.Expect(b.ts(k)).To(And(HaveField("Report", "layout"), HaveField("ReportedOn", b.remote.Tip)))
	b.Expect(all[core.Request](b)).To(BeEmpty(), "a hint never asks for a snapshot")
}

func TestHintsOnABurstAreOneLookASecond(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.wait(time.Minute)
	for range 100 {
		b.do(core.Hint{Source: core.HintPush})
		if b.op != nil {
			b.looked()
		}
		b.wait(20 * time.Millisecond)
	}
	b.Expect(len(requests(b))).To(BeNumerically("<=", 4))
}

func TestHintOnABusyBranchPublishesAndFindsTheMove(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.wait(time.Minute)
	b.edit(k, alice, "x", "1")
	b.remote.Tip = b.id()
	b.do(core.Hint{Source: core.HintPush, Tip: b.remote.Tip})
	b.committed()
	b.pushed(core.Pushed{Outcome: core.PushMoved, Tip: b.remote.Tip})
	b.fetched()
	b.committed()
	b.accepted()
	b.Expect(requests(b)).To(Equal([]string{"push", "fetch", "push"}))
}

func TestRecheckLooksAndAsksForEveryCell(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.wait(time.Minute)
	b.do(core.Recheck{Target: k, Token: "now"})
	b.Expect(requests(b)).To(BeEmpty(), "the look of a snapshot may come first")
	b.wait(time.Second)
	b.Expect(b.looked().Why).To(Equal(core.WhyRecheck))
	b.Expect(all[core.Request](b)).To(ConsistOf(
		core.Request{Target: k, Cell: cm, Why: core.RequestRecheck},
		core.Request{Target: k, Cell: deploy, Why: core.RequestRecheck},
	))
	b.Expect(b.ts(k).Rechecked).To(Equal("now"))
	b.clear()
	b.do(core.Recheck{Target: k, Token: "now"})
	b.Expect(all[core.Request](b)).To(BeEmpty(), "a token is handled once")
	b.Expect(requests(b)).To(BeEmpty())
}

func TestRecheckSharesTheLookOfItsSnapshots(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.wait(time.Minute)
	b.do(core.Recheck{Target: k, Token: "now"})
	b.wait(100 * time.Millisecond)
	b.snap(k, cm)
	b.looked()
	b.nothing()
	b.wait(time.Minute)
	b.Expect(requests(b)).To(Equal([]string{"look"}))
}

// TestCaseU03: a server that accepts connections and never answers.
func TestCaseU03_SilentServerShowsWithinMinutes(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.edit(k, alice, "x", "1")
	opened := b.now
	b.wait(5 * time.Second)
	outstanding[core.Fetch](b)
	b.wait(2 * time.Minute)
	s := b.status()
	b.Expect(s.Failing).To(
		And(HaveField("Reason", core.ReasonDeadline), HaveField("Text", ContainSubstring("did not answer"))))
	b.Expect(s.Oldest).To(Equal(opened), "the age of the oldest unpublished change is visible")
	var told []change.TargetKey
	for _, o := range all[core.Observe](b) {
		if o.Observation.What == core.ObservedStatus {
			told = append(told, o.Target)
		}
	}
	b.Expect(told).To(ContainElement(k), "every target of the branch hears of it (decisions 32)")
}

// TestCaseU06: nothing changes, nothing is asked.
func TestCaseU06_HundredIdleIntervals(t *testing.T) {
	b := newBed(t, func(c *core.Config) { c.RefreshInterval = 10 * time.Minute })
	k := b.target("a")
	b.warm(k)
	for range 100 {
		b.wait(10 * time.Minute)
		b.do(core.Hint{Source: core.HintRefresh})
		b.run()
	}
	b.Expect(len(requests(b))).To(Equal(100), "one cheap look per interval")
	b.Expect(all[core.Push](b)).To(BeEmpty())
	b.Expect(all[core.Write](b)).To(BeEmpty())
	b.Expect(all[core.Ask](b)).To(BeEmpty())
}

// TestCaseG06: a change that the branch already holds stays no change, however often it comes.
func TestCaseG06_SameChangeOverAndOver(t *testing.T) {
	b := newBed(t, func(c *core.Config) {})
	b.plan = func(core.Write) core.Written { return core.Written{Outcome: core.WriteNothing, Decision: "none"} }
	k := b.target("a")
	for range 5 {
		b.edit(k, alice, "x", "1")
		b.wait(10 * time.Second)
		b.run()
		b.snap(k, cm, item(cm, "x", "1", b.rv))
		b.run()
		b.wait(time.Minute)
	}
	b.Expect(all[core.Push](b)).To(BeEmpty())
	b.Expect(b.status().Retained).To(BeZero())
}

// TestCaseG20: targets of several providers on one normalised branch share one machine and so one order.
func TestCaseG20_TwoTargetsOneSerialisedQueue(t *testing.T) {
	b := newBed(t)
	one, two := b.target("one"), b.target("two")
	b.warm(one)
	b.edit(one, alice, "x", "1")
	b.edit(two, bob, "x", "1")
	b.wait(5 * time.Second)
	first, id := b.committed()
	second, tip := b.committed()
	b.Expect(second.Onto).To(Equal(id))
	b.Expect([]change.TargetKey{first.Work.Target, second.Work.Target}).To(Equal([]change.TargetKey{one, two}))
	b.Expect(b.accepted()).To(And(HaveField("Tip", tip), HaveField("Count", 2)))
}

// TestCaseU01: a plan's counts and per-object reasons reach the observers.
func TestCaseU01_SkippedObjectsAreReported(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.wait(5 * time.Second)
	w := outstanding[core.Write](b)
	b.answer(core.Written{
		Outcome: core.WriteNothing, Report: "x: AmbiguousLayout", Counts: core.Counts{Refused: 1},
		Refused: []change.ObjectID{w.Work.Changes[0].Object},
	})
	b.Expect(b.observed(core.ObservedPlan)).To(ConsistOf(
		And(HaveField("Report", "x: AmbiguousLayout"), HaveField("Counts.Refused", 1))))
	b.Expect(b.ts(k).Report).To(Equal("x: AmbiguousLayout"))
	b.Expect(all[core.Advance](b)).To(BeEmpty(), "a refused object holds its cell's cursor")
}

// TestHintOfOurOwnPushIsNoNews: the push receiver may hear of a push before its answer came.
func TestHintOfOurOwnPushIsNoNews(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.wait(time.Minute)
	id := b.commitOne(k, "x", "1")
	b.edit(k, alice, "y", "1")
	b.do(core.Hint{Source: core.HintPush, Tip: id})
	b.accepted()
	b.do(core.Hint{Source: core.HintPush, Tip: id})
	b.idle()
	b.Expect(requests(b)).To(Equal([]string{"push"}), "one request for a healthy publication")
	b.Expect(b.observed(core.ObservedWindow)).To(HaveLen(1), "the open window went on")
}
