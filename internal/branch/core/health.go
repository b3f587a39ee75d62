// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"maps"
	"slices"
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core/pace"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// health is what is wrong with one target's folder or writes.
type health struct {
	refusal *Refusal
	// objects are those whose live write or snapshot was refused: when one of them is accepted, snapshots may clear the
	// refusal. cells are those whose last snapshot was refused, and why.
	objects map[change.ObjectID]change.Cell
	cells   map[change.Cell]Refusal
	// failure is the last write that failed by itself, failing the cells it lost something of, and failures counts them
	// in a row, for the ladder of new snapshots.
	failure  *Trouble
	failing  []change.Cell
	failures int
	// rejected is set while the remote refuses a write of the target.
	rejected *Trouble
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

// cells lists the streams a write came from.
func (p *pending) cells() (cells []change.Cell) {
	if p.resync != nil {
		return []change.Cell{p.work.Snapshot.Cell}
	}
	for i := range p.work.Changes {
		if c := p.work.Changes[i].Cell; !slices.Contains(cells, c) {
			cells = append(cells, c)
		}
	}
	return cells
}

// declared looks at the folder anew when a refused or failed cell is not declared any more: nothing else would.
func (k healer) declared() {
	gone := func(c change.Cell) bool { return k.t.cells.byID[c] == nil }
	for c := range k.h.cells {
		k.h.touch = k.h.touch || gone(c)
	}
	for _, c := range k.h.objects {
		k.h.touch = k.h.touch || gone(c)
	}
	if k.h.failing = slices.DeleteFunc(k.h.failing, gone); k.h.failure != nil && len(k.h.failing) == 0 {
		k.h.failure = nil
	}
}

// refused notes a refused write.
func (k healer) refused(p *pending, in Written) {
	k.refuse(in.Refusal, false)
	if k.h.objects == nil {
		k.h.objects, k.h.cells = map[change.ObjectID]change.Cell{}, map[change.Cell]Refusal{}
	}
	for i := range p.work.Changes {
		k.remember(p.work.Changes[i].Object, p.work.Changes[i].Cell)
	}
	if p.resync == nil {
		return
	}
	cell := p.work.Snapshot.Cell
	k.h.cells[cell] = *k.h.refusal
	for _, id := range in.Refused {
		k.remember(id, cell)
	}
}

func (k healer) remember(id change.ObjectID, c change.Cell) {
	if len(k.h.objects) < refusedObjectsMax {
		k.h.objects[id] = c
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
	}
	if k.h.failure != nil && len(k.h.failing) == 0 {
		k.h.failure = nil
		k.m.touched(k.t)
	}
	if p.resync != nil {
		return
	}
	hit := false
	for i := range p.work.Changes {
		id := p.work.Changes[i].Object
		if _, ok := k.h.objects[id]; ok {
			delete(k.h.objects, id)
			hit = true
		}
	}
	for _, c := range k.t.cells.list {
		if hit && (c.Lost || k.refuses(c.id)) {
			k.m.targets.ask(c, RequestHealed)
		}
	}
}

// passed notes an accepted snapshot of a cell: what was refused of it is written or gone. Cells that are not declared
// any more count for nothing.
func (k healer) passed(cell change.Cell) {
	over := func(c change.Cell) bool { return c == cell || k.t.cells.byID[c] == nil }
	maps.DeleteFunc(k.h.objects, func(_ change.ObjectID, c change.Cell) bool { return over(c) })
	maps.DeleteFunc(k.h.cells, func(c change.Cell, _ Refusal) bool { return over(c) })
	k.h.failing = slices.DeleteFunc(k.h.failing, over)
	if len(k.h.objects) == 0 && len(k.h.cells) == 0 {
		k.clear()
		return
	}
	for _, c := range k.t.cells.list {
		if r, ok := k.h.cells[c.id]; ok {
			k.h.refusal.Reason, k.h.refusal.Text = r.Reason, r.Text
			k.m.touched(k.t)
			return
		}
	}
}

func (k healer) refuses(cell change.Cell) bool {
	_, ok := k.h.cells[cell]
	return ok
}

func (k healer) clear() {
	k.h.objects, k.h.cells = nil, nil
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
	for _, c := range p.cells() {
		if k.t.cells.byID[c] != nil && !slices.Contains(k.h.failing, c) {
			k.h.failing = append(k.h.failing, c)
		}
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
