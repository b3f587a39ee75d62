// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core/pace"
)

// publisher decides when the pending writes go to the remote, and what follows from its answer.
type publisher struct {
	m    *Machine
	pace pace.Schedule
	// trouble is the public face of failed attempts in a row.
	trouble *Trouble
	// mark is the newest write that a due push still waits for, so that later ones cannot delay it.
	mark       Seq
	unresolved *unresolved
	rejects    rejects
}

// unresolved is a push whose answer is not known. Until a look says what became of it no local commit is given up.
type unresolved struct {
	tip     Commit
	count   int
	failure Failure
}

// mayDial reports whether a request may be made now.
func (p *publisher) mayDial() bool { return p.pace.MayDial(p.m.now) }

// backing reports whether a failed attempt waits for its retry.
func (p *publisher) backing() bool { return p.trouble != nil && p.pace.Backing(p.m.now) }

// owed reports whether anything waits for the remote.
func (p *publisher) owed() bool {
	return len(p.m.ledger.All) > 0 || p.unresolved != nil || p.m.remote.wished.wanted || p.m.remote.refetch ||
		p.rejects.waiting()
}

// urgent reports whether the cooldown is to be ignored.
func (p *publisher) urgent() bool { return p.m.lane.stop || p.m.appliers.flushing() }

// ready reports whether a push may start now, apart from writes it still waits for.
func (p *publisher) ready(dial bool) bool {
	l := &p.m.ledger
	if !dial || len(l.Built()) == 0 || p.unresolved != nil || !p.m.remote.trusted {
		return false
	}
	if !p.urgent() && !p.rejects.isolating && p.pace.Cooling(p.m.now) {
		return false
	}
	if p.mark == 0 {
		p.mark = l.All[len(l.All)-1].seq()
	}
	return true
}

// covers reports whether a push need not wait for next, the first write that is not built.
func (p *publisher) covers(next *pending) bool {
	if next == nil {
		return true
	}
	if p.rejects.isolating {
		_, n := p.m.ledger.Prefix(true)
		return n > 0
	}
	return next.seq() > p.mark
}

// send pushes the present chain, or looks when there is no commit and only the remote's word is missing.
func (p *publisher) send() {
	p.mark = 0
	p.pace.Begin(p.m.now)
	tip, n := p.m.ledger.Prefix(p.rejects.isolating)
	if n == 0 {
		p.m.lane.look(WhyPublication)
		return
	}
	p.pace.Push()
	r := &p.m.remote
	o := p.m.lane.begin(op{kind: opPush, tip: tip, count: n}, p.m.cfg.CallDeadline)
	push := Push{Op: o.id, Tip: tip, Count: n, Deadline: o.deadline}
	if r.exists {
		push.Expected = r.base
	} else {
		push.Parent = r.base
	}
	p.m.emit(push)
}

// accept releases exactly the first n writes: the remote is at tip.
func (p *publisher) accept(n int, tip Commit, from time.Time) {
	p.m.remote.published(tip, from)
	p.release(n)
	p.rejects.landed()
}

// confirm releases writes without a difference once the remote was seen at the base. Such a proof counts as success.
func (p *publisher) confirm() {
	if n := p.m.ledger.Even(); n > 0 {
		p.release(n)
	}
}

func (p *publisher) release(n int) {
	l := &p.m.ledger
	start := p.pace.Start()
	for range n {
		w := l.All[0]
		l.drop(w)
		if !w.Commit.IsZero() {
			w.t.seen.published, w.t.seen.publishedAt = w.Commit, p.m.now
			p.m.observe(w.t, Observation{
				What: ObservedCommit, Seq: w.seq(), Kind: w.work.Kind, Source: w.work.Source, Author: w.work.Author.Kind,
				Commit: w.Commit,
			})
		}
		p.m.settled(w, true)
		p.m.touched(w.t)
	}
	p.m.observe(nil, Observation{What: ObservedPush, Reason: "pushed", Count: n, Since: start})
	p.mark = 0
	p.pace.Succeed(p.m.now)
	p.clear()
}

// clear ends a trouble for every observer.
func (p *publisher) clear() {
	if p.trouble == nil {
		return
	}
	p.trouble = nil
	p.touchAll()
}

func (p *publisher) touchAll() {
	p.m.touched(nil)
	for _, t := range p.m.targets.list {
		p.m.touched(t)
	}
}

// moved starts over on the remote's new tip: fetch, replay, push. After three pushes each further one waits a little,
// and a cycle that takes too long is a failure.
func (p *publisher) moved(tip Commit) {
	p.m.observe(nil, Observation{What: ObservedRetry, Reason: "remote_moved"})
	p.m.remote.distrust(tip, WhyContention)
	switch p.pace.Lost(p.m.now, p.m.lane.stop) {
	case pace.AtOnce:
	case pace.AfterAPause:
		p.m.remote.want = Commit{} // it is old by then
	case pace.TooLong:
		if p.m.lane.stop {
			p.m.lane.gaveUp = true
			return
		}
		p.fail(nil, Failure{Reason: ReasonContention, Text: "other writers kept moving the branch"})
	}
}

// fail keeps the work and schedules the next attempt. A failure that was counted when its deadline passed is not
// counted again.
func (p *publisher) fail(o *op, f Failure) {
	if o != nil && o.late {
		return
	}
	start := p.pace.Start()
	next := p.pace.Fail(p.m.now, f.RetryAfter)
	since := p.m.now
	if p.trouble != nil {
		since = p.trouble.Since
	}
	p.trouble = &Trouble{Reason: f.Reason, Text: f.Text, Since: since, Next: next}
	p.m.observe(nil, Observation{
		What: ObservedPush, Reason: "failed", Text: f.Text, Count: len(p.m.ledger.All), Since: start,
	})
	p.mark = 0
	for _, w := range p.m.ledger.All {
		p.m.ledger.tellFailed(w)
	}
	p.touchAll()
	if p.m.lane.stop {
		p.m.lane.gaveUp = true
	}
}

// revive ends the backoff: somebody changed something that may help.
func (p *publisher) revive() {
	p.pace.Revive()
	p.rejects.wanted = true
	p.rejects.cures++
}

// tidy ends a cycle that has nothing to publish any more, and a trouble that nothing waits for.
func (p *publisher) tidy() {
	if len(p.m.ledger.All) == 0 && p.m.lane.op == nil && p.unresolved == nil {
		p.pace.Break()
	}
	if p.trouble != nil && !p.owed() && p.m.lane.op == nil {
		p.pace.Rest()
		p.clear()
	}
}

func (p *publisher) due(next *pace.Soonest) {
	p.rejects.due(next)
	if !p.owed() {
		return
	}
	if at := p.pace.Wake(p.m.now); !at.IsZero() {
		next.Add(at)
		return
	}
	if len(p.m.ledger.Built()) > 0 && p.pace.Cooling(p.m.now) {
		next.Add(p.pace.Warm())
	}
	if w := p.m.remote.wished; w.wanted && w.notBefore.After(p.m.now) && len(p.m.ledger.All) == 0 {
		next.Add(w.notBefore)
	}
}
