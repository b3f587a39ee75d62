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
	// large is the directory last used that the store does not cache for its size.
	large   *pack.Tree
	largeID Hash
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
	t, err := v.tree(id)
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

// Child returns one child of a directory without listing it.
func (v *TreeView) Child(dir [20]byte, name string) (Entry, bool, error) {
	if err := v.alive(); err != nil {
		return Entry{}, false, err
	}
	t, err := v.tree(dir)
	if err != nil {
		return Entry{}, false, err
	}
	e, ok := t.Find(name)
	return Entry{Name: name, Mode: e.Mode, ID: e.ID}, ok, nil
}

// Diff returns the children in which two directories differ, in Git's order: those of old that next does not hold
// alike, and those of next that old does not. False means that the store does not hold old any more.
func (v *TreeView) Diff(old, next [20]byte) (gone, here []Entry, ok bool, err error) {
	if err := v.alive(); err != nil {
		return nil, nil, false, err
	}
	if !v.s.has(old) {
		return nil, nil, false, nil
	}
	a, err := v.s.tree(old)
	if err != nil {
		return nil, nil, false, err
	}
	b, err := v.tree(next)
	if err != nil {
		return nil, nil, false, err
	}
	left, right := a.Diff(b)
	return entries(left), entries(right), true, nil
}

func entries(list []pack.TreeEntry) []Entry {
	out := make([]Entry, len(list))
	for i, e := range list {
		out[i] = Entry{Name: string(e.Name), Mode: e.Mode, ID: e.ID}
	}
	return out
}

// tree reads a directory; one too large for the store's cache is kept while it is the last one used.
func (v *TreeView) tree(id Hash) (*pack.Tree, error) {
	if v.large != nil && v.largeID == id {
		return v.large, nil
	}
	t, err := v.s.tree(id)
	if err == nil && t.Cost() > treeCacheSize {
		v.large, v.largeID = t, id
	}
	return t, err
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
