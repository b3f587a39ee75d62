// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"github.com/configbutler/gitops-reverser/internal/branch/core/chain"
	"github.com/configbutler/gitops-reverser/internal/branch/core/cursor"
	"github.com/configbutler/gitops-reverser/internal/branch/core/hold"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// itemOverhead is what an item without content of its own is charged (git-writer 10.2).
const itemOverhead = 1024

// intake decides what is taken over. Accepted work is never evicted; capacity closes admission instead.
type intake struct {
	m *Machine
	// paused is the latch of an outage: set when the budget is crossed, released when a publication lands or nothing
	// is owed.
	paused bool
	// refused: somebody was turned away and waits for ObservedIntake. large: with an item that only a healthy branch
	// takes.
	refused, large bool
}

// verdict answers for a new item of size bytes, apart from whose it is.
func (k *intake) verdict(size int64) change.Verdict {
	switch {
	case k.m.lane.stop:
		return change.Stopped
	case k.m.ledger.Waiting()+len(k.m.saves.waiting) >= k.m.cfg.QueueSlots:
		return change.QueueFull
	case !k.outage():
		return change.Accepted
	case size > k.m.cfg.BufferMax:
		return change.TooLarge
	case k.paused || k.m.bytes()+size > k.m.cfg.BufferMax:
		if !k.paused {
			k.paused = true
			k.m.touched(nil)
		}
		return change.IntakePaused
	}
	return change.Accepted
}

// outage reports whether a failed attempt waits, or nothing may be sent at all.
func (k *intake) outage() bool { return k.m.publish.trouble != nil || k.m.targets.providerSuspended() }

// refuse counts a refusal whose producer waits for room.
func (k *intake) refuse(t *target, v change.Verdict, kind string) {
	if v == change.Accepted || v == change.UnknownTarget || v == change.Stopped {
		return
	}
	k.refused = k.refused || v != change.TooLarge
	k.large = k.large || v == change.TooLarge
	k.m.observe(t, Observation{What: ObservedRefusal, Reason: kind, Text: string(v)})
}

// reopen releases the latch and wakes producers that were turned away.
func (k *intake) reopen() {
	if k.paused && (!k.outage() || k.m.bytes() == 0) {
		k.paused = false
		k.m.touched(nil)
	}
	if k.large && !k.outage() {
		k.large, k.refused = false, true
	}
	if k.refused && !k.paused && k.m.ledger.Waiting()+len(k.m.saves.waiting) < k.m.cfg.QueueSlots {
		k.refused = false
		k.m.observe(nil, Observation{What: ObservedIntake})
	}
}

func (k *intake) offer(in Offered) {
	if len(in.Atomic) > 0 {
		k.atomic(in)
		return
	}
	c := in.Change
	t, cl := k.find(c.Target, c.Cell)
	v := change.UnknownTarget
	if cl != nil {
		v = k.verdict(c.Size())
	}
	k.m.emit(Admit{Ticket: in.Ticket, Verdict: v})
	k.refuse(t, v, "write")
	if v != change.Accepted {
		return
	}
	g := k.m.gate(t)
	state := g.state()
	switch {
	case t.suspended():
		k.drop(cl, &c, "suspended")
	case state == GateDivergent:
		k.drop(cl, &c, "divergent")
	case state == GatePending && !in.Recovered:
		r := cursor.Open[*cell]()
		cl.Track(c.ResourceVersion, r, false)
		g.keep(hold.Item[*receipt]{Change: c, Receipts: []*receipt{r}})
	default:
		k.m.windows.take(t, cl, c, in.Recovered)
	}
}

func (k *intake) find(key change.TargetKey, id change.Cell) (*target, *cell) {
	t := k.m.targets.byKey[key]
	if t == nil {
		return nil, nil
	}
	return t, t.cells.byID[id]
}

// drop takes a change over and loses it: the target writes nothing now. The next snapshot of the cell stands for it.
func (k *intake) drop(cl *cell, c *change.Change, label string) {
	r := cursor.Open[*cell]()
	cl.Track(c.ResourceVersion, r, false)
	k.m.publish.rejects.outdated(c)
	k.m.cursors.Close([]*receipt{r}, true)
	k.m.dropped(cl.t, label, 1)
}

// atomic takes over a caller-defined batch. Cells are not required: a re-key has none.
func (k *intake) atomic(in Offered) {
	t := k.m.targets.byKey[in.Atomic[0].Target]
	var size int64
	for i := range in.Atomic {
		size += in.Atomic[i].Size()
	}
	v := change.UnknownTarget
	if t != nil {
		v = k.verdict(size)
	}
	k.m.emit(Admit{Ticket: in.Ticket, Verdict: v})
	k.refuse(t, v, "write")
	if v != change.Accepted {
		return
	}
	r := cursor.Open[*cell]()
	for i := range in.Atomic {
		if c := t.cells.byID[in.Atomic[i].Cell]; c != nil {
			c.Track(in.Atomic[i].ResourceVersion, r, false)
		}
	}
	k.m.windows.close(CloseAtomic)
	k.m.ledger.append(&pending{
		t: t, receipts: []*receipt{r}, Link: chain.Link[Commit]{Bytes: size},
		work: PendingWrite{Kind: KindAtomic, Changes: in.Atomic, Source: MessageReconcile},
	})
}

func (k *intake) snapshot(in Snapped) {
	s := in.Snapshot
	t, cl := k.find(s.Target, s.Cell)
	v := change.UnknownTarget
	size := s.Size()
	if cl != nil {
		v = k.verdict(size)
	}
	k.m.emit(Admit{Ticket: in.Ticket, Verdict: v})
	k.refuse(t, v, "resync")
	if v != change.Accepted {
		return
	}
	cl.Lost, cl.asked = false, noTime
	if t.cfg.RenderGate && cl.verdict == "" && in.Stamp.Epoch < t.cells.epoch {
		// Gathered before the present epoch began, it proves nothing for the gate.
		k.m.targets.ask(cl, RequestGate)
	}
	k.m.gate(t).supersede(&s, false)
	r := cursor.Open[*cell]()
	cl.Track(s.ResourceVersion, r, true)
	k.m.windows.close(CloseResync)
	p := &pending{
		t: t, receipts: []*receipt{r}, Link: chain.Link[Commit]{Bytes: size},
		resync: &resync{tickets: []Ticket{in.Ticket}, stamp: in.Stamp, initial: in.Initial},
		work:   PendingWrite{Kind: KindResync, Snapshot: &s, Source: MessageReconcile, Bootstrap: t.cfg.Bootstrap},
	}
	k.m.ledger.coalesce(p)
	k.m.ledger.append(p)
	if k.m.publish.backing() {
		k.m.ledger.tellFailed(p)
	}
}
