// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"slices"
	"time"
)

// applier is the branch's side of one Flux Kustomization or Argo CD Application: when to hand it a commit, and which
// snapshots its applies make stale (apply 3.2, 3.6).
type applier struct {
	name string
	// epoch grows with each send and each end of a sent attempt; out is between the two.
	epoch uint64
	out   bool
	due   *dueApply
}

// dueApply waits until every write up to mark is published.
type dueApply struct {
	attempt string
	reasons []string
	mark    Seq
}

type appliers struct {
	m      *Machine
	byName map[string]*applier
	list   []*applier
}

func (k *appliers) get(name string) *applier {
	a := k.byName[name]
	if a == nil {
		a = &applier{name: name}
		k.byName[name] = a
		k.list = append(k.list, a)
	}
	return a
}

func (k *appliers) said(in ApplierSaid) {
	a := k.get(in.Applier)
	switch in.State {
	case ApplierDue:
		k.m.windows.close(CloseApplyDue)
		a.due = &dueApply{attempt: in.Attempt, reasons: in.Reasons, mark: k.m.ledger.seq}
	case ApplierSent:
		a.epoch++
		a.out = true
	case ApplierEnded:
		if a.out {
			a.epoch++
			a.out = false
			k.request(a)
		}
	}
	k.m.touched(nil)
}

// flushing reports whether an apply waits for writes that are not published.
func (k *appliers) flushing() bool { return slices.ContainsFunc(k.list, k.unpublished) }

func (k *appliers) unpublished(a *applier) bool {
	return a.due != nil && slices.ContainsFunc(k.m.ledger.list, func(p *pending) bool { return p.work.Seq <= a.due.mark })
}

// ask hands over every applier whose writes are on the remote. A registered save, a missing parent, an unresolved push
// and an untrusted base hold it; without a commit there is nothing to apply.
func (k *appliers) ask() {
	r := &k.m.remote
	if !r.exists || !r.trusted || k.m.publish.unresolved != nil || len(k.m.saves.waiting) > 0 {
		return
	}
	for _, a := range k.list {
		if a.due != nil && !a.out && !k.unpublished(a) {
			k.m.emit(Ask{Applier: a.name, Attempt: a.due.attempt, Commit: r.base, Reasons: a.due.reasons})
			a.due = nil
		}
	}
}

// stale reports whether a snapshot was gathered while Git was ahead of the target's applier (apply 3.6). Initial ones
// are always used, and after SnapshotHold the next one is.
func (k *appliers) stale(p *pending) bool {
	t, rs := p.t, p.resync
	if t.cfg.Applier == "" || rs.initial {
		return false
	}
	a := k.get(t.cfg.Applier)
	if !rs.stamp.Ahead && !a.out && rs.stamp.Applies == a.epoch && !rs.foreign {
		if len(t.stale) == 0 {
			t.staleSince = time.Time{}
		}
		return false
	}
	if !t.staleSince.IsZero() && due(t.staleSince.Add(k.m.cfg.SnapshotHold), k.m.now) {
		t.staleSince, t.stale = time.Time{}, nil
		k.m.observe(t, Observation{What: ObservedSnapshot, Reason: "used"})
		return false
	}
	return true
}

// discarded asks for a fresh snapshot, now or when the apply ended.
func (k *appliers) discarded(c *cell) {
	t := c.t
	k.m.observe(t, Observation{What: ObservedSnapshot, Reason: "discarded"})
	if t.staleSince.IsZero() {
		t.staleSince = k.m.now
	}
	if !k.get(t.cfg.Applier).out {
		k.m.targets.ask(c, RequestStale)
		return
	}
	if !slices.Contains(t.stale, c.id) {
		t.stale = append(t.stale, c.id)
	}
}

func (k *appliers) request(a *applier) {
	for _, t := range k.m.targets.list {
		if t.cfg.Applier == a.name {
			k.askStale(t)
		}
	}
}

func (k *appliers) askStale(t *target) {
	stale := t.stale
	t.stale = nil
	for _, id := range stale {
		if c := t.cells.byID[id]; c != nil {
			k.m.targets.ask(c, RequestStale)
		}
	}
}

// expire ends a hold: the next snapshot is used although an apply is out.
func (k *appliers) expire(t *target) {
	if len(t.stale) > 0 && due(t.staleSince.Add(k.m.cfg.SnapshotHold), k.m.now) {
		k.askStale(t)
	}
}

func (k *appliers) due(t *target, next *soonest) {
	if len(t.stale) > 0 {
		next.add(t.staleSince.Add(k.m.cfg.SnapshotHold))
	}
}

// stamp is what a snapshot of the target should carry.
func (k *appliers) stamp(t *target) (applies uint64, ahead bool) {
	if a := k.byName[t.cfg.Applier]; a != nil && t.cfg.Applier != "" {
		return a.epoch, a.out
	}
	return 0, false
}
