// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import "encoding/hex"

// Commit is a Git object id; the zero value means "none": an absent branch, an unborn HEAD.
type Commit [20]byte

// IsZero reports whether the commit names nothing.
func (c Commit) IsZero() bool { return c == Commit{} }

// String returns the full lower-case hex form, empty for the zero commit.
func (c Commit) String() string {
	if c.IsZero() {
		return ""
	}
	return hex.EncodeToString(c[:])
}

// Op numbers lane effects. It is never reused by one machine; an answer with another Op than the outstanding one is
// ignored.
type Op uint64

// Seq numbers pending writes in the order in which they became pending. Commits keep this order.
type Seq uint64

// Ticket names an offer, a snapshot or a question for its producer. The runner chooses it; the machine only gives it
// back.
type Ticket uint64

// Kind says what a pending write is (git-writer, glossary).
type Kind string

// The kinds of pending writes.
const (
	// KindWindow is a closed window: live changes of one author for one target.
	KindWindow Kind = "window"
	// KindAtomic is a caller-defined batch that becomes one commit.
	KindAtomic Kind = "atomic"
	// KindResync is a snapshot of one cell.
	KindResync Kind = "resync"
	// KindSave is a record without objects: the empty commit of a CommitRequest with whenNothingToCommit: CommitEmpty.
	KindSave Kind = "save"
	// KindTouch reads the target's folder and writes nothing; it is always Dry and never retained.
	KindTouch Kind = "touch"
)

// MessageSource is the value of the metric label message_source (decisions 79).
type MessageSource string

// The message sources.
const (
	// MessageRequest: PendingWrite.Message holds the CommitRequest's text, committed byte for byte.
	MessageRequest MessageSource = "commit_request"
	// MessageLive: the target's liveTemplate.
	MessageLive MessageSource = "live"
	// MessageReconcile: the target's reconcileTemplate.
	MessageReconcile MessageSource = "reconcile"
)

// CloseReason says why a window closed (git-writer 10.3).
type CloseReason string

// The close reasons.
const (
	CloseIdle          CloseReason = "idle_timeout"
	CloseMax           CloseReason = "max_duration"
	CloseIdentity      CloseReason = "identity_change"
	CloseAtomic        CloseReason = "atomic"
	CloseResync        CloseReason = "resync"
	CloseBuffer        CloseReason = "buffer_limit"
	CloseApplyDue      CloseReason = "apply_due"
	CloseForeignCommit CloseReason = "foreign_commit"
	CloseAttachNext    CloseReason = "attach_next"
	CloseShutdown      CloseReason = "shutdown"
)

// PruneMode is GitTarget.spec.prune.mode. Anything but the three known words behaves as PruneNever (git-writer 7.3).
type PruneMode string

// The prune modes, from the most to the least restrictive.
const (
	PruneNever   PruneMode = "Never"
	PruneOnEvent PruneMode = "OnEvent"
	PruneAlways  PruneMode = "Always"
)

// rank orders the modes: the lower, the more restrictive.
func (p PruneMode) rank() int {
	switch p {
	case PruneAlways:
		return 2
	case PruneOnEvent, "":
		return 1
	default:
		return 0
	}
}

// Tightest returns the more restrictive of two modes.
func Tightest(a, b PruneMode) PruneMode {
	if a.rank() <= b.rank() {
		return a
	}
	return b
}
