// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/configbutler/gitops-reverser/internal/mailbox"
)

// Defaults of the source clients (decision 75).
const (
	DefaultQPS      = 20
	DefaultBurst    = 30
	DefaultInterval = 30 * time.Second
)

const (
	refreshDeadline = 2 * time.Minute
	maxRefreshes    = 8
	// requestPause keeps requested refreshes of one source apart; a burst of declarations is one look.
	requestPause = 2 * time.Second
)

// Config says how to reach one source cluster.
type Config struct {
	// REST is the client configuration. Its QPS, Burst, RateLimiter and Timeout are ignored.
	REST *rest.Config
	// Local: this is the operator's own cluster.
	Local bool
	// Token names the revision of the credentials ("generation/Secret resourceVersion"). Another token rebuilds the
	// clients and restarts the streams.
	Token string
	// QPS and Burst bound the opening of streams and lists; 0 means Options.QPS and Options.Burst.
	QPS   float32
	Burst int
	// Interval is the refresh cadence; 0 means DefaultInterval.
	Interval time.Duration
	// Suspended: no streams are held (KubeProvider.spec.suspend).
	Suspended bool
}

// same reports a configuration that needs no new connection.
func (c Config) same(o Config) bool {
	return c.Local == o.Local && c.Token == o.Token && c.QPS == o.QPS && c.Burst == o.Burst && c.Suspended == o.Suspended
}

// Options are shared by all sources.
type Options struct {
	// Clock is injected by tests; nil means the real one.
	Clock clock.Clock
	Log   logr.Logger
	// QPS and Burst are the flags --source-api-qps and --source-api-burst; 0 means the defaults.
	QPS   float32
	Burst int
	// UserAgent is sent to the API server; empty means client-go's default.
	UserAgent string
	// Recorder counts; nil counts nothing.
	Recorder Recorder
	// Lifecycle subscribers are told what happens to types, in order. They must not block or call back.
	Lifecycle []func(source string, e Lifecycle)
}

// Recorder receives the catalog metrics of watch 17.
type Recorder interface {
	// CatalogRefreshed counts a refresh; outcome is changed, unchanged or error.
	CatalogRefreshed(source, outcome string, took time.Duration)
	// CatalogSize sets the gauges api_catalog_resources and api_catalog_group_versions.
	CatalogSize(source string, allowed, excluded, trusted, degraded int)
}

// Sources owns the source clusters, one per KubeProvider name. It is safe for concurrent use.
type Sources struct {
	options Options
	changed *mailbox.Mailbox[string]
	wake    chan struct{}

	mu      sync.Mutex
	entries map[string]*slot
}

// slot is what is known of one name: a configuration, references, and the source while there are any.
type slot struct {
	config *Config
	refs   int
	source *Source
	next   time.Time
	last   time.Time
	// busy: a refresh is running; again: it was asked for once more meanwhile.
	busy, again bool
}

// NewSources returns an empty registry.
func NewSources(o Options) *Sources {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return &Sources{
		options: o, changed: mailbox.New[string](), wake: make(chan struct{}, 1), entries: map[string]*slot{},
	}
}

// Set declares how the source is reached. It never dials. An error says what is wrong with the configuration; the
// previous one stays.
func (s *Sources) Set(name string, c Config) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.slotLocked(name)
	if e.config != nil && e.config.same(c) {
		e.config.Interval = c.Interval
		return nil
	}
	// Built even without a reference, so that a bad configuration is refused where it is declared.
	built, err := newConn(c, s.options)
	if err != nil {
		s.tidyLocked(name, e)
		return err
	}
	e.config = &c
	s.connectLocked(e, built)
	return nil
}

func (s *Sources) connectLocked(e *slot, built *conn) {
	if e.source == nil || e.config == nil || e.config.Suspended {
		if built != nil {
			built.drop()
			built = nil
		}
	}
	if e.source != nil {
		e.source.connect(built)
		e.next, e.again = s.options.Clock.Now(), e.busy
		s.poke()
	}
}

// Remove drops the source's configuration for good (Secret or key gone, policy refusal, provider deleted): clients are
// dropped and streams stop, fail closed.
func (s *Sources) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entries[name]
	if !ok {
		return
	}
	e.config = nil
	s.connectLocked(e, nil)
	s.tidyLocked(name, e)
}

// Acquire takes a reference. The source exists from now on, connected or not; the last release tears it down. release
// may be called more than once.
func (s *Sources) Acquire(name string) (source *Source, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.slotLocked(name)
	e.refs++
	if e.source == nil {
		e.source = newSource(name, s.options, hooks{
			changed: func() { s.changed.Post(name) }, refresh: func() { s.RequestRefresh(name) },
		})
		if e.config != nil {
			// The same configuration was built before without an error.
			if built, err := newConn(*e.config, s.options); err == nil {
				s.connectLocked(e, built)
			}
		}
	}
	var once sync.Once
	return e.source, func() { once.Do(func() { s.release(name) }) }
}

func (s *Sources) release(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[name]
	if e.refs--; e.refs > 0 {
		return
	}
	e.source.connect(nil)
	e.source = nil
	s.tidyLocked(name, e)
}

func (s *Sources) slotLocked(name string) *slot {
	e, ok := s.entries[name]
	if !ok {
		e = &slot{}
		s.entries[name] = e
	}
	return e
}

func (s *Sources) tidyLocked(name string, e *slot) {
	if e.config == nil && e.refs == 0 {
		delete(s.entries, name)
	}
}

// Get returns a source that somebody holds.
func (s *Sources) Get(name string) (*Source, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.entries[name]; ok && e.source != nil {
		return e.source, true
	}
	return nil, false
}

// Changed receives the names of sources whose configuration, catalog or reachability changed.
func (s *Sources) Changed() *mailbox.Mailbox[string] { return s.changed }

// RequestRefresh asks for a look at one source's discovery soon.
func (s *Sources) RequestRefresh(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entries[name]
	if !ok {
		return
	}
	e.again = e.busy
	if at := e.last.Add(requestPause); at.Before(e.next) {
		e.next = at
		s.poke()
	}
}

func (s *Sources) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run refreshes the sources that are held, each on its own interval, until the context ends. At most eight refreshes
// run at once; a source that hangs delays no other.
func (s *Sources) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer func() {
		running.Wait()
		for _, src := range s.held() {
			src.triggers.watching.Wait()
		}
	}()
	slots := make(chan struct{}, maxRefreshes)
	for {
		due, next := s.due()
		for _, name := range due {
			running.Add(1)
			go func() {
				defer running.Done()
				select {
				case slots <- struct{}{}:
					defer func() { <-slots }()
				case <-ctx.Done():
				}
				s.refresh(ctx, name)
			}()
		}
		timer := s.options.Clock.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-s.wake:
			timer.Stop()
		case <-timer.C():
		}
	}
}

// held returns the sources somebody holds.
func (s *Sources) held() []*Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*Source
	for _, e := range s.entries {
		if e.source != nil {
			out = append(out, e.source)
		}
	}
	return out
}

// due marks the sources whose refresh is due as busy, lets time pass for the others, and says how long to sleep.
func (s *Sources) due() (names []string, sleep time.Duration) {
	now := s.options.Clock.Now()
	sleep = DefaultInterval
	s.mu.Lock()
	var held []*slot
	for name, e := range s.entries {
		if e.source == nil || e.config == nil || e.config.Suspended {
			continue
		}
		held = append(held, e)
		if e.busy {
			continue
		}
		if !e.next.After(now) {
			e.busy = true
			names = append(names, name)
			continue
		}
		sleep = min(sleep, e.next.Sub(now))
	}
	sources := make([]*Source, len(held))
	for i, e := range held {
		sources[i] = e.source
	}
	s.mu.Unlock()
	for _, src := range sources {
		if at := src.advance(); !at.IsZero() {
			sleep = min(sleep, at.Sub(now))
		}
	}
	slices.Sort(names)
	return names, max(sleep, time.Millisecond)
}

func (s *Sources) refresh(ctx context.Context, name string) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		e, ok := s.entries[name]
		if !ok {
			return
		}
		now := s.options.Clock.Now()
		e.busy, e.last = false, now
		interval := DefaultInterval
		if e.config != nil && e.config.Interval > 0 {
			interval = e.config.Interval
		}
		e.next = now.Add(interval)
		if e.again {
			e.again, e.next = false, now.Add(requestPause)
		}
		s.poke()
	}()
	src, ok := s.Get(name)
	if !ok || ctx.Err() != nil {
		return
	}
	deadline, cancel := context.WithTimeout(ctx, refreshDeadline)
	defer cancel()
	err := src.Refresh(deadline)
	switch {
	case err == nil:
		src.triggers.arm(ctx)
	case !IsNotConnected(err) && ctx.Err() == nil:
		s.options.Log.V(1).Info("discovery failed", "source", name, "cause", PlainCause(err))
	}
}
