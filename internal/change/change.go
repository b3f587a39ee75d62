// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package change

import "time"

// Operation is what happened to the live object, in the words of the Kubernetes API.
type Operation string

// The operations a rule can select.
const (
	Create Operation = "CREATE"
	Update Operation = "UPDATE"
	Delete Operation = "DELETE"
)

// Mask tells a plan which paths of a desired document need the file's say (decisions 34 and 38). Paths are JSON
// pointers (RFC 6901) into the object.
type Mask struct {
	// Keep lists paths a noise rule masks: an existing document keeps its bytes there, present or absent; a new
	// document leaves them out; comparisons ignore them. Desired does not hold them.
	Keep []string
	// IfPresent lists paths whose desired value counts only where the document in Git already has the path, such as an
	// allocated clusterIP. Desired holds them.
	IfPresent []string
	// Unsure lists paths that count although nothing tells whether somebody chose the value or the system allocated it.
	// Only reports say so; no decision depends on it.
	Unsure []string `json:"-"`
}

// Empty reports whether the mask says nothing.
func (m Mask) Empty() bool { return len(m.Keep) == 0 && len(m.IfPresent) == 0 }

// AuthorKind says how the author of a change is known.
type AuthorKind string

// The author kinds; their text is the value of the metric label author_kind.
const (
	// AuthorCommitter is used with attribution off, and for snapshots: the committer is the author.
	AuthorCommitter AuthorKind = "committer"
	// AuthorUser is a resolved human or external user.
	AuthorUser AuthorKind = "user"
	// AuthorServiceAccount is a resolved service account.
	AuthorServiceAccount AuthorKind = "serviceaccount"
	// AuthorUnresolved is attribution on, without evidence.
	AuthorUnresolved AuthorKind = "unresolved"
)

// Author is who made a change, as far as evidence says. The zero value means the committer.
type Author struct {
	Kind        AuthorKind
	Username    string
	DisplayName string
	Email       string
}

// Item is one object's sanitized state.
type Item struct {
	Object ObjectID
	Type   Type
	UID    string
	// ResourceVersion and Generation are for messages only; they are never content.
	ResourceVersion string
	Generation      int64
	// Desired is the sanitized object as compact JSON with sorted keys; nil for a DELETE and for a protected item.
	Desired []byte
	Mask    Mask
	// Protected names the noise or ownership rule that skips this object: it is neither written nor swept
	// (decision 35). Empty for ordinary items.
	Protected string
}

// Size returns the bytes an item holds on to, with the 1 KiB overhead of git-writer 10.2.
func (i *Item) Size() int64 { return int64(len(i.Desired)) + 1024 }

// Change is one live event of one object for one GitTarget.
type Change struct {
	Target    TargetKey
	Cell      Cell
	Operation Operation
	Item
	Author Author
	// ReceivedAt is when the event arrived from the API server.
	ReceivedAt time.Time
}

// Snapshot is the complete state of one cell, gathered up to ResourceVersion.
type Snapshot struct {
	Target TargetKey
	Cell   Cell
	// Type is the stream's served type.
	Type  Type
	Items []Item
	// ResourceVersion is the collection's version at which the snapshot is complete.
	ResourceVersion string
	// Selected reports that a label selector bounded the snapshot.
	Selected bool
}

// Size returns the bytes a snapshot holds on to.
func (s *Snapshot) Size() int64 {
	n := int64(1024)
	for i := range s.Items {
		n += s.Items[i].Size()
	}
	return n
}

// Verdict answers an offered change or snapshot. Only Accepted takes it over; everything else leaves it with the
// caller, which keeps its cursor (git-writer 10.2).
type Verdict string

// The verdicts.
const (
	Accepted Verdict = "Accepted"
	// QueueFull: the branch's queue has no slot.
	QueueFull Verdict = "QueueFull"
	// IntakePaused: the byte budget is used up during an outage.
	IntakePaused Verdict = "IntakePaused"
	// TooLarge: the item alone exceeds the byte budget during an outage.
	TooLarge Verdict = "TooLarge"
	// UnknownTarget: no worker owns the target (deleted, not admitted, not declared yet).
	UnknownTarget Verdict = "UnknownTarget"
	// Stopped: the worker is shutting down.
	Stopped Verdict = "Stopped"
)

// Outcome is what became of an accepted snapshot.
type Outcome string

// The outcomes.
const (
	// Settled: applied, or proven to need no write.
	Settled Outcome = "Settled"
	// Discarded: gathered while Git was ahead; a fresh one is requested.
	Discarded Outcome = "Discarded"
	// RefusedOutcome: the folder refuses writes.
	RefusedOutcome Outcome = "Refused"
	// FailedOutcome: the snapshot is lost: gather it again.
	FailedOutcome Outcome = "Failed"
	// KeptOutcome: it could not be written yet. It stays pending, or a fresh one is asked for when it makes sense.
	KeptOutcome Outcome = "Kept"
)
