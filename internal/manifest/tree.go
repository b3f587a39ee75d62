// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // Git's object identity, not a security boundary.
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// ID is a Git object id (SHA-1). The zero ID means "no object".
type ID [20]byte

// String returns the id in lower-case hex.
func (i ID) String() string { return hex.EncodeToString(i[:]) }

// IsZero reports whether the id names no object.
func (i ID) IsZero() bool { return i == ID{} }

// Mode is the kind of a tree entry, with Git's numbers.
type Mode uint32

// The modes Git writes into trees.
const (
	ModeDir        Mode = 0o040000
	ModeFile       Mode = 0o100644
	ModeExecutable Mode = 0o100755
	ModeSymlink    Mode = 0o120000
	ModeSubmodule  Mode = 0o160000
)

// DirEntry is one child of a directory.
type DirEntry struct {
	Name string
	Mode Mode
	ID   ID
}

// Tree is a read-only view of one commit's files. Equal IDs mean equal bytes, so a reader that keeps what it learned
// by id reads only what changed.
type Tree interface {
	// Root returns the id of the root directory; zero for an empty repository.
	Root() ID
	// Dir returns the children of a directory in Git's order. The zero ID is the empty directory.
	Dir(id ID) ([]DirEntry, error)
	// Blob returns the bytes of a file. The caller must not modify them.
	Blob(id ID) ([]byte, error)
}

// Indexed is a Tree that finds and compares entries of a large directory without listing it.
type Indexed interface {
	Tree
	// Child returns the child of a directory that has a name.
	Child(dir ID, name string) (DirEntry, bool, error)
	// Diff returns the children in which two directories differ, in Git's order: those of old that next does not hold
	// alike, and those of next that old does not. False means that old is not known any more: list both.
	Diff(old, next ID) (gone, here []DirEntry, ok bool, err error)
}

// ErrNotFound is returned by Lookup for a path without an entry.
var ErrNotFound = errors.New("no such entry")

// Lookup returns the entry at a slash-separated path relative to the root; "" and "." are the root itself. It never
// follows symlinks.
func Lookup(t Tree, name string) (DirEntry, error) {
	e := DirEntry{Mode: ModeDir, ID: t.Root()}
	name = strings.Trim(path.Clean("/"+name), "/")
	if name == "" {
		return e, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if e.Mode != ModeDir {
			return DirEntry{}, fmt.Errorf("%s: %w", name, ErrNotFound)
		}
		entries, err := t.Dir(e.ID)
		if err != nil {
			return DirEntry{}, err
		}
		i := slices.IndexFunc(entries, func(c DirEntry) bool { return c.Name == part })
		if i < 0 {
			return DirEntry{}, fmt.Errorf("%s: %w", name, ErrNotFound)
		}
		e = entries[i]
	}
	return e, nil
}

// ReadFile returns the bytes and entry of the file at a path.
func ReadFile(t Tree, name string) ([]byte, DirEntry, error) {
	e, err := Lookup(t, name)
	if err != nil {
		return nil, e, err
	}
	if e.Mode == ModeDir || e.Mode == ModeSubmodule {
		return nil, e, fmt.Errorf("%s is not a file: %w", name, ErrNotFound)
	}
	b, err := t.Blob(e.ID)
	return b, e, err
}

// BlobID returns the Git id of file content.
func BlobID(content []byte) ID { return objectID("blob", content) }

func objectID(kind string, content []byte) ID {
	h := sha1.New() //nolint:gosec // see the import
	fmt.Fprintf(h, "%s %d\x00", kind, len(content))
	h.Write(content)
	return ID(h.Sum(nil))
}

// File is one file of a MemTree.
type File struct {
	Mode    Mode
	Content []byte
}

// MemTree is a Tree in memory. It serves the offline commands, tests and overlays; it is immutable once built.
type MemTree struct {
	root  ID
	dirs  map[ID][]DirEntry
	blobs map[ID][]byte
}

// NewMemTree builds a tree from files by slash-separated path. A Mode of zero means ModeFile.
func NewMemTree(files map[string]File) *MemTree {
	t := &MemTree{dirs: map[ID][]DirEntry{}, blobs: map[ID][]byte{}}
	type dir struct {
		sub   map[string]*dir
		files map[string]File
	}
	newDir := func() *dir { return &dir{sub: map[string]*dir{}, files: map[string]File{}} }
	root := newDir()
	for name, f := range files {
		d := root
		parts := strings.Split(strings.Trim(path.Clean("/"+name), "/"), "/")
		for _, p := range parts[:len(parts)-1] {
			if d.sub[p] == nil {
				d.sub[p] = newDir()
			}
			d = d.sub[p]
		}
		d.files[parts[len(parts)-1]] = f
	}
	var build func(d *dir) ID
	build = func(d *dir) ID {
		entries := make([]DirEntry, 0, len(d.sub)+len(d.files))
		for n, s := range d.sub {
			entries = append(entries, DirEntry{Name: n, Mode: ModeDir, ID: build(s)})
		}
		for n, f := range d.files {
			id := BlobID(f.Content)
			t.blobs[id] = f.Content
			entries = append(entries, DirEntry{Name: n, Mode: cmp.Or(f.Mode, ModeFile), ID: id})
		}
		slices.SortFunc(entries, func(a, b DirEntry) int { return strings.Compare(a.sortKey(), b.sortKey()) })
		var raw []byte
		for _, e := range entries {
			raw = fmt.Appendf(raw, "%o %s\x00", uint32(e.Mode), e.Name)
			raw = append(raw, e.ID[:]...)
		}
		id := objectID("tree", raw)
		t.dirs[id] = entries
		return id
	}
	if len(files) > 0 {
		t.root = build(root)
	}
	return t
}

// sortKey gives Git's order of tree entries, where a directory sorts as if its name ended in a slash.
func (e DirEntry) sortKey() string {
	if e.Mode == ModeDir {
		return e.Name + "/"
	}
	return e.Name
}

// Root implements Tree.
func (t *MemTree) Root() ID { return t.root }

// Dir implements Tree.
func (t *MemTree) Dir(id ID) ([]DirEntry, error) {
	if id.IsZero() {
		return nil, nil
	}
	d, ok := t.dirs[id]
	if !ok {
		return nil, fmt.Errorf("tree %s: %w", id, fs.ErrNotExist)
	}
	return d, nil
}

// Blob implements Tree.
func (t *MemTree) Blob(id ID) ([]byte, error) {
	b, ok := t.blobs[id]
	if !ok {
		return nil, fmt.Errorf("blob %s: %w", id, fs.ErrNotExist)
	}
	return b, nil
}

// Files returns every file by path.
func (t *MemTree) Files() map[string]File {
	out := map[string]File{}
	var walk func(prefix string, id ID)
	walk = func(prefix string, id ID) {
		for _, e := range t.dirs[id] {
			p := path.Join(prefix, e.Name)
			if e.Mode == ModeDir {
				walk(p, e.ID)
			} else {
				out[p] = File{Mode: e.Mode, Content: t.blobs[e.ID]}
			}
		}
	}
	walk("", t.root)
	return out
}

var _ Tree = (*MemTree)(nil)
