// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

// Memo remembers renders by the blobs they read. It belongs to one folder and is not safe for concurrent use.
type Memo struct {
	stats Stats
}

// NewMemo returns an empty memo.
func NewMemo() *Memo { return &Memo{} }

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
