// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
)

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
	// ending are streams that were told to end and may not have done so yet.
	ending  []*stream
	plan    planState
	recheck recheckState
}

// recheckState follows a forced recheck.
type recheckState struct {
	token, done string
	// before holds, per cell, how many snapshots were accepted when the recheck began.
	before map[change.Cell]int
}

func newTarget(o *Options, spec TargetSpec, dirty func()) *target {
	t := &target{
		o: o, key: spec.Key, inbox: newInbox(), dirty: dirty, done: make(chan struct{}),
		streams: map[change.Cell]*stream{},
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
	defer func() {
		t.stopAll()
		for _, s := range t.ending {
			<-s.done
		}
	}()
	for ctx.Err() == nil {
		t.handle(ctx, t.inbox.take())
		t.publish()
		t.wait(ctx)
	}
}

// wait sleeps until there is mail or planning is due.
func (t *target) wait(ctx context.Context) {
	var due <-chan time.Time
	if at := t.plan.due(t.spec.Sink != nil); !at.IsZero() {
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

func (t *target) handle(ctx context.Context, m mail) {
	now := t.o.Clock.Now()
	if m.spec != nil {
		t.respec(ctx, *m.spec)
	}
	for _, reason := range m.triggers {
		t.o.Recorder.Triggered(reason, t.plan.trigger(now))
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
	if at := t.plan.due(t.spec.Sink != nil); !at.IsZero() && !at.After(now) {
		t.pass(ctx)
	}
	t.declare(false)
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
		t.o.Recorder.Triggered(TriggerSharedRefresh, t.plan.trigger(now))
	}
}

func (t *target) reported(s *stream, r report, now time.Time) {
	if s.seen.phase != r.phase || s.seen.reason != r.reason {
		s.since = now
	}
	s.seen = r
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
	t.recheck.before = map[change.Cell]int{}
	for cell, s := range t.streams {
		t.recheck.before[cell] = s.seen.accepted
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
	for cell, before := range r.before {
		if s := t.streams[cell]; s != nil && s.seen.accepted <= before && s.seen.phase != Blocked {
			return
		}
	}
	r.done, r.before = r.token, nil
}

// pass plans once. Nothing is installed unless the plan is whole (watch 1 W6).
func (t *target) pass(ctx context.Context) {
	began := t.o.Clock.Now()
	t.plan.again = false
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
		t.plan.failed(now, err)
		return
	}
	t.plan.made(now, revision, t.inbox.dirty())
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

// declare tells the worker the cells when they or what can be read of them changed, or when it asked. Another set is
// another epoch.
func (t *target) declare(repeat bool) {
	p := &t.plan
	if !p.installed || t.spec.Sink == nil {
		return
	}
	cells := make([]change.Cell, 0, len(p.cells))
	var blocked []change.Cell
	for _, c := range p.cells {
		if s := t.streams[c]; s != nil {
			cells = append(cells, c)
			if s.seen.phase == Blocked {
				blocked = append(blocked, c)
			}
		}
	}
	changed := p.declared == nil || !slices.Equal(cells, p.declared)
	if !changed && !repeat && slices.Equal(blocked, p.blocked) {
		return
	}
	if changed {
		p.epoch++
		t.publish()
	}
	p.declared, p.blocked = cells, blocked
	t.spec.Sink.Declare(t.key, p.epoch, slices.Clone(cells), blocked)
}
