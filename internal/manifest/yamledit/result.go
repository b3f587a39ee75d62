// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"fmt"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// Options say what an edit may assume and do.
type Options struct {
	compare.Options
	// AllowReplace permits writing the whole document anew when no smaller edit is right (rung 3 of editing.md I6).
	AllowReplace bool
}

// Outcome is what an edit did.
type Outcome string

// The outcomes.
const (
	// NoChange: the document already means the desired object; the file's bytes are untouched.
	NoChange Outcome = "NoChange"
	// Patched: parts of the document were edited in place.
	Patched Outcome = "Patched"
	// Replaced: the document was written anew.
	Replaced Outcome = "Replaced"
)

// Rung is how much text an edit had to write anew.
type Rung string

// The rungs a note can report.
const (
	RungNode     Rung = "node"
	RungDocument Rung = "document"
)

// Note reports that the smallest edit was not possible.
type Note struct {
	Rung Rung
	// Line is the 1-based line of the file the note is about.
	Line int
	// Path is the JSON pointer of the node that was written anew.
	Path string
	// Reason says why, in words; it never holds a value.
	Reason string
}

// Result is what Edit did.
type Result struct {
	// File holds the bytes after the edit; with NoChange it is the input itself.
	File    []byte
	Outcome Outcome
	Notes   []Note
	// Desired is the value the document now has: the desired object with what only Git says kept (compare.Normalize).
	Desired any
	// Parses is how often the document was parsed: once without a change, twice for an ordinary edit, once more for
	// every rung.
	Parses int
}

// UneditableError says which construct forbids an edit (decisions 37).
type UneditableError struct {
	Hazard yamldoc.HazardKind
	// Line is the 1-based line of the file.
	Line int
	// Path is the JSON pointer of the place.
	Path string
	// Key is the key of a duplicate, else empty.
	Key string
	// Reason says more where the hazard alone does not, else empty. It never holds a value.
	Reason string
}

// Cure says what a person can do about it.
func (e *UneditableError) Cure() string {
	switch e.Hazard {
	case yamldoc.HazardAnchor, yamldoc.HazardAlias, yamldoc.HazardMergeKey:
		return "write the values out at this place"
	case yamldoc.HazardDuplicateKey:
		return "keep one of the keys"
	case yamldoc.HazardCustomTag:
		return "take the tag away"
	case yamldoc.HazardBinary:
		return "write the value as plain text"
	case yamldoc.HazardComplexKey:
		return "write a plain key"
	case yamldoc.HazardEncrypted:
		return "decrypt it, change it and encrypt it again"
	}
	return "make this change in Git"
}

// Error implements error.
func (e *UneditableError) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("line %d: %s at %s: %s", e.Line, e.Hazard, e.Path, e.Reason)
	}
	if e.Key != "" {
		return fmt.Sprintf("line %d: %s %q at %s", e.Line, e.Hazard, e.Key, e.Path)
	}
	return fmt.Sprintf("line %d: %s at %s", e.Line, e.Hazard, e.Path)
}
