// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"slices"
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// pending is a write between its acceptance and its publication.
type pending struct {
	work     PendingWrite
	t        *target
	receipts []*receipt
	// relying are receipts of later writes that found no difference on top of this one, before it was published.
	relying []*receipt
	save    *save
	resync  *resync
	bytes   int64
	since   time.Time

	// decision of the first plan; the mode of pruning it was captured with.
	decided  bool
	decision any
	prune    PruneMode
	// commit is the local commit of the present chain, zero for a write without a difference; valid while built.
	commit Commit
	empty  bool
	// cut: its last plan was cut off; the next one waits as a request would.
	cut bool
	// tried: the remote refused it before (decisions 58).
	tried bool
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

// ledger holds the pending writes in order. The first built of them have a local commit (or none to make) on top of
// the base; what follows waits for its plan or its replay.
type ledger struct {
	m     *Machine
	list  []*pending
	built int
	// waiting counts undecided writes; bytes is what all of them hold.
	waiting int
	bytes   int64
	seq     Seq
	// rebuild is the first write whose local commit must be made anew before the next push; zero = none.
	rebuild Seq
}

func (l *ledger) append(p *pending) {
	l.seq++
	if p.since.IsZero() {
		p.since = l.m.now
	}
	p.work.Seq, p.work.Target, p.work.Since = l.seq, p.t.key, p.since
	l.list = append(l.list, p)
	l.promote(p)
	l.waiting++
	l.bytes += p.bytes
	l.m.touched(nil)
}

// promote moves a snapshot of Namespaces or CustomResourceDefinitions before the target's snapshots that wait directly
// in front of it (decisions 66). None of them was handed out yet, so they change places and numbers.
func (l *ledger) promote(p *pending) {
	if !p.early() {
		return
	}
	i := len(l.list) - 1
	for ; i > l.built; i-- {
		o := l.list[i-1]
		if o.resync == nil || o.decided || o.t != p.t || o.early() || l.m.lane.holds(o) {
			break
		}
		l.list[i-1], l.list[i] = p, o
		o.work.Seq, p.work.Seq = p.work.Seq, o.work.Seq
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
	for _, o := range l.list[l.built:] {
		if o.resync == nil || o.decided || o.t != p.t || o.work.Snapshot.Cell != p.work.Snapshot.Cell || l.m.lane.holds(o) {
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
	i := slices.Index(l.list, p)
	l.list = slices.Delete(l.list, i, i+1)
	if i < l.built {
		l.built--
	}
	if !p.decided {
		l.waiting--
	}
	l.bytes -= p.bytes
	l.m.touched(nil)
}

// undo takes a decided write out that will not be published. What later writes found to be no difference may have been
// one only because of it, so snapshots must tell.
func (l *ledger) undo(p *pending) {
	for _, o := range l.list[slices.Index(l.list, p):] {
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
	p.decided, p.decision = true, in.Decision
	l.waiting--
	for _, r := range p.receipts {
		r.Planned()
	}
	if p.resync != nil {
		s := *p.work.Snapshot
		s.Items = nil
		p.work.Snapshot = &s
	}
	if in.Bytes > 0 {
		l.bytes += in.Bytes - p.bytes
		p.bytes = in.Bytes
	}
}

// next is the first write without a place in the present chain.
func (l *ledger) next() *pending {
	if l.built < len(l.list) {
		return l.list[l.built]
	}
	return nil
}

// head is the tip of the present chain.
func (l *ledger) head() Commit {
	for i := l.built - 1; i >= 0; i-- {
		if c := l.list[i].commit; !c.IsZero() {
			return c
		}
	}
	return l.m.remote.base
}

// unbuild forgets the local commits from position i on.
func (l *ledger) unbuild(i int) {
	for j := i; j < l.built; j++ {
		l.list[j].commit = Commit{}
	}
	l.built = min(l.built, i)
}

// tighten makes local commits anew that were decided with wider pruning than the target allows now.
func (l *ledger) tighten(t *target) {
	for _, p := range l.list {
		if p.t == t && p.decided && p.prune.rank() > t.prune().rank() {
			l.again(p.work.Seq)
			return
		}
	}
}

// again asks for new local commits from seq on. It waits while a push is under way: its answer counts writes.
func (l *ledger) again(seq Seq) {
	if l.rebuild == 0 || seq < l.rebuild {
		l.rebuild = seq
	}
}

// settleRebuild carries out what again asked for.
func (l *ledger) settleRebuild() {
	if l.rebuild == 0 {
		return
	}
	i := slices.IndexFunc(l.list, func(p *pending) bool { return p.work.Seq >= l.rebuild })
	if i >= 0 {
		l.unbuild(i)
	}
	l.rebuild = 0
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
