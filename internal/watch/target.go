// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
)

const (
	settleSilence = 2 * time.Second
	settleCap     = 10 * time.Second
	passDeadline  = 30 * time.Second
)

// retryLadder are the pauses after passes that installed nothing.
var retryLadder = []time.Duration{2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute}

// target owns everything one GitTarget watches. One goroutine (run) owns the fields below the line; others post to the
// inbox and read the status.
type target struct {
	o      *Options
	key    change.TargetKey
	inbox  *inbox
	status atomic.Pointer[Status]
	// dirty is called when the target begins or ends to wait for a pass.
	dirty   func()
	done    chan struct{}
	cancel  context.CancelFunc
	release func()

	source  *cluster.Source
	spec    TargetSpec
	env     *env
	streams map[change.Cell]*stream
	reports map[*stream]seen
	plan    planState
	recheck recheckState
	// running holds the streams' goroutines.
	running sync.WaitGroup
}

// seen is a stream's last report and since when it says so.
type seen struct {
	report
	since time.Time
}

// planState is what the owner knows about planning.
type planState struct {
	// dirtySince and lastTrigger are zero when nothing waits.
	dirtySince, lastTrigger time.Time
	// again: a trigger came during the last pass, so the next one does not wait.
	again bool
	// failures counts passes in a row that installed nothing; retryAt is when to try again.
	failures int
	retryAt  time.Time
	problem  string

	installed bool
	epoch     uint64
	revision  uint64
	cells     []change.Cell
	// declared is the list last given to the sink; wanted collections without a stream are in held.
	declared []change.Cell
	held     []CellStatus
}

// recheckState follows a forced recheck.
type recheckState struct {
	token, done string
	// before holds each stream's count of accepted snapshots when the recheck began.
	before map[*stream]int
}

func newTarget(o *Options, spec TargetSpec, dirty func()) *target {
	t := &target{
		o: o, key: spec.Key, inbox: newInbox(), dirty: dirty, done: make(chan struct{}),
		streams: map[change.Cell]*stream{}, reports: map[*stream]seen{},
	}
	t.source, t.release = o.Sources.Acquire(spec.Source)
	t.spec = TargetSpec{Key: spec.Key, Source: spec.Source}
	initial := Status{Key: spec.Key}
	initial.rollUp()
	t.status.Store(&initial)
	return t
}

// run is the owner's goroutine. after, when set, is the end of a predecessor of the same key.
func (t *target) run(ctx context.Context, after <-chan struct{}) {
	defer close(t.done)
	defer t.release()
	defer t.o.Recorder.Forgotten(t.key)
	if after != nil {
		<-after
	}
	defer t.running.Wait()
	for ctx.Err() == nil {
		t.handle(ctx, t.inbox.take())
		t.publish()
		t.wait(ctx)
	}
}

// wait sleeps until there is mail or planning is due.
func (t *target) wait(ctx context.Context) {
	var due <-chan time.Time
	if at := t.dueAt(); !at.IsZero() {
		timer := t.o.Clock.NewTimer(max(at.Sub(t.o.Clock.Now()), 0))
		defer timer.Stop()
		due = timer.C()
	}
	select {
	case <-ctx.Done():
	case <-t.inbox.wake:
	case <-due:
	}
}

// dueAt is when the next pass is due: after two seconds of silence, at most ten after the first trigger, or when a
// failed pass is to be tried again. Zero means never.
func (t *target) dueAt() time.Time {
	p := &t.plan
	if t.spec.Sink == nil || p.dirtySince.IsZero() {
		return time.Time{}
	}
	if p.again {
		return p.dirtySince
	}
	at := p.lastTrigger.Add(settleSilence)
	if latest := p.dirtySince.Add(settleCap); latest.Before(at) {
		at = latest
	}
	if p.retryAt.After(at) {
		at = p.retryAt
	}
	return at
}

func (t *target) handle(ctx context.Context, m mail) {
	now := t.o.Clock.Now()
	if m.spec != nil {
		t.respec(ctx, *m.spec)
	}
	for _, reason := range m.triggers {
		t.trigger(reason, now)
	}
	if m.source {
		t.sourceChanged(now)
	}
	for s, r := range m.reports {
		t.reported(s, r, now)
	}
	if m.rechecked && m.recheck != t.recheck.token {
		t.startRecheck(m.recheck)
	}
	t.finishRecheck()
	for cell := range m.snapshots {
		t.snapshotAgain(cell)
	}
	if m.redeclare {
		t.declare(true)
	}
	if at := t.dueAt(); !at.IsZero() && !at.After(now) {
		t.pass(ctx)
	}
	t.declare(false)
}

// trigger notes a reason to plan.
func (t *target) trigger(reason string, now time.Time) {
	p := &t.plan
	t.o.Recorder.Triggered(reason, !p.dirtySince.IsZero())
	if p.dirtySince.IsZero() {
		p.dirtySince = now
	}
	p.lastTrigger = now
	// News may be what a failed pass was waiting for.
	p.retryAt = time.Time{}
}

// respec takes a new declaration over. What changes the content of every snapshot, or who takes it, replaces the
// streams; a loosened prune mode only takes fresh snapshots, and a tightened one needs nothing.
func (t *target) respec(ctx context.Context, spec TargetSpec) {
	old := t.spec
	t.spec = spec
	if t.env == nil || old.Sink != spec.Sink || old.Attributor != spec.Attributor || !equalIgnore(old, spec) {
		sameSink := t.env != nil && old.Sink == spec.Sink
		t.rebuild(ctx, sameSink)
		return
	}
	if spec.PruneMode == pruneAlways && old.PruneMode != pruneAlways {
		t.snapshotAgain(change.Cell{})
	}
}

const pruneAlways = "Always"

// rebuild replaces the streams' surroundings and with them every stream.
func (t *target) rebuild(ctx context.Context, sameSink bool) {
	sanitize, err := newSanitize(t.spec)
	if err != nil {
		t.plan.problem = err.Error()
		t.spec.Sink = nil
		t.stopAll()
		return
	}
	stamp := t.spec.Stamp
	if stamp == nil {
		stamp = func() Stamp { return Stamp{} }
	}
	t.env = &env{
		target: t.key, source: t.source, sink: t.spec.Sink, attributor: t.spec.Attributor, sanitize: sanitize,
		clock: t.o.Clock, log: t.o.Log.WithValues("gittarget", t.key.String()), recorder: t.o.Recorder,
		stamp: func() Stamp {
			st := stamp()
			st.Epoch = t.status.Load().Epoch
			return st
		},
		report: func(s *stream, r report) {
			t.inbox.post(func(m *mail) {
				if m.reports == nil {
					m.reports = map[*stream]report{}
				}
				m.reports[s] = r
			})
		},
		missing: func() { t.inbox.post(func(m *mail) { m.redeclare = true }) },
		refresh: func() { t.o.Sources.RequestRefresh(t.source.Name()) },
	}
	if !sameSink {
		t.plan.declared = nil
	}
	t.replaceAll(ctx, sameSink)
}

// sourceChanged reacts to news of the source: streams that wait try again, and a moved catalog is planned.
func (t *target) sourceChanged(now time.Time) {
	for _, s := range t.streams {
		s.control.wakeUp()
	}
	if t.source.Catalog().Revision() != t.plan.revision || !t.plan.installed {
		t.trigger(TriggerSharedRefresh, now)
	}
}

func (t *target) reported(s *stream, r report, now time.Time) {
	if t.streams[s.col.Cell()] != s {
		delete(t.reports, s)
		return
	}
	old, ok := t.reports[s]
	since := now
	if ok && old.phase == r.phase && old.reason == r.reason {
		since = old.since
	}
	t.reports[s] = seen{report: r, since: since}
}

func (t *target) snapshotAgain(cell change.Cell) {
	for c, s := range t.streams {
		if cell == c || cell == (change.Cell{}) {
			s.control.snapshotAgain(ReasonResumeReplay)
		}
	}
}

func (t *target) startRecheck(token string) {
	t.recheck.token = token
	t.recheck.before = map[*stream]int{}
	for _, s := range t.streams {
		t.recheck.before[s] = t.reports[s].accepted
		s.control.snapshotAgain(ReasonResumeReplay)
	}
}

// finishRecheck sees whether every stream delivered a snapshot since the recheck began. Streams that ended meanwhile, or
// that may not read, are not waited for.
func (t *target) finishRecheck() {
	r := &t.recheck
	if r.token == r.done || !t.plan.installed {
		return
	}
	for s, before := range r.before {
		if t.streams[s.col.Cell()] == s && t.reports[s].accepted <= before && t.reports[s].phase != Blocked {
			return
		}
	}
	r.done, r.before = r.token, nil
}

// pass plans once. Nothing is installed unless the plan is whole (watch 1 W6).
func (t *target) pass(ctx context.Context) {
	began := t.o.Clock.Now()
	p := &t.plan
	p.again = false
	passCtx, cancel := context.WithCancel(ctx)
	timer := t.o.Clock.AfterFunc(passDeadline, cancel)
	plan, revision, err := t.compute(passCtx)
	timer.Stop()
	late := passCtx.Err() != nil && ctx.Err() == nil
	cancel()
	if ctx.Err() != nil {
		return
	}
	outcome := PlanCompleted
	switch {
	case late:
		outcome, err = PlanTimedOut, fmt.Errorf("planning took longer than %s", passDeadline)
	case err != nil:
		outcome = PlanFailed
	}
	now := t.o.Clock.Now()
	t.o.Recorder.Planned(t.key, outcome, now.Sub(began))
	if err != nil {
		p.retryAt = now.Add(retryLadder[min(p.failures, len(retryLadder)-1)])
		p.failures++
		p.problem = err.Error()
		return
	}
	p.failures, p.retryAt, p.problem, p.revision = 0, time.Time{}, "", revision
	p.dirtySince, p.lastTrigger = time.Time{}, time.Time{}
	if p.again = t.inbox.dirty(); p.again {
		p.dirtySince = now
	}
	t.install(ctx, plan)
}

// compute asks the planner. A claimed type whose facts are not trusted aborts the pass.
func (t *target) compute(ctx context.Context) (Plan, uint64, error) {
	catalog := t.source.Catalog()
	if !catalog.Ready() {
		return Plan{}, 0, errors.New("the source cluster's types are not known yet")
	}
	plan, err := t.o.Planner.Plan(ctx, t.key, catalog)
	if err != nil {
		return Plan{}, 0, err
	}
	if len(plan.Retained) > 0 {
		return Plan{}, 0, fmt.Errorf("discovery is not sure of %s; the present streams stay",
			strings.Join(plan.Retained, ", "))
	}
	return plan, catalog.Revision(), nil
}

// declare tells the worker the cells when they changed, or when it asked for them. Another set is another epoch.
func (t *target) declare(repeat bool) {
	p := &t.plan
	if !p.installed || t.spec.Sink == nil {
		return
	}
	cells := make([]change.Cell, 0, len(p.cells))
	for _, c := range p.cells {
		if s := t.streams[c]; s != nil && !t.reports[s].skipped {
			cells = append(cells, c)
		}
	}
	changed := p.declared == nil || !slices.Equal(cells, p.declared)
	if !changed && !repeat {
		return
	}
	if changed {
		p.epoch++
		t.publish()
	}
	p.declared = cells
	t.spec.Sink.Declare(t.key, p.epoch, slices.Clone(cells))
}
