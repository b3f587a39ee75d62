// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core/pace"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// health is what is wrong with one target's folder or writes.
type health struct {
	refusal *Refusal
	// objects are live objects whose write was refused: when one of them is accepted, a snapshot may clear the refusal.
	objects map[change.ObjectID]change.Cell
	// failure is the last write that failed by itself; failures counts them in a row, for the ladder of new snapshots.
	failure  *Trouble
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

// refused notes a refused write.
func (k healer) refused(p *pending, in Written) {
	k.refuse(in.Refusal, false)
	if k.h.objects == nil {
		k.h.objects = map[change.ObjectID]change.Cell{}
	}
	for i := range p.work.Changes {
		if c := &p.work.Changes[i]; len(k.h.objects) < refusedObjectsMax {
			k.h.objects[c.Object] = c.Cell
		}
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

// accepted notes that a write of the target passed. An accepted snapshot clears a refusal; a live write never does, but
// when it holds an object that was refused, a snapshot is asked for (decisions 62).
func (k healer) accepted(p *pending) {
	if k.h.failure != nil {
		k.h.failure = nil
		k.m.touched(k.t)
	}
	if p.resync != nil {
		k.h.failures = 0
		k.clear()
		return
	}
	for i := range p.work.Changes {
		c := &p.work.Changes[i]
		if id, ok := k.h.objects[c.Object]; ok {
			delete(k.h.objects, c.Object)
			if cl := k.t.cells.byID[id]; cl != nil {
				k.m.targets.ask(cl, RequestHealed)
			}
		}
	}
}

func (k healer) clear() {
	k.h.objects = nil
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
func (k healer) failed(f Failure) {
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
