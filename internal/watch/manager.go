// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/mailbox"
)

// DefaultMaxStreams is --max-streams-per-target (decision 75).
const DefaultMaxStreams = 2000

// Trigger reasons (watch 7); they are metric labels.
const (
	TriggerDeclare       = "declare"
	TriggerRuleChange    = "rule_change"
	TriggerSharedRefresh = "shared_refresh"
	TriggerPeriodic      = "periodic"
)

// Options configures a Manager.
type Options struct {
	Sources *cluster.Sources
	Planner Planner
	// Dirty receives the key of each target whose Status changed; may be nil.
	Dirty *mailbox.Mailbox[change.TargetKey]
	// Requests carries the worker's wishes for fresh snapshots; may be nil.
	Requests *mailbox.Mailbox[SnapshotRequest]
	// Recorder counts; nil counts nothing.
	Recorder Recorder
	// MaxStreams per target; 0 means DefaultMaxStreams.
	MaxStreams int
	// Clock is injected by tests; nil means the real one.
	Clock clock.WithDelayedExecution
	Log   logr.Logger
}

// SnapshotRequest asks for a fresh snapshot of one cell, or of every cell of the target when Cell is zero.
type SnapshotRequest = struct {
	Target change.TargetKey
	Cell   change.Cell
}

// Manager owns the targets. It is safe for concurrent use.
type Manager struct {
	o Options

	mu      sync.Mutex
	targets map[change.TargetKey]*managed
	// start launches a target; nil before Start and after its end.
	start   func(*target, <-chan struct{})
	running sync.WaitGroup
}

// managed is a declared target, or a forgotten one whose streams are still ending.
type managed struct {
	*target
	spec    TargetSpec
	leaving bool
	// rechecked is the last token that was passed on.
	rechecked string
}

// NewManager returns a manager; nothing runs before Start.
func NewManager(o Options) *Manager {
	if o.Recorder == nil {
		o.Recorder = silent{}
	}
	if o.MaxStreams <= 0 {
		o.MaxStreams = DefaultMaxStreams
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return &Manager{o: o, targets: map[change.TargetKey]*managed{}}
}

// Start refreshes the sources and runs the targets until the context ends; then every stream is ended and joined. It is
// a manager.Runnable.
func (m *Manager) Start(ctx context.Context) error {
	m.mu.Lock()
	m.start = func(t *target, after <-chan struct{}) {
		var tctx context.Context
		tctx, t.cancel = context.WithCancel(ctx)
		m.running.Add(1)
		go func() {
			defer m.running.Done()
			t.run(tctx, after)
			m.ended(t)
		}()
	}
	for _, t := range m.targets {
		m.start(t.target, nil)
	}
	m.mu.Unlock()
	m.running.Add(1)
	go func() {
		defer m.running.Done()
		m.o.Sources.Run(ctx)
	}()
	m.dispatch(ctx)
	m.mu.Lock()
	m.start = nil
	m.mu.Unlock()
	m.running.Wait()
	return nil
}

// dispatch hands the mailboxes' keys to the targets they concern.
func (m *Manager) dispatch(ctx context.Context) {
	requests := m.o.Requests
	if requests == nil {
		requests = mailbox.New[SnapshotRequest]()
	}
	changed := m.o.Sources.Changed()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed.Wake():
			for _, name := range changed.Take() {
				m.sourceChanged(name)
			}
		case <-requests.Wake():
			for _, r := range requests.Take() {
				m.post(r.Target, func(m *mail) {
					if m.snapshots == nil {
						m.snapshots = map[change.Cell]struct{}{}
					}
					m.snapshots[r.Cell] = struct{}{}
				})
			}
		}
	}
}

func (m *Manager) sourceChanged(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.targets {
		if t.spec.Source != name || t.leaving {
			continue
		}
		t.inbox.post(func(m *mail) { m.source = true })
		// Reachability is shown per GitTarget.
		if m.o.Dirty != nil {
			m.o.Dirty.Post(t.key)
		}
	}
}

// Declare adds a target or replaces its spec. It returns at once; an equal spec changes nothing. A KubeProvider cannot be
// exchanged: forget the target first.
func (m *Manager) Declare(s TargetSpec) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, ok := m.targets[s.Key]
	if ok && !t.leaving && t.spec.Source == s.Source {
		if t.spec.equal(s) {
			return
		}
		t.spec = s
		t.inbox.post(func(m *mail) { m.spec = &s; m.triggers = append(m.triggers, TriggerDeclare) })
		return
	}
	var after <-chan struct{}
	if ok {
		m.leaveLocked(t)
		after = t.done
	}
	fresh := &managed{target: newTarget(&m.o, s, m.dirty), spec: s}
	m.targets[s.Key] = fresh
	fresh.inbox.post(func(m *mail) { m.spec = &s; m.triggers = append(m.triggers, TriggerDeclare) })
	m.o.Sources.RequestRefresh(s.Source)
	if m.start != nil {
		m.start(fresh.target, after)
	}
}

// equal reports a spec that asks for nothing new. Stamp is a function and cannot be compared; it must not change.
func (s TargetSpec) equal(o TargetSpec) bool {
	return s.Source == o.Source && s.Sink == o.Sink && s.Attributor == o.Attributor && s.PruneMode == o.PruneMode &&
		equalIgnore(s, o) && slices.Equal(s.Withheld, o.Withheld)
}

func equalIgnore(a, b TargetSpec) bool { return reflect.DeepEqual(a.Ignore, b.Ignore) }

// Forget ends a target's streams. Git is left as it is. It returns at once.
func (m *Manager) Forget(k change.TargetKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t, ok := m.targets[k]; ok {
		m.leaveLocked(t)
		if t.cancel == nil {
			// Never started.
			delete(m.targets, k)
		}
	}
}

func (m *Manager) leaveLocked(t *managed) {
	if t.leaving {
		return
	}
	t.leaving = true
	if t.cancel == nil {
		t.release()
		close(t.done)
		return
	}
	t.cancel()
}

// ended takes a target out whose goroutine has ended, unless a successor has its place.
func (m *Manager) ended(t *target) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if cur, ok := m.targets[t.key]; ok && cur.target == t && cur.leaving {
		delete(m.targets, t.key)
	}
}

// Trigger asks for a planning pass of a target, soon: after two seconds without another trigger, at most ten.
func (m *Manager) Trigger(k change.TargetKey, reason string) {
	m.post(k, func(m *mail) { m.triggers = append(m.triggers, reason) })
}

// Recheck takes a fresh snapshot of every collection of a target. Status.Rechecked becomes token when all were
// accepted; a token that was already handled does nothing.
func (m *Manager) Recheck(k change.TargetKey, token string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, ok := m.targets[k]
	if !ok || t.leaving || t.rechecked == token {
		return
	}
	t.rechecked = token
	t.inbox.post(func(m *mail) { m.recheck, m.rechecked = token, true })
}

func (m *Manager) post(k change.TargetKey, f func(*mail)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t, ok := m.targets[k]; ok && !t.leaving {
		t.inbox.post(f)
	}
}

// Status returns the view of a target; false when it is not declared.
func (m *Manager) Status(k change.TargetKey) (Status, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, ok := m.targets[k]
	if !ok || t.leaving {
		return Status{}, false
	}
	return *t.status.Load(), true
}

// Targets returns the declared targets in a fixed order.
func (m *Manager) Targets() []change.TargetKey {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []change.TargetKey
	for k, t := range m.targets {
		if !t.leaving {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b change.TargetKey) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	return keys
}

// dirty counts the targets that wait for a pass.
func (m *Manager) dirty() {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	var oldest time.Time
	for _, t := range m.targets {
		since := t.status.Load().DirtySince
		if t.leaving || since.IsZero() {
			continue
		}
		n++
		if oldest.IsZero() || since.Before(oldest) {
			oldest = since
		}
	}
	m.o.Recorder.Dirty(n, oldest)
}
