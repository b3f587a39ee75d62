// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/configbutler/gitops-reverser/internal/gitstore/pack"
)

// Sizes from which a delta is worth it, in bytes.
const (
	minTreeDelta = 512
	minBlobDelta = 4096
)

// node is a name on the edited paths: a file, a directory, or a file that gives way to a directory of the same name.
type node struct {
	edit     *Edit
	children map[string]*node
}

// plant arranges the edits by directory.
func plant(edits []Edit) (*node, error) {
	root := &node{}
	for i := range edits {
		e := &edits[i]
		if err := checkPath(e.Path); err != nil {
			return nil, err
		}
		if e.Mode != 0 && e.Mode != pack.ModeFile && e.Mode != pack.ModeExecutable {
			return nil, &PathError{e.Path, fmt.Sprintf("mode %o is not written: only regular files are", e.Mode)}
		}
		n := root
		for part := range strings.SplitSeq(e.Path, "/") {
			if n.children == nil {
				n.children = map[string]*node{}
			}
			if n.children[part] == nil {
				n.children[part] = &node{}
			}
			n = n.children[part]
		}
		if n.edit != nil {
			return nil, &PathError{e.Path, "edited twice in one commit"}
		}
		n.edit = e
	}
	return root, nil
}

// writes reports whether anything is written (not only deleted) at or below a node.
func (n *node) writes() bool {
	if n.edit != nil && !n.edit.Delete {
		return true
	}
	for _, c := range n.children {
		if c.writes() {
			return true
		}
	}
	return false
}

// checkPath refuses what Git's own checks refuse in a tree.
func checkPath(p string) error {
	for part := range strings.SplitSeq(p, "/") {
		switch {
		case part == "" || part == "." || part == "..":
			return &PathError{p, "not a clean relative path"}
		case dotGit(part):
			return &PathError{p, fmt.Sprintf("%q is reserved by Git", part)}
		case strings.ContainsAny(part, "\x00"):
			return &PathError{p, "the path holds a NUL character"}
		}
	}
	return nil
}

// dotGit reports names that some file system takes for .git (git fsck's hasDotgit).
func dotGit(name string) bool {
	n := strings.ToLower(strings.Map(func(r rune) rune {
		switch { // code points HFS+ ignores
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, name))
	n, _, _ = strings.Cut(n, ":")
	n, _, _ = strings.Cut(n, "\\")
	n = strings.TrimRight(n, " .")
	return n == ".git" || n == "git~1"
}

// builder collects the objects of one commit.
type builder struct {
	s       *Store
	ctx     context.Context
	objects []*pack.Object
}

// dir rewrites one directory; the zero id is a directory that is not there, before or after.
func (b *builder) dir(old Hash, n *node, at string) (Hash, error) {
	t, err := b.s.tree(old)
	if err != nil {
		return Hash{}, err
	}
	var changes []pack.Change
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		if err := b.ctx.Err(); err != nil {
			return Hash{}, err
		}
		e, found := t.Find(name)
		c, err := b.child(e, found, name, n.children[name], at+name)
		if err != nil {
			return Hash{}, err
		}
		if c.Remove && found || !c.Remove && (!found || c.Mode != e.Mode || c.ID != e.ID) {
			changes = append(changes, c)
		}
	}
	if len(changes) == 0 {
		return old, nil
	}
	next, delta := t.Splice(changes)
	if len(next.Raw) == 0 {
		return Hash{}, nil
	}
	id := pack.ID(plumbing.TreeObject, next.Raw)
	if id == old {
		return old, nil
	}
	b.s.trees.put(id, next)
	b.addTree(id, next.Raw, old, t, delta)
	return id, nil
}

// child works out what becomes of one name.
func (b *builder) child(e pack.TreeEntry, found bool, name string, n *node, at string) (pack.Change, error) {
	keep := pack.Change{Name: name, Remove: !found, Mode: e.Mode, ID: e.ID}
	isDir := found && e.IsDir()
	deleted := n.edit != nil && n.edit.Delete
	if found && (e.Mode == pack.ModeSymlink || e.Mode == pack.ModeSubmodule) && (n.writes() || deleted) {
		return keep, &PathError{at, fmt.Sprintf("a %s is never followed or replaced", kindName(e.Mode))}
	}
	if found && !isDir && !deleted && len(n.children) > 0 {
		if n.writes() {
			return keep, &PathError{at, "it is a file, not a directory"}
		}
		return keep, nil // nothing below a file, so nothing to delete
	}
	if isDir && deleted && len(n.children) == 0 {
		return keep, &PathError{at, "it is a directory: only files are deleted"}
	}
	var sub Hash
	if isDir {
		sub = e.ID
	}
	if len(n.children) > 0 {
		var err error
		if sub, err = b.dir(sub, n, at+"/"); err != nil {
			return keep, err
		}
	}
	switch {
	case n.edit != nil && !deleted:
		if !sub.IsZero() {
			return keep, &PathError{at, "it is a directory, not a file"}
		}
		return b.file(e, found && !isDir, name, n.edit), nil
	case sub.IsZero():
		return pack.Change{Name: name, Remove: true}, nil
	}
	return pack.Change{Name: name, Mode: pack.ModeDir, ID: sub}, nil
}

func kindName(mode uint32) string {
	if mode == pack.ModeSubmodule {
		return "submodule"
	}
	return "symbolic link"
}

// file makes the blob of one edit.
func (b *builder) file(e pack.TreeEntry, found bool, name string, edit *Edit) pack.Change {
	c := pack.Change{Name: name, Mode: edit.Mode, ID: pack.ID(plumbing.BlobObject, edit.Content)}
	if c.Mode == 0 {
		c.Mode = pack.ModeFile
		if found {
			c.Mode = e.Mode
		}
	}
	if found && e.ID == c.ID {
		return c
	}
	o := b.add(plumbing.BlobObject, c.ID, edit.Content)
	if found && len(edit.Content) >= minBlobDelta {
		if old, err := b.s.read(e.ID, plumbing.BlobObject); err == nil {
			b.setDelta(o, e.ID, pack.Diff(old, edit.Content))
		}
	}
	return c
}

// addTree adds a tree as a delta of the one it replaces; the whole is kept only where the delta does not pay or the
// chain gets long.
func (b *builder) addTree(id Hash, raw []byte, old Hash, oldTree *pack.Tree, delta []byte) {
	if old.IsZero() || len(oldTree.Raw) < minTreeDelta || len(delta) > len(raw)/2 {
		b.add(plumbing.TreeObject, id, raw)
		return
	}
	depth := 1
	if o := b.s.lookup(old); o != nil {
		depth = o.Depth + 1
	}
	o := &pack.Object{ID: id, Type: plumbing.TreeObject, Size: len(raw), Depth: depth}
	if depth > pack.MaxDepth {
		o.Depth, o.Full = 0, b.s.deflate.Deflate(raw)
	}
	b.setDelta(o, old, delta)
	b.objects = append(b.objects, o)
}

func (b *builder) add(t plumbing.ObjectType, id Hash, raw []byte) *pack.Object {
	o := &pack.Object{ID: id, Type: t, Size: len(raw), Full: b.s.deflate.Deflate(raw)}
	b.objects = append(b.objects, o)
	return o
}

func (b *builder) setDelta(o *pack.Object, base Hash, delta []byte) {
	d := b.s.deflate.Deflate(delta)
	if o.Full != nil && len(d)+20 >= len(o.Full) {
		return
	}
	o.Base, o.Delta, o.DeltaSize = base, d, len(delta)
}
