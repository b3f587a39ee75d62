// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

// Files is what a build may read. Paths are relative to the repository root, slash separated and clean; "" is the root.
type Files interface {
	// ID returns the blob id of a regular file without reading it; fs.ErrNotExist as File.
	ID(name string) (manifest.ID, error)
	// File returns the bytes and the blob id of a regular file. Anything else, symlinks included, is fs.ErrNotExist.
	File(name string) ([]byte, manifest.ID, error)
	// IsDir reports whether a directory exists.
	IsDir(name string) (bool, error)
}

// Overlay is a tree with some files replaced, added or removed. It is the working state of a plan: Files for builds,
// and the difference to the tree is what the plan writes. It is not safe for concurrent use.
type Overlay struct {
	tree  manifest.Tree
	files map[string]overlaid
	// below counts the written files under each directory.
	below map[string]int
	dirs  map[manifest.ID]map[string]manifest.DirEntry
	// last is the file of the tree read last: a plan compares a file and then edits it.
	last overlaid
}

// overlaid is one changed file; a nil content is a removed one.
type overlaid struct {
	content []byte
	id      manifest.ID
}

// NewOverlay returns an overlay without changes.
func NewOverlay(t manifest.Tree) *Overlay {
	return &Overlay{
		tree: t, files: map[string]overlaid{}, below: map[string]int{},
		dirs: map[manifest.ID]map[string]manifest.DirEntry{},
	}
}

// Set writes a file. Content equal to the tree's own takes the change back.
func (o *Overlay) Set(name string, content []byte) error {
	e, err := o.entry(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	id := manifest.BlobID(content)
	if err == nil && e.ID == id && regular(e.Mode) {
		o.put(name, nil)
		return nil
	}
	if content == nil {
		content = []byte{}
	}
	o.put(name, &overlaid{content: content, id: id})
	return nil
}

// Remove takes a file away.
func (o *Overlay) Remove(name string) error {
	if _, err := o.entry(name); errors.Is(err, fs.ErrNotExist) {
		o.put(name, nil)
		return nil
	} else if err != nil {
		return err
	}
	o.put(name, &overlaid{})
	return nil
}

// put sets or forgets the change of one path and keeps the counts of the directories above it.
func (o *Overlay) put(name string, f *overlaid) {
	if old, ok := o.files[name]; ok && old.content != nil {
		o.count(name, -1)
	}
	delete(o.files, name)
	if f == nil {
		return
	}
	o.files[name] = *f
	if f.content != nil {
		o.count(name, 1)
	}
}

func (o *Overlay) count(name string, n int) {
	for d := parent(name); d != ""; d = parent(d) {
		o.below[d] += n
	}
}

// Undo takes back every change whose path is in names.
func (o *Overlay) Undo(names ...string) {
	for _, n := range names {
		o.put(n, nil)
	}
}

// Changed returns the changed paths, sorted.
func (o *Overlay) Changed() []string { return slices.Sorted(maps.Keys(o.files)) }

// Removed reports whether a path of the tree is taken away.
func (o *Overlay) Removed(name string) bool {
	f, ok := o.files[name]
	return ok && f.content == nil
}

// Mode returns the mode a file has in the tree, or ModeFile for a new one.
func (o *Overlay) Mode(name string) manifest.Mode {
	if e, err := o.entry(name); err == nil && regular(e.Mode) {
		return e.Mode
	}
	return manifest.ModeFile
}

// InTree reports whether the tree below the changes has a regular file at a path.
func (o *Overlay) InTree(name string) bool {
	e, err := o.entry(name)
	return err == nil && regular(e.Mode)
}

// Occupied reports whether anything, a directory or a symlink included, is at a path.
func (o *Overlay) Occupied(name string) (bool, error) {
	if f, ok := o.files[name]; ok {
		return f.content != nil, nil
	}
	_, err := o.entry(name)
	if errors.Is(err, fs.ErrNotExist) {
		return o.hasOverlaidBelow(name), nil
	}
	return err == nil, err
}

// File implements Files.
func (o *Overlay) File(name string) ([]byte, manifest.ID, error) {
	if f, ok := o.files[name]; ok {
		if f.content == nil {
			return nil, manifest.ID{}, notFile(name)
		}
		return f.content, f.id, nil
	}
	e, err := o.entry(name)
	if err != nil {
		return nil, manifest.ID{}, err
	}
	if !regular(e.Mode) {
		return nil, manifest.ID{}, notFile(name)
	}
	if o.last.id != e.ID || o.last.content == nil {
		b, err := o.tree.Blob(e.ID)
		if err != nil {
			return nil, e.ID, err
		}
		o.last = overlaid{content: b, id: e.ID}
	}
	return o.last.content, e.ID, nil
}

// ID implements Files.
func (o *Overlay) ID(name string) (manifest.ID, error) {
	if f, ok := o.files[name]; ok {
		if f.content == nil {
			return manifest.ID{}, notFile(name)
		}
		return f.id, nil
	}
	e, err := o.entry(name)
	if err != nil {
		return manifest.ID{}, err
	}
	if !regular(e.Mode) {
		return manifest.ID{}, notFile(name)
	}
	return e.ID, nil
}

// IsDir implements Files.
func (o *Overlay) IsDir(name string) (bool, error) {
	e, err := o.entry(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return o.hasOverlaidBelow(name), nil
	case err != nil:
		return false, err
	}
	return e.Mode == manifest.ModeDir, nil
}

func (o *Overlay) hasOverlaidBelow(name string) bool { return o.below[name] > 0 }

// entry looks a path up in the tree.
func (o *Overlay) entry(name string) (manifest.DirEntry, error) {
	e := manifest.DirEntry{Mode: manifest.ModeDir, ID: o.tree.Root()}
	name = clean(name)
	if name == "" {
		return e, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if e.Mode != manifest.ModeDir {
			return manifest.DirEntry{}, notFile(name)
		}
		c, ok, err := o.child(e.ID, part)
		if err != nil {
			return manifest.DirEntry{}, fmt.Errorf("read the folder of %s: %w", name, err)
		}
		if !ok {
			return manifest.DirEntry{}, notFile(name)
		}
		e = c
	}
	return e, nil
}

// child finds a child of a directory. A tree without an index is listed once per directory, because a build asks for
// many names of one folder.
func (o *Overlay) child(dir manifest.ID, name string) (manifest.DirEntry, bool, error) {
	if t, ok := o.tree.(manifest.Indexed); ok {
		return t.Child(dir, name)
	}
	d, ok := o.dirs[dir]
	if !ok {
		list, err := o.tree.Dir(dir)
		if err != nil {
			return manifest.DirEntry{}, false, err
		}
		d = make(map[string]manifest.DirEntry, len(list))
		for _, c := range list {
			d[c.Name] = c
		}
		o.dirs[dir] = d
	}
	e, ok := d[name]
	return e, ok, nil
}

func regular(m manifest.Mode) bool { return m == manifest.ModeFile || m == manifest.ModeExecutable }

func clean(name string) string { return strings.Trim(path.Clean("/"+name), "/") }

func notFile(name string) error { return fmt.Errorf("%s: %w", name, fs.ErrNotExist) }

var _ Files = (*Overlay)(nil)
