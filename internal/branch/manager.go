// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/internal/mailbox"
	"github.com/configbutler/gitops-reverser/internal/metrics"
)

// SnapshotRequest asks watch for a fresh snapshot of one cell. It is an alias so that watch, which declares the same,
// and this package share one mailbox without importing each other.
type SnapshotRequest = struct {
	Target change.TargetKey
	Cell   change.Cell
}

// Published says that everything of a cell up to RV is in Git.
type Published struct {
	Target change.TargetKey
	Cell   change.Cell
	RV     string
}

// Options configure a Manager.
type Options struct {
	// StoragePath holds one folder per worker; it is a cache.
	StoragePath string
	// Machine is the configuration of every machine; Seed is replaced by one per branch.
	Machine core.Config
	// Grace is how long a stopping worker may publish. Default 20 s.
	Grace time.Duration
	Clock clock.Clock
	Log   logr.Logger
	// Warn tells a person what a commit cannot undo, such as a clear text that stays in history, or which Secret cannot be
	// encrypted; may be nil.
	Warn func(target change.TargetKey, reason, message string)
	// Hosts keeps the pauses Git hosts asked for; shared with whoever else talks to them. May be nil.
	Hosts *gitstore.Hosts
	// Metrics counts; required.
	Metrics *metrics.Metrics
	// Dirty receives targets whose status changed; Requests the worker's wishes for snapshots. Both may be nil.
	Dirty    *mailbox.Mailbox[change.TargetKey]
	Requests *mailbox.Mailbox[SnapshotRequest]
	// Published receives cursors that may be stored; may be nil.
	Published *mailbox.Mailbox[Published]
}

// Manager owns the workers, one per repository branch. It is safe for concurrent use.
type Manager struct {
	o Options

	mu      sync.Mutex
	workers map[string]*entry
	targets map[change.TargetKey]*entry
	// places counts the workers of a place that run or still end.
	places   map[string]int
	stopping bool
	running  sync.WaitGroup
	thrift   thrift
}

// ErrBusy says that an earlier worker of the branch still publishes. Two at a time could bring an older state over a newer
// one, so the next waits for its end.
var ErrBusy = errors.New("an earlier worker of this branch still publishes")

var errStopping = errors.New("the operator is stopping")

// entry is a worker with the targets it serves.
type entry struct {
	key     string
	worker  *worker
	targets map[change.TargetKey]Target
	stop    context.CancelFunc
}

// NewManager returns a manager without workers.
func NewManager(o Options) *Manager {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Grace == 0 {
		o.Grace = 20 * time.Second
	}
	return &Manager{o: o, workers: map[string]*entry{}, targets: map[change.TargetKey]*entry{}, places: map[string]int{}}
}

// Start keeps the workers running until the context ends, then lets each publish once more. It is a manager.Runnable.
func (m *Manager) Start(ctx context.Context) error {
	<-ctx.Done()
	m.mu.Lock()
	m.stopping = true
	for _, e := range m.workers {
		e.stop()
	}
	m.mu.Unlock()
	m.running.Wait()
	return nil
}

// Set declares a target or changes it, creating the branch's worker when it is the first. No connection is opened.
// It returns where the target's changes go. After ErrBusy the target is not declared; the caller comes again.
func (m *Manager) Set(t Target) (Sink, error) {
	t.Machine.Frozen = t.Frozen
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopping {
		return Sink{}, errStopping
	}
	e := m.workers[t.Repository.key()]
	if old := m.targets[t.Key]; old != nil && old != e {
		m.drop(old, t.Key)
	}
	if e == nil {
		if m.places[t.Repository.place()] > 0 {
			return Sink{}, ErrBusy
		}
		var err error
		if e, err = m.create(t.Repository); err != nil {
			return Sink{}, err
		}
	}
	e.targets[t.Key], m.targets[t.Key] = t, e
	credentials := credentialsFunc(t.Repository.Credentials)
	e.worker.credentials.Store(&credentials)
	e.worker.send(context.Background(), inbound{in: core.TargetSet{Target: t.Key, Config: t.Machine}})
	return Sink{e.worker}, nil
}

// Remove forgets a target. What was decided is still published; the worker ends with its last target.
func (m *Manager) Remove(k change.TargetKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.targets[k]; e != nil {
		m.drop(e, k)
	}
}

func (m *Manager) drop(e *entry, k change.TargetKey) {
	delete(e.targets, k)
	delete(m.targets, k)
	e.worker.send(context.Background(), inbound{in: core.TargetGone{Target: k}})
	if len(e.targets) == 0 {
		delete(m.workers, e.key)
		e.stop()
	}
}

func (m *Manager) create(r Repository) (*entry, error) {
	key := r.key()
	sum := sha256.Sum256([]byte(key))
	seed := fnv.New64a()
	seed.Write(sum[:])
	w := &worker{
		repository: r, clock: m.o.Clock, log: m.o.Log.WithValues("branch", r.Branch, "provider",
			r.ProviderNamespace+"/"+r.ProviderName),
		inbox: make(chan inbound), answers: make(chan core.Input, 1), jobs: make(chan job, 1), done: make(chan struct{}),
		verdicts: map[core.Ticket]chan change.Verdict{}, settles: map[core.Ticket]chan change.Outcome{},
		saves: map[string]chan core.Answer{}, targets: map[change.TargetKey]struct{}{}, out: outlets{m},
	}
	store, err := gitstore.New(gitstore.Options{
		Dir: filepath.Join(m.o.StoragePath, hex.EncodeToString(sum[:8])), URL: r.URL, Branch: r.Branch, ParentBranch: r.ParentBranch,
		Credentials:  func(ctx context.Context) (gitstore.Credentials, error) { return (*w.credentials.Load())(ctx) },
		Capabilities: r.Capabilities,
		Now:          m.o.Clock.Now, Deadline: m.o.Machine.CallDeadline, Hosts: m.o.Hosts,
	})
	if err != nil {
		return nil, err
	}
	w.lane = newLane(store, m.o.Clock.Now, w.log, &m.thrift)
	config := m.o.Machine
	config.Seed = seed.Sum64()
	w.machine = core.New(config)
	status := w.machine.Status()
	w.status.Store(&status)
	wake := make(chan struct{})
	w.wake.Store(&wake)
	ctx, stop := context.WithCancel(context.Background())
	e := &entry{key: key, worker: w, targets: map[change.TargetKey]Target{}, stop: stop}
	m.workers[key] = e
	m.places[r.place()]++
	m.running.Go(func() {
		w.run(ctx, m.o.Grace)
		m.ended(w)
	})
	return e, nil
}

// ended makes room for the next worker of a place.
func (m *Manager) ended(w *worker) {
	m.mu.Lock()
	defer m.mu.Unlock()
	place := w.repository.place()
	if m.places[place]--; m.places[place] <= 0 {
		delete(m.places, place)
	}
	for _, e := range m.workers {
		if e.worker.repository.labels() == w.repository.labels() {
			return
		}
	}
	w.out.endBranch(w)
}

// Status is the worker's picture with one target's part.
type Status struct {
	core.Status
	Target core.TargetStatus
}

// Status returns the picture of a target's worker; false when the target is not declared.
func (m *Manager) Status(k change.TargetKey) (Status, bool) {
	m.mu.Lock()
	e := m.targets[k]
	m.mu.Unlock()
	if e == nil {
		return Status{}, false
	}
	s := Status{Status: *e.worker.status.Load()}
	s.Target, _ = s.Status.Target(k)
	return s, true
}

// Recheck asks a target's worker to look at the remote and to want fresh snapshots; each token is handled once.
func (m *Manager) Recheck(k change.TargetKey, token string) {
	m.tell(k, core.Recheck{Target: k, Token: token})
}

// Refresh tells a target's worker that its reconcile tick has come; it looks only when nothing proved the branch lately.
func (m *Manager) Refresh(k change.TargetKey) { m.tell(k, core.Hint{Source: core.HintRefresh}) }

func (m *Manager) tell(k change.TargetKey, in core.Input) {
	m.mu.Lock()
	e := m.targets[k]
	m.mu.Unlock()
	if e != nil {
		e.worker.send(context.Background(), inbound{in: in})
	}
}

// Branches implements metrics.State.
func (m *Manager) Branches() []metrics.BranchState {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []metrics.BranchState
	for _, e := range m.workers {
		s := e.worker.status.Load()
		b := metrics.BranchState{
			ProviderNamespace: e.worker.repository.ProviderNamespace, ProviderName: e.worker.repository.ProviderName,
			Branch: e.worker.repository.Branch, Queued: s.Queue, Retained: s.Retained, RetainedBytes: s.Bytes,
			Paused: s.IntakePaused, Oldest: s.Oldest,
		}
		if s.Failing != nil {
			b.NextRetry = s.Failing.Next
		}
		for k, t := range e.targets {
			b.Targets = append(b.Targets, metrics.TargetRef{Namespace: k.Namespace, Name: k.Name,
				SourceCluster: t.SourceCluster})
		}
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b metrics.BranchState) int {
		return strings.Compare(a.ProviderNamespace+"/"+a.ProviderName+"/"+a.Branch,
			b.ProviderNamespace+"/"+b.ProviderName+"/"+b.Branch)
	})
	return out
}

var _ metrics.State = (*Manager)(nil)
