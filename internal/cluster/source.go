// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Source is one source cluster. It is safe for concurrent use.
type Source struct {
	name    string
	options Options
	log     logr.Logger
	hooks   hooks

	catalog    atomic.Pointer[Catalog]
	schemas    *schemas
	namespaces namespaceKeeper
	triggers   triggers
	// looking serialises scans.
	looking chan struct{}

	mu       sync.Mutex
	current  *conn
	reach    Reachability
	registry *registry
	// listed holds the types whose server cannot stream initial events, each for one catalog revision.
	listed map[change.Type]uint64
}

// hooks lead back to the registry of sources. They never block.
type hooks struct {
	// changed is called after every observable change; refresh asks for a look soon.
	changed, refresh func()
}

func newSource(name string, o Options, h hooks) *Source {
	s := &Source{
		name: name, options: o, log: o.Log.WithValues("source", name), hooks: h, looking: make(chan struct{}, 1),
		reach: awaiting(), registry: newRegistry(), listed: map[change.Type]uint64{},
	}
	s.namespaces.reset()
	s.triggers.source = s
	s.schemas = newSchemas(s)
	s.catalog.Store(s.registry.last)
	return s
}

func awaiting() Reachability {
	return Reachability{Status: "Unknown", Reason: ReasonAwaitingDiscovery, Message: "Discovery was not tried yet."}
}

// Name returns the KubeProvider's name.
func (s *Source) Name() string { return s.name }

// Catalog returns what the source serves, as far as it is known. Never nil; not Ready before the first scan.
func (s *Source) Catalog() *Catalog { return s.catalog.Load() }

// Schemas answers field facts from the OpenAPI documents read so far and the built-in table; see LoadSchema.
func (s *Source) Schemas() change.Schemas { return s.schemas }

// LoadSchema reads the OpenAPI document of a type's group version unless it is known in the server's current edition.
func (s *Source) LoadSchema(ctx context.Context, t change.Type) error { return s.schemas.load(ctx, t) }

// Reachability returns the last observation.
func (s *Source) Reachability() Reachability {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reach
}

// Token names the credentials in use; empty when there are none. Streams opened under another token are restarted.
func (s *Source) Token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return ""
	}
	return s.current.config.Token
}

// Reachability says whether the source answers (watch 2). Status is "True", "False" or "Unknown".
type Reachability struct {
	Status, Reason, Message string
}

// Reasons of SourceClusterReachable.
const (
	ReasonAwaitingDiscovery    = "AwaitingDiscovery"
	ReasonLocalCluster         = "LocalCluster"
	ReasonReachable            = "SourceClusterReachable"
	ReasonUnreachable          = "SourceClusterUnreachable"
	ReasonAuthenticationFailed = "SourceClusterAuthenticationFailed"
	ReasonAccessDenied         = "SourceClusterAccessDenied"
)

func (s *Source) conn() *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// connect replaces the connection; nil drops it. The catalog's facts survive.
func (s *Source) connect(c *conn) {
	s.mu.Lock()
	old := s.current
	s.current, s.reach = c, awaiting()
	clear(s.listed)
	s.mu.Unlock()
	s.namespaces.reset()
	if old != nil {
		old.drop()
	}
	s.schemas.reset()
	s.hooks.changed()
}

// Refresh scans discovery once. The catalog keeps its facts when that fails.
func (s *Source) Refresh(ctx context.Context) error {
	select {
	case s.looking <- struct{}{}:
		defer func() { <-s.looking }()
	case <-ctx.Done():
		return ctx.Err()
	}
	c := s.conn()
	if c == nil {
		return ErrNotConnected
	}
	began := s.options.Clock.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	found, err := discover(ctx, c.discovery)
	outcome := "error"
	if err != nil && ctx.Err() != nil && c.ctx.Err() == nil {
		// The caller gave up: nothing was learnt about the source.
		return ctx.Err()
	}
	changed := s.learn(c, found, err)
	if err == nil {
		s.lookAtNamespaces(ctx, c)
		outcome = map[bool]string{true: "changed", false: "unchanged"}[changed]
	}
	// A source that was let go meanwhile has no series any more.
	if r := s.options.Recorder; r != nil && c.ctx.Err() == nil {
		r.CatalogRefreshed(s.name, outcome, s.options.Clock.Since(began))
		allowed, excluded, trusted, degraded := s.Catalog().counts()
		r.CatalogSize(s.name, allowed, excluded, trusted, degraded)
	}
	return err
}

func (s *Source) lookAtNamespaces(ctx context.Context, c *conn) {
	changed, err := s.namespaces.refresh(ctx, c, s.options.Clock.Now())
	if err != nil {
		s.log.V(1).Info("namespaces cannot be listed", "cause", PlainCause(err))
	}
	if changed {
		s.hooks.changed()
	}
}

// learn merges a scan or its failure and reports whether the catalog changed. A scan of replaced credentials is ignored.
func (s *Source) learn(c *conn, found scan, err error) bool {
	s.mu.Lock()
	if s.current != c {
		s.mu.Unlock()
		return false
	}
	reach := Reachability{Status: "True", Reason: ReasonReachable, Message: "The API server answers."}
	switch {
	case err != nil:
		reach = unreachable(err)
	case c.config.Local:
		reach.Reason = ReasonLocalCluster
	}
	moved := reach != s.reach
	s.reach = reach
	if err == nil {
		s.registry.merge(found, s.options.Clock.Now())
	}
	changed := s.projectLocked()
	s.mu.Unlock()
	if moved || changed {
		s.hooks.changed()
	}
	return changed
}

// advance lets time pass: types settle, graces end. It returns when it is due next; zero means never.
func (s *Source) advance() time.Time {
	s.mu.Lock()
	changed := s.projectLocked()
	due := s.registry.due(s.options.Clock.Now())
	s.mu.Unlock()
	if changed {
		s.hooks.changed()
	}
	return due
}

func (s *Source) projectLocked() bool {
	next, events := s.registry.project(s.options.Clock.Now())
	for _, e := range events {
		s.log.V(1).Info("type changed", "event", e.Event, "type", e.Type.GroupResource(), "version", e.Type.Version,
			"reason", e.Reason)
		for _, f := range s.options.Lifecycle {
			f(s.name, e)
		}
	}
	return s.catalog.Swap(next) != next
}

// Lists reports that the server of this type cannot stream initial events (watch 8.3).
func (s *Source) Lists(t change.Type) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	rev, ok := s.listed[t]
	return ok && rev == s.catalog.Load().revision
}

// RememberLists notes that the type has to be listed, until the catalog or the credentials change. It reports whether
// that is new, so that it is said once.
func (s *Source) RememberLists(t change.Type) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	rev, ok := s.listed[t]
	now := s.catalog.Load().revision
	s.listed[t] = now
	return !ok || rev != now
}

// Replay takes one of the eight replay slots of the source; release gives it back and may be called more than once.
func (s *Source) Replay(ctx context.Context) (release func(), err error) {
	c := s.conn()
	if c == nil {
		return nil, ErrNotConnected
	}
	if err := c.replays.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	var once sync.Once
	return func() { once.Do(func() { c.replays.Release(1) }) }, nil
}

// IsNotConnected reports an error that is about missing or replaced credentials.
func IsNotConnected(err error) bool { return errors.Is(err, ErrNotConnected) }
