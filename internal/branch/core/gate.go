// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core/hold"
	"github.com/configbutler/gitops-reverser/internal/branch/core/pace"
	"github.com/configbutler/gitops-reverser/internal/change"
)

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
		switch {
		case c.verdict == GateDiverges:
			return GateDivergent
		case c.verdict == "" && !c.blocked:
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
	state := g.state()
	if g.t.was == state {
		return
	}
	g.t.was = state
	g.m.touched(g.t)
	switch state {
	case GateOpen:
		for _, it := range g.t.gate.Take() {
			g.m.windows.add(g.t, it.Change, false, it.Receipts)
		}
		g.m.targets.askLost(g.t, RequestGate)
	case GateDivergent:
		g.drop("divergent", "")
	case GatePending:
	}
}

// keep holds a change. Past the branch's byte budget everything the target holds is dropped.
func (g gate) keep(it hold.Item[*receipt]) {
	g.t.gate.Add(it, g.m.now)
	g.m.touched(g.t)
	var all int64
	for _, t := range g.m.targets.list {
		all += t.gate.Bytes()
	}
	if all > g.m.cfg.BufferMax {
		g.drop("hold_budget", RequestHold)
	}
}

// supersede lets go of held changes for which a snapshot stands.
func (g gate) supersede(s *change.Snapshot, back bool) {
	for _, it := range g.t.gate.Supersede(s, back) {
		g.m.cursors.Supersede(it.Receipts)
	}
}

// drop loses everything held, counted under label, and asks for snapshots of its cells when why is set.
func (g gate) drop(label string, why RequestWhy) {
	items := g.t.gate.Take()
	if len(items) == 0 {
		return
	}
	for _, it := range items {
		g.m.cursors.Close(it.Receipts, true)
		g.m.publish.rejects.outdated(&it.Change)
	}
	g.m.dropped(g.t, label, len(items))
	if why != "" {
		g.m.targets.askLost(g.t, why)
	}
}

// until is when the hold gives up; zero while nothing is held.
func (g gate) until() time.Time {
	if g.t.gate.Len() == 0 {
		return noTime
	}
	return g.t.gate.Since().Add(g.m.cfg.HoldMax)
}

func (g gate) expire() {
	if pace.Due(g.until(), g.m.now) {
		g.drop("hold_expired", RequestHold)
	}
}

// dropped counts lost changes.
func (m *Machine) dropped(t *target, label string, n int) {
	m.observe(t, Observation{What: ObservedDrop, Reason: label, Count: n})
}
