// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"context"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

// Source is what Resolve reads through.
type Source interface {
	// Entry returns what is at a path, without following symlinks; manifest.ErrNotFound (wrapped) when nothing is.
	Entry(path string) (manifest.DirEntry, error)
	// Ignored reports that .gittargetignore hides the path.
	Ignored(path string) bool
	// Blob returns a file's bytes.
	Blob(id manifest.ID) ([]byte, error)
	// Aliases returns what makes a file's aliases unsafe to expand (decision 94), and true, when that is known already.
	Aliases(path string, id manifest.ID) (string, bool)
}

// Resolve builds the layout of the folder jail from the kustomization files found in it. prev may be nil; what it
// parsed is not parsed again. The error is I/O or cancellation; everything else is a Problem.
func Resolve(ctx context.Context, src Source, jail string, files []string, prev *Layout) (*Layout, error) {
	return &Layout{jail: clean(jail)}, ctx.Err()
}
