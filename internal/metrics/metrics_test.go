// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/configbutler/gitops-reverser/internal/change"
)

var update = flag.Bool("update", false, "rewrite the golden file")

type state []BranchState

func (s state) Branches() []BranchState { return s }

var desc = regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)

// TestGoldenNamesAndLabels holds every metric's name and labels still: dashboards and alerts depend on them.
func TestGoldenNamesAndLabels(t *testing.T) {
	g := NewWithT(t)
	m := New(prometheus.NewRegistry())
	ch := make(chan *prometheus.Desc, 256)
	for _, c := range m.collectors() {
		c.Describe(ch)
	}
	reg := &capture{}
	RegisterState(reg, state{})
	for _, c := range reg.collectors {
		c.Describe(ch)
	}
	close(ch)
	var lines []string
	for d := range ch {
		f := desc.FindStringSubmatch(d.String())
		g.Expect(f).NotTo(BeNil(), d.String())
		lines = append(lines, f[1]+" {"+f[2]+"}")
		for _, l := range strings.Split(f[2], ",") {
			g.Expect(l).NotTo(BeElementOf("namespace", "name"), "scrape relabelling overwrites "+l)
		}
	}
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"
	golden := filepath.Join("testdata", "metrics.golden")
	if *update {
		g.Expect(os.MkdirAll("testdata", 0o755)).To(Succeed())
		g.Expect(os.WriteFile(golden, []byte(got), 0o600)).To(Succeed())
	}
	want, err := os.ReadFile(golden)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal(string(want)))
}

type capture struct{ collectors []prometheus.Collector }

func (c *capture) Register(p prometheus.Collector) error {
	c.collectors = append(c.collectors, p)
	return nil
}
func (c *capture) MustRegister(p ...prometheus.Collector) { c.collectors = append(c.collectors, p...) }
func (c *capture) Unregister(prometheus.Collector) bool   { return false }

func TestSeriesEndWithTheirObject(t *testing.T) {
	g := NewWithT(t)
	reg := prometheus.NewRegistry()
	m := New(reg)
	k := change.TargetKey{Namespace: "shop", Name: "live"}
	r := WatchRecorder{m}
	r.Event(k, change.Type{Version: "v1", Resource: "configmaps"}, "routed")
	r.Streams("default", k, 1, 0, 0, 1)
	m.SetConditions("GitTarget", "shop", "live", []Condition{{"Ready", "True", "Succeeded"}})
	m.SetConditions("GitTarget", "shop", "live", []Condition{{"Ready", "False", "Progressing"}})
	g.Expect(testutil.CollectAndCount(m.conditions)).To(Equal(1))
	m.ForgetTarget("shop", "live")
	g.Expect(testutil.CollectAndCount(m.Watch.Events)).To(Equal(0))
	g.Expect(testutil.CollectAndCount(m.Watch.Types)).To(Equal(0))
	g.Expect(testutil.CollectAndCount(m.conditions)).To(Equal(1), "a refused GitTarget still says so")
	m.ForgetObject("GitTarget", "shop", "live")
	g.Expect(testutil.CollectAndCount(m.conditions)).To(Equal(0))
}

func TestSeriesEndWithTheirBranchAndSource(t *testing.T) {
	g := NewWithT(t)
	m := New(prometheus.NewRegistry())
	for _, branch := range []string{"main", "dev"} {
		m.Git.Pushes.WithLabelValues("shop", "infra", branch, "pushed").Inc()
		m.Git.PushDuration.WithLabelValues("shop", "infra", branch).Observe(1)
	}
	m.ForgetBranch("shop", "infra", "dev")
	g.Expect(testutil.CollectAndCount(m.Git.Pushes)).To(Equal(1))
	g.Expect(testutil.CollectAndCount(m.Git.PushDuration)).To(Equal(1))
	r := WatchRecorder{m}
	for _, source := range []string{"near", "far"} {
		r.CatalogRefreshed(source, "changed", time.Second)
		r.CatalogSize(source, 1, 0, 1, 0)
	}
	m.ForgetSource("far")
	g.Expect(testutil.CollectAndCount(m.Watch.CatalogRefreshes)).To(Equal(1))
	g.Expect(testutil.CollectAndCount(m.Watch.CatalogResources)).To(Equal(2))
}

func TestStateIsReadAtScrape(t *testing.T) {
	g := NewWithT(t)
	reg := prometheus.NewPedanticRegistry()
	RegisterState(reg, state{{
		ProviderNamespace: "shop", ProviderName: "infra", Branch: "main", Retained: 2, RetainedBytes: 4096, Paused: true,
		Oldest: time.Unix(100, 0), Targets: []TargetRef{{"shop", "live", "default"}, {"shop", "other", "default"}},
	}})
	g.Expect(testutil.GatherAndCompare(reg, strings.NewReader(`
# HELP gitopsreverser_git_intake_paused 1 while a branch accepts no payload.
# TYPE gitopsreverser_git_intake_paused gauge
gitopsreverser_git_intake_paused{branch="main",provider_name="infra",provider_namespace="shop"} 1
# HELP gitopsreverser_git_oldest_retained_write_timestamp_seconds When the oldest unpublished write was accepted; 0 when none is.
# TYPE gitopsreverser_git_oldest_retained_write_timestamp_seconds gauge
gitopsreverser_git_oldest_retained_write_timestamp_seconds{branch="main",provider_name="infra",provider_namespace="shop"} 100
`), "gitopsreverser_git_intake_paused", "gitopsreverser_git_oldest_retained_write_timestamp_seconds")).To(Succeed())
	n, err := testutil.GatherAndCount(reg, "gitopsreverser_git_branch_targets")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(n).To(Equal(2))
}
