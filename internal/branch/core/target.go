// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"slices"
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core/health"
	"github.com/configbutler/gitops-reverser/internal/branch/core/hold"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// target is everything the machine knows of one GitTarget.
type target struct {
	key   change.TargetKey
	cfg   TargetConfig
	gone  bool
	cells cellSet
	gate  hold.List[*receipt]
	// was is the state of the gate that was acted on.
	was    GateState
	health health.Health[Reason]
	seen   seen
	// staleSince is when the first snapshot of the present hold was discarded for an applier; stale are its cells.
	staleSince time.Time
	stale      []change.Cell
}

type cellSet struct {
	epoch uint64
	list  []*cell
	byID  map[change.Cell]*cell
}

// seen is what observers read: results of plans and publications.
type seen struct {
	report      any
	on          Commit
	at          time.Time
	published   Commit
	publishedAt time.Time
	rechecked   string
}

// prune is the mode that holds now; a deleted GitTarget counts as Never (git-writer 7.3).
func (t *target) prune() PruneMode {
	if t.gone {
		return PruneNever
	}
	return t.cfg.Prune
}

func (t *target) suspended() bool { return t.cfg.Suspended }

// registry holds the targets in the order in which they were first set.
type registry struct {
	m     *Machine
	byKey map[change.TargetKey]*target
	list  []*target
}

func (r *registry) set(in TargetSet) {
	t, ok := r.byKey[in.Target]
	if !ok {
		t = &target{key: in.Target, cfg: in.Config}
		t.cells.byID = map[change.Cell]*cell{}
		r.byKey[in.Target] = t
		r.list = append(r.list, t)
		r.m.touched(t)
		return
	}
	old := t.cfg
	t.cfg = in.Config
	if old.Suspended != t.cfg.Suspended {
		r.suspend(t)
	}
	switch was, is := old.Prune.rank(), t.cfg.Prune.rank(); {
	case is < was:
		r.m.ledger.tighten(t)
	case is > was && is == PruneAlways.rank():
		r.askAll(t, RequestPrune)
	}
	if old.RenderGate != t.cfg.RenderGate {
		r.m.gate(t).settle()
		for _, c := range t.cells.list {
			if t.cfg.RenderGate && c.verdict == "" {
				r.ask(c, RequestGate)
			}
		}
	}
	if old.ProviderSuspended != t.cfg.ProviderSuspended {
		r.m.publish.pace.Break()
		r.m.touched(nil)
		r.m.touched(t)
	}
	if old.Revision != t.cfg.Revision {
		r.m.publish.revive()
		t.health.Configured(r.m.healthOf(t))
	}
}

func (r *registry) suspend(t *target) {
	if t.cfg.Suspended {
		r.m.saves.failWaiting(t, textSuspended)
		for _, c := range t.cells.list {
			c.reported = nil // retention is not shown while suspended
		}
	} else {
		for _, c := range t.cells.list {
			c.preview = nil
		}
		r.askAll(t, RequestResumed)
	}
	r.m.touched(t)
}

func (r *registry) remove(key change.TargetKey) {
	t, ok := r.byKey[key]
	if !ok {
		return
	}
	if w := r.m.windows.open; w != nil && w.t == t {
		r.m.windows.close(CloseIdentity)
	}
	r.m.gate(t).drop("target_gone", "")
	r.m.saves.failWaiting(t, "the GitTarget is gone")
	t.gone = true
	r.m.ledger.tighten(t)
	r.m.publish.rejects.forget(t)
	delete(r.byKey, key)
	r.list = slices.DeleteFunc(r.list, func(o *target) bool { return o == t })
	r.m.touched(t)
}

// declare replaces the cells. A new epoch starts the render gate over: kept cells are asked for a fresh snapshot,
// because their streams have no reason of their own to send one.
func (r *registry) declare(in CellsDeclared) {
	t, ok := r.byKey[in.Target]
	if !ok {
		return
	}
	fresh := in.Epoch != t.cells.epoch
	t.cells.epoch = in.Epoch
	old := t.cells.byID
	t.cells.byID = make(map[change.Cell]*cell, len(in.Cells))
	t.cells.list = nil
	for _, id := range in.Cells {
		c, kept := old[id]
		if !kept {
			c = newCell(t, id)
		}
		if t.cells.byID[id] != nil {
			continue
		}
		c.blocked = slices.Contains(in.Blocked, id)
		t.cells.byID[id] = c
		t.cells.list = append(t.cells.list, c)
		if fresh && kept && t.cfg.RenderGate {
			c.verdict, c.text = "", ""
			r.ask(c, RequestGate)
		}
	}
	r.m.gate(t).settle()
	t.health.Declared(r.m.healthOf(t))
	r.m.publish.rejects.heal()
	r.m.touched(t)
}

func (r *registry) recheck(in Recheck) {
	t, ok := r.byKey[in.Target]
	if !ok || in.Token == t.seen.rechecked {
		return
	}
	t.seen.rechecked = in.Token
	r.m.publish.revive()
	r.m.remote.wish(WhyRecheck)
	if len(t.cells.list) > 0 {
		// The look that the first of the snapshots needs serves for this one too.
		r.m.remote.postpone()
	}
	r.askAll(t, RequestRecheck)
	r.m.touched(t)
}

// askAgain is how long the machine waits for a snapshot before it asks for the same cell again by itself.
const askAgain = time.Minute

// ask requests a fresh snapshot of a cell unless one is on its way. What a person asked for is always passed on.
func (r *registry) ask(c *cell, why RequestWhy) {
	waits := !c.asked.IsZero() && r.m.now.Before(c.asked.Add(askAgain))
	if c.t.gone || (waits && why != RequestRecheck && why != RequestResumed) {
		return
	}
	c.asked = r.m.now
	r.m.emit(Request{Target: c.t.key, Cell: c.id, Why: why})
}

func (r *registry) askAll(t *target, why RequestWhy) {
	for _, c := range t.cells.list {
		r.ask(c, why)
	}
}

// askLost requests the cells of which something was dropped or refused.
func (r *registry) askLost(t *target, why RequestWhy) {
	for _, c := range t.cells.list {
		if c.Lost {
			r.ask(c, why)
		}
	}
}

// providerSuspended reports whether the branch must make no request (decisions 61).
func (r *registry) providerSuspended() bool {
	return slices.ContainsFunc(r.list, func(t *target) bool { return t.cfg.ProviderSuspended })
}
