// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Recorder receives the counts of watch 17. Implementations must not block.
type Recorder interface {
	// Event counts watch_events_total; outcome is one of the Outcome constants.
	Event(target change.TargetKey, t change.Type, outcome string)
	// Handled observes watch_event_handling_seconds.
	Handled(t change.Type, took time.Duration)
	// SessionEnded counts watch_sessions_ended_total; reason is one of the Ended constants.
	SessionEnded(t change.Type, reason string)
	// Replayed observes watch_replay_duration_seconds and watch_replay_objects.
	Replayed(t change.Type, objects int, took time.Duration)
	// Recovered counts watch_recovery_total; mode is one of the Recovery constants.
	Recovered(target change.TargetKey, t change.Type, mode string)
	// Streams sets watch_types and watch_streams_open of a target.
	Streams(source string, target change.TargetKey, streaming, replaying, blocked, open int)
	// Forgotten ends a target's series.
	Forgotten(target change.TargetKey)
	// Planned counts watch_plan_passes_total and observes its duration; outcome is completed, failed or timed_out.
	Planned(target change.TargetKey, outcome string, took time.Duration)
	// Triggered counts watch_plan_triggers_total.
	Triggered(reason string, coalesced bool)
	// Dirty sets watch_plan_dirty_targets and watch_plan_oldest_dirty_since_timestamp_seconds; since is zero with none.
	Dirty(targets int, since time.Time)
	// Refused counts git_queue_refusals_total; kind is write or resync.
	Refused(target change.TargetKey, kind string, v change.Verdict)
	// OfferWaited observes watch_offer_wait_seconds.
	OfferWaited(target change.TargetKey, took time.Duration)
}

// Outcomes of an event.
const (
	OutcomeRouted            = "routed"
	OutcomeUnchanged         = "unchanged"
	OutcomeOperationFiltered = "operation_filtered"
	OutcomeNotObject         = "not_object"
	OutcomeBookmark          = "bookmark"
	OutcomeShutdown          = "shutdown"
	OutcomeStreamError       = "stream_error"
	OutcomeRouteFailed       = "route_failed"
)

// Ends of a session.
const (
	EndedExpired     = "expired"
	EndedError       = "error"
	EndedStopped     = "stopped"
	EndedForbidden   = "forbidden"
	EndedCredentials = "credentials"
)

// Ways a stream gets its state.
const (
	RecoveryResume = "cursor_resume"
	RecoveryReplay = "replay"
	RecoveryList   = "list_fallback"
)

// Plan outcomes.
const (
	PlanCompleted = "completed"
	PlanFailed    = "failed"
	PlanTimedOut  = "timed_out"
)

// silent counts nothing.
type silent struct{}

var _ Recorder = silent{}

func (silent) Event(change.TargetKey, change.Type, string)          {}
func (silent) Handled(change.Type, time.Duration)                   {}
func (silent) SessionEnded(change.Type, string)                     {}
func (silent) Replayed(change.Type, int, time.Duration)             {}
func (silent) Recovered(change.TargetKey, change.Type, string)      {}
func (silent) Streams(string, change.TargetKey, int, int, int, int) {}
func (silent) Forgotten(change.TargetKey)                           {}
func (silent) Planned(change.TargetKey, string, time.Duration)      {}
func (silent) Triggered(string, bool)                               {}
func (silent) Dirty(int, time.Time)                                 {}
func (silent) Refused(change.TargetKey, string, change.Verdict)     {}
func (silent) OfferWaited(change.TargetKey, time.Duration)          {}
