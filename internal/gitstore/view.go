// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore

import (
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/configbutler/gitops-reverser/internal/gitstore/pack"
)

// ErrStale is returned by a view of a commit that is neither the base nor unpublished any more.
var ErrStale = errors.New("the store does not hold this commit any more")

// TreeView is a read-only view of one commit's files. It lives as long as the commit is the base or unpublished.
type TreeView struct {
	s      *Store
	commit Hash
	root   Hash
}

// Tree opens the tree of a commit that is the base or unpublished; the zero Hash is the empty tree.
func (s *Store) Tree(commit Hash) (*TreeView, error) {
	if !s.ready {
		return nil, ErrNoBase
	}
	if commit.IsZero() {
		return &TreeView{s: s}, nil
	}
	if !s.live(commit) {
		return nil, fmt.Errorf("commit %s: %w", commit, ErrStale)
	}
	root, err := s.treeOf(commit)
	if err != nil {
		return nil, err
	}
	return &TreeView{s: s, commit: commit, root: root}, nil
}

// Root is the id of the root directory; zero for the empty tree of no commit.
func (v *TreeView) Root() [20]byte { return v.root }

// Dir returns the children of a directory in Git's order; the zero id is the empty directory.
func (v *TreeView) Dir(id [20]byte) ([]Entry, error) {
	if err := v.alive(); err != nil {
		return nil, err
	}
	t, err := v.s.tree(id)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, t.Len())
	for e, err := range pack.Entries(t.Raw) {
		if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{Name: string(e.Name), Mode: e.Mode, ID: e.ID})
	}
	return entries, nil
}

// Blob returns the bytes of a file. The caller must not modify them.
func (v *TreeView) Blob(id [20]byte) ([]byte, error) {
	if err := v.alive(); err != nil {
		return nil, err
	}
	return v.s.read(id, plumbing.BlobObject)
}

func (v *TreeView) alive() error {
	if !v.s.ready {
		return ErrNoBase
	}
	if !v.commit.IsZero() && !v.s.live(v.commit) {
		return fmt.Errorf("commit %s: %w", v.commit, ErrStale)
	}
	return nil
}
