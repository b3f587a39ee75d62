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

func closeReasons(b *bed) []string {
	var out []string
	for _, o := range b.observed(core.ObservedWindow) {
		out = append(out, o.Reason)
	}
	return out
}

func TestScenario69_BurstsOfOneAuthorAreOneCommit(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	for i := range 50 {
		b.edit(k, alice, fmt.Sprint("o", i%7), fmt.Sprint(i))
		b.wait(60 * time.Millisecond)
	}
	b.wait(5 * time.Second)
	w, _ := b.committed()
	b.Expect(names(w)).To(Equal([]string{"o0=49", "o1=43", "o2=44", "o3=45", "o4=46", "o5=47", "o6=48"}),
		"the last state per object, in first-seen order")
	b.accepted()
	b.idle()
	b.Expect(closeReasons(b)).To(Equal([]string{"idle_timeout"}))
	b.clear()

	for _, a := range []change.Author{alice, bob, bob, alice} {
		b.edit(k, a, "x", a.Username)
	}
	b.wait(5 * time.Second)
	var by []string
	for range 3 {
		w, _ := b.committed()
		by = append(by, w.Work.Author.Username)
	}
	b.Expect(by).To(Equal([]string{"alice", "bob", "alice"}), "one commit per run")
	b.Expect(closeReasons(b)).To(Equal([]string{"identity_change", "identity_change", "idle_timeout"}))
}

func TestScenario70_ContinuousEditsStillBecomeACommit(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	for i := range 59 {
		b.edit(k, alice, "x", fmt.Sprint(i))
		b.wait(time.Second)
		b.idle()
	}
	b.edit(k, alice, "x", "59")
	b.wait(time.Second)
	b.Expect(names(outstanding[core.Write](b))).To(Equal([]string{"x=59"}))
	b.Expect(closeReasons(b)).To(Equal([]string{"max_duration"}))
	b.committed()
	b.accepted()
	b.Expect(b.observed(core.ObservedCommit)).To(HaveLen(1))
}

func TestScenario71_WaitingSaveGetsTheWindowBeforeItsZeroTimer(t *testing.T) {
	b := newBed(t)
	k := b.target("a", func(c *core.TargetConfig) { c.IdleTimeout, c.MaxDuration = 0, 0 })
	b.warm(k)
	b.save(k, "s", func(s *core.Save) { s.MaxDuration = 0 })
	b.edit(k, alice, "x", "1")
	w, id := b.committed()
	b.Expect(w.Work.Source).To(Equal(core.MessageRequest))
	b.Expect(w.Work.Message).To(Equal("message of s"))
	b.accepted()
	b.Expect(b.final("s")).To(And(HaveField("State", core.SaveCommitted), HaveField("Commit", id)))
}

func TestScenario99_RequestMessageIsLiteral(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.save(k, "s", func(s *core.Save) { s.Message = "{{.Author}}\n$(x)" })
	b.wait(2 * time.Second)
	w := outstanding[core.Write](b)
	b.Expect(w.Work.Message).To(Equal("{{.Author}}\n$(x)"))
	b.Expect(w.Work.Source).To(Equal(core.MessageRequest))
	b.Expect(w.Work.Save).To(Equal("s"))
}

func TestScenario101_WindowsNeverMixTargets(t *testing.T) {
	b := newBed(t)
	one, two := b.target("one"), b.target("two")
	b.warm(one)
	for i := range 3 {
		b.edit(one, alice, "x", fmt.Sprint("1-", i))
		b.edit(two, alice, "x", fmt.Sprint("2-", i))
	}
	b.wait(5 * time.Second)
	for i := range 6 {
		w, _ := b.committed()
		b.Expect(w.Work.Target).To(Equal([]change.TargetKey{one, two}[i%2]))
		for _, c := range w.Work.Changes {
			b.Expect(c.Target).To(Equal(w.Work.Target))
		}
	}
	b.Expect(b.accepted().Count).To(Equal(6))
}

func TestWindowKeepsTheTimersItOpenedWith(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	c := config()
	c.IdleTimeout = time.Hour
	c.MaxDuration = time.Hour
	b.do(core.TargetSet{Target: k, Config: c})
	b.wait(5 * time.Second)
	outstanding[core.Write](b)
}

func TestWindowCollapsesCreateAndDelete(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.edit(k, alice, "x", "")
	b.edit(k, alice, "y", "")
	b.edit(k, alice, "y", "2")
	b.wait(5 * time.Second)
	w := outstanding[core.Write](b)
	b.Expect(names(w)).To(Equal([]string{"x=", "y=2"}))
	b.Expect(w.Work.Changes[0].Operation).To(Equal(change.Delete))
	b.Expect(w.Work.Changes[1].Operation).To(Equal(change.Update))
}

func TestWindowCloseReasons(t *testing.T) {
	for name, c := range map[string]struct {
		act  func(*bed, change.TargetKey)
		want core.CloseReason
	}{
		"another author": {func(b *bed, k change.TargetKey) { b.edit(k, bob, "y", "1") }, core.CloseIdentity},
		"another target": {func(b *bed, k change.TargetKey) { b.edit(b.target("z"), alice, "y", "1") }, core.CloseIdentity},
		"a snapshot":     {func(b *bed, k change.TargetKey) { b.snap(k, deploy) }, core.CloseResync},
		"an apply is due": {func(b *bed, k change.TargetKey) {
			b.do(core.ApplierSaid{Applier: "flux", State: core.ApplierDue})
		}, core.CloseApplyDue},
		"a foreign push": {func(b *bed, k change.TargetKey) {
			b.do(core.Hint{Source: core.HintPush, Tip: b.id()})
		}, core.CloseForeignCommit},
		"attach: Next": {func(b *bed, k change.TargetKey) {
			b.save(k, "s", func(s *core.Save) { s.Next = true })
		}, core.CloseAttachNext},
		"a shutdown": {func(b *bed, k change.TargetKey) {
			b.do(core.Shutdown{Until: b.now.Add(time.Minute)})
		}, core.CloseShutdown},
		"an atomic write": {func(b *bed, k change.TargetKey) {
			b.ticket++
			in := core.Offered{Ticket: b.ticket, Atomic: []change.Change{b.change(k, alice, cm, "z", "1")}}
			b.Expect(b.verdict(b.do(in))).To(Equal(change.Accepted))
		}, core.CloseAtomic},
		"many bytes": {func(b *bed, k change.TargetKey) {
			b.edit(k, alice, "y", string(make([]byte, 8<<20)))
		}, core.CloseBuffer},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			k := b.target("a")
			b.warm(k)
			b.edit(k, alice, "x", "1")
			c.act(b, k)
			b.Expect(closeReasons(b)).To(Equal([]string{string(c.want)}))
			w, _ := b.committed()
			b.Expect(w.Work.Kind).To(Equal(core.KindWindow))
		})
	}
}

func TestHintOfTheKnownTipKeepsTheWindow(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.do(core.Hint{Source: core.HintPush, Tip: b.remote.Tip})
	b.Expect(closeReasons(b)).To(BeEmpty())
	b.idle()
}

func TestAtomicAndResyncKeepTheOrderOfArrival(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.wait(time.Second)
	b.edit(k, alice, "x", "1")
	b.ticket++
	b.do(core.Offered{Ticket: b.ticket,
		Atomic: []change.Change{b.change(k, none, cm, "y", "1"), b.change(k, none, cm, "z", "1")}})
	b.snap(k, deploy, item(deploy, "d", "1", 5))
	kinds := []core.Kind{}
	for range 2 {
		w, _ := b.committed()
		kinds = append(kinds, w.Work.Kind)
	}
	b.looked() // a snapshot is compared with a base proved after it came
	w, _ := b.committed()
	kinds = append(kinds, w.Work.Kind)
	b.Expect(kinds).To(Equal([]core.Kind{core.KindWindow, core.KindAtomic, core.KindResync}))
	b.Expect(w.Work.Author).To(Equal(change.Author{}), "the committer is the author of a snapshot")
	b.Expect(w.Work.Source).To(Equal(core.MessageReconcile))
}

func TestQueuedSnapshotsOfOneCellCoalesce(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	first := b.snap(k, cm, item(cm, "x", "1", 1))
	b.edit(k, alice, "x", "2")
	second := b.snap(k, cm, item(cm, "x", "2", 2))
	b.run()
	resyncs := 0
	for _, w := range all[core.Write](b) {
		if w.Work.Kind == core.KindResync {
			resyncs++
			b.Expect(w.Work.Snapshot.Items[0].Desired).To(Equal([]byte("2")))
		}
	}
	b.Expect(resyncs).To(Equal(1))
	b.wait(5 * time.Second)
	b.run()
	b.Expect(all[core.Settle](b)).To(ConsistOf(
		core.Settle{Ticket: first, Outcome: change.Settled}, core.Settle{Ticket: second, Outcome: change.Settled}))
}
