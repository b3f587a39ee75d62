// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
)

func (b *bed) rejected(text string) core.Push {
	b.t.Helper()
	return b.pushed(core.Pushed{Outcome: core.PushRejected, Text: text})
}

// three windows of three authors on three targets, committed and on their way.
func (b *bed) three() []change.TargetKey {
	b.t.Helper()
	ks := []change.TargetKey{b.target("one"), b.target("two"), b.target("three")}
	b.warm(ks[0])
	for i, a := range []change.Author{alice, bob, alice} {
		b.edit(ks[i], a, "x", "1")
	}
	b.save(ks[1], "s", func(s *core.Save) { s.Username = "bob" })
	b.wait(5 * time.Second)
	for range 3 {
		b.committed()
	}
	return ks
}

func TestDecision58_RejectedWriteIsToldApartAndSetAside(t *testing.T) {
	b := newBed(t)
	ks := b.three()
	b.rejected("pre-receive hook declined: bob may not")
	b.Expect(b.accepted().Count).To(Equal(1), "oldest first, alone")
	b.rejected("pre-receive hook declined: bob may not")
	w, _ := b.committed()
	b.Expect(w.Work.Target).To(Equal(ks[2]))
	b.Expect(w.Onto).To(Equal(b.remote.Tip), "planned again without it")
	b.accepted()
	b.idle()
	b.Expect(b.ts(ks[1]).PushRejected).To(And(
		HaveField("Reason", core.ReasonPushRejected), HaveField("Text", "pre-receive hook declined: bob may not")))
	b.Expect(b.ts(ks[0]).PushRejected).To(BeNil())
	b.Expect(b.status()).To(
		And(HaveField("SetAside", 1), HaveField("Retained", 0), HaveField("Failing", BeNil())), "other work goes on")
	b.Expect(b.observed(core.ObservedSetAside)).To(HaveLen(1))
	b.wait(time.Hour)
	b.idle()
}

func TestDecision58_SaveOfASetAsideWriteFailsAndItsMessageIsNotUsedAgain(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.save(k, "s")
	b.wait(2 * time.Second)
	b.committed()
	b.rejected("message must name a ticket")
	b.Expect(b.final("s")).To(And(HaveField("State", core.SaveFailed), HaveField("Text", "message must name a ticket")))
	b.configure(k, func(c *core.TargetConfig) { c.Revision, c.Frozen = "2", "another template" })
	w, _ := b.committed()
	b.Expect(w.Decision).To(BeNil(), "planned again")
	b.Expect(w.Work).To(And(HaveField("Source",
		core.MessageLive), HaveField("Message", ""), HaveField("Save", ""), HaveField("Frozen", "another template")))
	b.accepted()
	b.Expect(b.ts(k).PushRejected).To(BeNil())
}

func TestDecision58_SetAsideIsTriedAgainOn(t *testing.T) {
	for name, act := range map[string]func(*bed, []change.TargetKey){
		"a change of configuration": func(b *bed, ks []change.TargetKey) {
			b.configure(ks[1], func(c *core.TargetConfig) { c.Revision = "2" })
		},
		"requestedAt": func(b *bed, ks []change.TargetKey) { b.do(core.Recheck{Target: ks[1], Token: "now"}) },
		"a moved tip": func(b *bed, ks []change.TargetKey) {
			b.remote.Tip = b.id()
			b.do(core.Hint{Source: core.HintPush, Tip: b.remote.Tip})
			b.looked()
			b.fetched()
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			ks := b.three()
			b.rejected("no")
			b.accepted()
			b.rejected("no")
			b.committed()
			b.accepted()
			b.wait(10 * time.Second)
			b.clear()
			act(b, ks)
			w := outstanding[core.Write](b)
			b.Expect(w.Work.Target).To(Equal(ks[1]))
			b.run()
			b.Expect(b.status()).To(And(HaveField("SetAside", 0), HaveField("Retained", 0)))
			b.Expect(b.ts(ks[1]).PushRejected).To(BeNil())
		})
	}
}

func TestDecision58_AllRefusedIsStalledAndTriedEveryFiveMinutes(t *testing.T) {
	b := newBed(t)
	b.three()
	b.rejected("protected branch")
	for range 2 {
		b.rejected("protected branch")
		b.committed()
	}
	b.rejected("protected branch")
	b.idle()
	f := b.status().Failing
	b.Expect(f).To(And(HaveField("Reason",
		core.ReasonPushRejected), HaveField("Text", "protected branch"), HaveField("Next", b.now.Add(5*time.Minute))))
	b.clear()
	b.wait(5*time.Minute - time.Second)
	b.Expect(requests(b)).To(BeEmpty(), "no retry storm")
	b.wait(time.Second)
	b.run()
	b.Expect(b.status()).To(And(HaveField("SetAside", 0), HaveField("Failing", BeNil())))
	b.Expect(all[core.Push](b)).To(HaveLen(1))
	b.Expect(all[core.Push](b)[0].Count).To(Equal(3))
}

func TestProtectedBranchWithManyWritesCostsFewPushes(t *testing.T) {
	b := newBed(t)
	k := b.target("a", func(c *core.TargetConfig) { c.IdleTimeout = 0 })
	b.warm(k)
	b.edit(k, alice, "first", "1")
	for i := range 99 {
		b.edit(k, alice, map[bool]string{true: "good", false: "bad"}[i == 60], "1")
	}
	holds := map[core.Commit]string{}
	round := func() (pushes int) {
		for b.op != nil {
			switch e := b.op.(type) {
			case core.Write:
				_, id := b.committed()
				holds[id] = e.Work.Changes[0].Object.Name
			case core.Push:
				pushes++
				if e.Count == 1 && holds[e.Tip] == "good" {
					b.accepted()
				} else {
					b.rejected("protected branch")
				}
			}
		}
		return pushes
	}
	b.Expect(round()).To(BeNumerically("<=", 12))
	b.Expect(b.status()).To(And(HaveField("SetAside", 100), HaveField("Retained", 0)))
	most := 0
	for n := 0; b.status().SetAside == 100; n++ { // each round tries others, so that a write that would pass does
		b.Expect(n).To(BeNumerically("<", 10))
		b.wait(5 * time.Minute)
		most = max(most, round())
	}
	b.Expect(most).To(BeNumerically("<=", 51))
}

func TestNewerContentIsNeverOvertakenByASetAsideWrite(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, bob, "x", "old")
	b.edit(k, bob, "y", "old")
	b.wait(5 * time.Second)
	b.committed()
	b.rejected("bob may not")
	b.wait(10 * time.Second)
	b.edit(k, alice, "x", "new")
	b.wait(5 * time.Second)
	b.committed()
	b.accepted()
	b.clear()
	b.do(core.Recheck{Target: k, Token: "now"})
	w := outstanding[core.Write](b)
	b.Expect(names(w)).To(Equal([]string{"y=old"}))
	b.Expect(w.Work.Author).To(Equal(bob))
}

func TestDecidedSnapshotIsNotUndoneByAWriteThatComesBack(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, bob, "x", "old")
	b.wait(5 * time.Second)
	b.committed()
	b.rejected("bob may not")
	b.snap(k, cm, item(cm, "x", "as in Git", 9))
	b.edit(k, alice, "y", "1")
	b.wait(10 * time.Second)
	b.looked()
	b.committed() // the snapshot, decided without bob's write
	b.clear()
	b.do(core.Recheck{Target: k, Token: "now"})
	b.run()
	for _, w := range all[core.Write](b) {
		b.Expect(names(w)).NotTo(ContainElement("x=old"))
	}
	b.Expect(b.status().SetAside).To(BeZero())
	b.Expect(all[core.Request](b)).To(ContainElement(HaveField("Cell", cm)))
}

func TestRejectedSnapshotIsAskedForAgain(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	ticket := b.snap(k, cm, item(cm, "x", "1", 1))
	b.fetched()
	b.committed()
	b.rejected("secret scanning")
	b.Expect(all[core.Settle](b)).To(ConsistOf(And(
		HaveField("Ticket", ticket),
		HaveField("Outcome", change.FailedOutcome), HaveField("Text", "secret scanning"), HaveField("Kept", true))))
	b.Expect(b.ts(k).PushRejected).NotTo(BeNil())
	b.clear()
	b.wait(5 * time.Minute)
	b.Expect(all[core.Request](b)).To(ConsistOf(core.Request{Target: k, Cell: cm, Why: core.RequestLost}))
}

// refusing returns what answers the lane as a remote does that takes no commit of an author.
func (b *bed) refusing(who change.Author) func() {
	type made struct {
		onto core.Commit
		by   change.Author
	}
	commits := map[core.Commit]made{}
	return func() {
		b.t.Helper()
		for b.op != nil {
			switch e := b.op.(type) {
			case core.Write:
				_, id := b.committed()
				commits[id] = made{e.Onto, e.Work.Author}
			case core.Push:
				refused := false
				for id := e.Tip; id != e.Expected; id = commits[id].onto {
					refused = refused || commits[id].by == who
				}
				if refused {
					b.rejected(who.Username + " may not push")
				} else {
					b.accepted()
				}
			case core.Look:
				b.looked()
			default:
				b.t.Fatalf("the lane has %T", e)
			}
		}
	}
}

// TestSetAsideIsBounded: an author whom the remote always refuses edits for weeks while the others go on.
func TestSetAsideIsBounded(t *testing.T) {
	b := newBed(t, func(c *core.Config) { c.BufferMax = 8 << 10 })
	k := b.target("a")
	b.warm(k)
	refuse := b.refusing(bob)
	for i := range 40 {
		b.edit(k, bob, fmt.Sprint("bobs", i), "1")
		b.wait(20 * time.Second)
		refuse()
		b.Expect(b.status().Bytes).To(BeNumerically("<=", 4<<10))
		b.edit(k, alice, "alices", strconv.Itoa(i))
		b.wait(20 * time.Second)
		refuse()
	}
	b.Expect(len(all[core.Push](b))).To(BeNumerically("<", 200), "no retry storm")
	s := b.status()
	b.Expect(s.SetAside).To(BeNumerically(">", 2))
	var dropped int
	for _, o := range b.observed(core.ObservedDrop) {
		b.Expect(o.Reason).To(Equal("set_aside_budget"))
		dropped += o.Count
	}
	b.Expect(dropped+s.SetAside).To(Equal(40), "each is kept or counted")
	b.wait(time.Hour)
	refuse()
	b.wait(time.Minute)
	b.edit(k, alice, "alices", "more")
	b.edit(k, alice, "alices", "and more")
	b.wait(4 * time.Second)
	b.Expect(b.op).To(BeNil(), "what is set aside does not close windows early")
	b.clear()
	b.do(core.Recheck{Target: k, Token: "bob may now"})
	b.run()
	b.Expect(b.status().SetAside).To(BeZero())
	b.Expect(all[core.Request](b)).To(ContainElement(HaveField("Cell", cm)), "snapshots bring what was dropped")
}

// TestSetAsideContentDoesNotComeBackOverALostEdit: the later edit of the object was accepted and dropped.
func TestSetAsideContentDoesNotComeBackOverALostEdit(t *testing.T) {
	for name, lose := range map[string]func(*bed, change.TargetKey){
		"suspended": func(b *bed, k change.TargetKey) {
			b.configure(k, func(c *core.TargetConfig) { c.Suspended = true })
			b.edit(k, alice, "x", "")
			b.configure(k, func(c *core.TargetConfig) { c.Suspended = false })
		},
		"suspended before its plan": func(b *bed, k change.TargetKey) {
			b.edit(k, alice, "x", "")
			b.configure(k, func(c *core.TargetConfig) { c.Suspended = true })
			b.wait(5 * time.Second)
			b.configure(k, func(c *core.TargetConfig) { c.Suspended = false })
		},
		"refused": func(b *bed, k change.TargetKey) {
			b.edit(k, alice, "x", "")
			b.wait(5 * time.Second)
			b.refused("unplaceable-edit")
		},
		"failed": func(b *bed, k change.TargetKey) {
			b.edit(k, alice, "x", "")
			b.wait(5 * time.Second)
			b.answer(core.Written{Outcome: core.WriteFailed, Err: &core.Failure{Reason: core.ReasonWriteFailed, Text: "no"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			k := b.target("a")
			b.warm(k)
			b.edit(k, bob, "x", "created")
			b.edit(k, bob, "y", "created")
			b.wait(5 * time.Second)
			b.committed()
			b.rejected("bob may not push")
			lose(b, k)
			b.clear()
			b.do(core.Recheck{Target: k, Token: "bob may now"})
			b.Expect(names(outstanding[core.Write](b))).To(Equal([]string{"y=created"}), "x was deleted meanwhile")
		})
	}
}

// TestRejectedSnapshotIsNotForgottenBecauseOthersLand: decisions 58, for what is not kept but asked for again.
func TestRejectedSnapshotIsNotForgottenBecauseOthersLand(t *testing.T) {
	b := newBed(t)
	k, other := b.target("a"), b.target("b")
	b.warm(other)
	b.wait(time.Minute)
	b.snap(k, cm, item(cm, "x", "1", 1))
	b.looked()
	b.committed()
	b.rejected("secret scanning")
	b.wait(time.Minute)
	b.commitOne(other, "y", "1")
	b.accepted()
	b.Expect(b.ts(k).PushRejected).To(HaveField("Text", "secret scanning"), "nothing of it is on the remote")
	b.clear()
	b.wait(time.Hour)
	b.Expect(all[core.Request](b)).To(HaveLen(1), "it is tried once more, and then nothing changes that may help")
	b.clear()
	b.do(core.Recheck{Target: other, Token: "1"})
	b.Expect(all[core.Request](b)).To(ContainElement(core.Request{Target: k, Cell: cm, Why: core.RequestLost}))
	b.snap(k, cm, item(cm, "x", "clean", 1))
	b.looked()
	b.committed()
	b.accepted()
	b.Expect(b.ts(k).PushRejected).To(BeNil())
}

// TestRoundThatIsOverIsNoCycleThatGoesOn: the next publication has its cooldown and its own time.
func TestRoundThatIsOverIsNoCycleThatGoesOn(t *testing.T) {
	b := newBed(t)
	ks := b.three()
	b.rejected("no")
	b.accepted()
	b.rejected("no")
	b.committed()
	b.rejected("no")
	b.wait(time.Hour)
	b.idle()
	b.commitOne(ks[0], "y", "1")
	b.moved()
	b.Expect(b.status().Failing).To(BeNil(), "it lost its first race")
}

// TestBranchThatIsOpenedAgainGetsWhatItRefused: new work lands before the five minutes are over; what was refused before
// is tried once more at its time, and then left to a change.
func TestBranchThatIsOpenedAgainGetsWhatItRefused(t *testing.T) {
	for name, open := range map[string]bool{"all of it": true, "not bob's": false} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			k := b.target("a")
			b.warm(k)
			b.edit(k, bob, "x", "1")
			b.wait(5 * time.Second)
			b.committed()
			b.rejected("protected branch")
			b.wait(time.Minute)
			b.commitOne(k, "y", "1")
			b.accepted()
			b.Expect(b.ts(k).PushRejected).NotTo(BeNil())
			b.clear()
			b.wait(4 * time.Minute)
			w, _ := b.committed()
			b.Expect(names(w)).To(Equal([]string{"x=1"}))
			if open {
				b.accepted()
				b.Expect(b.ts(k).PushRejected).To(BeNil())
			} else {
				b.rejected("bob may not")
				b.Expect(b.status()).To(And(HaveField("SetAside", 1), HaveField("Failing", BeNil())))
			}
			b.clear()
			b.wait(time.Hour)
			b.Expect(requests(b)).To(BeEmpty())
		})
	}
}

// A cure that comes while the refused write is on its way is not lost: the write is made again with it.
func TestDecision58_ACureOnTheWayIsNotLost(t *testing.T) {
	for name, act := range map[string]func(*bed, change.TargetKey, func()){
		"while the commit is made": func(b *bed, k change.TargetKey, cure func()) {
			outstanding[core.Write](b)
			cure()
			b.committed()
		},
		"while it is pushed": func(b *bed, k change.TargetKey, cure func()) {
			b.committed()
			outstanding[core.Push](b)
			cure()
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			k := b.target("a")
			b.warm(k)
			b.edit(k, alice, "x", "1")
			b.wait(5 * time.Second)
			act(b, k, func() { b.configure(k, func(c *core.TargetConfig) { c.Revision, c.Frozen = "2", "signed" }) })
			b.rejected("commits must be signed")
			b.wait(30 * time.Second)
			w := outstanding[core.Write](b)
			b.Expect(w.Work.Frozen).To(Equal("signed"))
			b.run()
			b.Expect(b.status()).To(And(HaveField("SetAside", 0), HaveField("Retained", 0)))
			b.Expect(b.ts(k).PushRejected).To(BeNil())
		})
	}
}
