// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
)

// Request is everything a plan depends on.
type Request struct {
	// Tree is the commit the plan is made on.
	Tree manifest.Tree
	// Path is the folder of the GitTarget, relative to the repository root; "." is the root itself.
	Path string
	// Folder is the inventory of an earlier tree of the same Path; nil scans everything.
	Folder *inventory.Folder
	Batch  Batch
	// Policy is the GitTarget's spec as plain values.
	Policy Policy
	// Kinds and Schemas answer for the source cluster. Schemas may be nil.
	Kinds   change.Kinds
	Schemas change.Schemas
	// Sealer encrypts sensitive objects; nil means that no encryption is configured.
	Sealer Sealer
	// Memo remembers renders between plans of one folder; nil means none are remembered.
	Memo *render.Memo
	// Decision, when set, is replayed: only what it decided is applied, Batch is not looked at.
	Decision *Decision
}

// Batch is what happened. Changes and Snapshot exclude each other; both empty is a look at the folder.
type Batch struct {
	// Changes are live events in the order they were accepted; the last one of an object wins (git-writer 9.4).
	Changes []change.Change
	// Snapshot is the complete state of one cell.
	Snapshot *change.Snapshot
	// Bootstrap writes the folder's own files even when no object changes (git-writer 7.5).
	Bootstrap bool
}

// PruneMode says which deletions reach Git (git-writer 7.3).
type PruneMode string

// The prune modes. An empty mode is OnEvent; an unknown one retains everything.
const (
	PruneNever   PruneMode = "Never"
	PruneOnEvent PruneMode = "OnEvent"
	PruneAlways  PruneMode = "Always"
)

// Live reports whether an observed deletion removes the document.
func (m PruneMode) Live() bool { return m == "" || m == PruneOnEvent || m == PruneAlways }

// Sweep reports whether absence from a snapshot removes the document.
func (m PruneMode) Sweep() bool { return m == PruneAlways }

// Tighter returns the mode that removes less.
func (m PruneMode) Tighter(o PruneMode) PruneMode {
	rank := func(p PruneMode) int {
		switch {
		case p.Sweep():
			return 2
		case p.Live():
			return 1
		}
		return 0
	}
	if rank(o) < rank(m) {
		return o
	}
	return m
}
