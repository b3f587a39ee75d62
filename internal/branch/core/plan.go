// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"slices"

	"github.com/configbutler/gitops-reverser/internal/branch/core/hold"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// settleLocally ends or moves an undecided write that must not be planned now. It reports whether it did.
func (m *Machine) settleLocally(p *pending) bool {
	t := p.t
	if p.resync != nil {
		return m.settleSnapshot(p)
	}
	if t.suspended() {
		m.lose(p, "suspended", textSuspended)
		return true
	}
	switch m.gate(t).state() {
	case GateDivergent:
		m.lose(p, "divergent", textDivergent)
		return true
	case GatePending:
		switch {
		case p.work.Recovered:
			return false
		case p.work.Kind == KindWindow && !p.tried:
			m.holdAgain(t)
		default:
			m.lose(p, "pending", textPending)
		}
		return true
	default:
		return false
	}
}

func (m *Machine) settleSnapshot(p *pending) bool {
	c := p.t.cells.byID[p.work.Snapshot.Cell]
	if !p.t.gone && c != nil && !m.appliers.stale(p) {
		return false
	}
	m.ledger.answer(p, change.Discarded, "", false)
	m.cursors.Close(p.receipts, true)
	m.ledger.drop(p)
	if c != nil {
		m.appliers.discarded(c)
	}
	return true
}

// lose drops an undecided write because its target takes none now.
func (m *Machine) lose(p *pending, label, text string) {
	m.saves.end(p.save, SaveFailed, Commit{}, text)
	m.cursors.Close(p.receipts, true)
	m.publish.rejects.supersede(p)
	if n := len(p.work.Changes); n > 0 {
		m.dropped(p.t, label, n)
	}
	m.ledger.drop(p)
}

// holdAgain moves the closed windows of a target back into the hold: the gate closed before they were planned. All of
// them go, in order, so that none overtakes another; a snapshot that waits between them stands for those before it.
func (m *Machine) holdAgain(t *target) {
	for _, p := range slices.Clone(m.ledger.Rest()) {
		switch {
		case p.t != t || p.Decided:
		case p.resync != nil:
			m.gate(t).supersede(p.work.Snapshot, true)
		case p.work.Kind == KindWindow && !p.work.Recovered && !p.tried:
			m.holdWindow(p)
		}
	}
}

func (m *Machine) holdWindow(p *pending) {
	m.saves.end(p.save, SaveFailed, Commit{}, textPending)
	m.ledger.drop(p)
	for _, r := range p.receipts {
		r.Split(len(p.work.Changes) - 1)
	}
	for _, c := range p.work.Changes {
		m.gate(p.t).keep(hold.Item[*receipt]{Change: c, Receipts: p.receipts, Back: true})
	}
}

// settled ends a write that is published or needs no commit.
func (m *Machine) settled(p *pending, published bool) {
	m.ledger.answer(p, change.Settled, "", false)
	m.saves.published(p)
	m.publish.rejects.supersede(p)
	if p.resync != nil {
		p.t.health.Landed(m.healthOf(p.t), p.work.Snapshot.Cell)
		m.publish.rejects.heal()
	}
	if published || len(m.ledger.Built()) == 0 {
		m.cursors.Close(slices.Concat(p.receipts, p.relying), false)
		return
	}
	// Nothing differs from a tree that is not on the remote yet: the cursors wait for that.
	last := m.ledger.All[len(m.ledger.Built())-1]
	last.relying = append(last.relying, slices.Concat(p.receipts, p.relying)...)
}

// planned takes the answer to a Write.
func (m *Machine) planned(o *op, in Written) {
	t, kind := o.t, KindTouch
	if o.p != nil {
		t, kind = o.p.t, o.p.work.Kind
	}
	if in.Outcome == WriteFailed {
		m.planFailed(o, t, kind, in)
		return
	}
	m.observePlan(o, t, kind, in)
	switch {
	case o.p == nil:
		t.health.Read(m.healthOf(t), in.Outcome == WriteRefused, in.Refusal)
		return
	case o.dry:
		m.previewed(o.p, in)
	case in.Outcome == WriteRefused:
		m.refused(o.p, in)
	default:
		m.committed(o.p, in)
		if o.prune.rank() > o.p.t.prune().rank() {
			m.ledger.Again(o.p.Seq) // tightened meanwhile
		}
	}
	m.gate(t).report(o.p, in.Gate, in.GateText)
}

func (m *Machine) observePlan(o *op, t *target, kind Kind, in Written) {
	ob := Observation{What: ObservedPlan, Seq: in.Seq, Kind: kind, Counts: in.Counts, Report: in.Report}
	switch {
	case o.dry:
		ob.Reason = "dry"
	case o.p.Decided:
		ob.Reason = "replay"
	}
	m.observe(t, ob)
	if in.Report != nil {
		t.seen.report, t.seen.on, t.seen.at = in.Report, m.ledger.head(), m.now
		m.touched(t)
	}
}

// planFailed keeps a write that the store or an abort failed, and drops one that failed by itself.
func (m *Machine) planFailed(o *op, t *target, kind Kind, in Written) {
	f := Failure{Reason: ReasonWriteFailed}
	if in.Err != nil {
		f = *in.Err
	}
	switch {
	case f.Reason == ReasonStore:
		m.remote.distrust(Commit{}, WhyRecovery)
		if o.p == nil {
			t.health.Touch, m.remote.refetch = true, true
		}
		m.publish.fail(o, f)
		return
	case o.aborted, f.Reason == ReasonCancelled, f.Reason == ReasonDeadline:
		if o.p != nil {
			o.p.cut = true
		}
		m.publish.fail(o, f)
		return
	case o.p == nil:
		return
	}
	m.observe(t, Observation{What: ObservedLost, Seq: o.p.seq(), Kind: kind, Reason: "error", Text: f.Text})
	m.ledger.answer(o.p, change.FailedOutcome, f.Text, !t.gone)
	m.saves.end(o.p.save, SaveFailed, Commit{}, f.Text)
	m.cursors.Close(o.p.receipts, true)
	m.ledger.undo(o.p)
	if o.p.resync == nil {
		m.publish.rejects.supersede(o.p)
	}
	t.health.Failed(m.healthOf(t), o.p.harm(), f.Reason, f.Text, m.cfg.RetryMin, m.cfg.RetryMax)
}

// previewed ends the snapshot of a suspended target: nothing is retained or pushed, the result is shown.
func (m *Machine) previewed(p *pending, in Written) {
	if c := p.t.cells.byID[p.work.Snapshot.Cell]; c != nil && p.t.suspended() {
		c.preview = &CellReport{Cell: c.id, Counts: in.Counts, Report: in.Report, At: m.now}
	}
	outcome := change.Settled
	if in.Outcome == WriteRefused {
		outcome = change.RefusedOutcome
		p.t.health.Refused(m.healthOf(p.t), p.harm(), in.Refusal, in.Refused)
	} else {
		p.t.health.Accepted(m.healthOf(p.t), p.harm())
	}
	m.ledger.answer(p, outcome, refusalText(in), false)
	m.cursors.Close(p.receipts, true)
	m.ledger.drop(p)
	m.touched(p.t)
}

func refusalText(in Written) string {
	if in.Refusal == nil {
		return ""
	}
	return in.Refusal.Text
}

// refused drops a write that the folder or its content refuses. The next snapshot re-derives the state.
func (m *Machine) refused(p *pending, in Written) {
	text := refusalText(in)
	m.observe(p.t, Observation{
		What: ObservedLost, Seq: p.seq(), Kind: p.work.Kind, Reason: "refused", Text: text,
	})
	m.saves.end(p.save, SaveFailed, Commit{}, text)
	m.ledger.answer(p, change.RefusedOutcome, text, false)
	m.cursors.Close(p.receipts, true)
	m.ledger.undo(p)
	if p.resync == nil {
		m.publish.rejects.supersede(p)
	}
	p.t.health.Refused(m.healthOf(p.t), p.harm(), in.Refusal, in.Refused)
}

// committed gives a write its place in the chain, or settles it when nothing differs and nobody waits for it.
func (m *Machine) committed(p *pending, in Written) {
	if !p.Decided { // a replay is older than what failed since, and makes up for nothing
		m.ledger.decide(p, in)
		p.t.health.Accepted(m.healthOf(p.t), p.harm())
	}
	p.empty = in.Counts.Created+in.Counts.Updated+in.Counts.Deleted == 0
	if in.Outcome == WriteCommitted {
		p.Commit = in.Commit
	}
	m.skipped(p, in.Refused)
	if p.resync != nil {
		if c := p.t.cells.byID[p.work.Snapshot.Cell]; c != nil && !p.t.suspended() {
			c.reported = &CellReport{Cell: c.id, Counts: in.Counts, Report: in.Report, At: m.now}
			m.touched(p.t)
		}
	}
	if in.Outcome == WriteNothing && !p.keeps() {
		m.ledger.drop(p)
		m.settled(p, false)
		m.touched(p.t)
		return
	}
	m.ledger.Grow()
}

// skipped holds the cursors of live objects that were refused one by one.
func (m *Machine) skipped(p *pending, objects []change.ObjectID) {
	for i := range p.work.Changes {
		c := &p.work.Changes[i]
		if cl := p.t.cells.byID[c.Cell]; cl != nil && slices.Contains(objects, c.Object) {
			m.cursors.Refuse(&cl.Line, p.receipts)
		}
	}
}
