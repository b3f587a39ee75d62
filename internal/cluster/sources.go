// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
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
}

// NewSources returns an empty registry.
func NewSources(o Options) *Sources {
	return &Sources{options: o, changed: mailbox.New[string]()}
}

// Set declares how the source is reached. It never dials. An error says what is wrong with the configuration; the
// previous one stays.
func (s *Sources) Set(name string, c Config) error { return nil }

// Remove drops the source's configuration for good (Secret or key gone, policy refusal, provider deleted): clients are
// dropped and streams stop, fail closed.
func (s *Sources) Remove(name string) {}

// Acquire takes a reference. The source exists from now on, connected or not; the last release tears it down.
func (s *Sources) Acquire(name string) (*Source, func()) { return nil, func() {} }

// Get returns an acquired source.
func (s *Sources) Get(name string) (*Source, bool) { return nil, false }

// Changed receives the names of sources whose configuration, catalog or reachability changed.
func (s *Sources) Changed() *mailbox.Mailbox[string] { return s.changed }
