// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Prefix starts the name of every metric (decisions 1).
const Prefix = "gitopsreverser_"

// Label sets shared by several metrics (git-writer 11.1).
var (
	branchLabels = []string{"provider_namespace", "provider_name", "branch"}
	targetLabels = []string{"gittarget_namespace", "gittarget_name"}
	typeLabels   = []string{"group", "version", "resource"}
)

func labels(sets ...[]string) []string {
	var out []string
	for _, s := range sets {
		out = append(out, s...)
	}
	return out
}

// Metrics holds the collectors. Create it with New.
type Metrics struct {
	Git   Git
	Watch Watch
	// conditions is the gauge resource_condition, one series per condition and status.
	conditions *prometheus.GaugeVec
}

// Git is the publishing side.
type Git struct {
	Documents, Commits, Pushes, PushRetries, Fetches, QueueRefusals *prometheus.CounterVec
	CommitWindows, CommitFailures, WritesDropped, ResyncFailures    *prometheus.CounterVec
	MaterializationFailures, Placements, PlacementRefusals          *prometheus.CounterVec
	KustomizationEntries, SecretEncryptions                         *prometheus.CounterVec
	PushDuration, WindowDuration                                    *prometheus.HistogramVec
}

// Watch is the reading side.
type Watch struct {
	Events, SessionsEnded, Recovery, PlanPasses, PlanTriggers, CatalogRefreshes *prometheus.CounterVec
	EventHandling, ReplayDuration, ReplayObjects, CatalogRefreshDuration        *prometheus.HistogramVec
	OfferWait                                                                   *prometheus.HistogramVec
	PlanPassDuration                                                            prometheus.Histogram
	Types, StreamsOpen, CatalogResources, CatalogGroupVersions                  *prometheus.GaugeVec
	DirtyTargets, OldestDirty                                                   prometheus.Gauge
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: Prefix + name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: Prefix + name, Help: help, Buckets: buckets}, labels)
}

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: Prefix + name, Help: help}, labels)
}

// New creates the collectors and registers them.
func New(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		Git: newGit(), Watch: newWatch(),
		conditions: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: Prefix + "resource_condition",
			Help: "Conditions of the operator's own objects: exactly one status of a type is 1.",
		}, []string{"kind", "resource_namespace", "resource_name", "type", "status", "reason"}),
	}
	reg.MustRegister(m.collectors()...)
	return m
}

func newGit() Git {
	return Git{
		Documents: counter("git_documents_total", "Documents decided, by outcome.",
			labels(targetLabels, typeLabels, []string{"outcome"})...),
		Commits: counter("git_commits_total", "Commits that reached the remote.",
			labels(branchLabels, []string{"author_kind", "message_source"})...),
		Pushes: counter("git_pushes_total", "Publication cycles, by outcome.",
			labels(branchLabels, []string{"outcome"})...),
		PushRetries: counter("git_push_retries_total", "Pushes repeated inside one cycle.",
			labels(branchLabels, []string{"reason"})...),
		Fetches: counter("git_fetches_total", "Fetches, by cause.",
			labels(branchLabels, []string{"reason"})...),
		QueueRefusals: counter("git_queue_refusals_total", "Items a branch did not accept; their senders keep them.",
			labels(branchLabels, []string{"kind"})...),
		CommitWindows: counter("git_commit_windows_total", "Closed commit windows.",
			labels(targetLabels, []string{"close_reason", "timer_source"})...),
		CommitFailures: counter("git_commit_failures_total", "Writes dropped by their own failure.",
			labels(branchLabels, []string{"kind", "reason"})...),
		WritesDropped: counter("git_writes_dropped_total", "Live writes dropped by a closed gate.",
			labels(targetLabels, []string{"gate"})...),
		ResyncFailures: counter("git_resync_failures_total", "Snapshots that could not be applied.", targetLabels...),
		MaterializationFailures: counter("git_materialization_failures_total", "Local commits that could not be built.",
			labels(branchLabels, []string{"reason"})...),
		Placements: counter("placements_total", "New documents placed.",
			labels([]string{"source", "disposition"}, targetLabels, typeLabels)...),
		PlacementRefusals: counter("placement_refusals_total", "New documents without a place.",
			labels([]string{"reason"}, targetLabels, typeLabels)...),
		KustomizationEntries: counter("placement_kustomization_entries_total", "resources entries of new files.",
			labels([]string{"outcome"}, targetLabels)...),
		SecretEncryptions: counter("secret_encryptions_total", "Sensitive documents sealed.", "outcome"),
		PushDuration: histogram("git_push_duration_seconds", "Duration of a publication cycle.",
			[]float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300}, branchLabels...),
		WindowDuration: histogram("git_commit_window_duration_seconds", "How long commit windows were open.",
			[]float64{0.1, 0.5, 1, 2, 5, 10, 30, 60, 300}, labels(targetLabels, []string{"close_reason", "timer_source"})...),
	}
}

func newWatch() Watch {
	return Watch{
		Events: counter("watch_events_total", "Watch events, by outcome.",
			labels(targetLabels, typeLabels, []string{"outcome"})...),
		SessionsEnded: counter("watch_sessions_ended_total", "Ended watch sessions, by cause.",
			labels(typeLabels, []string{"reason"})...),
		Recovery: counter("watch_recovery_total", "How streams got their state back.",
			labels(targetLabels, []string{"group", "resource", "mode"})...),
		PlanPasses: counter("watch_plan_passes_total", "Planning passes.",
			labels(targetLabels, []string{"outcome"})...),
		PlanTriggers:     counter("watch_plan_triggers_total", "Causes of planning passes.", "reason", "coalesced"),
		CatalogRefreshes: counter("api_catalog_refresh_total", "Discovery refreshes.", "source_cluster", "outcome"),
		EventHandling: histogram("watch_event_handling_seconds", "Busy time per event, waiting included.",
			[]float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60}, typeLabels...),
		ReplayDuration: histogram("watch_replay_duration_seconds", "Duration of initial replays.",
			[]float64{0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300}, typeLabels...),
		ReplayObjects: histogram("watch_replay_objects", "Objects in initial replays.",
			[]float64{1, 10, 100, 1000, 10000, 100000}, typeLabels...),
		OfferWait: histogram("watch_offer_wait_seconds", "Time an event waited for its branch to accept it.",
			[]float64{0.01, 0.1, 1, 10, 60, 600}, targetLabels...),
		Types: gauge("watch_types", "Resource types of a GitTarget by the weakest state of their streams.",
			labels([]string{"source_cluster"}, targetLabels, []string{"state"})...),
		StreamsOpen: gauge("watch_streams_open", "Watch sessions held at the API server.",
			labels([]string{"source_cluster"}, targetLabels)...),
		CatalogResources:     gauge("api_catalog_resources", "Known resource types.", "source_cluster", "state"),
		CatalogGroupVersions: gauge("api_catalog_group_versions", "Known group versions.", "source_cluster", "state"),
		DirtyTargets: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: Prefix + "watch_plan_dirty_targets", Help: "GitTargets waiting for a planning pass.",
		}),
		OldestDirty: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: Prefix + "watch_plan_oldest_dirty_since_timestamp_seconds",
			Help: "Since when the longest waiting GitTarget waits for planning; 0 when none does.",
		}),
		CatalogRefreshDuration: histogram("api_catalog_refresh_duration_seconds", "Duration of discovery refreshes.",
			[]float64{0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}, "source_cluster", "outcome"),
		PlanPassDuration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: Prefix + "watch_plan_pass_duration_seconds", Help: "Duration of planning passes.",
			Buckets: []float64{0.001, 0.01, 0.1, 0.5, 1, 5, 30},
		}),
	}
}

func (m *Metrics) collectors() []prometheus.Collector {
	g, w := &m.Git, &m.Watch
	return []prometheus.Collector{
		g.Documents, g.Commits, g.Pushes, g.PushRetries, g.Fetches, g.QueueRefusals, g.CommitWindows, g.CommitFailures,
		g.WritesDropped, g.ResyncFailures, g.MaterializationFailures, g.Placements, g.PlacementRefusals,
		g.KustomizationEntries, g.SecretEncryptions, g.PushDuration, g.WindowDuration,
		w.Events, w.SessionsEnded, w.Recovery, w.PlanPasses, w.PlanTriggers, w.CatalogRefreshes, w.EventHandling,
		w.ReplayDuration, w.ReplayObjects, w.OfferWait, w.CatalogRefreshDuration, w.PlanPassDuration,
		w.Types, w.StreamsOpen, w.CatalogResources, w.CatalogGroupVersions, w.DirtyTargets, w.OldestDirty, m.conditions,
	}
}

// Condition is one condition of one object.
type Condition struct{ Type, Status, Reason string }

// SetConditions replaces the condition series of an object.
func (m *Metrics) SetConditions(kind, namespace, name string, conditions []Condition) {
	m.ForgetObject(kind, namespace, name)
	for _, c := range conditions {
		m.conditions.WithLabelValues(kind, namespace, name, c.Type, c.Status, c.Reason).Set(1)
	}
}

// ForgetObject ends the condition series of a deleted object.
func (m *Metrics) ForgetObject(kind, namespace, name string) {
	m.conditions.DeletePartialMatch(prometheus.Labels{"kind": kind, "resource_namespace": namespace,
		"resource_name": name})
}

// ForgetTarget ends the series of a GitTarget that nobody works for any more. Its conditions end with the object.
func (m *Metrics) ForgetTarget(namespace, name string) {
	match := prometheus.Labels{"gittarget_namespace": namespace, "gittarget_name": name}
	g, w := &m.Git, &m.Watch
	for _, v := range []*prometheus.MetricVec{
		g.Documents.MetricVec, g.CommitWindows.MetricVec, g.WritesDropped.MetricVec, g.ResyncFailures.MetricVec,
		g.Placements.MetricVec, g.PlacementRefusals.MetricVec, g.KustomizationEntries.MetricVec, g.WindowDuration.MetricVec,
		w.Events.MetricVec, w.Recovery.MetricVec, w.PlanPasses.MetricVec, w.OfferWait.MetricVec, w.Types.MetricVec,
		w.StreamsOpen.MetricVec,
	} {
		v.DeletePartialMatch(match)
	}
}

// ForgetBranch ends every series of a branch that nobody writes any more.
func (m *Metrics) ForgetBranch(providerNamespace, providerName, branch string) {
	match := prometheus.Labels{"provider_namespace": providerNamespace, "provider_name": providerName, "branch": branch}
	g := &m.Git
	for _, v := range []*prometheus.MetricVec{
		g.Commits.MetricVec, g.Pushes.MetricVec, g.PushRetries.MetricVec, g.Fetches.MetricVec, g.QueueRefusals.MetricVec,
		g.CommitFailures.MetricVec, g.MaterializationFailures.MetricVec, g.PushDuration.MetricVec,
	} {
		v.DeletePartialMatch(match)
	}
}

// ForgetSource ends every series of a source cluster that is gone.
func (m *Metrics) ForgetSource(name string) {
	w := &m.Watch
	for _, v := range []*prometheus.MetricVec{
		w.CatalogRefreshes.MetricVec, w.CatalogRefreshDuration.MetricVec, w.CatalogResources.MetricVec, w.CatalogGroupVersions.MetricVec,
	} {
		v.DeletePartialMatch(prometheus.Labels{"source_cluster": name})
	}
}
