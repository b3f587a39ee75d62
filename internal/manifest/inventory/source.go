// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
)

// reader reads a tree and counts. Directories are read once per scan.
type reader struct {
	t     manifest.Tree
	stats *Stats
	dirs  map[manifest.ID][]manifest.DirEntry
	// known are directories above the folder an earlier scan read; used are those this scan looked at.
	known, used map[manifest.ID][]manifest.DirEntry
}

func (r *reader) dir(id manifest.ID) ([]manifest.DirEntry, error) {
	if id.IsZero() {
		return nil, nil
	}
	if d, ok := r.dirs[id]; ok {
		return d, nil
	}
	r.stats.TreesRead++
	d, err := r.t.Dir(id)
	if err != nil {
		return nil, err
	}
	r.dirs[id] = d
	return d, nil
}

// diff compares two directories where the tree can, as one directory read.
func (r *reader) diff(old, next manifest.ID) (gone, here []manifest.DirEntry, ok bool, err error) {
	t, ok := r.t.(manifest.Indexed)
	if !ok {
		return nil, nil, false, nil
	}
	gone, here, ok, err = t.Diff(old, next)
	if ok {
		r.stats.TreesRead++
	}
	return gone, here, ok, err
}

func (r *reader) blob(id manifest.ID) ([]byte, error) {
	r.stats.BlobsRead++
	return r.t.Blob(id)
}

// folder returns the tree id of the folder; zero when there is none. Something else in its way is returned as a file
// that blocks it, because nothing may be written through it.
func (r *reader) folder(path string) (manifest.ID, *File, error) {
	id, at := r.t.Root(), ""
	if path == "" {
		return id, nil, nil
	}
	for part := range strings.SplitSeq(path, "/") {
		list, err := r.outside(id)
		if err != nil {
			return id, nil, err
		}
		at = strings.TrimPrefix(at+"/"+part, "/")
		i := slices.IndexFunc(list, func(e manifest.DirEntry) bool { return e.Name == part })
		if i < 0 {
			return manifest.ID{}, nil, nil
		}
		e := list[i]
		if !isDir(e.Mode) {
			role := Foreign
			switch e.Mode {
			case manifest.ModeSymlink:
				role = ForeignSymlink
			case manifest.ModeSubmodule:
				role = ForeignSubmodule
			}
			return manifest.ID{}, &File{Path: at, ID: e.ID, Mode: e.Mode, Role: role}, nil
		}
		id = e.ID
	}
	return id, nil, nil
}

// outside reads a directory that is not part of the folder; an earlier scan may have read it.
func (r *reader) outside(id manifest.ID) ([]manifest.DirEntry, error) {
	list, ok := r.known[id]
	if !ok {
		var err error
		if list, err = r.dir(id); err != nil {
			return nil, err
		}
	}
	if r.used == nil {
		r.used = map[manifest.ID][]manifest.DirEntry{}
	}
	r.used[id] = list
	return list, nil
}

// lookup returns the entry at a path of the tree, without following symlinks.
func (r *reader) lookup(path string) (manifest.DirEntry, error) {
	e := manifest.DirEntry{Mode: manifest.ModeDir, ID: r.t.Root()}
	if path == "" {
		return e, nil
	}
	for part := range strings.SplitSeq(path, "/") {
		if !isDir(e.Mode) {
			return manifest.DirEntry{}, fmt.Errorf("%s: %w", path, manifest.ErrNotFound)
		}
		list, err := r.outside(e.ID)
		if err != nil {
			return manifest.DirEntry{}, err
		}
		i := slices.IndexFunc(list, func(c manifest.DirEntry) bool { return c.Name == part })
		if i < 0 {
			return manifest.DirEntry{}, fmt.Errorf("%s: %w", path, manifest.ErrNotFound)
		}
		e = list[i]
	}
	return e, nil
}

// source is what the layout reads through: the folder where it is known, the tree above it.
type source struct {
	folder *Folder
	tree   *reader
}

var _ layout.Source = (*source)(nil)

// Entry implements layout.Source.
func (s *source) Entry(path string) (manifest.DirEntry, error) {
	path = clean(path)
	if !within(s.folder.path, path) || s.folder.blocked != nil {
		return s.tree.lookup(path)
	}
	rel := relative(s.folder.path, path)
	if rel == "" {
		return manifest.DirEntry{Mode: manifest.ModeDir}, nil
	}
	e, ok := s.folder.root.at(rel)
	switch {
	case !ok && s.Ignored(path):
		return s.tree.lookup(path)
	case !ok:
		return manifest.DirEntry{}, fmt.Errorf("%s: %w", path, manifest.ErrNotFound)
	case e.dir != nil:
		return manifest.DirEntry{Mode: manifest.ModeDir, ID: e.dir.id}, nil
	}
	return manifest.DirEntry{Mode: e.file.Mode, ID: e.file.ID}, nil
}

// Ignored implements layout.Source.
func (s *source) Ignored(path string) bool {
	path = clean(path)
	if !within(s.folder.path, path) {
		return false
	}
	_, visible := s.folder.RoleOf(path)
	return !visible
}

// Blob implements layout.Source.
func (s *source) Blob(id manifest.ID) ([]byte, error) { return s.tree.blob(id) }

// Aliases implements layout.Source.
func (s *source) Aliases(path string, _ manifest.ID) (string, bool) {
	if !within(s.folder.path, path) {
		return "", false
	}
	e, ok := s.folder.root.at(relative(s.folder.path, path))
	if !ok || e.file == nil || !e.file.Role.parsed() {
		return "", false
	}
	return e.file.Aliases, true
}

// edited is a tree with the bytes of edits in front of it, by blob id.
type edited struct {
	manifest.Tree
	blobs map[manifest.ID][]byte
}

// Blob implements manifest.Tree.
func (e edited) Blob(id manifest.ID) ([]byte, error) {
	if b, ok := e.blobs[id]; ok {
		return b, nil
	}
	return e.Tree.Blob(id)
}
