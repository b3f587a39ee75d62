// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/acceptance"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
)

// Edit is one file to write or remove.
type Edit struct {
	// Path is relative to the repository root.
	Path string
	// Mode is the file's mode after the edit: the existing one, or ModeFile for a new file (decision 45).
	Mode    manifest.Mode
	Content []byte
	Delete  bool
}

// Outcome is what became of one object; the texts are the values of the metric label outcome of git_documents_total
// where they coincide.
type Outcome string

// The outcomes.
const (
	Created   Outcome = "Created"
	Updated   Outcome = "Updated"
	Deleted   Outcome = "Deleted"
	Unchanged Outcome = "Unchanged"
	// Retained: the object is gone and prune.mode keeps its document.
	Retained Outcome = "Retained"
	// Refused: this object could not be written; the rest of the batch goes on.
	Refused Outcome = "Refused"
	// Skipped: the object is protected by a noise or ownership rule, or has no name.
	Skipped Outcome = "Skipped"
)

// Reasons of a per-object refusal or skip, beside those of package placement (git-writer 5.6).
const (
	ReasonProtected          = "protected"
	ReasonNoName             = "no_name"
	ReasonNotEditable        = "not_editable"
	ReasonEncryptionRequired = "encryption_required"
	ReasonSealFailed         = "seal_failed"
	ReasonAmbiguousIdentity  = "ambiguous_identity"
	ReasonUnknownContent     = "invalid_object"
	ReasonRegistration       = "registration_failed"
)

// ObjectReport says what became of one object and why.
type ObjectReport struct {
	Object    change.ObjectID
	Type      change.Type
	Operation change.Operation
	Outcome   Outcome
	// Path is the file that holds the object, from the repository root; empty when there is none.
	Path string
	// Written are the files that were edited for the object when they are not just Path: kustomizations and patches.
	Written []string
	// Source is the rung that placed a new document: by_type, default, kustomize_root, canonical.
	Source string
	// Disposition of a new document: new_file or appended.
	Disposition string
	// Reason is a stable word, Message a sentence for people. Neither ever holds a value of a sensitive object.
	Reason  string
	Message string
	// Sweep marks a removal or retention that follows from a snapshot, not from an observed deletion.
	Sweep bool
	// Encryption is the sealer's outcome for a sensitive object: encrypted, cached, unchanged, failed.
	Encryption string
	// Notes are remarks a person should see once, such as a clear text that stays in history (decision 54).
	Notes []string
}

// Report counts what a plan does.
type Report struct {
	Objects []ObjectReport

	Created, Updated, Deleted, Unchanged int
	// Skipped counts edits refused per object and protected objects; PlacementSkipped new documents without a place.
	Skipped, PlacementSkipped int
	// Retained counts documents that prune.mode keeps although their object is gone; RetainedNames are the first 20.
	Retained      int
	RetainedNames []change.ObjectID
	// Registrations counts resources entries by outcome: added, no_change, failed.
	Registrations map[string]int
}

// Refusals returns the reports of refused objects.
func (r *Report) Refusals() []ObjectReport {
	var out []ObjectReport
	for _, o := range r.Objects {
		if o.Outcome == Refused {
			out = append(out, o)
		}
	}
	return out
}

func (r *Report) add(o ObjectReport) {
	r.Objects = append(r.Objects, o)
	switch o.Outcome {
	case Created:
		r.Created++
	case Updated:
		r.Updated++
	case Deleted:
		r.Deleted++
	case Unchanged:
		r.Unchanged++
	case Retained:
		r.Retained++
		if len(r.RetainedNames) < listed {
			r.RetainedNames = append(r.RetainedNames, o.Object)
		}
	case Refused, Skipped:
		if o.Source != "" {
			r.PlacementSkipped++
		} else {
			r.Skipped++
		}
	}
}

// listed bounds lists of names in a result (decision 66).
const listed = 20

// Divergence is a scalar whose substitution token the folder does not resolve to the live value (git-writer 6.10).
type Divergence struct {
	Object change.ObjectID
	Path   string
	// Field is a JSON pointer into the object, Token the text such as "${REGION}".
	Field, Token string
}

// Result is a plan.
type Result struct {
	// Edits are sorted by path; empty when nothing changes, when the flush is refused and when the target is suspended.
	Edits []Edit
	// Decision replays this plan; nil when nothing was decided.
	Decision *Decision
	Report   Report
	// Issues is not empty when the whole flush is refused: Edits is empty then, and Decision nil.
	Issues []acceptance.Issue
	// Folder is the inventory of Request.Tree; the next plan takes it. Layout is its short form.
	Folder *inventory.Folder
	Layout layout.Summary
	// Scan counts what the inventory read for this plan.
	Scan inventory.Stats
	// Unreached are manifests that no build of the folder reads although it has a render root (decision 47): the first 20
	// paths from the repository root. UnreachedCount counts them all.
	Unreached      []string
	UnreachedCount int
	// Divergences are tokens the folder leaves unresolved, for the condition RenderMatchesLive.
	Divergences []Divergence
}
