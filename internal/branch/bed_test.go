// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/branch/message"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/internal/mailbox"
	"github.com/configbutler/gitops-reverser/internal/metrics"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

// bed is a Manager in fake time over a real Git server.
type bed struct {
	*GomegaWithT
	t        *testing.T
	clock    *testingclock.FakeClock
	server   *gitserver.Server
	repo     *gitserver.Repo
	manager  *Manager
	registry *prometheus.Registry
	metrics  *metrics.Metrics
	dirty    *mailbox.Mailbox[change.TargetKey]
	requests *mailbox.Mailbox[SnapshotRequest]
	storage  string
	revision atomic.Int64
}

func newBed(t *testing.T, config core.Config) *bed {
	b := &bed{
		GomegaWithT: NewWithT(t), t: t, clock: testingclock.NewFakeClock(time.Now()), server: gitserver.Start(t,
			gitserver.Options{}),
		registry: prometheus.NewRegistry(), dirty: mailbox.New[change.TargetKey](), requests: mailbox.New[SnapshotRequest](),
		storage: filepath.Join(t.TempDir(), "storage"),
	}
	b.SetDefaultEventuallyTimeout(time.Minute)
	b.SetDefaultEventuallyPollingInterval(20 * time.Millisecond)
	var err error
	b.repo, err = b.server.CreateRepo("live", gitserver.RepoOptions{
		Files:  map[string]string{"README.md": "# Ours\n"},
		Config: map[string]string{"receive.denyNonFastForwards": "true", "receive.fsckObjects": "true"},
	})
	b.Expect(err).NotTo(HaveOccurred())
	b.metrics = metrics.New(b.registry)
	b.manager = NewManager(Options{
		Hosts:       gitstore.NewHosts(),
		StoragePath: b.storage, Machine: config, Clock: b.clock, Log: logr.Discard(), Metrics: b.metrics, Dirty: b.dirty, Requests: b.requests,
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	m := b.manager
	go func() { defer close(ended); _ = m.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		b.until(func() bool {
			select {
			case <-ended:
				return true
			default:
				return false
			}
		}, "the manager ends")
	})
	return b
}

// until lets time pass until something holds.
func (b *bed) until(holds func() bool, what string) {
	b.t.Helper()
	b.Eventually(func() bool {
		if holds() {
			return true
		}
		b.clock.Step(250 * time.Millisecond)
		return false
	}).Should(BeTrue(), what)
}

var cell = change.Cell{Resource: "configmaps", Namespace: "shop"}

// catalog serves ConfigMaps.
type catalog struct{}

func (catalog) Kind(group, kind string) (change.Type, bool) {
	return configMaps, group == "" && kind == "ConfigMap"
}

func key(name string) change.TargetKey {
	return change.TargetKey{Namespace: "shop", Name: name, UID: "uid of " + name}
}

// target is a GitTarget with a commit per write into a folder of its name.
func (b *bed) target(name string, change ...func(*Target)) Target {
	b.t.Helper()
	templates, err := message.Parse("", "")
	b.Expect(err).NotTo(HaveOccurred())
	t := Target{
		Key: key(name), SourceCluster: "default",
		Repository: Repository{
			URL: b.repo.URL, Identity: b.repo.URL, HostPath: b.repo.URL, Branch: "main", ProviderNamespace: "shop", ProviderName: "infra",
			Credentials: func(context.Context) (gitstore.Credentials, error) { return gitstore.Credentials{}, nil },
		},
		Machine: core.TargetConfig{Prune: core.PruneOnEvent, Revision: fmt.Sprint(b.revision.Add(1))},
		Frozen: &Frozen{Name: name, Path: name, Templates: templates, Committer: message.Identity{Name: "Bot",
			Email: "bot@example.org"}, Source: facts},
	}
	for _, c := range change {
		c(&t)
	}
	return t
}

func facts() (change.Kinds, change.Schemas) { return catalog{}, nil }

// set declares a target and its cell.
func (b *bed) set(t Target) Sink {
	b.t.Helper()
	sink, err := b.manager.Set(t)
	b.Expect(err).NotTo(HaveOccurred())
	sink.Declare(t.Key, 1, []change.Cell{cell}, nil)
	return sink
}

func edit(target change.TargetKey, name, value string) change.Change {
	return change.Change{
		Target: target, Cell: cell, Operation: change.Update,
		Item: change.Item{
			Object: change.ObjectID{Kind: "ConfigMap", Namespace: "shop", Name: name}, Type: configMaps, ResourceVersion: "7",
			Desired: []byte(fmt.Sprintf(`{"apiVersion":"v1","data":{"value":%q},"kind":"ConfigMap","metadata":{"name":%q,"namespace":"shop"}}`, value, name)),
		},
	}
}

// file is where a target's ConfigMap lies.
func file(target, name string) string {
	return target + "/shop/configmaps/" + name + ".yaml"
}

// has waits until a file on the remote holds a text.
func (b *bed) has(target, name, text string) {
	b.t.Helper()
	b.until(func() bool {
		content, err := b.repo.ReadFile("main", file(target, name))
		ok, _ := ContainSubstring(text).Match(string(content))
		return err == nil && ok
	}, fmt.Sprintf("%s of %s holds %q", name, target, text))
}

func (b *bed) status(name string) Status {
	b.t.Helper()
	s, ok := b.manager.Status(key(name))
	b.Expect(ok).To(BeTrue())
	return s
}

// series returns the number of series of a metric.
func (b *bed) series(name string) int {
	b.t.Helper()
	families, err := b.registry.Gather()
	b.Expect(err).NotTo(HaveOccurred())
	for _, f := range families {
		if f.GetName() == metrics.Prefix+name {
			return len(f.GetMetric())
		}
	}
	return 0
}
