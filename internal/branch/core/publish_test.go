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

// lane effects as words, for request ledgers.
func requests(b *bed) []string {
	var out []string
	for _, e := range b.effects {
		switch e.(type) {
		case core.Look:
			out = append(out, "look")
		case core.Fetch:
			out = append(out, "fetch")
		case core.Push:
			out = append(out, "push")
		}
	}
	return out
}

// one edit, its window closed and committed.
func (b *bed) commitOne(k change.TargetKey, name, value string) core.Commit {
	b.t.Helper()
	b.edit(k, alice, name, value)
	b.wait(5 * time.Second)
	_, id := b.committed()
	return id
}

func TestScenario72_HealthyPublicationIsOneRequestAndIdleIsNone(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.commitOne(k, "x", "1")
	b.accepted()
	b.Expect(requests(b)).To(Equal([]string{"push"}))
	b.clear()
	b.wait(time.Hour)
	b.Expect(requests(b)).To(BeEmpty())
	b.Expect(b.m.Next()).To(BeZero(), "nothing waits for time")
}

func TestSnapshotWithACommitIsTwoRequests(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.wait(time.Minute)
	b.snap(k, cm, item(cm, "x", "1", 9))
	b.run()
	b.Expect(requests(b)).To(Equal([]string{"look", "push"}))
}

func TestStartingAWorkerOpensNoConnection(t *testing.T) {
	b := newBed(t)
	b.target("a")
	b.wait(time.Hour)
	b.do(core.Hint{Source: core.HintPush})
	b.do(core.Hint{Source: core.HintRefresh})
	b.Expect(requests(b)).To(BeEmpty())
}

func TestCooldownGathersCommitsForOnePush(t *testing.T) {
	b := newBed(t)
	k := b.target("a", func(c *core.TargetConfig) { c.IdleTimeout = 0 })
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.committed()
	b.accepted() // the first push is immediate
	for i := range 4 {
		b.edit(k, alice, "x", fmt.Sprint("2", i))
		b.committed()
		b.idle()
		b.wait(time.Second)
	}
	b.wait(time.Second)
	b.Expect(b.accepted().Count).To(Equal(4))
}

func TestLaterWritesDoNotDelayADuePush(t *testing.T) {
	b := newBed(t)
	k := b.target("a", func(c *core.TargetConfig) { c.IdleTimeout = 0 })
	b.warm(k)
	b.edit(k, alice, "x", "0")
	for i := 1; ; i++ { // a write arrives during each plan
		b.edit(k, alice, "x", fmt.Sprint(i))
		b.committed()
		if _, ok := b.op.(core.Push); ok {
			b.Expect(i).To(BeNumerically("<=", 2))
			return
		}
		b.Expect(i).To(BeNumerically("<", 10))
	}
}

func TestScenario73_ForeignPushesCostAReplayEach(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.commitOne(k, "x", "1")
	for range 2 {
		p := b.moved()
		b.Expect(p.Expected).NotTo(Equal(b.remote.Tip))
		f := b.fetched()
		b.Expect(f.Want).To(Equal(b.remote.Tip), "the tip the answer named is fetched directly")
		w, _ := b.committed()
		b.Expect(w.Onto).To(Equal(b.remote.Tip))
		b.Expect(w.Decision).To(Equal("decision 2"), "decided once")
	}
	b.Expect(b.accepted().Expected).NotTo(BeZero())
	b.Expect(requests(b)).To(Equal([]string{"push", "fetch", "push", "fetch", "push"}))
	b.Expect(b.observed(core.ObservedRetry)).To(HaveLen(2))
}

func TestDecision59_ContentionIsNotFailure(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.commitOne(k, "x", "1")
	start := b.now
	pauses := 0
	for i := 1; ; i++ {
		before := b.now
		b.moved()
		if s := b.status(); s.Failing != nil {
			b.Expect(s.Failing.Reason).To(Equal(core.ReasonContention))
			b.Expect(s.Failing.Next.Sub(b.now)).To(Equal(10 * time.Second))
			break
		}
		for b.op == nil {
			b.now = b.m.Next()
			b.do(core.Tick{})
		}
		switch pause := b.now.Sub(before); {
		case i < 3:
			b.Expect(pause).To(BeZero(), "three pushes follow each other")
		default:
			pauses++
			b.Expect(pause).To(And(BeNumerically(">=", 200*time.Millisecond), BeNumerically("<=", 2*time.Second)))
		}
		b.fetched()
		b.committed()
	}
	b.Expect(pauses).To(BeNumerically(">", 100))
	b.Expect(b.now.Sub(start)).To(BeNumerically("~", 5*time.Minute, 3*time.Second))
	b.Expect(b.status().Retained).To(Equal(1))
}

// TestCaseG02_LostPushRaces: whatever a server says about a lost race, the machine ends on the new tip.
func TestCaseG02_LostPushRaces(t *testing.T) {
	for _, answer := range []core.Pushed{
		{Outcome: core.PushMoved, Text: "cannot lock ref 'refs/heads/main': is at X but expected Y"},
		{Outcome: core.PushMoved, Text: "incorrect old value provided"},
		{Outcome: core.PushUnknown, Text: "non-fast-forward"},
		{Outcome: core.PushUnknown, Text: "fetch first"},
		{Outcome: core.PushUnknown, Text: "stale info"},
		{Outcome: core.PushUnknown, Text: "failed to update ref"},
	} {
		t.Run(string(answer.Outcome)+" "+answer.Text, func(t *testing.T) {
			b := newBed(t)
			k := b.target("a")
			b.warm(k)
			b.commitOne(k, "x", "1")
			b.remote.Tip = b.id()
			b.pushed(answer)
			if answer.Outcome == core.PushUnknown {
				b.Expect(b.looked().Why).To(Equal(core.WhyProbe))
			}
			b.Expect(b.fetched().Why).To(Equal(core.WhyContention))
			w, _ := b.committed()
			b.Expect(w.Onto).To(Equal(b.remote.Tip), "the expected id is pinned to the commit the tree was built on")
			b.Expect(b.accepted().Expected).To(Equal(w.Onto))
			b.Expect(b.status().Failing).To(BeNil())
		})
	}
}

func TestScenario74_ReplayAppliesTheDecisionNotTheFolder(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.commitOne(k, "x", "alice's object")
	b.moved()
	b.fetched()
	w := outstanding[core.Write](b)
	b.Expect(w.Decision).To(Equal("decision 2"))
	b.Expect(names(w)).To(Equal([]string{"x=alice's object"}))
	b.Expect(w.Work.Author).To(Equal(alice))
	b.Expect(w.Onto).To(Equal(b.remote.Tip), "Bob's commit stays in the history")
	b.committed()
	b.Expect(b.accepted()).To(And(HaveField("Expected", w.Onto), HaveField("Count", 1)))
}

func TestScenario75_UnchangedWriteSettlesAtOnceAndIsNeverReplayed(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "as in Git")
	b.wait(5 * time.Second)
	b.nothing()
	b.idle()
	b.Expect(b.status().Retained).To(BeZero())
	b.Expect(requests(b)).To(BeEmpty(), "neither retained nor pushed")
	b.clear()
	b.commitOne(k, "y", "1")
	b.moved()
	b.fetched()
	w, _ := b.committed()
	b.Expect(names(w)).To(Equal([]string{"y=1"}))
	b.Expect(b.accepted().Count).To(Equal(1))
}

func TestScenario76_OutageThenEverythingLandsInOrder(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.commitOne(k, "x", "1")
	b.pushed(core.Pushed{Outcome: core.PushFailed, Text: "connection refused"})
	b.save(k, "s")
	b.edit(k, alice, "y", "1")
	b.wait(2 * time.Second)
	b.committed()
	b.edit(k, bob, "z", "1")
	b.wait(5 * time.Second)
	b.committed()
	b.idle() // decided locally, without dialling
	b.wait(3 * time.Second)
	outstanding[core.Push](b)
	b.moved() // the replay changes every id
	b.fetched()
	var by []string
	ids := map[string]core.Commit{}
	for range 3 {
		w, id := b.committed()
		by = append(by, w.Work.Author.Username+" "+w.Work.Message)
		ids[w.Work.Save] = id
	}
	b.Expect(by).To(Equal([]string{"alice ", "alice message of s", "bob "}))
	b.Expect(b.accepted().Count).To(Equal(3))
	b.Expect(b.final("s")).To(HaveField("Commit", ids["s"]), "the published id, after the replay")
	b.Expect(b.status().Failing).To(BeNil())
}

func TestFailureLadder(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.commitOne(k, "x", "1")
	var pauses []time.Duration
	since := b.now
	for range 8 {
		b.pushed(core.Pushed{Outcome: core.PushFailed, Text: "connection refused"})
		f := b.status().Failing
		b.Expect(f.Since).To(Equal(since))
		b.Expect(f.Text).To(Equal("connection refused"))
		pauses = append(pauses, f.Next.Sub(b.now)/time.Second)
		b.idle()
		b.now = b.m.Next()
		b.do(core.Tick{})
	}
	b.Expect(pauses).To(Equal([]time.Duration{10, 20, 40, 80, 160, 300, 300, 300}))
	b.accepted()
	b.Expect(b.status().Failing).To(BeNil())
	b.Expect(b.observed(core.ObservedPush)).To(HaveLen(9))
}

func TestDecision59_RetryAfterIsHonoured(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.commitOne(k, "x", "1")
	b.pushed(core.Pushed{Outcome: core.PushFailed,
		Reason: core.ReasonRateLimited, Text: "429", RetryAfter: 7 * time.Minute})
	f := b.status().Failing
	b.Expect(f.Reason).To(Equal(core.ReasonRateLimited))
	b.Expect(f.Next).To(Equal(b.now.Add(7 * time.Minute)))
	b.wait(7*time.Minute - time.Second)
	b.idle()
	b.wait(time.Second)
	outstanding[core.Push](b)
}

func TestDecision60_ReasonsThatNeedAPerson(t *testing.T) {
	g := NewWithT(t)
	for _, r := range []core.Reason{"SecretNotFound",
		"SecretMalformed", "CommitConfigInvalid", "HostKeyUnavailable", "AuthenticationFailed", "PushRejected"} {
		g.Expect(r.Stalled()).To(BeTrue(), string(r))
	}
	for _, r := range []core.Reason{"ConnectionFailed",
		"WatchError", core.ReasonRateLimited, core.ReasonDeadline, core.ReasonContention, ""} {
		g.Expect(r.Stalled()).To(BeFalse(), string(r))
	}
}

func TestScenario77_BudgetOfOneByteRefusesAndReopens(t *testing.T) {
	b := newBed(t, func(c *core.Config) { c.BufferMax = 1 })
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1") // a healthy branch takes everything
	b.committed()
	b.pushed(core.Pushed{Outcome: core.PushFailed, Text: "connection refused"})
	b.Expect(b.offer(k, alice, cm, "y", "1")).To(Equal(change.TooLarge))
	b.Expect(b.save(k, "s")).To(ConsistOf(HaveField("State", core.SaveNotAdmitted)))
	b.Expect(b.status().Retained).To(Equal(1), "refused, never evicted")
	b.Expect(b.observed(core.ObservedRefusal)).To(HaveLen(2))
	b.Expect(b.observed(core.ObservedIntake)).To(BeEmpty())
	b.wait(10 * time.Second)
	b.accepted()
	b.Expect(b.observed(core.ObservedIntake)).To(HaveLen(1))
	b.Expect(b.observed(core.ObservedCommit)).To(HaveLen(1), "what was retained has landed")
	b.edit(k, alice, "y", "1")
	b.Expect(b.save(k, "s")[0].State).NotTo(Equal(core.SaveNotAdmitted))
	b.wait(5 * time.Second)
	b.committed()
	b.wait(5 * time.Second)
	b.accepted()
}

func TestIntakePausesOverTheBudgetDuringAnOutage(t *testing.T) {
	b := newBed(t, func(c *core.Config) { c.BufferMax = 5000 })
	k := b.target("a", func(c *core.TargetConfig) { c.IdleTimeout = 0 })
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.committed()
	b.pushed(core.Pushed{Outcome: core.PushFailed, Text: "connection refused"})
	n := 0
	for b.offer(k, alice, cm, "x", "1") == change.Accepted {
		b.committed()
		n++
		b.Expect(b.status().Bytes).To(BeNumerically("<=", 5000))
	}
	b.Expect(n).To(Equal(3))
	b.Expect(b.status().IntakePaused).To(BeTrue())
	b.do(core.SaveClosed{ID: "other"}) // withdrawals, hints and shutdown pass
	b.Expect(b.final("other").State).To(Equal(core.SaveWithdrawn))
	b.wait(10 * time.Second)
	b.accepted()
	b.Expect(b.status().IntakePaused).To(BeFalse())
	b.Expect(b.status().Bytes).To(BeZero())
}

func TestQueueOf1000SlotsRefusesAndNeverDrops(t *testing.T) {
	b := newBed(t)
	k := b.target("a", func(c *core.TargetConfig) { c.IdleTimeout = 0 })
	b.warm(k)
	b.edit(k, alice, "x", "0")
	outstanding[core.Write](b) // the lane is busy for long
	for i := range 999 {
		b.edit(k, alice, "x", fmt.Sprint(i))
	}
	b.Expect(b.offer(k, alice, cm, "x", "1000")).To(Equal(change.QueueFull))
	b.ticket++
	snap := core.Snapped{Ticket: b.ticket, Snapshot: change.Snapshot{Target: k, Cell: deploy}}
	b.Expect(b.verdict(b.do(snap))).To(Equal(change.QueueFull))
	b.Expect(b.status().Queue).To(Equal(1000))
	b.committed()
	b.Expect(b.observed(core.ObservedIntake)).To(HaveLen(1))
}

func TestScenario78_SnapshotDuringBackoffIsAnsweredAndAppliedLater(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.commitOne(k, "x", "1")
	b.pushed(core.Pushed{Outcome: core.PushFailed, Text: "connection refused"})
	b.clear()
	ticket := b.snap(k, cm, item(cm, "x", "1", 3))
	b.Expect(all[core.Settle](b)).To(ConsistOf(core.Settle{
		Ticket: ticket, Outcome: change.FailedOutcome, Text: "connection refused", Kept: true,
	}))
	b.idle()
	b.Expect(requests(b)).To(BeEmpty(), "nothing is dialled")
	b.wait(10 * time.Second)
	b.run()
	applied := false
	for _, w := range all[core.Write](b) {
		applied = applied || w.Work.Kind == core.KindResync
	}
	b.Expect(applied).To(BeTrue())
	b.Expect(all[core.Settle](b)).To(HaveLen(1), "answered once")
}

func TestScenario79_LostAnswerOfAPushThatLanded(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	id := b.commitOne(k, "x", "1")
	b.remote.Tip = id
	b.pushed(core.Pushed{Outcome: core.PushUnknown, Text: "unexpected EOF"})
	b.looked()
	b.idle()
	b.Expect(b.observed(core.ObservedCommit)).To(HaveLen(1))
	b.Expect(b.status()).To(And(HaveField("Retained", 0), HaveField("Tip", id), HaveField("Failing", BeNil())))
	b.wait(time.Hour)
	b.Expect(requests(b)).To(Equal([]string{"push", "look"}), "it lands once")
}

func TestLostAnswerOfAPushThatDidNotLandIsRetried(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	id := b.commitOne(k, "x", "1")
	b.pushed(core.Pushed{Outcome: core.PushUnknown, Text: "unexpected EOF"})
	b.looked()
	b.Expect(b.status().Failing.Text).To(Equal("unexpected EOF"))
	b.wait(10 * time.Second)
	b.Expect(outstanding[core.Push](b).Tip).To(Equal(id), "the same commit")
}

func TestProbeThatFailsIsRepeatedBeforeAnythingElse(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	id := b.commitOne(k, "x", "1")
	b.pushed(core.Pushed{Outcome: core.PushUnknown, Text: "unexpected EOF"})
	b.lookFailed(down())
	b.edit(k, alice, "y", "1")
	b.wait(5 * time.Second)
	b.committed() // on top, locally
	b.remote.Tip = id
	b.wait(10 * time.Second)
	b.looked()
	b.Expect(b.observed(core.ObservedCommit)).To(HaveLen(1), "the first landed")
	b.wait(5 * time.Second)
	b.Expect(outstanding[core.Push](b)).To(And(HaveField("Expected", id), HaveField("Count", 1)))
}

func TestScenario84_StalledServerCountsAtItsDeadline(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	id := b.commitOne(k, "x", "1")
	push := outstanding[core.Push](b)
	b.Expect(push.Deadline).To(Equal(b.now.Add(2 * time.Minute)))
	b.wait(2 * time.Minute)
	b.Expect(all[core.Abort](b)).To(Equal([]core.Abort{{Op: push.Op}}))
	f := b.status().Failing
	b.Expect(f).To(HaveField("Reason", core.ReasonDeadline), "failing although the call has not ended")
	b.wait(time.Hour)
	b.Expect(all[core.Abort](b)).To(HaveLen(1))
	b.remote.Tip = id
	b.pushed(core.Pushed{Outcome: core.PushUnknown, Text: "cancelled"})
	b.looked()
	b.Expect(b.status().Failing).To(BeNil(), "it had landed")
}

func TestDeadlineIsOneFailureWhateverTheAnswer(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.commitOne(k, "x", "1")
	b.wait(2 * time.Minute)
	next := b.status().Failing.Next
	b.pushed(core.Pushed{Outcome: core.PushFailed, Text: "cancelled"})
	b.Expect(b.status().Failing).To(And(HaveField("Next", next), HaveField("Reason", core.ReasonDeadline)))
	b.Expect(next).To(Equal(b.now.Add(10 * time.Second)))
}

func TestLateAnswerIsStillTaken(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.commitOne(k, "x", "1")
	b.wait(2 * time.Minute)
	b.accepted()
	b.Expect(b.status()).To(And(HaveField("Retained", 0), HaveField("Failing", BeNil())))
}

func TestAnswerWithAnotherOpIsIgnored(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.commitOne(k, "x", "1")
	p := outstanding[core.Push](b)
	b.do(core.Pushed{Op: p.Op + 1, Outcome: core.PushAccepted})
	b.do(core.Looked{Op: p.Op})
	b.do(core.Pushed{Op: p.Op - 1, Outcome: core.PushAccepted})
	b.Expect(b.status().Retained).To(Equal(1))
}

func TestScenario85_RefusedEntryInAReplayIsDroppedAlone(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	for _, a := range []change.Author{alice, bob, alice} {
		b.edit(k, a, "x", a.Username)
	}
	b.wait(5 * time.Second)
	for range 3 {
		b.committed()
	}
	b.moved()
	b.fetched()
	first, _ := b.committed()
	b.Expect(b.refused("not this one").Work.Author).To(Equal(bob))
	third, tip := b.committed()
	b.Expect([]string{names(first)[0], names(third)[0]}).To(Equal([]string{"x=alice", "x=alice"}))
	b.Expect(b.accepted()).To(And(HaveField("Count", 2), HaveField("Tip", tip)))
	b.Expect(b.status()).To(And(HaveField("Retained", 0), HaveField("Failing", BeNil())))
	b.Expect(b.observed(core.ObservedLost)).To(
		ConsistOf(And(HaveField("Reason", "refused"), HaveField("Text", "not this one"))))
}

func TestScenario102_FailedResetIsRebuiltBeforeAnyPush(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.commitOne(k, "x", "1")
	b.moved()
	b.fetchFailed(core.Failure{Reason: core.ReasonStore, Text: "disk full"})
	b.clear()
	b.edit(k, alice, "y", "1")
	b.wait(10 * time.Second)
	b.fetched()
	b.Expect(requests(b)).To(Equal([]string{"fetch"}), "no commit and no push before")
	first, _ := b.committed()
	b.Expect(first.Decision).To(Equal("decision 2"))
	b.Expect(names(first)).To(Equal([]string{"x=1"}))
	b.Expect(first.Onto).To(Equal(b.remote.Tip))
	_, tip := b.committed()
	b.Expect(b.accepted()).To(And(HaveField("Tip", tip), HaveField("Count", 2)))
}

func TestBrokenStoreKeepsTheWriteAndFetchesAnew(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.wait(5 * time.Second)
	b.answer(core.Written{Outcome: core.WriteFailed, Err: &core.Failure{Reason: core.ReasonStore, Text: "unexpected EOF"}})
	b.Expect(b.status().Retained).To(Equal(1))
	b.wait(10 * time.Second)
	b.Expect(b.fetched().Why).To(Equal(core.WhyRecovery))
	w, _ := b.committed()
	b.Expect(w.Decision).To(BeNil(), "it was never decided")
	b.accepted()
}

func TestFrozenIsCapturedAtTheDecision(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	c := config()
	c.Frozen, c.Revision = "newer", "2"
	b.do(core.TargetSet{Target: k, Config: c})
	b.wait(5 * time.Second)
	w, _ := b.committed()
	b.Expect(w.Work.Frozen).To(Equal("newer"))
	c.Frozen, c.Revision = "newest", "3"
	b.do(core.TargetSet{Target: k, Config: c})
	b.moved()
	b.fetched()
	b.Expect(outstanding[core.Write](b).Work.Frozen).To(Equal("newer"))
}

func TestStepIsDeterministic(t *testing.T) {
	run := func() string {
		b := newBed(t)
		k := b.target("a")
		b.warm(k)
		b.commitOne(k, "x", "1")
		for range 6 {
			b.moved()
			for b.op == nil {
				b.now = b.m.Next()
				b.do(core.Tick{})
			}
			b.fetched()
			b.committed()
		}
		b.accepted()
		return fmt.Sprint(b.now, b.status())
	}
	NewWithT(t).Expect(run()).To(Equal(run()))
}

// TestPlanThatWasCutOffWaitsForTheRetry: a plan that never ends in time must not keep the processor busy.
func TestPlanThatWasCutOffWaitsForTheRetry(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.wait(5*time.Second + 5*time.Minute)
	b.Expect(all[core.Abort](b)).To(HaveLen(1))
	b.answer(core.Written{Outcome: core.WriteFailed, Err: &core.Failure{Reason: core.ReasonDeadline, Text: "too slow"}})
	b.idle()
	b.wait(10*time.Second - time.Millisecond)
	b.idle()
	b.wait(time.Millisecond)
	b.committed()
	b.accepted()
	b.Expect(b.status()).To(And(HaveField("Retained", 0), HaveField("Failing", BeNil())))
}
