// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// BranchState is what one branch worker owes right now.
type BranchState struct {
	ProviderNamespace, ProviderName, Branch string

	Queued        int
	Retained      int
	RetainedBytes int64
	Paused        bool
	// Oldest is when the oldest unpublished write was accepted; zero when nothing is owed.
	Oldest time.Time
	// NextRetry is when a failed publication is tried again; zero when none is due.
	NextRetry time.Time
	// Targets are the GitTargets the worker serves.
	Targets []TargetRef
}

// TargetRef names a GitTarget and its source cluster.
type TargetRef struct{ Namespace, Name, SourceCluster string }

// State reads the gauges that are current only at the moment of a scrape.
type State interface {
	Branches() []BranchState
}

type stateCollector struct {
	state State

	depth, writes, bytes, paused, oldest, retry, targets *prometheus.Desc
}

// RegisterState registers the gauges that are read from their owners at each scrape.
func RegisterState(reg prometheus.Registerer, s State) {
	d := func(name, help string, l []string) *prometheus.Desc {
		return prometheus.NewDesc(Prefix+name, help, l, nil)
	}
	reg.MustRegister(&stateCollector{
		state:  s,
		depth:  d("git_queue_depth", "Items waiting in a branch's queue.", branchLabels),
		writes: d("git_retained_writes", "Decided writes that are not on the remote yet.", branchLabels),
		bytes:  d("git_retained_bytes", "Bytes held until they are published.", branchLabels),
		paused: d("git_intake_paused", "1 while a branch accepts no payload.", branchLabels),
		oldest: d("git_oldest_retained_write_timestamp_seconds",
			"When the oldest unpublished write was accepted; 0 when none is.", branchLabels),
		retry: d("git_next_retry_timestamp_seconds", "When a failed publication is tried again; 0 when none is due.",
			branchLabels),
		targets: d("git_branch_targets", "GitTargets a branch worker serves; always 1.",
			labels(branchLabels, targetLabels, []string{"source_cluster"})),
	})
}

// Describe implements prometheus.Collector.
func (c *stateCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.depth, c.writes, c.bytes, c.paused, c.oldest, c.retry, c.targets} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *stateCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, l ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, l...)
	}
	for _, b := range c.state.Branches() {
		l := []string{b.ProviderNamespace, b.ProviderName, b.Branch}
		gauge(c.depth, float64(b.Queued), l...)
		gauge(c.writes, float64(b.Retained), l...)
		gauge(c.bytes, float64(b.RetainedBytes), l...)
		gauge(c.paused, boolValue(b.Paused), l...)
		gauge(c.oldest, unix(b.Oldest), l...)
		gauge(c.retry, unix(b.NextRetry), l...)
		for _, t := range b.Targets {
			gauge(c.targets, 1, append(l[:3:3], t.Namespace, t.Name, t.SourceCluster)...)
		}
	}
}

func boolValue(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func unix(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

var _ prometheus.Collector = (*stateCollector)(nil)
