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

func applied(c *core.TargetConfig) { c.Applier = "flux" }

func (b *bed) said(s core.ApplierState) {
	b.t.Helper()
	b.do(core.ApplierSaid{Applier: "flux", Attempt: "gr-1", State: s, Reasons: []string{"ForeignCommit"}})
}

func TestApplyS1_FlushThenAsk(t *testing.T) {
	b := newBed(t)
	k := b.target("a", applied)
	b.warm(k)
	b.commitOne(k, "x", "1")
	b.accepted() // the cooldown runs
	b.edit(k, alice, "y", "1")
	b.said(core.ApplierDue)
	b.Expect(closeReasons(b)).To(ContainElement("apply_due"))
	_, id := b.committed()
	b.Expect(all[core.Ask](b)).To(BeEmpty())
	b.accepted() // without waiting for the cooldown
	b.Expect(all[core.Ask](b)).To(
		ConsistOf(core.Ask{Applier: "flux", Attempt: "gr-1", Commit: id, Reasons: []string{"ForeignCommit"}}))
	b.do(core.CurrentAsked{Ticket: 7, Commit: id})
	b.do(core.CurrentAsked{Ticket: 8, Commit: b.id()})
	b.Expect(all[core.Current](b)).To(Equal([]core.Current{{Ticket: 7, Is: true}, {Ticket: 8}}))
}

func TestApplyS1_NothingToFlushAsksAtOnce(t *testing.T) {
	b := newBed(t)
	k := b.target("a", applied)
	b.warm(k)
	b.said(core.ApplierDue)
	b.Expect(all[core.Ask](b)).To(HaveLen(1))
}

func TestApplyU31_WaitingSaveHoldsTheSend(t *testing.T) {
	b := newBed(t)
	k := b.target("a", applied)
	b.warm(k)
	b.save(k, "s")
	b.said(core.ApplierDue)
	b.Expect(all[core.Ask](b)).To(BeEmpty())
	b.wait(2 * time.Second)
	b.Expect(all[core.Ask](b)).To(HaveLen(1))
}

func TestApplyU32_FailedFlushSendsNothingUntilItLands(t *testing.T) {
	b := newBed(t)
	k := b.target("a", applied)
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.said(core.ApplierDue)
	b.committed()
	b.pushed(core.Pushed{Outcome: core.PushFailed, Text: "connection refused"})
	b.wait(9 * time.Second)
	b.Expect(all[core.Ask](b)).To(BeEmpty())
	b.wait(time.Second)
	b.moved()
	b.fetched()
	_, id := b.committed()
	b.accepted()
	b.Expect(all[core.Ask](b)).To(ConsistOf(HaveField("Commit", id)), "the replayed tip")
}

func TestApplyBarrier_EmptyTipAsksNothing(t *testing.T) {
	b := newBed(t)
	b.remote = core.Remote{ParentState: core.ParentUnborn}
	k := b.target("a", applied)
	b.warm(k)
	b.said(core.ApplierDue)
	b.Expect(all[core.Ask](b)).To(BeEmpty())
	b.commitOne(k, "x", "1")
	b.accepted()
	b.Expect(all[core.Ask](b)).To(HaveLen(1), "reasons wait for a commit")
}

func TestApplyU22_SnapshotsWaitWhileGitIsAhead(t *testing.T) {
	for name, c := range map[string]struct {
		initial, sent, ended bool
		stamp                core.Stamp
		foreign              bool
		want                 change.Outcome
	}{
		"fresh":                       {want: change.Settled},
		"ahead at its start":          {stamp: core.Stamp{Ahead: true}, want: change.Discarded},
		"epoch moved":                 {sent: true, ended: true, want: change.Discarded},
		"epoch moved before":          {sent: true, ended: true, stamp: core.Stamp{Applies: 2}, want: change.Settled},
		"ahead now":                   {sent: true, stamp: core.Stamp{Applies: 1}, want: change.Discarded},
		"its fetch found a foreigner": {foreign: true, want: change.Discarded},
		"initial": {initial: true,
			sent: true, foreign: true, stamp: core.Stamp{Ahead: true}, want: change.Settled},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			k := b.target("a", applied)
			b.warm(k)
			b.wait(time.Minute)
			if c.sent {
				b.said(core.ApplierSent)
			}
			if c.ended {
				b.said(core.ApplierEnded)
			}
			if c.foreign {
				b.remote.Tip = b.id()
			}
			b.ticket++
			c.stamp.Epoch = 1
			b.do(core.Snapped{
				Ticket: b.ticket, Snapshot: change.Snapshot{Target: k, Cell: cm}, Stamp: c.stamp, Initial: c.initial,
			})
			b.plan = func(core.Write) core.Written { return core.Written{Outcome: core.WriteNothing, Decision: "d"} }
			b.run()
			b.Expect(all[core.Settle](b)).To(ConsistOf(core.Settle{Ticket: b.ticket, Outcome: c.want}))
			asked := len(all[core.Request](b))
			if c.want == change.Settled {
				b.Expect(asked).To(BeZero())
				return
			}
			if c.sent && !c.ended {
				b.Expect(asked).To(BeZero(), "after the apply")
				b.said(core.ApplierEnded)
			}
			b.Expect(all[core.Request](b)).To(ConsistOf(core.Request{Target: k, Cell: cm, Why: core.RequestStale}))
		})
	}
}

func TestApplyU23_HoldLimitAsksByItselfAndUsesTheNext(t *testing.T) {
	b := newBed(t)
	k := b.target("a", applied)
	b.warm(k)
	b.said(core.ApplierSent)
	b.wait(time.Second)
	b.snap(k, cm)
	b.Expect(all[core.Settle](b)).To(ConsistOf(HaveField("Outcome", change.Discarded)))
	b.clear()
	b.wait(5 * time.Minute)
	b.Expect(all[core.Request](b)).To(ConsistOf(core.Request{Target: k, Cell: cm, Why: core.RequestStale}))
	b.snap(k, cm)
	b.looked()
	b.nothing()
	b.Expect(all[core.Settle](b)).To(ConsistOf(HaveField("Outcome", change.Settled)))
	b.Expect(b.observed(core.ObservedSnapshot)).To(ConsistOf(HaveField("Reason", "used")))
}

func TestTargetWithoutATriggerNeverWaits(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.said(core.ApplierSent)
	b.ticket++
	b.do(core.Snapped{Ticket: b.ticket, Snapshot: change.Snapshot{Target: k, Cell: cm}, Stamp: core.Stamp{Ahead: true}})
	b.nothing()
	b.Expect(all[core.Settle](b)).To(ConsistOf(HaveField("Outcome", change.Settled)))
}
