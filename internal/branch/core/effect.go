// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Effect is one thing the runner does. Effects of one Step are carried out in order.
//
// Lane effects (Look, Fetch, Write, Push) go to the lane goroutine. At most one is outstanding: the next is never
// returned before the answer to the previous one was fed in. Each is answered exactly once, with its Op, also after an
// Abort and also when the deadline passed. The other effects are immediate: they must not block and not call back.
type Effect interface{ effect() }

// Look reads the remote's refs: one request, no objects. Answered by Looked.
type Look struct {
	Op       Op
	Why      Why
	Deadline time.Time
}

// Why is the value of the label reason of git_fetches_total.
type Why string

// The causes of looks and fetches.
const (
	WhyPublication Why = "publication"
	WhyRefresh     Why = "refresh"
	WhyContention  Why = "contention"
	WhyProbe       Why = "push_failure_probe"
	WhyRecovery    Why = "recovery"
	WhyRecheck     Why = "forced_recheck"
)

// Fetch makes the branch's present tip (or its parent's) readable. Want is the tip when the machine knows it, zero to
// let the store find out. Every local commit is void from now on: the store may drop them all. Answered by Fetched.
type Fetch struct {
	Op       Op
	Want     Commit
	Why      Why
	Deadline time.Time
}

// Write plans Work on the tree of Onto and commits the result on top of Onto. Answered by Written.
//
// With Decision nil the plan decides; else only that decision is applied again. Prune is the mode to use, already the
// tightest of captured and present. Dry plans and reports and never commits. Onto is zero for a root commit. When Onto
// is the fetched base, no local commit above it is referenced any more and the store should drop them first.
type Write struct {
	Op       Op
	Seq      Seq
	Onto     Commit
	Work     PendingWrite
	Decision any
	Prune    PruneMode
	Dry      bool
	Deadline time.Time
}

// Push publishes Tip. Expected is the branch's present id, zero to create the branch; then Parent is the commit the
// chain starts from, and a parent that moved since must be answered PushMoved. An Accepted releases exactly the first
// Count pending writes. Answered by Pushed.
type Push struct {
	Op       Op
	Expected Commit
	Parent   Commit
	Tip      Commit
	Count    int
	Deadline time.Time
}

// Abort cancels the outstanding lane effect Op, which is still answered: truthfully if it succeeded, else as failed or
// unknown. Sent once per effect, when its deadline passed or the machine stops.
type Abort struct{ Op Op }

// Admit answers Offered and Snapped.
type Admit struct {
	Ticket  Ticket
	Verdict change.Verdict
}

// SaveState is where a save stands.
type SaveState string

// The save states. The first four are open, the others final.
const (
	// SaveNotAdmitted: the queue or the byte budget refuses it; nothing is remembered; ask again.
	SaveNotAdmitted SaveState = "NotAdmitted"
	SaveWaiting     SaveState = "WaitingForWindow"
	// SaveCollecting and SaveAwaitingPush are held: only the machine ends them.
	SaveCollecting   SaveState = "CollectingWindow"
	SaveAwaitingPush SaveState = "WaitingForPush"

	// SaveCommitted: Commit is on the remote.
	SaveCommitted SaveState = "Committed"
	// SaveAlreadyPresent: the remote confirmed that nothing differs.
	SaveAlreadyPresent SaveState = "AlreadyPresent"
	// SaveNoWindow: no window of the author came in time. Commit is set when CommitEmpty recorded the message.
	SaveNoWindow       SaveState = "NoWindow"
	SaveWindowMismatch SaveState = "WindowMismatch"
	// SaveFailed: Text names the gate, refusal or error.
	SaveFailed    SaveState = "Failed"
	SaveWithdrawn SaveState = "Withdrawn"
)

// Final reports whether the state is an outcome.
func (s SaveState) Final() bool {
	switch s {
	case SaveNotAdmitted, SaveWaiting, SaveCollecting, SaveAwaitingPush:
		return false
	default:
		return true
	}
}

// Answer tells the owner of a save where it stands.
type Answer struct {
	Save   string
	State  SaveState
	Commit Commit
	// Text explains SaveFailed.
	Text string
	// AttachedAt is when the save got its window; zero before.
	AttachedAt time.Time
}

// Settle ends an accepted snapshot, once per ticket.
type Settle struct {
	Ticket  Ticket
	Outcome change.Outcome
	Text    string
	// Kept goes with FailedOutcome: the snapshot stays pending and is applied when the retry is due, or the machine asks
	// for a fresh one when it makes sense. Do not gather it again by yourself.
	Kept bool
}

// Advance says that everything of the cell up to RV is published or proven to need no write (decisions 29). RV may be
// stored as the resume cursor. It never goes backwards.
type Advance struct {
	Target change.TargetKey
	Cell   change.Cell
	RV     string
}

// RequestWhy says why a fresh snapshot is wanted.
type RequestWhy string

// The causes of snapshot requests.
const (
	RequestRecheck    RequestWhy = "recheck"
	RequestResumed    RequestWhy = "resumed"
	RequestPrune      RequestWhy = "prune_widened"
	RequestGate       RequestWhy = "gate"
	RequestHold       RequestWhy = "hold_expired"
	RequestHealed     RequestWhy = "folder_clean"
	RequestLost       RequestWhy = "write_lost"
	RequestRecreated  RequestWhy = "branch_recreated"
	RequestStale      RequestWhy = "stale_snapshot"
	RequestConfigured RequestWhy = "configuration"
)

// Request asks watch for a fresh snapshot of one cell. It may be repeated; requests of one cell coalesce.
type Request struct {
	Target change.TargetKey
	Cell   change.Cell
	Why    RequestWhy
}

// Ask hands a due applier to the dispatcher: Commit is on the remote and holds every write decided before.
type Ask struct {
	Applier string
	Attempt string
	Commit  Commit
	Reasons []string
}

// Current answers CurrentAsked.
type Current struct {
	Ticket Ticket
	Is     bool
}

// Observation is a fact for metrics, logs and events. Which fields are set depends on What. State is never carried
// here: observers read Status.
type Observation struct {
	What What
	// Reason is a close reason, gate label, failure kind or outcome.
	Reason string
	Text   string
	Count  int
	// Seq, Kind, Source and Author describe a planned, published, failed or refused write.
	Seq    Seq
	Kind   Kind
	Source MessageSource
	Author change.AuthorKind
	Commit Commit
	// Since is when the window opened or the push began.
	Since time.Time
	// BySave: the window's timers came from a CommitRequest.
	BySave bool
	Counts Counts
	Report any
}

// What names an observation.
type What string

// The observations.
const (
	// ObservedStatus: Status of the target (of the branch when Target is zero) changed in a way a condition shows.
	ObservedStatus What = "status"
	// ObservedWindow: a window closed; Reason, Since, BySave, Count (changes).
	ObservedWindow What = "window"
	// ObservedPlan: a write was planned; Kind, Counts, Report. Dry plans report Reason "dry", replays "replay".
	ObservedPlan What = "plan"
	// ObservedCommit: a commit reached the remote; Kind, Source, Author, Commit.
	ObservedCommit What = "commit"
	// ObservedPush: a publication cycle ended; Reason "pushed" or "failed", Count (writes), Since.
	ObservedPush What = "push"
	// ObservedRetry: a push found the branch moved and is tried again.
	ObservedRetry What = "push_retry"
	// ObservedLost: a write was dropped; Kind, Reason "refused" or "error", Text.
	ObservedLost What = "write_lost"
	// ObservedSetAside: the remote refused a write; Kind, Text.
	ObservedSetAside What = "set_aside"
	// ObservedDrop: changes were dropped; Reason is the label gate of git_writes_dropped_total (pending, divergent,
	// hold_expired, hold_budget) or "suspended", "target_gone" or "set_aside_budget", Count.
	ObservedDrop What = "drop"
	// ObservedRefusal: intake refused an item; Reason write, attach or resync.
	ObservedRefusal What = "queue_refusal"
	// ObservedIntake: intake may have room again for producers that were refused: wake them.
	ObservedIntake What = "intake_open"
	// ObservedSave: a save ended; Reason is its outcome.
	ObservedSave What = "save"
	// ObservedSnapshot: a stale snapshot was "discarded" or "used".
	ObservedSnapshot What = "stale_snapshot"
)

// Observe hands an observation to metrics, logs and the mailbox of dirty targets.
type Observe struct {
	Target      change.TargetKey
	Observation Observation
}

func (Look) effect()    {}
func (Fetch) effect()   {}
func (Write) effect()   {}
func (Push) effect()    {}
func (Abort) effect()   {}
func (Admit) effect()   {}
func (Answer) effect()  {}
func (Settle) effect()  {}
func (Advance) effect() {}
func (Request) effect() {}
func (Ask) effect()     {}
func (Current) effect() {}
func (Observe) effect() {}
