// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core/cursor"
	"github.com/configbutler/gitops-reverser/internal/branch/core/pace"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// Machine is one branch. It is not safe for concurrent use: the runner's stepping goroutine owns it. Each part below
// owns one concern and its state; they share the machine to reach each other.
type Machine struct {
	cfg      Config
	now      time.Time
	out      []Effect
	changed  []change.TargetKey // targets (zero: the branch) whose status changed in this Step
	version  uint64
	targets  registry
	cursors  cursor.Set[*cell]
	intake   intake
	windows  windows
	saves    saves
	ledger   ledger
	remote   remote
	lane     lane
	publish  publisher
	appliers appliers
}

// New returns a machine that knows no target, has no base and makes no request until work arrives.
func New(cfg Config) *Machine {
	m := &Machine{cfg: cfg.withDefaults()}
	m.targets = registry{m: m, byKey: map[change.TargetKey]*target{}}
	m.intake = intake{m: m}
	m.windows = windows{m: m}
	m.saves = saves{m: m, byID: map[string]*save{}}
	m.ledger = ledger{m: m}
	m.remote = remote{m: m}
	m.lane = lane{m: m}
	m.publish = publisher{m: m, rejects: rejects{m: m}}
	m.publish.pace = pace.Schedule{
		RetryMin: m.cfg.RetryMin, RetryMax: m.cfg.RetryMax, Cooldown: m.cfg.Cooldown, Cycle: m.cfg.CycleDeadline,
		Jitter: pace.Jitter{Seed: m.cfg.Seed, Min: m.cfg.ContentionMin, Max: m.cfg.ContentionMax},
	}
	m.appliers = appliers{m: m}
	return m
}

// Step takes one input at a time now, which must not be before the previous one's, and returns what to do.
func (m *Machine) Step(now time.Time, in Input) []Effect {
	if now.After(m.now) {
		m.now = now
	}
	m.out = nil
	window := m.windows.open
	m.timers() // a deadline that passed wins over an input of the same moment
	m.handle(in)
	m.timers()
	m.lane.next()
	m.appliers.ask()
	m.publish.tidy()
	m.intake.reopen()
	m.cursors.Flush(m.advanced)
	m.flushChanged()
	if _, plain := in.(Offered); !plain || len(m.out) > 1 || m.windows.open != window {
		m.version++ // one more change in an open window shows nowhere
	}
	out := m.out
	m.out = nil
	return out
}

func (m *Machine) handle(in Input) {
	switch in := in.(type) {
	case TargetSet:
		m.targets.set(in)
	case TargetGone:
		m.targets.remove(in.Target)
	case CellsDeclared:
		m.targets.declare(in)
	case Offered:
		m.intake.offer(in)
	case Snapped:
		m.intake.snapshot(in)
	case SaveOpened:
		m.saves.open(in.Save)
	case SaveClosed:
		m.saves.close(in.ID)
	case Hint:
		m.remote.hint(in)
	case Recheck:
		m.targets.recheck(in)
	case Looked:
		m.lane.looked(in)
	case Fetched:
		m.lane.fetched(in)
	case Written:
		m.lane.written(in)
	case Pushed:
		m.lane.pushed(in)
	case CurrentAsked:
		m.emit(Current{Ticket: in.Ticket, Is: m.remote.exists && in.Commit == m.remote.base})
	case ApplierSaid:
		m.appliers.said(in)
	case Shutdown:
		m.lane.shutdown(in.Until)
	}
}

// timers does what has come due, apart from what waits for the lane.
func (m *Machine) timers() {
	m.saves.expire()
	m.windows.expire()
	m.lane.expire()
	for _, t := range m.targets.list {
		m.gate(t).expire()
		m.healthOf(t).expire()
		m.appliers.expire(t)
	}
	m.publish.rejects.expire()
}

// Next returns when Tick is due; zero when nothing waits for time.
func (m *Machine) Next() time.Time {
	var next pace.Soonest
	m.saves.due(&next)
	m.windows.due(&next)
	m.lane.due(&next)
	for _, t := range m.targets.list {
		next.Add(m.gate(t).until())
		m.healthOf(t).due(&next)
		m.appliers.due(t, &next)
	}
	return next.At
}

func (m *Machine) emit(e Effect) { m.out = append(m.out, e) }

func (m *Machine) observe(t *target, o Observation) {
	var key change.TargetKey
	if t != nil {
		key = t.key
	}
	m.emit(Observe{Target: key, Observation: o})
}

// touched notes that the status of t (nil: of the branch) changed; observers hear of it once at the end of the Step.
func (m *Machine) touched(t *target) {
	var key change.TargetKey
	if t != nil {
		key = t.key
	}
	for _, k := range m.changed {
		if k == key {
			return
		}
	}
	m.changed = append(m.changed, key)
}

func (m *Machine) flushChanged() {
	for _, k := range m.changed {
		m.emit(Observe{Target: k, Observation: Observation{What: ObservedStatus}})
	}
	m.changed = m.changed[:0]
}

// bytes is everything accepted and not yet published: queued, window, pending, held, set aside, saves.
func (m *Machine) bytes() int64 {
	n := m.ledger.Bytes() + m.publish.rejects.aside.Bytes() + m.saves.bytes()
	if w := m.windows.open; w != nil {
		n += w.batch.Bytes
	}
	for _, t := range m.targets.list {
		n += t.gate.Bytes()
	}
	return n
}

// noTime is a deadline that is not set.
var noTime time.Time
