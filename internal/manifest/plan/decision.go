// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/configbutler/gitops-reverser/internal/change"

// Action is what was decided for one object.
type Action string

// The actions.
const (
	Upsert Action = "upsert"
	Remove Action = "remove"
)

// Decision is what a plan decided, as a value that can be stored and replayed on another tree (git-writer 10.4). A
// replay applies exactly these actions: it never sweeps again, and prune may only tighten.
type Decision struct {
	Actions []Decided `json:"actions,omitempty"`
	// Prune is the mode under which the removals were decided.
	Prune PruneMode `json:"prune,omitempty"`
	// Bootstrap repeats Batch.Bootstrap.
	Bootstrap bool `json:"bootstrap,omitempty"`
}

// Empty reports that nothing is left to apply.
func (d *Decision) Empty() bool { return d == nil || len(d.Actions) == 0 && !d.Bootstrap }

// Decided is one object's action.
type Decided struct {
	Action    Action           `json:"action"`
	Object    change.ObjectID  `json:"object"`
	Type      change.Type      `json:"type"`
	Operation change.Operation `json:"operation,omitempty"`
	UID       string           `json:"uid,omitempty"`
	// Desired is the sanitized object of an upsert.
	Desired []byte      `json:"desired,omitempty"`
	Mask    change.Mask `json:"mask,omitzero"`
	// Path is where the document was written; a replay follows a document that moved and uses Path only to create.
	Path string `json:"path,omitempty"`
	// Sealed is the encrypted document of a sensitive upsert; a replay reuses these bytes.
	Sealed []byte `json:"sealed,omitempty"`
	// Sweep marks a removal decided by a snapshot.
	Sweep bool `json:"sweep,omitempty"`
}

// Size returns the bytes a decision holds on to.
func (d *Decision) Size() int64 {
	if d == nil {
		return 0
	}
	n := int64(1024)
	for i := range d.Actions {
		n += int64(len(d.Actions[i].Desired)+len(d.Actions[i].Sealed)) + 512
	}
	return n
}
