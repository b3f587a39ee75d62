// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// GateState is the render fidelity gate of a target.
type GateState string

// The gate states.
const (
	GateOpen      GateState = "Open"
	GatePending   GateState = "Pending"
	GateDivergent GateState = "Divergent"
)

// Status is an immutable picture of the branch. The runner publishes it after a Step whose Version differs.
type Status struct {
	// Version grows with each change of the picture.
	Version uint64
	// Tip is the write branch's commit on the remote as last seen; zero when absent or never seen (VerifiedAt zero).
	Tip        Commit
	Exists     bool
	Parent     ParentState
	VerifiedAt time.Time
	// VerifiedBy is "Push" or "Fetch"; looks count as Fetch.
	VerifiedBy string
	// BaseTrusted: the next plan needs no fetch.
	BaseTrusted bool

	// Retained are the writes accepted and not yet published, set-aside ones apart; Bytes is everything accepted.
	Retained int
	SetAside int
	Bytes    int64
	// Queue is the number of writes and saves that wait for their decision.
	Queue int
	// Oldest is when the oldest unpublished change was accepted; zero when there is none.
	Oldest time.Time
	// Failing is set from the first failure until a success (decisions 32).
	Failing *Trouble
	// IntakePaused: producers are refused until a publication lands.
	IntakePaused bool
	// ProviderSuspended: no request is made; writes wait.
	ProviderSuspended bool
	// Stopped: after Shutdown, nothing is left to do.
	Stopped bool

	// Targets in the order in which they were first set.
	Targets []TargetStatus
}

// Target returns the status of one target.
func (s Status) Target(k change.TargetKey) (TargetStatus, bool) {
	for _, t := range s.Targets {
		if t.Target == k {
			return t, true
		}
	}
	return TargetStatus{}, false
}

// TargetStatus is the part of Status that belongs to one GitTarget.
type TargetStatus struct {
	Target    change.TargetKey
	Suspended bool
	// Waiting is the number of the target's writes that are not published, set-aside ones included.
	Waiting int
	// Gate with its text (field and token) while divergent.
	Gate     GateState
	GateText string
	// Held is the number of changes that wait for the gate.
	Held int
	// Refusal is set while the folder or an edit is refused, until each cell it concerned had an accepted snapshot.
	Refusal *Refusal
	// PushRejected is set while a write of the target is set aside.
	PushRejected *Trouble
	// WriteFailed is the last failure of a write itself, until later writes made up for what it lost.
	WriteFailed *Trouble
	// Preview is what a resume would do, while suspended (decisions 65).
	Preview []CellReport
	// Report is the last plan's Report, for layout and retention; ReportedOn is the commit it was planned on and
	// ReportedAt when. Absent while nothing was planned.
	Report     any
	ReportedOn Commit
	ReportedAt time.Time
	// Retention holds the last sweep's result per cell; empty while suspended.
	Retention []CellReport
	// Published is the last commit of the target that reached the remote.
	Published   Commit
	PublishedAt time.Time
	// Rechecked echoes the last Recheck token.
	Rechecked string
	// Applies and Ahead are for Stamp.
	Applies uint64
	Ahead   bool
}

// CellReport is the result of a snapshot's plan.
type CellReport struct {
	Cell   change.Cell
	Counts Counts
	Report any
	At     time.Time
}
