// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core/health"
	"github.com/configbutler/gitops-reverser/internal/branch/core/pace"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// Trouble is a lasting failure for observers (decisions 32).
type Trouble = health.Trouble[Reason]

// Refusal is why a flush was refused as a whole.
type Refusal = health.Refusal

// healer is one target as its health sees it.
type healer struct {
	m *Machine
	t *target
}

func (m *Machine) healthOf(t *target) healer { return healer{m: m, t: t} }

func (k healer) Now() time.Time { return k.m.now }
func (k healer) Changed()       { k.m.touched(k.t) }

// Follows reports whether the cell is declared and its stream can be read.
func (k healer) Follows(id change.Cell) bool {
	c := k.t.cells.byID[id]
	return c != nil && !c.blocked
}

func (k healer) Cells(each func(change.Cell, bool)) {
	for _, c := range k.t.cells.list {
		each(c.id, c.Lost)
	}
}

func (k healer) Ask(id change.Cell, why health.Why) {
	k.m.targets.ask(k.t.cells.byID[id], map[health.Why]RequestWhy{
		health.Healed: RequestHealed, health.Lost: RequestLost, health.Configured: RequestConfigured,
	}[why])
}

// harm is a write as the health of its target sees it.
func (p *pending) harm() health.Write {
	w := health.Write{Changes: p.work.Changes, Rootless: p.work.Kind == KindAtomic || p.work.Kind == KindSave}
	if p.resync != nil {
		w.Cell = &p.work.Snapshot.Cell
	}
	return w
}

// recheckAt is when the branch of a refused folder is looked at again.
func (k healer) recheckAt() time.Time {
	r := k.t.health.Refusal
	if r == nil || k.m.remote.wished.wanted || !k.m.remote.known {
		return noTime
	}
	from := k.m.remote.proof.at
	if r.Since.After(from) {
		from = r.Since
	}
	return from.Add(k.m.cfg.RecheckRefused)
}

func (k healer) expire() {
	if pace.Due(k.recheckAt(), k.m.now) {
		k.m.remote.wish(WhyRefresh)
	}
	k.t.health.Expire(k)
}

func (k healer) due(next *pace.Soonest) {
	next.Add(k.recheckAt())
	k.t.health.Due(next)
}
