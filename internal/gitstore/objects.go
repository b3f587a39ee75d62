// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/configbutler/gitops-reverser/internal/gitstore/pack"
)

// emptyTree is the id of the tree without entries.
var emptyTree = pack.ID(plumbing.TreeObject, nil)

// lookup finds an object in memory, the published ones first.
func (s *Store) lookup(id Hash) *pack.Object {
	if o := s.mem.objects[id]; o != nil {
		return o
	}
	if o := s.pending.objects[id]; o != nil && !s.disk.has(id) {
		return o
	}
	return nil
}

// has reports whether an object is known, without reading it.
func (s *Store) has(id Hash) bool {
	return id.IsZero() || s.trees.get(id) != nil || s.lookup(id) != nil || s.disk.has(id)
}

// object reads an object from whichever layer has it, with the depth of its chain of deltas in memory.
func (s *Store) object(id Hash) (plumbing.ObjectType, []byte, int, error) {
	var deltas [][]byte
	depth := 0
	at := id
	for range 4 * pack.MaxDepth {
		o := s.lookup(at)
		t := s.trees.get(at)
		if t == nil && o != nil && o.Full == nil {
			d, err := s.inflate.Inflate(o.Delta, o.DeltaSize)
			if err != nil {
				return 0, nil, 0, err
			}
			if at == id {
				depth = o.Depth
			}
			deltas = append(deltas, d)
			at = o.Base
			continue
		}
		typ, raw, err := plumbing.TreeObject, []byte(nil), error(nil)
		if t != nil {
			raw = t.Raw
		} else {
			typ, raw, err = s.whole(at, o)
		}
		if at == id && o != nil {
			depth = o.Depth
		}
		for i := len(deltas) - 1; i >= 0 && err == nil; i-- {
			raw, err = pack.Patch(raw, deltas[i])
		}
		if err == nil && len(deltas) > 0 && pack.ID(typ, raw) != id {
			err = errors.New("its deltas give other bytes")
		}
		return typ, raw, depth, err
	}
	return 0, nil, 0, errors.New("its chain of deltas does not end")
}

func (s *Store) whole(id Hash, o *pack.Object) (plumbing.ObjectType, []byte, error) {
	if o != nil {
		raw, err := s.inflate.Inflate(o.Full, o.Size)
		return o.Type, raw, err
	}
	if s.disk == nil {
		if id == emptyTree {
			return plumbing.TreeObject, nil, nil
		}
		return 0, nil, plumbing.ErrObjectNotFound
	}
	t, raw, err := s.disk.get(id)
	if errors.Is(err, plumbing.ErrObjectNotFound) && id == emptyTree {
		return plumbing.TreeObject, nil, nil
	}
	return t, raw, err
}

// read is object with a check of the type, counted; damage makes the store distrust itself.
func (s *Store) read(id Hash, want plumbing.ObjectType) ([]byte, error) {
	t, raw, _, err := s.object(id)
	if err == nil && t != want {
		err = fmt.Errorf("it is a %s, not a %s", t, want)
	}
	if err != nil {
		return nil, s.damaged(id, err)
	}
	switch want {
	case plumbing.TreeObject:
		s.stats.TreesRead++
	case plumbing.BlobObject:
		s.stats.BlobsRead++
	case plumbing.CommitObject:
		s.stats.CommitsRead++
	}
	return raw, nil
}

// tree reads and indexes a tree; the zero id is the empty one.
func (s *Store) tree(id Hash) (*pack.Tree, error) {
	if id.IsZero() {
		return &pack.Tree{}, nil
	}
	if t := s.trees.get(id); t != nil {
		s.stats.TreesRead++
		return t, nil
	}
	raw, err := s.read(id, plumbing.TreeObject)
	if err != nil {
		return nil, err
	}
	t, err := pack.NewTree(raw)
	if err != nil {
		return nil, fmt.Errorf("tree %s of the repository: %w", id, err)
	}
	s.trees.put(id, t)
	return t, nil
}

// treeOf returns the root tree of a commit.
func (s *Store) treeOf(id Hash) (Hash, error) {
	if c := s.pending.find(id); c != nil {
		return c.tree, nil
	}
	raw, err := s.read(id, plumbing.CommitObject)
	if err != nil {
		return Hash{}, err
	}
	t, err := commitTree(raw)
	if err != nil {
		return Hash{}, s.damaged(id, err)
	}
	return t, nil
}

// commitTree reads the tree line of a raw commit.
func commitTree(raw []byte) (Hash, error) {
	line, ok := bytes.CutPrefix(raw, []byte("tree "))
	if !ok || len(line) < 41 || line[40] != '\n' || !plumbing.IsHash(string(line[:40])) {
		return Hash{}, errors.New("it is no commit")
	}
	return plumbing.NewHash(string(line[:40])), nil
}

// damaged makes the store forget everything: what it holds is not trusted again.
func (s *Store) damaged(id Hash, err error) error {
	if s.ready {
		s.stats.Repairs++
	}
	s.ready, s.fresh = false, true
	s.pending.set(nil)
	return &CorruptError{ID: id, Err: err}
}

// live reports whether a commit is the base or unpublished.
func (s *Store) live(id Hash) bool {
	return s.ready && (id == s.base || s.pending.find(id) != nil)
}
