// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Phase is the state of a stream.
type Phase string

// The phases, weakest last.
const (
	Streaming Phase = "Streaming"
	Replaying Phase = "Replaying"
	Blocked   Phase = "Blocked"
)

// Reasons of a stream's phase and of StreamsRunning (watch 8.1, api 6.3).
const (
	ReasonAllStreamsReady    = "AllStreamsReady"
	ReasonInitialReplay      = "InitialReplay"
	ReasonResumeReplay       = "ResumeReplay"
	ReasonExpired            = "ExpiredResourceVersion"
	ReasonBranchIntakePaused = "BranchIntakePaused"
	ReasonWatchError         = "WatchError"
	ReasonWatchNotPermitted  = "WatchNotPermitted"
	ReasonTooManyStreams     = "TooManyStreams"
	ReasonNoResolvedTypes    = "NoResolvedTypes"
	ReasonReplaying          = "Replaying"
	ReasonNotReady           = "NotReady"
)

// CellStatus is the state of one stream.
type CellStatus struct {
	Cell change.Cell
	Type change.Type
	Phase
	Reason, Message string
	// Since is when the stream entered this phase and reason.
	Since time.Time
	// Listed: the API server cannot stream initial events, so this stream lists (watch 8.3).
	Listed bool
	// Skipped: selected only by a wildcard and not permitted; not counted in the roll-up (watch 4.1 gate 11).
	Skipped bool
	// Objects is the number of objects in the last accepted snapshot.
	Objects int
}

// TypeStatus is a type in its weakest state over its cells.
type TypeStatus struct {
	Group, Resource string
	Phase
	Reason, Message string
}

// Status is an immutable view of one target.
type Status struct {
	Key change.TargetKey
	// Planned is false before the first plan is installed.
	Planned bool
	// Settled is false while a trigger waits or a pass failed.
	Settled bool
	// Epoch numbers the installed plans.
	Epoch uint64
	// CatalogRevision is the catalog the plan was made from.
	CatalogRevision uint64
	Cells           []CellStatus
	Types           []TypeStatus
	// Total, Ready, Replaying and Blocked count types.
	Total, Ready, Replaying, Blocked int
	// Running, Reason and Message answer StreamsRunning: "True", "False" or "Unknown".
	Running, Reason, Message string
	// PlanProblem is why the last pass installed nothing; empty when it did.
	PlanProblem string
	// Rechecked is the last token of Recheck whose snapshots were all accepted.
	Rechecked string
}

// ForCells returns the roll-up of the given cells only, as a rule's status shows it.
func (s *Status) ForCells(cells []change.Cell) Status { return Status{Key: s.Key} }
