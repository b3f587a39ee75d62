// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"slices"
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// hold keeps the live changes of a target while its render gate is pending (git-writer 6.10).
type hold struct {
	items []held
	bytes int64
	since time.Time
	was   GateState
}

type held struct {
	change   change.Change
	receipts []*receipt
	// back: it was in a window already when the gate closed, so it is older than what is held directly.
	back bool
}

// gate is the render fidelity gate of one target, with the machine it acts on.
type gate struct {
	m *Machine
	t *target
}

func (m *Machine) gate(t *target) gate { return gate{m: m, t: t} }

func (g gate) state() GateState {
	if !g.t.cfg.RenderGate || g.t.gone {
		return GateOpen
	}
	state := GateOpen
	for _, c := range g.t.cells.list {
		switch c.verdict {
		case GateDiverges:
			return GateDivergent
		case "":
			state = GatePending
		}
	}
	return state
}

func (g gate) text() string {
	for _, c := range g.t.cells.list {
		if c.verdict == GateDiverges {
			return c.text
		}
	}
	return ""
}

// report takes a plan's verdict. A clean snapshot of a divergent cell is new evidence: the folder or the object was
// repaired. A clean live write proves nothing for its cells, and a snapshot of an earlier epoch proves nothing at all.
func (g gate) report(p *pending, v GateVerdict, text string) {
	switch {
	case v == "", p.resync == nil && v == GateClean, p.resync != nil && p.resync.stamp.Epoch != g.t.cells.epoch:
		return
	case p.resync != nil:
		g.judge(p.work.Snapshot.Cell, v, text)
	}
	for i := range p.work.Changes {
		g.judge(p.work.Changes[i].Cell, v, text)
	}
	g.settle()
}

func (g gate) judge(id change.Cell, v GateVerdict, text string) {
	if c := g.t.cells.byID[id]; c != nil {
		c.verdict, c.text = v, text
	}
}

// settle acts on a change of the gate's state.
func (g gate) settle() {
	h, state := &g.t.gate, g.state()
	if h.was == state {
		return
	}
	h.was = state
	g.m.touched(g.t)
	switch state {
	case GateOpen:
		g.release()
		g.m.targets.askLost(g.t, RequestGate)
	case GateDivergent:
		g.drop("divergent", "")
	case GatePending:
	}
}

// release lets the held changes into windows, in order.
func (g gate) release() {
	items := g.t.gate.items
	g.t.gate.items, g.t.gate.bytes, g.t.gate.since = nil, 0, noTime
	for _, it := range items {
		g.m.windows.add(g.t, it.change, false, it.receipts)
	}
}

// keep holds a change. Past the branch's byte budget everything the target holds is dropped.
func (g gate) keep(it held) {
	h := &g.t.gate
	if len(h.items) == 0 {
		h.since = g.m.now
	}
	at := len(h.items)
	if it.back {
		at = 0
		for at < len(h.items) && h.items[at].back {
			at++
		}
	}
	h.items = slices.Insert(h.items, at, it)
	h.bytes += it.change.Size()
	g.m.touched(g.t)
	var all int64
	for _, t := range g.m.targets.list {
		all += t.gate.bytes
	}
	if all > g.m.cfg.BufferMax {
		g.drop("hold_budget", RequestHold)
	}
}

// supersede drops held changes of a cell for which a snapshot stands, except a delete of an object it does not hold.
// With back, only those that went back into the hold are older than the snapshot.
func (g gate) supersede(s *change.Snapshot, back bool) {
	h := &g.t.gate
	if len(h.items) == 0 {
		return
	}
	has := make(map[change.ObjectID]bool, len(s.Items))
	for i := range s.Items {
		has[s.Items[i].Object] = true
	}
	kept := h.items[:0]
	for _, it := range h.items {
		absent := it.change.Operation == change.Delete && !has[it.change.Object]
		if absent || it.change.Cell != s.Cell || (back && !it.back) {
			kept = append(kept, it)
			continue
		}
		h.bytes -= it.change.Size()
		g.m.cursors.Supersede(it.receipts)
	}
	clear(h.items[len(kept):])
	h.items = kept
}

// drop loses everything held, counted under label, and asks for snapshots of its cells when why is set.
func (g gate) drop(label string, why RequestWhy) {
	h := &g.t.gate
	if len(h.items) == 0 {
		return
	}
	for _, it := range h.items {
		g.m.cursors.Close(it.receipts, true)
	}
	g.m.dropped(g.t, label, len(h.items))
	h.items, h.bytes, h.since = nil, 0, noTime
	if why != "" {
		g.m.targets.askLost(g.t, why)
	}
}

func (g gate) expire() {
	if h := &g.t.gate; len(h.items) > 0 && due(h.since.Add(g.m.cfg.HoldMax), g.m.now) {
		g.drop("hold_expired", RequestHold)
	}
}

func (g gate) due(next *soonest) {
	if h := &g.t.gate; len(h.items) > 0 {
		next.add(h.since.Add(g.m.cfg.HoldMax))
	}
}

// dropped counts lost changes.
func (m *Machine) dropped(t *target, label string, n int) {
	m.observe(t, Observation{What: ObservedDrop, Reason: label, Count: n})
}
