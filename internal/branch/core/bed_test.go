// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core_test

import (
	"encoding/binary"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
)

var (
	cm     = change.Cell{Resource: "configmaps"}
	deploy = change.Cell{Group: "apps", Resource: "deployments"}

	alice = change.Author{Kind: change.AuthorUser, Username: "alice"}
	bob   = change.Author{Kind: change.AuthorUser, Username: "bob"}
	none  = change.Author{Kind: change.AuthorUnresolved}
)

// bed is a machine with a test's hand on its clock and its lane.
type bed struct {
	*WithT
	t   *testing.T
	m   *core.Machine
	now time.Time
	// effects since the last clear, and the outstanding lane effect.
	effects []core.Effect
	op      core.Effect
	remote  core.Remote
	serial  uint64
	ticket  core.Ticket
	rv      int
	// plan answers a Write in run; nil commits everything.
	plan func(core.Write) core.Written
}

func newBed(t *testing.T, configure ...func(*core.Config)) *bed {
	cfg := core.Config{Seed: 1}
	for _, f := range configure {
		f(&cfg)
	}
	b := &bed{WithT: NewWithT(t), t: t, m: core.New(cfg), now: time.Unix(1000000, 0)}
	b.remote = core.Remote{Exists: true, Tip: b.id()}
	return b
}

// id makes a new commit id.
func (b *bed) id() core.Commit {
	b.serial++
	var c core.Commit
	binary.BigEndian.PutUint64(c[:], b.serial)
	return c
}

func (b *bed) do(in core.Input) []core.Effect {
	b.t.Helper()
	effects := b.m.Step(b.now, in)
	for _, e := range effects {
		switch e.(type) {
		case core.Look, core.Fetch, core.Write, core.Push:
			if b.op != nil {
				b.t.Fatalf("%T while %T is outstanding", e, b.op)
			}
			b.op = e
		}
	}
	b.effects = append(b.effects, effects...)
	return effects
}

func (b *bed) clear() { b.effects = nil }

// all returns the effects of one type since the last clear.
func all[E core.Effect](b *bed) []E {
	var out []E
	for _, e := range b.effects {
		if e, ok := e.(E); ok {
			out = append(out, e)
		}
	}
	return out
}

// observed returns the observations of one kind since the last clear.
func (b *bed) observed(what core.What) []core.Observation {
	var out []core.Observation
	for _, e := range all[core.Observe](b) {
		if e.Observation.What == what {
			out = append(out, e.Observation)
		}
	}
	return out
}

// outstanding returns the lane effect, which must be of type E.
func outstanding[E core.Effect](b *bed) E {
	b.t.Helper()
	e, ok := b.op.(E)
	if !ok {
		var want E
		b.t.Fatalf("the lane has %T, want %T", b.op, want)
	}
	return e
}

func (b *bed) idle() {
	b.t.Helper()
	b.Expect(b.op).To(BeNil())
}

// config is a target with the default window.
func config() core.TargetConfig {
	return core.TargetConfig{IdleTimeout: 5 * time.Second,
		MaxDuration: time.Minute, Prune: core.PruneAlways, Frozen: "frozen"}
}

func key(name string) change.TargetKey {
	return change.TargetKey{Namespace: "team", Name: name, UID: "uid-" + name}
}

func (b *bed) target(name string, configure ...func(*core.TargetConfig)) change.TargetKey {
	b.t.Helper()
	c := config()
	for _, f := range configure {
		f(&c)
	}
	b.do(core.TargetSet{Target: key(name), Config: c})
	b.do(core.CellsDeclared{Target: key(name), Epoch: 1, Cells: []change.Cell{cm, deploy}})
	return key(name)
}

func item(cell change.Cell, name, value string, rv int) change.Item {
	it := change.Item{
		Object:          change.ObjectID{Group: cell.Group, Kind: cell.Resource, Namespace: "ns", Name: name},
		ResourceVersion: strconv.Itoa(rv),
	}
	if value != "" {
		it.Desired = []byte(value)
	}
	return it
}

func (b *bed) change(t change.TargetKey, a change.Author, cell change.Cell, name, value string) change.Change {
	b.rv++
	op := change.Update
	if value == "" {
		op = change.Delete
	}
	return change.Change{Target: t, Cell: cell, Operation: op, Author: a, Item: item(cell, name, value, b.rv)}
}

// offer offers a change; an empty value is a DELETE.
func (b *bed) offer(t change.TargetKey, a change.Author, cell change.Cell, name, value string) change.Verdict {
	b.t.Helper()
	b.ticket++
	return b.verdict(b.do(core.Offered{Ticket: b.ticket, Change: b.change(t, a, cell, name, value)}))
}

func (b *bed) verdict(effects []core.Effect) change.Verdict {
	b.t.Helper()
	for _, e := range effects {
		if a, ok := e.(core.Admit); ok && a.Ticket == b.ticket {
			return a.Verdict
		}
	}
	b.t.Fatal("no verdict")
	return ""
}

// edit is an offer that must be accepted.
func (b *bed) edit(t change.TargetKey, a change.Author, name, value string) {
	b.t.Helper()
	b.Expect(b.offer(t, a, cm, name, value)).To(Equal(change.Accepted))
}

// snap offers a snapshot that must be accepted and returns its ticket.
func (b *bed) snap(t change.TargetKey, cell change.Cell, items ...change.Item) core.Ticket {
	b.t.Helper()
	b.ticket++
	b.rv++
	s := change.Snapshot{Target: t, Cell: cell, Items: items, ResourceVersion: strconv.Itoa(b.rv)}
	in := core.Snapped{Ticket: b.ticket, Snapshot: s, Stamp: core.Stamp{Epoch: 1}}
	b.Expect(b.verdict(b.do(in))).To(Equal(change.Accepted))
	return b.ticket
}

// wait lets time pass and ticks when the machine asks for it.
func (b *bed) wait(d time.Duration) {
	b.t.Helper()
	end := b.now.Add(d)
	for range 1000 {
		next := b.m.Next()
		if next.IsZero() || next.After(end) {
			b.now = end
			return
		}
		if !next.After(b.now) {
			b.t.Fatalf("Next is not after now: the runner would spin")
		}
		b.now = next
		b.do(core.Tick{})
	}
	b.t.Fatal("too many ticks")
}

func (b *bed) took() { b.op = nil }

// fetched answers the outstanding Fetch with the remote as it is.
func (b *bed) fetched() core.Fetch {
	b.t.Helper()
	e := outstanding[core.Fetch](b)
	b.took()
	base := b.remote.Tip
	if !b.remote.Exists {
		base = b.remote.Parent
	}
	b.do(core.Fetched{Op: e.Op, Remote: b.remote, Base: base})
	return e
}

func (b *bed) fetchFailed(f core.Failure) {
	b.t.Helper()
	e := outstanding[core.Fetch](b)
	b.took()
	b.do(core.Fetched{Op: e.Op, Err: &f})
}

// looked answers the outstanding Look with the remote as it is.
func (b *bed) looked() core.Look {
	b.t.Helper()
	e := outstanding[core.Look](b)
	b.took()
	b.do(core.Looked{Op: e.Op, Remote: b.remote})
	return e
}

func (b *bed) lookFailed(f core.Failure) {
	b.t.Helper()
	e := outstanding[core.Look](b)
	b.took()
	b.do(core.Looked{Op: e.Op, Err: &f})
}

// answer answers the outstanding Write.
func (b *bed) answer(in core.Written) core.Write {
	b.t.Helper()
	e := outstanding[core.Write](b)
	b.took()
	in.Op, in.Seq = e.Op, e.Seq
	b.do(in)
	return e
}

// committed answers the outstanding Write with a new commit of one update.
func (b *bed) committed() (core.Write, core.Commit) {
	b.t.Helper()
	id := b.id()
	e := b.answer(core.Written{
		Outcome: core.WriteCommitted,
		Commit:  id, Decision: decisionOf(outstanding[core.Write](b)), Counts: core.Counts{Updated: 1},
	})
	return e, id
}

func decisionOf(e core.Write) any { return "decision " + strconv.FormatUint(uint64(e.Seq), 10) }

func (b *bed) nothing() core.Write {
	b.t.Helper()
	return b.answer(core.Written{Outcome: core.WriteNothing,
		Decision: decisionOf(outstanding[core.Write](b)), Counts: core.Counts{Unchanged: 1}})
}

func (b *bed) refused(text string) core.Write {
	b.t.Helper()
	return b.answer(core.Written{
		Outcome: core.WriteRefused, Refusal: &core.Refusal{Reason: "UnsupportedContent", Text: text},
	})
}

// pushed answers the outstanding Push. Accepted moves the remote.
func (b *bed) pushed(in core.Pushed) core.Push {
	b.t.Helper()
	e := outstanding[core.Push](b)
	b.took()
	in.Op = e.Op
	if in.Outcome == core.PushAccepted {
		b.remote = core.Remote{Exists: true, Tip: e.Tip}
	}
	b.do(in)
	return e
}

func (b *bed) accepted() core.Push {
	b.t.Helper()
	return b.pushed(core.Pushed{Outcome: core.PushAccepted})
}

// moved lets another writer push and answers the outstanding Push with it.
func (b *bed) moved() core.Push {
	b.t.Helper()
	b.remote = core.Remote{Exists: true, Tip: b.id()}
	return b.pushed(core.Pushed{Outcome: core.PushMoved, Tip: b.remote.Tip, Text: "fetch first"})
}

// run answers the lane as a healthy remote and store do, until it is idle.
func (b *bed) run() {
	b.t.Helper()
	for range 1000 {
		switch e := b.op.(type) {
		case nil:
			return
		case core.Fetch:
			b.fetched()
		case core.Look:
			b.looked()
		case core.Push:
			b.accepted()
		case core.Write:
			switch {
			case b.plan != nil:
				b.answer(b.plan(e))
			case e.Dry:
				b.answer(core.Written{Outcome: core.WriteNothing})
			default:
				b.committed()
			}
		}
	}
	b.t.Fatal("the lane does not come to rest")
}

// warm gives the machine a trusted base and lets the cooldown pass.
func (b *bed) warm(t change.TargetKey) {
	b.t.Helper()
	b.snap(t, cm)
	b.fetched()
	b.nothing()
	b.idle()
	b.clear()
}

func (b *bed) status() core.Status { return b.m.Status() }

func (b *bed) ts(t change.TargetKey) core.TargetStatus {
	b.t.Helper()
	s, ok := b.m.Status().Target(t)
	b.Expect(ok).To(BeTrue())
	return s
}

// names lists "object=value" of a write's changes.
func names(w core.Write) []string {
	var out []string
	for _, c := range w.Work.Changes {
		out = append(out, c.Object.Name+"="+string(c.Desired))
	}
	return out
}

// save opens a save of alice with a message.
func (b *bed) save(t change.TargetKey, id string, configure ...func(*core.Save)) []core.Answer {
	b.t.Helper()
	s := core.Save{
		ID: id, Target: t, Named: true, Username: "alice", Message: "message of " + id,
		AttachTimeout: 2 * time.Second, MaxDuration: 2 * time.Second,
	}
	for _, f := range configure {
		f(&s)
	}
	return answers(b.do(core.SaveOpened{Save: s}), id)
}

func answers(effects []core.Effect, id string) []core.Answer {
	var out []core.Answer
	for _, e := range effects {
		if a, ok := e.(core.Answer); ok && a.Save == id {
			out = append(out, a)
		}
	}
	return out
}

// final returns the one final answer to a save since the last clear.
func (b *bed) final(id string) core.Answer {
	b.t.Helper()
	var out []core.Answer
	for _, a := range answers(b.effects, id) {
		if a.State.Final() {
			out = append(out, a)
		}
	}
	b.Expect(out).To(HaveLen(1), "final answers to "+id)
	return out[0]
}

func down() core.Failure {
	return core.Failure{Reason: core.ReasonConnectionFailed, Text: "connection refused"}
}
