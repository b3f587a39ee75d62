// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Input is one thing that happened. The runner feeds inputs one at a time, in the order in which it received them.
type Input interface{ input() }

// TargetSet declares or changes a GitTarget. Sent by the GitTarget's reconciler on each pass, also when nothing changed
// (an equal Config changes nothing). Frozen is compared by Revision only: change Revision with it.
type TargetSet struct {
	Target change.TargetKey
	Config TargetConfig
}

// TargetGone removes a GitTarget: deleted, no longer admitted, or moved to another worker. Its open window closes,
// decided writes are published, prune counts as Never for what is left, held changes are dropped.
type TargetGone struct{ Target change.TargetKey }

// CellsDeclared replaces the set of cells of a target. A new Epoch starts a new render gate: every cell must report
// once more. Sent by watch before the first offer of a cell; offers of undeclared cells answer UnknownTarget.
type CellsDeclared struct {
	Target change.TargetKey
	Epoch  uint64
	Cells  []change.Cell
	// Blocked are those of Cells whose stream cannot be read now. The render gate does not wait for them: a type nobody
	// may read must not hold back the others.
	Blocked []change.Cell
}

// Offered asks the machine to take over a live change. Answered by one Admit with the same Ticket in the same Step;
// after any verdict but Accepted the change stays with the producer.
type Offered struct {
	Ticket Ticket
	Change change.Change
	// Atomic, when set, holds the changes of an atomic write, all of one target; Change is then ignored.
	Atomic []change.Change
	// Recovered marks a change delivered from a stored cursor (decisions 74): it passes a pending render gate and no
	// snapshot supersedes it.
	Recovered bool
}

// Stamp is what watch knew when it began to gather a snapshot.
type Stamp struct {
	// Epoch is the CellsDeclared epoch; the snapshot's gate result counts only for the current one.
	Epoch uint64
	// Applies and Ahead are TargetStatus.Applies and Ahead at that moment.
	Applies uint64
	Ahead   bool
}

// Snapped asks the machine to take over a complete snapshot of one cell. Answered by one Admit in the same Step and,
// when accepted, by exactly one Settle later.
type Snapped struct {
	Ticket   Ticket
	Snapshot change.Snapshot
	Stamp    Stamp
	// Initial marks the first snapshot of a cell that nothing settled yet; it never waits for an applier.
	Initial bool
}

// Save is a CommitRequest as the machine sees it (api 9, attribution 13).
type Save struct {
	// ID is the CommitRequest's UID.
	ID     string
	Target change.TargetKey
	// Named and Username are whom the request claims; Named false = nobody.
	Named    bool
	Username string
	// Message is the literal text; empty = the target's liveTemplate.
	Message string
	// Next is window.attach: Next.
	Next          bool
	AttachTimeout time.Duration
	MaxDuration   time.Duration
	// IdleTimeout is nil when omitted: maxDuration alone closes the window.
	IdleTimeout *time.Duration
	// CommitEmpty is whenNothingToCommit: CommitEmpty.
	CommitEmpty bool
}

// SaveOpened registers a save or asks again: a repeated ID restarts nothing. Answered by one Answer with the present
// state in the same Step; the final state is sent once more when it is reached.
type SaveOpened struct{ Save Save }

// SaveClosed withdraws a save. Answered by one Answer in the same Step: SaveWithdrawn when it was not acted on (it can
// then never be committed, also not by a later SaveOpened), else its present state.
type SaveClosed struct{ ID string }

// HintSource says who hints.
type HintSource string

// The hint sources.
const (
	// HintPush: the push receiver heard of a push.
	HintPush HintSource = "push"
	// HintRefresh: a target's reconcile tick; honoured when nothing proved the branch within RefreshInterval.
	HintRefresh HintSource = "refresh"
	// HintApplier: an applier saw another revision than the one it was asked for.
	HintApplier HintSource = "applier"
)

// Hint says that the remote may have moved. Tip is zero when unknown; a tip the machine already knows changes nothing.
type Hint struct {
	Tip    Commit
	Source HintSource
}

// Recheck is the annotation requestedAt: look at the remote, ask for fresh snapshots of every cell, try set-aside
// writes again. Token is the annotation's value; TargetStatus.Rechecked echoes it once the machine acts on it, and an
// equal token is handled once.
type Recheck struct {
	Target change.TargetKey
	Token  string
}

// ParentState is what the remote says of the branch a new branch would start from.
type ParentState string

// The parent states; empty while the write branch exists.
const (
	ParentFound   ParentState = "Found"
	ParentMissing ParentState = "Missing"
	// ParentUnborn: the repository has no commit and no parent is named: the first commit is a root commit.
	ParentUnborn ParentState = "Unborn"
)

// Remote is one observation of the remote repository.
type Remote struct {
	// Exists and Tip are the write branch.
	Exists bool
	Tip    Commit
	// Parent and ParentState describe the parent branch (or the remote's HEAD) when the write branch is absent.
	Parent      Commit
	ParentState ParentState
}

// base is the commit a plan starts from.
func (r Remote) base() Commit {
	if r.Exists {
		return r.Tip
	}
	return r.Parent
}

// Looked answers Look.
type Looked struct {
	Op     Op
	Remote Remote
	Err    *Failure
}

// Fetched answers Fetch. Base is the commit the next plan reads: Remote.Tip, or Remote.Parent while the branch is
// absent, zero for an unborn repository. Foreign may be set when the store knows that commits of others came; the
// machine also finds out by itself.
type Fetched struct {
	Op      Op
	Remote  Remote
	Base    Commit
	Foreign bool
	Err     *Failure
}

// WriteOutcome is what became of a Write.
type WriteOutcome string

// The write outcomes.
const (
	// WriteCommitted: Commit is the new local commit on top of Onto.
	WriteCommitted WriteOutcome = "Committed"
	// WriteNothing: the tree needs no change; no commit was made. A Dry write always ends here, or refused or failed.
	WriteNothing WriteOutcome = "Nothing"
	// WriteRefused: the folder or the edit is refused; nothing changed. Refusal says why.
	WriteRefused WriteOutcome = "Refused"
	// WriteFailed: Err says why. ReasonStore, ReasonCancelled and ReasonDeadline keep the write, anything else drops it.
	WriteFailed WriteOutcome = "Failed"
)

// Counts are the results of a plan, per document.
type Counts struct{ Created, Updated, Deleted, Unchanged, Retained, Refused int }

// GateVerdict is what a plan saw of unresolved substitutions (git-writer 6.10).
type GateVerdict string

// The gate verdicts; empty when the plan did not compare.
const (
	GateClean    GateVerdict = "Clean"
	GateDiverges GateVerdict = "Diverges"
)

// Written answers Write.
type Written struct {
	Op      Op
	Seq     Seq
	Outcome WriteOutcome
	Commit  Commit
	// Decision is everything a replay needs: actions, rendered message, author, time. Kept when the write was decided
	// by this answer, ignored on a replay and on a Dry write.
	Decision any
	// Report is for observers (layout, per-object results, retention); the machine passes it on.
	Report any
	Counts Counts
	// Refused are objects that were skipped one by one (placement or edit refusals) while the rest went on.
	Refused []change.ObjectID
	Refusal *Refusal
	Err     *Failure
	// Bytes is what the decision holds on to; zero = what the write held before.
	Bytes int64
	Gate  GateVerdict
	// GateText names field and token when Gate is GateDiverges.
	GateText string
}

// PushOutcome is what the remote said to a Push.
type PushOutcome string

// The push outcomes.
const (
	PushAccepted PushOutcome = "Accepted"
	// PushMoved: the branch is not at Expected (or, for a new branch, its parent is not where the plan started). Tip is
	// the remote's tip when the answer named it.
	PushMoved PushOutcome = "Moved"
	// PushRejected: refused for its content, and the tip is proven not to have moved (decisions 58).
	PushRejected PushOutcome = "Rejected"
	// PushUnknown: the push may or may not have happened; the machine looks.
	PushUnknown PushOutcome = "Unknown"
	// PushFailed: a typed failure before anything was sent (credentials, connection, host key, Retry-After).
	PushFailed PushOutcome = "Failed"
)

// Pushed answers Push.
type Pushed struct {
	Op      Op
	Outcome PushOutcome
	Tip     Commit
	// Text is the server's words.
	Text string
	// Reason refines PushFailed and PushUnknown; empty = ConnectionFailed.
	Reason     Reason
	RetryAfter time.Duration
}

// CurrentAsked asks whether Commit is still the tip. Sent by the dispatcher before it makes an applier act; answered by
// one Current in the same Step.
type CurrentAsked struct {
	Ticket Ticket
	Commit Commit
}

// ApplierState is a step in an attempt of an applier.
type ApplierState string

// The applier states.
const (
	// ApplierDue: an apply is wanted; the machine flushes and then sends Ask.
	ApplierDue ApplierState = "Due"
	// ApplierSent: the applier was told; snapshots gathered across it are stale.
	ApplierSent ApplierState = "Sent"
	// ApplierEnded: the attempt ended, sent or not.
	ApplierEnded ApplierState = "Ended"
)

// ApplierSaid reports on an applier. Sent by the dispatcher, or by the part that gathers reasons (ApplierDue).
type ApplierSaid struct {
	Applier string
	Attempt string
	State   ApplierState
	// Outcome is the word of apply 3.4, with ApplierEnded.
	Outcome string
	// Reasons travel from ApplierDue to Ask.
	Reasons []string
}

// Tick says that the time Next named has come. An early or late Tick does no harm.
type Tick struct{}

// Shutdown closes the window and starts one last publication that ignores the cooldown. At Until whatever still runs is
// aborted. Status.Stopped turns true when nothing is left to do and the lane is free.
type Shutdown struct{ Until time.Time }

func (TargetSet) input()     {}
func (TargetGone) input()    {}
func (CellsDeclared) input() {}
func (Offered) input()       {}
func (Snapped) input()       {}
func (SaveOpened) input()    {}
func (SaveClosed) input()    {}
func (Hint) input()          {}
func (Recheck) input()       {}
func (Looked) input()        {}
func (Fetched) input()       {}
func (Written) input()       {}
func (Pushed) input()        {}
func (CurrentAsked) input()  {}
func (ApplierSaid) input()   {}
func (Tick) input()          {}
func (Shutdown) input()      {}
