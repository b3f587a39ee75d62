// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"slices"
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core/chain"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// pending is a write between its acceptance and its publication.
type pending struct {
	chain.Link[Commit]
	work     PendingWrite
	t        *target
	receipts []*receipt
	// relying are receipts of later writes that found no difference on top of this one, before it was published.
	relying []*receipt
	save    *save
	resync  *resync
	since   time.Time

	// decision of the first plan; the mode of pruning it was captured with.
	decision any
	prune    PruneMode
	empty    bool
	// cut: its last plan was cut off; the next one waits as a request would.
	cut bool
	// tried: the remote refused it before (decisions 58). cures is how many there had been when it was made.
	tried bool
	cures int
}

// resync is what only snapshots carry.
type resync struct {
	tickets []Ticket
	stamp   Stamp
	initial bool
	// foreign: a fetch since its acceptance found a commit of others.
	foreign bool
	// forced: it is used although it is stale, because snapshots waited too long for an applier.
	forced bool
}

// keeps reports whether a write stays pending although it needs no commit: a save waits for the remote's word.
func (p *pending) keeps() bool { return p.save != nil }

func (p *pending) seq() Seq { return Seq(p.Seq) }

// ledger holds the pending writes in order. The first of them have a local commit (or none to make) on top of the base;
// what follows waits for its plan or its replay.
type ledger struct {
	m *Machine
	chain.List[*pending, Commit]
	// last numbers writes.
	last Seq
}

func (l *ledger) append(p *pending) {
	l.last++
	if p.since.IsZero() {
		p.since = l.m.now
	}
	p.Seq, p.work.Target, p.work.Since = uint64(l.last), p.t.key, p.since
	l.Insert(p)
	l.promote(p)
	l.m.touched(nil)
}

// promote moves a snapshot of Namespaces or CustomResourceDefinitions before the target's snapshots that wait directly
// in front of it (decisions 66). None of them was handed out yet, so they change places and numbers.
func (l *ledger) promote(p *pending) {
	if !p.early() {
		return
	}
	for i := len(l.All) - 1; i > len(l.Built()); i-- {
		o := l.All[i-1]
		if o.resync == nil || o.Decided || o.t != p.t || o.early() || l.m.lane.holds(o) {
			break
		}
		l.Forward(i)
	}
}

// early reports whether others depend on the write's objects being there.
func (p *pending) early() bool {
	if p.resync == nil {
		return false
	}
	c := p.work.Snapshot.Cell
	return (c.Group == "" && c.Resource == "namespaces") ||
		(c.Group == "apiextensions.k8s.io" && c.Resource == "customresourcedefinitions")
}

// coalesce takes an undecided resync of the same cell out of the queue; p answers for both.
func (l *ledger) coalesce(p *pending) {
	for _, o := range l.Rest() {
		if o.resync == nil || o.Decided || o.t != p.t || o.work.Snapshot.Cell != p.work.Snapshot.Cell || l.m.lane.holds(o) {
			continue
		}
		p.resync.tickets = append(slices.Clone(o.resync.tickets), p.resync.tickets...)
		p.resync.initial = p.resync.initial || o.resync.initial
		l.m.cursors.Supersede(o.receipts)
		l.drop(o)
		return
	}
}

// drop takes a write out of the list.
func (l *ledger) drop(p *pending) {
	l.Drop(p)
	l.m.touched(nil)
}

// undo takes a decided write out that will not be published. What later writes found to be no difference may have been
// one only because of it, so snapshots must tell.
func (l *ledger) undo(p *pending) {
	for _, o := range l.All[slices.Index(l.All, p):] {
		l.m.cursors.Close(o.relying, true)
		for _, r := range o.relying {
			for _, c := range r.Owners() {
				l.m.targets.ask(c, RequestLost)
			}
		}
		o.relying = nil
	}
	l.drop(p)
}

// decide keeps the first plan's decision. A snapshot's items are let go: the decision holds the content.
func (l *ledger) decide(p *pending, in Written) {
	p.decision = in.Decision
	l.Decide(p, in.Bytes)
	for _, r := range p.receipts {
		r.Planned()
	}
	if p.resync != nil {
		s := *p.work.Snapshot
		s.Items = nil
		p.work.Snapshot = &s
	}
}

// head is the tip of the present chain.
func (l *ledger) head() Commit { return l.Head(l.m.remote.base) }

// tighten makes local commits anew that were decided with wider pruning than the target allows now.
func (l *ledger) tighten(t *target) {
	for _, p := range l.All {
		if p.t == t && p.Decided && p.prune.rank() > t.prune().rank() {
			l.Again(p.Seq)
			return
		}
	}
}

// tellFailed answers the callers of a snapshot that cannot reach the remote now; it stays pending (git-writer 10.4).
func (l *ledger) tellFailed(p *pending) {
	if t := l.m.publish.trouble; p.resync != nil && t != nil {
		l.answer(p, change.FailedOutcome, t.Text, true)
	}
}

// answer settles the tickets of a snapshot, each once.
func (l *ledger) answer(p *pending, o change.Outcome, text string, kept bool) {
	if p.resync == nil {
		return
	}
	for _, t := range p.resync.tickets {
		l.m.emit(Settle{Ticket: t, Outcome: o, Text: text, Kept: kept})
	}
	p.resync.tickets = nil
}
