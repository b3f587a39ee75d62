// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core/debt"
	"github.com/configbutler/gitops-reverser/internal/branch/core/pace"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// health is what is wrong with one target's folder or writes.
type health struct {
	refusal *Refusal
	// undone is what refused writes left: when one of its objects is accepted, snapshots may clear the refusal.
	undone debt.Debt[Refusal]
	// failure is the last write that failed by itself, lost what such writes left; failures counts them in a row, for
	// the ladder of new snapshots.
	failure  *Trouble
	lost     debt.Debt[struct{}]
	failures int
	// rejected is set while the remote refuses a write of the target; denied are the cells whose snapshot it refused.
	rejected *Trouble
	denied   debt.Debt[struct{}]
	// touch asks for a reading of the folder.
	touch bool
}

// healer acts on the health of one target.
type healer struct {
	m *Machine
	t *target
	h *health
}

func (m *Machine) healthOf(t *target) healer { return healer{m: m, t: t, h: &t.health} }

// declared looks at the folder anew when a refused cell is not declared any more: nothing else would.
func (k healer) declared() {
	if k.h.undone.Stale(k.follows) {
		k.h.touch = true
	}
	if k.h.failure != nil {
		k.h.lost.Paid(change.Cell{}, k.follows)
		k.recovered()
	}
	k.h.denied.Paid(change.Cell{}, k.follows)
	k.m.publish.rejects.heal()
}

func (k healer) follows(c change.Cell) bool { return k.t.cells.byID[c] != nil }

// refused notes a refused write.
func (k healer) refused(p *pending, in Written) {
	k.refuse(in.Refusal, false)
	why := *k.h.refusal
	for i := range p.work.Changes {
		k.h.undone.Object(p.work.Changes[i].Object, p.work.Changes[i].Cell, why)
	}
	if p.resync == nil {
		k.h.touch = k.h.touch || k.h.undone.Stale(k.follows)
		return
	}
	cell := p.work.Snapshot.Cell
	k.h.undone.Cell(cell, why)
	for _, id := range in.Refused {
		k.h.undone.Object(id, cell, why)
	}
}

func (k healer) refuse(r *Refusal, read bool) {
	n := Refusal{Reason: "UnsupportedContent", FromRead: read, Since: k.m.now}
	if r != nil {
		n.Reason, n.Text = r.Reason, r.Text
	}
	if old := k.h.refusal; old != nil {
		n.Since, n.FromRead = old.Since, old.FromRead && read
	}
	k.h.refusal = &n
	k.m.touched(k.t)
}

// accepted notes that a write of the target passed. A refusal ends when every cell it touched had an accepted snapshot;
// a live write never ends it, but when it holds an object that was refused, those snapshots are asked for (decisions 62).
func (k healer) accepted(p *pending) {
	if p.resync != nil {
		k.h.failures = 0
		k.passed(p.work.Snapshot.Cell)
		return
	}
	hit := false
	for i := range p.work.Changes {
		id := p.work.Changes[i].Object
		k.h.lost.Wrote(id)
		hit = k.h.undone.Wrote(id) || hit
	}
	k.recovered()
	for _, c := range k.t.cells.list {
		if _, owed := k.h.undone.Why(c.id); hit && (c.Lost || owed) {
			k.m.targets.ask(c, RequestHealed)
		}
	}
}

// passed notes an accepted snapshot of a cell. What is still refused is what the refusal says from now on.
func (k healer) passed(cell change.Cell) {
	k.h.lost.Paid(cell, k.follows)
	k.recovered()
	k.h.undone.Paid(cell, k.follows)
	if k.h.undone.Empty() {
		k.clear()
		return
	}
	for _, c := range k.t.cells.list {
		if r, owed := k.h.undone.Why(c.id); owed {
			k.h.refusal.Reason, k.h.refusal.Text = r.Reason, r.Text
			k.m.touched(k.t)
			return
		}
	}
}

// recovered ends a failure when later writes made up for it.
func (k healer) recovered() {
	if k.h.failure != nil && k.h.lost.Empty() {
		k.h.failure = nil
		k.m.touched(k.t)
	}
}

func (k healer) clear() {
	k.h.undone = debt.Debt[Refusal]{}
	if k.h.refusal != nil {
		k.h.refusal = nil
		k.m.touched(k.t)
	}
}

// read takes the result of reading the folder.
func (k healer) read(in Written) {
	switch r := k.h.refusal; {
	case in.Outcome == WriteRefused:
		k.refuse(in.Refusal, true)
	case r == nil:
	case r.FromRead:
		k.clear()
		k.m.targets.askLost(k.t, RequestHealed)
	default:
		k.m.targets.askAll(k.t, RequestHealed)
	}
}

// failed notes a write that failed by itself and schedules snapshots that re-derive what it lost.
func (k healer) failed(p *pending, f Failure) {
	for i := range p.work.Changes {
		if c := p.work.Changes[i].Cell; k.follows(c) {
			k.h.lost.Object(p.work.Changes[i].Object, c, struct{}{})
		}
	}
	if p.resync != nil && k.follows(p.work.Snapshot.Cell) {
		k.h.lost.Cell(p.work.Snapshot.Cell, struct{}{})
	}
	if k.h.lost.Empty() && p.work.Kind != KindAtomic && p.work.Kind != KindSave {
		return // of types that are not followed any more: nothing could make up for it
	}
	k.h.failures++
	delay := pace.Ladder(k.h.failures, k.m.cfg.RetryMin, k.m.cfg.RetryMax)
	since := k.m.now
	if k.h.failure != nil {
		since = k.h.failure.Since
	}
	k.h.failure = &Trouble{
		Reason: f.Reason, Text: f.Text, Since: since, Next: k.m.now.Add(delay),
	}
	k.m.touched(k.t)
}

// configured reacts to a change that may cure what was refused or failed.
func (k healer) configured() {
	if k.h.refusal != nil {
		k.m.targets.askAll(k.t, RequestConfigured)
		return
	}
	k.m.targets.askLost(k.t, RequestConfigured)
}

// recheckAt is when the branch of a refused folder is looked at again.
func (k healer) recheckAt() time.Time {
	if k.h.refusal == nil || k.m.remote.wished.wanted || !k.m.remote.known {
		return noTime
	}
	from := k.m.remote.proof.at
	if k.h.refusal.Since.After(from) {
		from = k.h.refusal.Since
	}
	return from.Add(k.m.cfg.RecheckRefused)
}

func (k healer) expire() {
	if pace.Due(k.recheckAt(), k.m.now) {
		k.m.remote.wish(WhyRefresh)
	}
	if f := k.h.failure; f != nil && pace.Due(f.Next, k.m.now) {
		f.Next = noTime
		k.m.targets.askLost(k.t, RequestLost)
	}
}

func (k healer) due(next *pace.Soonest) {
	next.Add(k.recheckAt())
	if f := k.h.failure; f != nil {
		next.Add(f.Next)
	}
}
