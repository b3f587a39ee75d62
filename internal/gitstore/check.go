// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore

import (
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/configbutler/gitops-reverser/internal/gitstore/pack"
)

// Check reads and verifies every object reachable from a commit that is the base or unpublished. Damage makes the
// store distrust itself, as any read does.
func (s *Store) Check(commit Hash) error {
	if !s.ready {
		return ErrNoBase
	}
	if commit.IsZero() {
		return nil
	}
	for c := s.pending.find(commit); c != nil; c = s.pending.find(commit) {
		if err := s.checkCommit(c.id); err != nil {
			return err
		}
		if commit = c.parent; commit.IsZero() {
			return nil
		}
	}
	if commit != s.base {
		return fmt.Errorf("commit %s: %w", commit, ErrStale)
	}
	return s.checkCommit(commit)
}

func (s *Store) checkCommit(id Hash) error {
	raw, err := s.verify(id, plumbing.CommitObject)
	if err != nil {
		return err
	}
	root, err := commitTree(raw)
	if err != nil {
		return s.damaged(id, err)
	}
	return s.checkTree(root, map[Hash]bool{})
}

func (s *Store) checkTree(id Hash, seen map[Hash]bool) error {
	if seen[id] {
		return nil
	}
	seen[id] = true
	raw, err := s.verify(id, plumbing.TreeObject)
	if err != nil {
		return err
	}
	for e, err := range pack.Entries(raw) {
		switch {
		case err != nil:
			return s.damaged(id, err)
		case e.IsDir():
			err = s.checkTree(e.ID, seen)
		case e.Mode == pack.ModeSubmodule || seen[e.ID]:
		default:
			seen[e.ID] = true
			_, err = s.verify(e.ID, plumbing.BlobObject)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// verify reads an object past the caches and compares its bytes with its id.
func (s *Store) verify(id Hash, want plumbing.ObjectType) ([]byte, error) {
	cached := s.trees
	s.trees = newTreeCache(0)
	raw, err := s.read(id, want)
	s.trees = cached
	if err == nil && pack.ID(want, raw) != id {
		err = s.damaged(id, fmt.Errorf("its bytes are not those of its id"))
	}
	return raw, err
}
