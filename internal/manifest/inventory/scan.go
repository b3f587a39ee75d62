// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

// Scan reads the folder at path ("" or "." is the repository root) and everything its kustomizations reach. prev is
// the Folder of an earlier tree, or nil; trees and blobs with the ids they had there are not read again. A missing
// folder is empty. The error is I/O or cancellation: a folder is never half known.
func Scan(ctx context.Context, t manifest.Tree, path string, prev *Folder) (*Folder, Stats, error) {
	return &Folder{path: path}, Stats{}, ctx.Err()
}

// Edit is a file's next content, with its path from the repository root.
type Edit struct {
	Path    string
	Mode    manifest.Mode
	Content []byte
	Delete  bool
}

// Apply returns the Folder after edits, without reading anything but the bytes given: t is the tree f was scanned from
// (kustomizations may reach above the folder) and is read only for references that f has not seen. Edits outside the
// folder are an error, and so is an edit that changes what .gittargetignore hides.
func (f *Folder) Apply(ctx context.Context, t manifest.Tree, edits []Edit) (*Folder, Stats, error) {
	return f, Stats{}, ctx.Err()
}
