// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core/pace"
)

// attempts is how many pushes of a cycle follow each other without a pause (git-writer 10.6, decisions 59).
const attempts = 3

// publisher decides when the pending writes go to the remote, and what follows from its answer.
type publisher struct {
	m *Machine
	// failures counts failed attempts in a row; retryAt ends the backoff; trouble is their public face.
	failures int
	retryAt  time.Time
	trouble  *Trouble
	// cooldown ends the pause after a success; pause that between contended pushes.
	cooldown time.Time
	pause    time.Time
	cycle    cycle
	// mark is the newest write that a due push still waits for, so that later ones cannot delay it.
	mark       Seq
	unresolved *unresolved
	rejects    rejects
	jitter     pace.Jitter
}

// cycle is one publication with its replays.
type cycle struct {
	start  time.Time
	pushes int
}

// unresolved is a push whose answer is not known. Until a look says what became of it no local commit is given up.
type unresolved struct {
	tip     Commit
	count   int
	failure Failure
}

// mayDial reports whether a request may be made now.
func (p *publisher) mayDial() bool { return !p.pausing() && !p.retryAt.After(p.m.now) }

func (p *publisher) pausing() bool { return p.pause.After(p.m.now) }

// backing reports whether a failed attempt waits for its retry.
func (p *publisher) backing() bool { return p.trouble != nil && p.retryAt.After(p.m.now) }

// owed reports whether anything waits for the remote.
func (p *publisher) owed() bool {
	return len(p.m.ledger.list) > 0 || p.unresolved != nil || p.m.remote.wished.wanted || p.m.remote.refetch ||
		p.rejects.waiting()
}

// urgent reports whether the cooldown is to be ignored.
func (p *publisher) urgent() bool { return p.m.lane.stop || p.m.appliers.flushing() }

// ready reports whether a push may start now, apart from writes it still waits for.
func (p *publisher) ready(dial bool) bool {
	l := &p.m.ledger
	if !dial || l.built == 0 || p.unresolved != nil || !p.m.remote.trusted {
		return false
	}
	if p.cycle.start.IsZero() && !p.urgent() && !p.rejects.isolating && p.cooldown.After(p.m.now) {
		return false
	}
	if p.mark == 0 {
		p.mark = l.list[len(l.list)-1].work.Seq
	}
	return true
}

// covers reports whether a push need not wait for next, the first write that is not built.
func (p *publisher) covers(next *pending) bool {
	if next == nil {
		return true
	}
	if p.rejects.isolating {
		_, n := p.prefix()
		return n > 0
	}
	return next.work.Seq > p.mark
}

// prefix returns the tip and the number of writes of the next push: all that are built, or up to the first commit
// while refused writes are told apart. Zero writes: no commit is built.
func (p *publisher) prefix() (tip Commit, n int) {
	l := &p.m.ledger
	for i, w := range l.list[:l.built] {
		if w.commit.IsZero() {
			continue
		}
		tip, n = w.commit, i+1
		if p.rejects.isolating {
			return tip, n
		}
	}
	if n > 0 && !p.rejects.isolating {
		n = l.built // writes without a difference behind the tip are confirmed with it
	}
	return tip, n
}

// send pushes the present chain, or looks when there is no commit and only the remote's word is missing.
func (p *publisher) send() {
	p.mark = 0
	if p.cycle.start.IsZero() {
		p.cycle.start = p.m.now
	}
	tip, n := p.prefix()
	if n == 0 {
		p.m.lane.look(WhyPublication)
		return
	}
	p.cycle.pushes++
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
	l := &p.m.ledger
	n := 0
	for n < l.built && l.list[n].commit.IsZero() {
		n++
	}
	if n > 0 {
		p.release(n)
	}
}

func (p *publisher) release(n int) {
	l := &p.m.ledger
	start := p.cycle.start
	for range n {
		w := l.list[0]
		l.drop(w)
		if !w.commit.IsZero() {
			w.t.seen.published, w.t.seen.publishedAt = w.commit, p.m.now
			p.m.observe(w.t, Observation{
				What: ObservedCommit, Seq: w.work.Seq, Kind: w.work.Kind, Source: w.work.Source, Author: w.work.Author.Kind,
				Commit: w.commit,
			})
		}
		p.m.settled(w, true)
		p.m.touched(w.t)
	}
	p.m.observe(nil, Observation{What: ObservedPush, Reason: "pushed", Count: n, Since: start})
	p.failures, p.retryAt, p.mark, p.cycle = 0, noTime, 0, cycle{}
	p.pause = noTime
	p.cooldown = p.m.now.Add(p.m.cfg.Cooldown)
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
	switch {
	case p.cycle.pushes < attempts:
	case p.m.lane.stop:
		p.m.lane.gaveUp = true
	case pace.Due(p.cycle.start.Add(p.m.cfg.CycleDeadline), p.m.now):
		p.fail(nil, Failure{Reason: ReasonContention, Text: "other writers kept moving the branch"})
	default:
		p.pause = p.m.now.Add(p.jitter.Next())
		p.m.remote.want = Commit{} // it is old by then
	}
}

// fail keeps the work and schedules the next attempt. A failure that was counted when its deadline passed is not
// counted again.
func (p *publisher) fail(o *op, f Failure) {
	if o != nil && o.late {
		return
	}
	p.failures++
	delay := max(pace.Ladder(p.failures, p.m.cfg.RetryMin, p.m.cfg.RetryMax), f.RetryAfter)
	p.retryAt = p.m.now.Add(delay)
	since := p.m.now
	if p.trouble != nil {
		since = p.trouble.Since
	}
	p.trouble = &Trouble{Reason: f.Reason, Text: f.Text, Since: since, Next: p.retryAt}
	p.m.observe(nil, Observation{
		What: ObservedPush, Reason: "failed", Text: f.Text, Count: len(p.m.ledger.list), Since: p.cycle.start,
	})
	p.cycle, p.mark, p.pause = cycle{}, 0, noTime
	for _, w := range p.m.ledger.list {
		p.m.ledger.tellFailed(w)
	}
	p.touchAll()
	if p.m.lane.stop {
		p.m.lane.gaveUp = true
	}
}

// revive ends the backoff: somebody changed something that may help.
func (p *publisher) revive() {
	p.retryAt = noTime
	p.rejects.wanted = true
}

// hurry ends every pause for the last publication.
func (p *publisher) hurry() { p.retryAt, p.pause, p.cooldown = noTime, noTime, noTime }

// tidy ends a trouble that nothing waits for.
func (p *publisher) tidy() {
	if p.trouble != nil && !p.owed() && p.m.lane.op == nil {
		p.failures, p.retryAt = 0, noTime
		p.clear()
	}
}

func (p *publisher) due(next *pace.Soonest) {
	p.rejects.due(next)
	if !p.owed() {
		return
	}
	if !p.mayDial() {
		at := p.retryAt
		if p.pause.After(at) {
			at = p.pause
		}
		next.Add(at)
		return
	}
	if p.m.ledger.built > 0 && p.cooldown.After(p.m.now) {
		next.Add(p.cooldown)
	}
	if w := p.m.remote.wished; w.wanted && w.notBefore.After(p.m.now) && len(p.m.ledger.list) == 0 {
		next.Add(w.notBefore)
	}
}
