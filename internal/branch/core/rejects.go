// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"slices"
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core/chain"
	"github.com/configbutler/gitops-reverser/internal/branch/core/pace"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// isolateMax ends telling writes apart when so many in a row were refused and none accepted: the branch takes nothing.
const isolateMax = 10

// rejects tells apart which writes the remote refuses for their content, and keeps those aside (decisions 58).
type rejects struct {
	m *Machine
	// isolating: writes up to until go one by one. accepted and refused count in the present round.
	isolating bool
	until     Seq
	accepted  bool
	refused   int
	text      string
	// retryAt is set while everything was refused: when all is tried again. cursor is the last write tried in the
	// round before, so that a long queue is worked through in turns.
	retryAt time.Time
	cursor  Seq
	// last: something was taken meanwhile, so only some writes are refused; what waits is tried once more and then left.
	last bool
	// wanted: try the writes set aside again.
	wanted bool
	// cures counts what may have cured a refusal: changes of the configuration.
	cures int
	// aside are the writes that were refused: at most half of the branch's budget.
	aside chain.Aside[*pending, Commit]
}

// waiting reports whether refused writes are tried again by themselves.
func (r *rejects) waiting() bool { return !r.retryAt.IsZero() }

// rejected handles a refusal of the content of a push. The tip is proven not to have moved.
func (r *rejects) rejected(o *op, text string) {
	l := &r.m.ledger
	r.text = text
	pushed := slices.DeleteFunc(slices.Clone(l.All[:o.count]), func(p *pending) bool { return p.Commit.IsZero() })
	if !r.isolating {
		r.accepted, r.refused = false, 0
		if len(pushed) > 1 {
			r.isolate(l.All[o.count-1].seq())
			return
		}
	}
	p := pushed[0]
	r.setAside(p)
	r.refused++
	if r.refused >= isolateMax && !r.accepted {
		r.cursor = p.seq()
		r.setAsideAll(func(p *pending) bool { return p.seq() <= r.until })
		r.end()
		return
	}
	r.proceed()
}

// isolate starts a round over the writes up to until. Those tried in the last round wait for their next turn.
func (r *rejects) isolate(until Seq) {
	r.isolating, r.until = true, until
	l := &r.m.ledger
	later := slices.ContainsFunc(l.All, func(p *pending) bool { return p.seq() > r.cursor && p.seq() <= until })
	if r.cursor > 0 && later {
		r.setAsideAll(func(p *pending) bool { return p.tried && p.seq() <= r.cursor })
	}
	r.cursor = 0
}

// proceed ends the round when every write of it had its attempt.
func (r *rejects) proceed() {
	l := &r.m.ledger
	if r.isolating && len(l.All) > 0 && l.All[0].seq() <= r.until {
		return
	}
	r.end()
}

func (r *rejects) end() {
	r.isolating = false
	r.m.publish.pace.Break()
	if r.accepted || r.last {
		r.last = r.last && r.waiting()
		return
	}
	r.retryAt = r.m.now.Add(r.m.cfg.RejectedRetry)
	r.m.publish.fail(nil, Failure{Reason: ReasonPushRejected, Text: r.text})
}

// landed notes that the remote took something.
func (r *rejects) landed() {
	r.accepted = true
	if r.isolating {
		r.proceed()
	}
	r.heal()
	r.last = r.waiting()
	if !slices.ContainsFunc(r.m.targets.list, func(t *target) bool { return t.health.Rejected != nil }) {
		r.retryAt, r.last = noTime, false
	}
}

// heal ends the trouble of targets of which nothing is kept away from the remote any more.
func (r *rejects) heal() {
	for _, t := range r.m.targets.list {
		t.health.Admitted(r.m.healthOf(t), r.holds(t))
	}
}

func (r *rejects) holds(t *target) bool {
	return slices.ContainsFunc(r.aside.All, func(p *pending) bool { return p.t == t }) ||
		slices.ContainsFunc(r.m.ledger.All, func(p *pending) bool { return p.t == t && p.tried })
}

func (r *rejects) setAsideAll(which func(*pending) bool) {
	for _, p := range slices.Clone(r.m.ledger.All) {
		if which(p) {
			r.setAside(p)
		}
	}
}

// setAside takes a write out of the chain. Its save fails now and its message is not used again. A snapshot is not
// kept: a fresh one is asked for when it is time to try again.
func (r *rejects) setAside(p *pending) {
	l := &r.m.ledger
	if p.cures < r.cures {
		r.wanted = true // what was refused was made before somebody cured it
	}
	l.Unbuild(slices.Index(l.All, p))
	l.undo(p)
	p.t.health.Deny(r.m.healthOf(p.t), p.harm(), ReasonPushRejected, r.text)
	r.m.observe(p.t, Observation{What: ObservedSetAside, Seq: p.seq(), Kind: p.work.Kind, Text: r.text})
	r.m.saves.end(p.save, SaveFailed, Commit{}, r.text)
	l.answer(p, change.FailedOutcome, r.text, !p.t.gone)
	if p.resync != nil || p.work.Kind == KindSave || p.t.gone {
		r.m.cursors.Close(p.receipts, true)
		return
	}
	p.save, p.Decided, p.decision, p.tried = nil, false, nil, true
	p.Commit = Commit{}
	p.work.Save, p.work.Message, p.work.CommitEmpty = "", "", false
	if p.work.Kind == KindWindow {
		p.work.Source = MessageLive
	}
	p.Bytes = 0 // its changes are kept, not the decision
	for i := range p.work.Changes {
		p.Bytes += p.work.Changes[i].Size()
	}
	// Someone the remote always refuses may go on editing for weeks, and the other half of the budget must stay free for
	// those it does not refuse. Snapshots are asked for when the remote takes the target's writes again.
	for _, o := range r.aside.Put(p, r.m.cfg.BufferMax/2) {
		r.m.cursors.Close(o.receipts, true)
		r.m.dropped(o.t, "set_aside_budget", len(o.work.Changes))
	}
}

// retry puts the writes set aside back at their places, to be planned again. What later writes decided without them
// stays decided, so those objects are left out.
func (r *rejects) retry() {
	if r.isolating {
		r.proceed() // the rest of a round may have turned out to need no commit
	}
	if !r.wanted {
		return
	}
	r.wanted, r.retryAt = false, noTime
	l := &r.m.ledger
	for _, o := range l.All {
		if o.Decided {
			r.supersede(o)
		}
	}
	for _, p := range r.aside.Take() {
		l.Insert(p)
	}
	for _, t := range r.m.targets.list {
		if t.health.Rejected != nil {
			r.m.targets.askLost(t, RequestLost)
		}
	}
}

// supersede takes out of older writes set aside what a later write of the same target covers: their content must not
// come back over it, whatever became of the later one.
func (r *rejects) supersede(by *pending) {
	if len(r.aside.All) == 0 {
		return
	}
	newer := make(map[change.ObjectID]bool, len(by.work.Changes))
	for i := range by.work.Changes {
		newer[by.work.Changes[i].Object] = true
	}
	r.outdate(by.t, by.seq(), func(c *change.Change) bool {
		return newer[c.Object] || (by.resync != nil && by.work.Snapshot.Cell == c.Cell)
	})
}

// outdated is supersede for a later change that never became a write.
func (r *rejects) outdated(c *change.Change) {
	if t := r.m.targets.byKey[c.Target]; t != nil && len(r.aside.All) > 0 {
		r.outdate(t, r.m.ledger.last, func(o *change.Change) bool { return o.Object == c.Object })
	}
}

// outdate takes changes out of the target's writes set aside up to a number. The later write may have found no
// difference only because the older one was still in the chain, so a snapshot must tell what is missing.
func (r *rejects) outdate(t *target, until Seq, newer func(*change.Change) bool) {
	r.aside.Keep(func(p *pending) int64 {
		if p.t != t || p.seq() > until {
			return p.Bytes
		}
		var kept []change.Change
		var size int64
		for i := range p.work.Changes {
			c := &p.work.Changes[i]
			if !newer(c) {
				kept = append(kept, *c)
				size += c.Size()
			} else if cl := t.cells.byID[c.Cell]; cl != nil {
				r.m.targets.ask(cl, RequestLost)
			}
		}
		if len(kept) == len(p.work.Changes) {
			return p.Bytes
		}
		p.work.Changes = kept
		r.m.cursors.Doom(p.receipts)
		if len(kept) == 0 {
			r.m.cursors.Close(p.receipts, true)
			return -1
		}
		return size
	})
}

// forget drops what is set aside for a target that is gone.
func (r *rejects) forget(t *target) {
	r.aside.Keep(func(p *pending) int64 {
		if p.t != t {
			return p.Bytes
		}
		r.m.cursors.Close(p.receipts, true)
		r.m.dropped(t, "target_gone", len(p.work.Changes))
		return -1
	})
}

func (r *rejects) expire() {
	if pace.Due(r.retryAt, r.m.now) {
		r.retryAt = noTime
		r.wanted = true // a backoff that runs, or a host's own wish, goes on
	}
}

func (r *rejects) due(next *pace.Soonest) { next.Add(r.retryAt) }
