// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"slices"

	"github.com/configbutler/gitops-reverser/internal/branch/core/pace"
)

// Version is Status().Version without the cost of a picture.
func (m *Machine) Version() uint64 { return m.version }

// Status returns the present picture. It shares nothing with the machine that changes later.
func (m *Machine) Status() Status {
	l, r := &m.ledger, &m.remote
	s := Status{
		Version: m.version,
		Tip:     r.proof.tip, Parent: r.parent, VerifiedAt: r.proof.at, VerifiedBy: r.proof.by, BaseTrusted: r.trusted,
		Retained: len(l.All), SetAside: len(m.publish.rejects.aside.All), Bytes: m.bytes(), Queue: l.Waiting() + len(m.saves.waiting),
		Failing: m.publish.face(), IntakePaused: m.intake.paused,
		ProviderSuspended: m.targets.providerSuspended(), Stopped: m.lane.stopped,
	}
	s.Exists = !r.proof.tip.IsZero()
	if r.missing {
		s.Parent = ParentMissing
	}
	var oldest pace.Soonest
	if w := m.windows.open; w != nil {
		oldest.Add(w.opened)
	}
	s.Targets = make([]TargetStatus, 0, len(m.targets.list))
	waiting := map[*target]int{}
	for _, p := range slices.Concat(l.All, m.publish.rejects.aside.All) {
		waiting[p.t]++
		oldest.Add(p.since)
	}
	for _, t := range m.targets.list {
		oldest.Add(t.gate.Since())
		s.Targets = append(s.Targets, m.picture(t, waiting[t]))
	}
	s.Oldest = oldest.At
	return s
}

// face is the trouble as observers see it.
func (p *publisher) face() *Trouble {
	if p.trouble == nil {
		return nil
	}
	t := *p.trouble
	if t.Reason == ReasonPushRejected && len(p.m.ledger.All) == 0 && p.rejects.waiting() {
		t.Next = p.rejects.retryAt
	}
	return &t
}

func (m *Machine) picture(t *target, waiting int) TargetStatus {
	g := m.gate(t)
	s := TargetStatus{
		Target: t.key, Suspended: t.suspended(), Waiting: waiting,
		Gate: g.state(), GateText: g.text(), Held: t.gate.Len(),
		PushRejected: copied(t.health.Rejected), WriteFailed: copied(t.health.Failure), Refusal: copied(t.health.Refusal),
		Report: t.seen.report, ReportedOn: t.seen.on, ReportedAt: t.seen.at,
		Published: t.seen.published, PublishedAt: t.seen.publishedAt, Rechecked: t.seen.rechecked,
	}
	s.Applies, s.Ahead = m.appliers.set.State(t.cfg.Applier)
	for _, c := range t.cells.list {
		if c.preview != nil {
			s.Preview = append(s.Preview, *c.preview)
		}
		if c.reported != nil {
			s.Retention = append(s.Retention, *c.reported)
		}
	}
	return s
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
