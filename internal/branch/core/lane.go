// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core/pace"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// op is the outstanding lane effect.
type op struct {
	id       Op
	kind     opKind
	why      Why
	at       time.Time
	deadline time.Time
	// aborted: Abort was sent. late: its failure was counted when the deadline passed.
	aborted, late bool
	p             *pending
	t             *target // a touch
	dry           bool
	prune         PruneMode
	tip           Commit
	count         int
}

type opKind uint8

const (
	opLook opKind = iota
	opFetch
	opWrite
	opPush
)

// lane chooses the next lane effect and takes its answer.
type lane struct {
	m   *Machine
	ids Op
	op  *op
	// stop: Shutdown came; gaveUp: its one attempt is over; stopped: nothing will be done any more.
	stop, gaveUp, stopped bool
	until                 time.Time
}

// holds reports whether the lane is working on p.
func (l *lane) holds(p *pending) bool { return l.op != nil && l.op.p == p }

// next starts the next lane effect when the lane is free.
func (l *lane) next() {
	if l.op != nil || l.stopped {
		return
	}
	if !l.gaveUp && !l.m.targets.providerSuspended() {
		l.choose()
	}
	if l.stop && l.op == nil && (l.gaveUp || !l.m.publish.pace.Pausing(l.m.now)) {
		l.finish()
	}
}

func (l *lane) choose() {
	m := l.m
	if m.publish.unresolved == nil {
		m.publish.rejects.retry()
		m.ledger.Rebuild()
	}
	dial := m.publish.mayDial()
	switch {
	case m.publish.unresolved != nil && dial:
		l.look(WhyProbe)
		return
	case m.remote.missing:
		if dial && m.publish.owed() {
			l.look(WhyRecovery)
		}
		return
	}
	for l.work(dial) {
	}
}

// work does the first thing that can be done: publish, settle a write without the lane, fetch, look, plan. It reports
// whether it should be called again.
func (l *lane) work(dial bool) bool {
	m, p := l.m, l.m.ledger.Next()
	switch {
	case m.publish.ready(dial) && m.publish.covers(p):
		m.publish.send()
	case p == nil:
		l.idle(dial)
	case !p.Decided && m.settleLocally(p):
		return true
	case !m.remote.trusted:
		if dial {
			l.fetch()
		}
	case m.remote.stale(p):
		if dial {
			l.look(WhyRecheck)
		}
	case p.cut && !dial:
	default:
		l.write(p)
	}
	return false
}

// idle does what may wait for a quiet branch.
func (l *lane) idle(dial bool) {
	m := l.m
	if l.stop {
		return
	}
	if dial && m.remote.refetch {
		l.fetch()
		return
	}
	if m.remote.trusted {
		for _, t := range m.targets.list {
			if t.health.Touch {
				t.health.Touch = false
				l.touch(t)
				return
			}
		}
	}
	if w := m.remote.wished; dial && w.wanted && len(m.ledger.All) == 0 && !w.notBefore.After(m.now) {
		l.look(w.why)
	}
}

func (l *lane) begin(o op, limit time.Duration) *op {
	l.ids++
	o.id, o.at, o.deadline = l.ids, l.m.now, l.m.now.Add(limit)
	if l.stop && l.until.Before(o.deadline) {
		o.deadline = l.until
	}
	l.op = &o
	return l.op
}

func (l *lane) look(why Why) {
	o := l.begin(op{kind: opLook, why: why}, l.m.cfg.CallDeadline)
	l.m.emit(Look{Op: o.id, Why: why, Deadline: o.deadline})
}

func (l *lane) fetch() {
	r := &l.m.remote
	why := r.why
	if !r.known {
		why = WhyPublication
	}
	l.m.ledger.Unbuild(0)
	r.trusted = false
	o := l.begin(op{kind: opFetch, why: why}, l.m.cfg.CallDeadline)
	l.m.emit(Fetch{Op: o.id, Want: r.want, Why: why, Deadline: o.deadline})
}

func (l *lane) write(p *pending) {
	p.cut, p.work.Seq = false, p.seq()
	if !p.Decided {
		p.work.Frozen, p.prune = p.t.cfg.Frozen, p.t.prune()
		p.cures = l.m.publish.rejects.cures
	}
	o := l.begin(op{kind: opWrite, p: p, dry: p.resync != nil && !p.Decided && p.t.suspended()}, l.m.cfg.CycleDeadline)
	o.prune = Tightest(p.prune, p.t.prune())
	w := Write{
		Op: o.id, Seq: p.seq(), Onto: l.m.ledger.head(), Work: p.work, Prune: o.prune, Dry: o.dry, Deadline: o.deadline,
	}
	if p.Decided {
		w.Decision = p.decision
	}
	l.m.emit(w)
}

// touch reads a target's folder.
func (l *lane) touch(t *target) {
	l.m.ledger.last++
	work := PendingWrite{Seq: l.m.ledger.last, Kind: KindTouch, Target: t.key, Frozen: t.cfg.Frozen, Since: l.m.now}
	o := l.begin(op{kind: opWrite, t: t, dry: true}, l.m.cfg.CycleDeadline)
	l.m.emit(Write{
		Op: o.id, Seq: work.Seq, Onto: l.m.ledger.head(), Work: work, Prune: t.prune(), Dry: true, Deadline: o.deadline,
	})
}

// take returns the outstanding effect when the answer is for it.
func (l *lane) take(id Op, kind opKind) *op {
	o := l.op
	if o == nil || o.id != id || o.kind != kind {
		return nil
	}
	l.op = nil
	return o
}

func (l *lane) looked(in Looked) {
	o := l.take(in.Op, opLook)
	switch {
	case o == nil:
	case in.Err != nil:
		l.m.publish.fail(o, *in.Err)
	default:
		l.m.remote.looked(o, in.Remote)
	}
}

func (l *lane) fetched(in Fetched) {
	o := l.take(in.Op, opFetch)
	switch {
	case o == nil:
	case in.Err != nil:
		l.m.remote.distrust(Commit{}, WhyRecovery)
		l.m.publish.fail(o, *in.Err)
	default:
		l.m.remote.fetched(o, in)
	}
}

func (l *lane) written(in Written) {
	if o := l.take(in.Op, opWrite); o != nil {
		l.m.planned(o, in)
	}
}

func (l *lane) pushed(in Pushed) {
	o := l.take(in.Op, opPush)
	if o == nil {
		return
	}
	pub := &l.m.publish
	f := Failure{Reason: in.Reason, Text: in.Text, RetryAfter: in.RetryAfter}
	if f.Reason == "" {
		f.Reason = ReasonConnectionFailed
	}
	switch {
	case in.Outcome == PushAccepted, in.Outcome == PushMoved && in.Tip == o.tip:
		pub.accept(o.count, o.tip, o.at)
	case in.Outcome == PushMoved:
		pub.moved(in.Tip)
	case in.Outcome == PushRejected:
		pub.rejects.rejected(o, in.Text)
	case in.Outcome == PushFailed:
		pub.fail(o, f)
	default:
		pub.unresolved = &unresolved{tip: o.tip, count: o.count, failure: f}
	}
}

// expire aborts an effect whose deadline passed. The failure counts now, not when the answer comes (decisions 60).
func (l *lane) expire() {
	if l.stop && pace.Due(l.until, l.m.now) {
		l.gaveUp = true
		l.abort()
	}
	if l.op != nil && pace.Due(l.op.deadline, l.m.now) && l.abort() {
		l.op.late = true
		l.m.publish.fail(nil, Failure{Reason: ReasonDeadline, Text: l.op.kind.overdue()})
	}
}

func (k opKind) overdue() string {
	switch k {
	case opWrite:
		return "planning a write took longer than its deadline"
	case opPush:
		return "the Git server did not answer a push in time"
	default:
		return "the Git server did not answer in time"
	}
}

// abort cancels the outstanding effect, once.
func (l *lane) abort() bool {
	if l.op == nil || l.op.aborted {
		return false
	}
	l.op.aborted = true
	l.m.emit(Abort{Op: l.op.id})
	return true
}

func (l *lane) due(next *pace.Soonest) {
	switch {
	case l.stopped:
		return
	case l.op != nil:
		if !l.op.aborted {
			next.Add(l.op.deadline)
		}
		if l.stop && !l.gaveUp {
			next.Add(l.until)
		}
		return
	case l.stop:
		next.Add(l.until)
	}
	if !l.m.targets.providerSuspended() {
		l.m.publish.due(next)
	}
}

// shutdown closes the window and lets one publication run, without regard to cooldown and backoff. A second one can
// only bring the end nearer.
func (l *lane) shutdown(until time.Time) {
	if l.stop {
		if until.Before(l.until) {
			l.until = until
		}
		return
	}
	l.m.windows.close(CloseShutdown)
	l.stop, l.until = true, until
	l.m.publish.pace.Hurry()
	l.m.touched(nil)
}

// finish ends the machine: what is not on the remote is told so.
func (l *lane) finish() {
	l.stopped = true
	for i, p := range l.m.ledger.All {
		text := textStopped
		if u := l.m.publish.unresolved; u != nil && i < u.count {
			text = textUnknown
		}
		l.m.saves.end(p.save, SaveFailed, Commit{}, text)
		l.m.ledger.answer(p, change.FailedOutcome, text, false)
	}
	l.m.saves.handBack()
	l.m.touched(nil)
}
