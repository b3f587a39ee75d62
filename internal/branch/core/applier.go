// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"slices"

	"github.com/configbutler/gitops-reverser/internal/branch/core/applies"
	"github.com/configbutler/gitops-reverser/internal/branch/core/pace"
)

// appliers is the branch's side of applying: when to hand a commit over, and which snapshots an apply makes stale.
type appliers struct {
	m   *Machine
	set applies.Set
}

func (k *appliers) said(in ApplierSaid) {
	switch in.State {
	case ApplierDue:
		k.m.windows.close(CloseApplyDue)
		k.set.Want(applies.Due{
			Applier: in.Applier, Attempt: in.Attempt, Reasons: in.Reasons, Mark: uint64(k.m.ledger.last),
		})
	case ApplierSent:
		k.set.Sent(in.Applier)
	case ApplierEnded:
		if k.set.Ended(in.Applier) {
			for _, t := range k.m.targets.list {
				if t.cfg.Applier == in.Applier {
					k.askStale(t)
				}
			}
		}
	}
	k.m.touched(nil)
}

// oldest is the oldest unpublished write, zero when there is none.
func (k *appliers) oldest() uint64 {
	if l := k.m.ledger.All; len(l) > 0 {
		return l[0].Seq
	}
	return 0
}

// flushing reports whether an apply waits for writes that are not published.
func (k *appliers) flushing() bool { return k.set.Waiting(k.oldest()) }

// ask hands over every applier whose writes are on the remote. A registered save, a missing parent, an unresolved push
// and an untrusted base hold it; without a commit there is nothing to apply.
func (k *appliers) ask() {
	r := &k.m.remote
	if !r.exists || !r.trusted || k.m.publish.unresolved != nil || len(k.m.saves.waiting) > 0 {
		return
	}
	for _, d := range k.set.Take(k.oldest()) {
		k.m.emit(Ask{Applier: d.Applier, Attempt: d.Attempt, Commit: r.base, Reasons: d.Reasons})
	}
}

// stale reports whether a snapshot was gathered while Git was ahead of the target's applier (apply 3.6). Initial ones
// are always used, and after SnapshotHold the next one is.
func (k *appliers) stale(p *pending) bool {
	t, rs := p.t, p.resync
	if t.cfg.Applier == "" || rs.initial || rs.forced {
		return false
	}
	epoch, ahead := k.set.State(t.cfg.Applier)
	if !rs.stamp.Ahead && !ahead && rs.stamp.Applies == epoch && !rs.foreign {
		if len(t.stale) == 0 {
			t.staleSince = noTime
		}
		return false
	}
	if !t.staleSince.IsZero() && pace.Due(t.staleSince.Add(k.m.cfg.SnapshotHold), k.m.now) {
		t.staleSince, t.stale, rs.forced = noTime, nil, true
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
	if _, ahead := k.set.State(t.cfg.Applier); !ahead {
		k.m.targets.ask(c, RequestStale)
		return
	}
	if !slices.Contains(t.stale, c.id) {
		t.stale = append(t.stale, c.id)
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
	if len(t.stale) > 0 && pace.Due(t.staleSince.Add(k.m.cfg.SnapshotHold), k.m.now) {
		k.askStale(t)
	}
}

func (k *appliers) due(t *target, next *pace.Soonest) {
	if len(t.stale) > 0 {
		next.Add(t.staleSince.Add(k.m.cfg.SnapshotHold))
	}
}
