// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strconv"
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// WatchRecorder implements the recorder that package watch declares.
type WatchRecorder struct{ *Metrics }

// Event counts a watch event.
func (r WatchRecorder) Event(k change.TargetKey, t change.Type, outcome string) {
	r.Watch.Events.WithLabelValues(k.Namespace, k.Name, t.Group, t.Version, t.Resource, outcome).Inc()
}

// Handled observes the busy time of one event.
func (r WatchRecorder) Handled(t change.Type, took time.Duration) {
	r.Watch.EventHandling.WithLabelValues(t.Group, t.Version, t.Resource).Observe(took.Seconds())
}

// SessionEnded counts an ended watch.
func (r WatchRecorder) SessionEnded(t change.Type, reason string) {
	r.Watch.SessionsEnded.WithLabelValues(t.Group, t.Version, t.Resource, reason).Inc()
}

// Replayed observes an initial replay.
func (r WatchRecorder) Replayed(t change.Type, objects int, took time.Duration) {
	r.Watch.ReplayDuration.WithLabelValues(t.Group, t.Version, t.Resource).Observe(took.Seconds())
	r.Watch.ReplayObjects.WithLabelValues(t.Group, t.Version, t.Resource).Observe(float64(objects))
}

// Recovered counts how a stream got its state back.
func (r WatchRecorder) Recovered(k change.TargetKey, t change.Type, mode string) {
	r.Watch.Recovery.WithLabelValues(k.Namespace, k.Name, t.Group, t.Resource, mode).Inc()
}

// Streams sets the stream gauges of a target.
func (r WatchRecorder) Streams(source string, k change.TargetKey, streaming, replaying, blocked, open int) {
	for state, n := range map[string]int{"streaming": streaming, "replaying": replaying, "blocked": blocked} {
		r.Watch.Types.WithLabelValues(source, k.Namespace, k.Name, state).Set(float64(n))
	}
	r.Watch.StreamsOpen.WithLabelValues(source, k.Namespace, k.Name).Set(float64(open))
}

// Forgotten ends a target's series.
func (r WatchRecorder) Forgotten(k change.TargetKey) { r.ForgetTarget(k.Namespace, k.Name) }

// Planned counts and observes a planning pass.
func (r WatchRecorder) Planned(k change.TargetKey, outcome string, took time.Duration) {
	r.Watch.PlanPasses.WithLabelValues(k.Namespace, k.Name, outcome).Inc()
	r.Watch.PlanPassDuration.Observe(took.Seconds())
}

// Triggered counts a cause of a planning pass.
func (r WatchRecorder) Triggered(reason string, coalesced bool) {
	r.Watch.PlanTriggers.WithLabelValues(reason, strconv.FormatBool(coalesced)).Inc()
}

// Dirty sets the gauges of waiting targets.
func (r WatchRecorder) Dirty(targets int, since time.Time) {
	r.Watch.DirtyTargets.Set(float64(targets))
	r.Watch.OldestDirty.Set(unix(since))
}

// Refused is counted by the branch itself, which knows its provider.
func (r WatchRecorder) Refused(change.TargetKey, string, change.Verdict) {}

// OfferWaited observes how long an event waited for intake.
func (r WatchRecorder) OfferWaited(k change.TargetKey, took time.Duration) {
	r.Watch.OfferWait.WithLabelValues(k.Namespace, k.Name).Observe(took.Seconds())
}

// CatalogRefreshed counts and observes a discovery refresh.
func (r WatchRecorder) CatalogRefreshed(source, outcome string, took time.Duration) {
	r.Watch.CatalogRefreshes.WithLabelValues(source, outcome).Inc()
	r.Watch.CatalogRefreshDuration.WithLabelValues(source, outcome).Observe(took.Seconds())
}

// CatalogSize sets the catalog gauges of a source.
func (r WatchRecorder) CatalogSize(source string, allowed, excluded, trusted, degraded int) {
	r.Watch.CatalogResources.WithLabelValues(source, "allowed").Set(float64(allowed))
	r.Watch.CatalogResources.WithLabelValues(source, "excluded").Set(float64(excluded))
	r.Watch.CatalogGroupVersions.WithLabelValues(source, "trusted").Set(float64(trusted))
	r.Watch.CatalogGroupVersions.WithLabelValues(source, "degraded").Set(float64(degraded))
}
