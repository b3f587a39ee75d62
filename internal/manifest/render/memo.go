// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"io/fs"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

// Memo remembers renders by the blobs they read. It belongs to one folder and is not safe for concurrent use.
type Memo struct {
	stats Stats
	// byRoot holds the last renders of each root, newest first; two are kept, for the states before and after a flush.
	byRoot map[string][]remembered
}

type remembered struct {
	reads map[string]manifest.ID
	build *Build
	err   error
}

const rememberedPerRoot = 2

// NewMemo returns an empty memo.
func NewMemo() *Memo { return &Memo{byRoot: map[string][]remembered{}} }

// Stats counts what a memo's owner asked for since it was made.
type Stats struct {
	// Builds counts kustomize runs, Marked those of them made to find owners, Hits renders answered from memory.
	Builds, Marked, Hits int
}

// Stats returns the counts; a nil memo has none.
func (m *Memo) Stats() Stats {
	if m == nil {
		return Stats{}
	}
	return m.stats
}

// Build renders a root. A *Refusal or *BuildError says why a folder has no render; any other error is I/O.
func (m *Memo) Build(root string, src Files) (*Build, error) {
	root = clean(root)
	for i, r := range m.byRoot[root] {
		same, err := unchanged(r.reads, src)
		if err != nil {
			return nil, err
		}
		if same {
			m.stats.Hits++
			l := m.byRoot[root]
			l[0], l[i] = l[i], l[0]
			return r.build, r.err
		}
	}
	g, err := load(root, src)
	if err != nil {
		return nil, err
	}
	m.stats.Builds++
	b, err := run(g)
	l := append([]remembered{{reads: g.reads, build: b, err: err}}, m.byRoot[root]...)
	m.byRoot[root] = l[:min(len(l), rememberedPerRoot)]
	return b, err
}

// unchanged reports whether src still has the blobs a render read. A file that became a folder or the reverse shows
// as an absent blob, because a folder is no file.
func unchanged(reads map[string]manifest.ID, src Files) (bool, error) {
	for name, want := range reads {
		id, err := blobID(src, name)
		if err != nil {
			return false, err
		}
		if id != want {
			return false, nil
		}
	}
	return true, nil
}

// blobID returns the id of a file, zero when there is none.
func blobID(src Files, name string) (manifest.ID, error) {
	id, err := src.ID(name)
	if errors.Is(err, fs.ErrNotExist) {
		return manifest.ID{}, nil
	}
	return id, err
}
