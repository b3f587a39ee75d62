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

func states(as []core.Answer) []core.SaveState {
	var out []core.SaveState
	for _, a := range as {
		out = append(out, a.State)
	}
	return out
}

func TestSaveAttachesCollectsAndIsCommitted(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.Expect(states(b.save(k, "s"))).To(Equal([]core.SaveState{core.SaveCollecting}))
	b.wait(time.Second)
	b.Expect(states(b.save(k, "s"))).To(Equal([]core.SaveState{core.SaveCollecting}), "asking again restarts nothing")
	b.edit(k, alice, "y", "1")
	b.wait(time.Second)
	w, id := b.committed()
	b.Expect(names(w)).To(HaveLen(2))
	b.Expect(w.Work.Save).To(Equal("s"))
	b.Expect(states(b.save(k, "s"))).To(Equal([]core.SaveState{core.SaveAwaitingPush}))
	b.accepted()
	b.Expect(b.final("s")).To(And(HaveField("State", core.SaveCommitted), HaveField("Commit", id)))
	b.wait(14 * time.Minute)
	b.Expect(b.save(k, "s")[0]).To(
		And(HaveField("State", core.SaveCommitted), HaveField("Commit", id)), "remembered for 15 minutes")
	b.Expect(closeReasons(b)).To(Equal([]string{"max_duration"}))
	b.Expect(b.observed(core.ObservedWindow)[0].BySave).To(BeTrue())
}

func TestSaveIdleTimeoutCountsFromTheAttachAndEachEvent(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.wait(3 * time.Second)
	idle := 2 * time.Second
	b.save(k, "s", func(s *core.Save) { s.MaxDuration, s.IdleTimeout = time.Minute, &idle })
	b.wait(time.Second)
	b.edit(k, alice, "y", "1")
	b.wait(1999 * time.Millisecond)
	b.idle()
	b.wait(time.Millisecond)
	outstanding[core.Write](b)
}

func TestSaveMatching(t *testing.T) {
	for name, c := range map[string]struct {
		author change.Author
		named  bool
		want   core.SaveState
	}{
		"attribution off, nobody claimed": {change.Author{}, false, core.SaveCollecting},
		"attribution off, alice claimed":  {change.Author{}, true, core.SaveWaiting},
		"alice, alice":                    {alice, true, core.SaveCollecting},
		"bob, alice":                      {bob, true, core.SaveWaiting},
		"unresolved, nobody claimed":      {none, false, core.SaveCollecting},
		"unresolved, alice claimed":       {none, true, core.SaveWaiting},
		"alice, nobody claimed":           {alice, false, core.SaveWaiting},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			k := b.target("a")
			b.edit(k, c.author, "x", "1")
			as := b.save(k, "s", func(s *core.Save) {
				if s.Named = c.named; !c.named {
					s.Username = ""
				}
			})
			b.Expect(as[0].State).To(Equal(c.want))
		})
	}
}

func TestSaveMissesItsWindow(t *testing.T) {
	for name, c := range map[string]struct {
		before, during func(*bed, change.TargetKey)
		empty          bool
		want           core.SaveState
	}{
		"nothing seen": {want: core.SaveNoWindow},
		"a foreign one open": {before: func(b *bed, k change.TargetKey) {
			b.edit(k, bob, "x", "1")
		}, want: core.SaveWindowMismatch},
		"a foreign one later": {during: func(b *bed, k change.TargetKey) {
			b.edit(k, bob, "x", "1")
		}, want: core.SaveWindowMismatch},
		"a mismatch records no empty commit": {
			during: func(b *bed, k change.TargetKey) { b.edit(k, bob, "x", "1") }, empty: true, want: core.SaveWindowMismatch,
		},
		"another target's window says nothing": {
			during: func(b *bed, k change.TargetKey) { b.edit(b.target("z"), bob, "x", "1") }, want: core.SaveNoWindow,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			k := b.target("a")
			if c.before != nil {
				c.before(b, k)
			}
			b.save(k, "s", func(s *core.Save) { s.CommitEmpty = c.empty })
			if c.during != nil {
				c.during(b, k)
			}
			b.wait(2 * time.Second)
			b.Expect(b.final("s").State).To(Equal(c.want))
			b.edit(k, alice, "late", "1")
			b.wait(10 * time.Second)
			b.run()
			for _, w := range all[core.Write](b) {
				b.Expect(w.Work.Save).To(BeEmpty(), "an expired request never takes a later window")
			}
		})
	}
}

func TestSaveCommitEmptyRecordsItsMessage(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.save(k, "s", func(s *core.Save) { s.CommitEmpty = true })
	b.wait(2 * time.Second)
	w := outstanding[core.Write](b)
	b.Expect(w.Work).To(
		And(HaveField("Kind", core.KindSave), HaveField("CommitEmpty", true), HaveField("Message", "message of s")))
	id := b.id()
	b.answer(core.Written{Outcome: core.WriteCommitted, Commit: id, Decision: "d"})
	b.accepted()
	b.Expect(b.final("s")).To(And(HaveField("State", core.SaveNoWindow), HaveField("Commit", id)))
}

func TestSaveWithoutADifferenceIsConfirmedByTheRemote(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "as in Git")
	b.save(k, "s")
	b.wait(2 * time.Second)
	b.nothing()
	b.Expect(b.looked().Why).To(Equal(core.WhyPublication))
	b.Expect(b.final("s").State).To(Equal(core.SaveAlreadyPresent))
	b.Expect(requests(b)).To(Equal([]string{"look"}))
	b.clear()
	b.commitOne(k, "y", "1")
	b.wait(5 * time.Second)
	outstanding[core.Push](b)
}

func TestSaveWithoutADifferenceMayBecomeACommitAfterAReplay(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "as in Git")
	b.save(k, "s")
	b.wait(2 * time.Second)
	b.nothing()
	b.remote.Tip = b.id() // somebody changed the object
	b.looked()
	b.fetched()
	w, id := b.committed()
	b.Expect(w.Decision).NotTo(BeNil())
	b.accepted()
	b.Expect(b.final("s")).To(And(HaveField("State", core.SaveCommitted), HaveField("Commit", id)))
}

func TestSaveOfAWindowWithCommitEmptyAndNoDifference(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "as in Git")
	b.save(k, "s", func(s *core.Save) { s.CommitEmpty = true })
	b.wait(2 * time.Second)
	b.Expect(outstanding[core.Write](b).Work.CommitEmpty).To(BeTrue())
	id := b.id()
	b.answer(core.Written{Outcome: core.WriteCommitted, Commit: id, Decision: "d", Counts: core.Counts{Unchanged: 1}})
	b.accepted()
	b.Expect(b.final("s")).To(And(HaveField("State", core.SaveAlreadyPresent), HaveField("Commit", id)))
}

func TestSaveWithdrawnIsNeverCommitted(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.save(k, "s")
	b.do(core.SaveClosed{ID: "s"})
	b.Expect(b.final("s").State).To(Equal(core.SaveWithdrawn))
	b.Expect(b.save(k, "s")[0].State).To(Equal(core.SaveWithdrawn), "also when it is sent again")
	b.edit(k, alice, "x", "1")
	b.wait(10 * time.Second)
	w, _ := b.committed()
	b.Expect(w.Work.Save).To(BeEmpty())
	b.do(core.SaveClosed{ID: "unheard of"})
	b.Expect(b.save(k, "unheard of")[0].State).To(Equal(core.SaveWithdrawn))
}

func TestSaveThatIsHeldCannotBeWithdrawn(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.save(k, "s")
	b.Expect(answers(b.do(core.SaveClosed{ID: "s"}), "s")[0].State).To(Equal(core.SaveCollecting))
	b.wait(2 * time.Second)
	b.committed()
	b.Expect(answers(b.do(core.SaveClosed{ID: "s"}), "s")[0].State).To(Equal(core.SaveAwaitingPush))
	b.accepted()
	b.Expect(b.final("s").State).To(Equal(core.SaveCommitted))
}

func TestSavesAreServedFirstComeFirstServedOnePerWindow(t *testing.T) {
	b := newBed(t)
	k := b.target("a", func(c *core.TargetConfig) { c.IdleTimeout = 0 })
	b.warm(k)
	for _, id := range []string{"one", "two"} {
		b.save(k, id, func(s *core.Save) { s.MaxDuration = 0 })
	}
	for i, id := range []string{"one", "two"} {
		b.edit(k, alice, "x", id)
		w, _ := b.committed()
		b.Expect(w.Work.Save).To(Equal(id))
		if i == 0 {
			b.accepted()
		}
	}
}

func TestSaveNextLetsTheOpenWindowGoUnderItsOwnMessage(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.Expect(b.save(k, "s", func(s *core.Save) { s.Next = true })[0].State).To(Equal(core.SaveWaiting))
	first, _ := b.committed()
	b.Expect(first.Work.Source).To(Equal(core.MessageLive))
	b.accepted()
	b.edit(k, alice, "y", "1")
	b.wait(2 * time.Second)
	second, _ := b.committed()
	b.Expect(second.Work).To(And(HaveField("Save", "s"), HaveField("Source", core.MessageRequest)))
}

func TestSaveNextLeavesAnotherAuthorsWindow(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, bob, "x", "1")
	b.save(k, "s", func(s *core.Save) { s.Next = true })
	b.Expect(closeReasons(b)).To(BeEmpty())
}

func TestScenario104_ShutdownFailsHeldSavesAndHandsBackTheOthers(t *testing.T) {
	b := newBed(t)
	k := b.target("a", func(c *core.TargetConfig) { c.IdleTimeout, c.MaxDuration = time.Hour, time.Hour })
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.save(k, "held", func(s *core.Save) { s.MaxDuration = 5 * time.Minute })
	b.save(k, "waiting", func(s *core.Save) { s.AttachTimeout = 5 * time.Minute })
	b.clear()
	b.do(core.Shutdown{Until: b.now.Add(time.Minute)})
	b.committed()
	b.pushed(core.Pushed{Outcome: core.PushFailed, Text: "connection refused"})
	b.Expect(b.status().Stopped).To(BeTrue())
	b.Expect(b.final("held")).To(
		And(HaveField("State", core.SaveFailed), HaveField("Text", ContainSubstring("stopped before"))))
	b.Expect(answers(b.effects, "waiting")).To(
		ConsistOf(And(HaveField("State", core.SaveNotAdmitted), HaveField("Text", ContainSubstring("stopped")))))
}

func TestScenario110_RefusedWindowFailsItsSaveAndIsNotRetried(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.save(k, "s")
	b.wait(2 * time.Second)
	b.refused("foreign-file: foo.tgz")
	b.Expect(b.final("s")).To(And(HaveField("State", core.SaveFailed), HaveField("Text", "foreign-file: foo.tgz")))
	b.Expect(b.observed(core.ObservedLost)).To(
		ConsistOf(And(HaveField("Kind", core.KindWindow), HaveField("Reason", "refused"))))
	b.Expect(b.status().Retained).To(BeZero())
	b.clear()
	b.wait(9 * time.Second)
	b.Expect(all[core.Write](b)).To(BeEmpty())
	for range 6 { // the folder is looked at again, the window is not tried again
		b.wait(10 * time.Second)
		b.looked()
		b.idle()
	}
	b.Expect(requests(b)).NotTo(ContainElement("push"))
	b.Expect(answers(b.effects, "s")).To(BeEmpty(), "answered once")
}

func TestSaveOfAFailedWriteFails(t *testing.T) {
	b := newBed(t)
	k := b.target("a")
	b.warm(k)
	b.edit(k, alice, "x", "1")
	b.save(k, "s")
	b.wait(2 * time.Second)
	b.answer(core.Written{Outcome: core.WriteFailed,
		Err: &core.Failure{Reason: core.ReasonWriteFailed, Text: "no recipient"}})
	b.Expect(b.final("s")).To(And(HaveField("State", core.SaveFailed), HaveField("Text", "no recipient")))
	b.Expect(b.observed(core.ObservedLost)).To(ConsistOf(HaveField("Reason", "error")))
	b.Expect(b.ts(k).WriteFailed.Text).To(Equal("no recipient"))
	b.wait(10 * time.Second)
	b.Expect(all[core.Request](b)).To(
		ConsistOf(core.Request{Target: k, Cell: cm, Why: core.RequestLost}), "a snapshot re-derives what it lost")
}
