// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
)

// Scan reads the folder at path ("" or "." is the repository root) and everything its kustomizations reach. prev is
// the Folder of an earlier tree, or nil; trees and blobs with the ids they had there are not read again. A missing
// folder is empty. The error is I/O or cancellation: a folder is never half known.
func Scan(ctx context.Context, t manifest.Tree, name string, prev *Folder) (*Folder, Stats, error) {
	s := newScanner(ctx, t, name, prev)
	f, err := s.scan()
	if err != nil {
		return nil, s.stats, fmt.Errorf("read folder %s: %w", dot(s.path), err)
	}
	return f, s.stats, nil
}

// scanner is the state of one Scan or Apply.
type scanner struct {
	ctx   context.Context //nolint:containedctx // lives as long as one call of Scan
	tree  *reader
	path  string
	prev  *Folder
	stats Stats
	roles roles
	// same reports that what prev knows of roles holds: the folder and its ignore rules are the same.
	same bool
	// known holds facts by blob id: of files that are gone, so that a moved file is not read again, and of this scan.
	known map[manifest.ID]*File
	// differences are those of the nodes of prev, found once.
	differences map[*dirNode]*difference
	// removed and added are the documents that change in the index.
	removed, added []*Document
	// structural reports a change that can matter to the layout.
	structural bool
}

func newScanner(ctx context.Context, t manifest.Tree, name string, prev *Folder) *scanner {
	s := &scanner{ctx: ctx, path: clean(name), known: map[manifest.ID]*File{}, differences: map[*dirNode]*difference{}}
	s.tree = &reader{t: t, stats: &s.stats, dirs: map[manifest.ID][]manifest.DirEntry{}}
	if prev != nil && prev.path == s.path {
		s.prev = prev
		s.tree.known = prev.above
	}
	return s
}

func (s *scanner) scan() (*Folder, error) {
	f := &Folder{path: s.path}
	top, blocked, err := s.tree.folder(s.path)
	if err != nil {
		return nil, err
	}
	f.blocked = blocked
	if err := s.readIgnore(f, top); err != nil {
		return nil, err
	}
	s.roles = roles{ignore: f.ignore, top: s.path == ""}
	var old *dirNode
	if s.prev != nil {
		s.same = s.prev.ignore.equal(f.ignore) && (s.prev.blocked == nil) == (blocked == nil)
		old = s.prev.root
	}
	if !s.same {
		// What a file is may have changed with the ignore rules, what its bytes say has not.
		old.walk(anyFile, s.remember)
		old = nil
	}
	if err := s.collect(old, top); err != nil {
		return nil, err
	}
	if f.root, err = s.dir(old, top, s.path); err != nil {
		return nil, err
	}
	if s.same {
		f.index = s.prev.index.update(s.removed, s.added)
	} else {
		f.index = newIndex().update(nil, s.added)
	}
	return f, s.resolve(f)
}

// readIgnore reads the folder's .gittargetignore, when it has one.
func (s *scanner) readIgnore(f *Folder, top manifest.ID) error {
	if s.prev != nil && s.prev.root != nil && s.prev.root.id == top && !top.IsZero() {
		f.ignore, f.ignoreID = s.prev.ignore, s.prev.ignoreID
		return nil
	}
	if s.prev != nil && s.prev.root != nil {
		d, err := s.differ(s.prev.root, top)
		if err != nil {
			return err
		}
		if !d.touches(IgnoreFileName) {
			f.ignore, f.ignoreID = s.prev.ignore, s.prev.ignoreID
			return nil
		}
	}
	list, err := s.tree.dir(top)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(e manifest.DirEntry) bool { return e.Name == IgnoreFileName && isFile(e.Mode) })
	if i < 0 {
		return nil
	}
	f.ignoreID = list[i].ID
	if s.prev != nil && s.prev.ignoreID == f.ignoreID {
		f.ignore = s.prev.ignore
		return nil
	}
	b, err := s.tree.blob(f.ignoreID)
	if err != nil {
		return fmt.Errorf("%s: %w", path.Join(s.path, IgnoreFileName), err)
	}
	f.ignore = ParseIgnore(b)
	return nil
}

// collect remembers what is known of files that are gone from their place, before anything new is read.
func (s *scanner) collect(old *dirNode, id manifest.ID) error {
	if old == nil || s.unchanged(old, id) {
		return nil
	}
	d, err := s.differ(old, id)
	if err != nil {
		return err
	}
	for _, c := range d.steps {
		switch {
		case c.old.dir != nil && c.next.Name != "":
			if err := s.collect(c.old.dir, c.next.ID); err != nil {
				return err
			}
		case c.old.dir != nil:
			c.old.dir.walk(anyFile, s.remember)
		case c.old.file != nil:
			s.remember(c.old.file)
		}
	}
	return nil
}

func (s *scanner) remember(f *File) bool {
	s.known[f.ID] = f
	return true
}

// unchanged reports whether a directory holds what its node says.
func (s *scanner) unchanged(old *dirNode, id manifest.ID) bool {
	return old != nil && old.id == id && !id.IsZero()
}

// dir returns the node of a directory, as much of the old one as possible in it.
func (s *scanner) dir(old *dirNode, id manifest.ID, at string) (*dirNode, error) {
	if s.unchanged(old, id) {
		return old, nil
	}
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	d, err := s.differ(old, id)
	if err != nil {
		return nil, err
	}
	var swaps []swap
	ignored := 0
	if !d.listed {
		ignored = old.ownIgnored()
	}
	for _, c := range d.steps {
		w := swap{old: c.old}
		if c.old == (entry{}) && c.gone.Name != "" && s.hides(c.gone, path.Join(at, c.gone.Name)) {
			ignored--
		}
		if c.next.Name != "" {
			var hidden bool
			if w.next, hidden, err = s.entry(c.old, c.next, path.Join(at, c.next.Name)); err != nil {
				return nil, err
			}
			if hidden {
				ignored++
			}
		}
		if w.old != w.next {
			swaps = append(swaps, w)
		}
	}
	return s.merge(old, swaps, id, at, ignored), nil
}

// hides reports whether an entry is not part of the folder because of its ignore rules.
func (s *scanner) hides(c manifest.DirEntry, at string) bool {
	rel := relative(s.path, at)
	if isDir(c.Mode) {
		skip, ignored := s.roles.skips(rel)
		return skip && ignored
	}
	_, visible := s.roles.of(rel, c.Mode)
	return !visible
}

// entry returns what becomes of one child of a directory; the zero entry for one that is no part of the folder.
func (s *scanner) entry(old entry, c manifest.DirEntry, at string) (e entry, ignored bool, err error) {
	rel := relative(s.path, at)
	if isDir(c.Mode) {
		skip, ignored := s.roles.skips(rel)
		if skip {
			return entry{}, ignored, nil
		}
		d, err := s.dir(old.dir, c.ID, at)
		return entry{dir: d}, false, err
	}
	role, visible := s.roles.of(rel, c.Mode)
	if !visible {
		return entry{}, true, nil
	}
	f, err := s.file(at, c, role)
	return entry{file: f}, false, err
}

// file reads a file, unless its bytes are known.
func (s *scanner) file(at string, c manifest.DirEntry, role Role) (*File, error) {
	f := &File{Path: at, ID: c.ID, Mode: c.Mode, Role: role}
	if !role.parsed() {
		return f, nil
	}
	if k := s.known[c.ID]; k != nil && k.Role.parsed() && (k.Path == at || len(k.ValueFiles) == 0) {
		f.copyFacts(k)
		return f, nil
	}
	b, err := s.tree.blob(c.ID)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	f.inspect(b, &s.stats)
	s.known[c.ID] = f
	return f, s.ctx.Err()
}

// copyFacts takes over what is known of the same bytes at another path.
func (f *File) copyFacts(k *File) {
	f.CRLF, f.BOM, f.Pointer, f.Aliases, f.ValueFiles = k.CRLF, k.BOM, k.Pointer, k.Aliases, k.ValueFiles
	f.Documents = slices.Clone(k.Documents)
	for i := range f.Documents {
		f.Documents[i].Path = f.Path
	}
}

// manyChanges is the number of changed children from which a directory is built anew.
const manyChanges = 16

// swap is a child of a directory before and after; one side may be the zero entry.
type swap struct{ old, next entry }

// merge makes the node of a directory from the node before and what changes, in Git's order.
func (s *scanner) merge(old *dirNode, swaps []swap, id manifest.ID, at string, ignored int) *dirNode {
	for _, w := range swaps {
		s.changed(w)
	}
	if old == nil || len(swaps) > manyChanges {
		return newDir(at, id, patched(old, swaps), ignored)
	}
	next := old
	for _, w := range swaps {
		if w.next == (entry{}) {
			next = next.without(path.Base(w.old.path()), w.old.dir != nil)
		} else {
			next = next.with(path.Base(w.next.path()), w.next)
		}
	}
	out := *next
	out.id = id
	out.sum.ignored += ignored - out.ownIgnored()
	return &out
}

// patched returns the children of a directory after swaps.
func patched(old *dirNode, swaps []swap) []entry {
	var out []entry
	take := func() {
		if e := swaps[0].next; e != (entry{}) {
			out = append(out, e)
		}
		swaps = swaps[1:]
	}
	for e := range old.all() {
		for len(swaps) > 0 && swaps[0].old == (entry{}) && before(swaps[0].next, e) {
			take()
		}
		if len(swaps) > 0 && swaps[0].old == e {
			take()
		} else {
			out = append(out, e)
		}
	}
	for len(swaps) > 0 {
		take()
	}
	return out
}

func before(a, b entry) bool { return a.compare(path.Base(b.path()), b.dir != nil) < 0 }

// changed notes which documents and which structure change with one child of a directory. What changed inside a
// directory on both sides, or in a new one, was noted when its node was made.
func (s *scanner) changed(w swap) {
	switch {
	case w.old.dir != nil && w.next.dir == nil:
		s.structural = true
		w.old.dir.walk(anyFile, func(f *File) bool { s.drop(f); return true })
	case w.old.file != nil:
		s.drop(w.old.file)
	}
	if w.next.file != nil {
		s.add(w.next.file)
	}
	if w.old.dir == nil && w.next.dir == nil &&
		(w.old.file == nil || w.next.file == nil || s.matters(w.old.file, w.next.file)) {
		s.structural = true
	}
}

// matters reports whether the layout can depend on the difference of two versions of a file.
func (s *scanner) matters(a, b *File) bool {
	return a.Role != Manifest || b.Role != Manifest || a.Aliases != b.Aliases || isFile(a.Mode) != isFile(b.Mode) ||
		s.prev == nil || s.prev.layout.NamesPatch(a.Path)
}

func (s *scanner) drop(f *File) {
	for i := range f.Documents {
		if d := &f.Documents[i]; f.claims(d) {
			s.removed = append(s.removed, d)
		}
	}
}

func (s *scanner) add(f *File) {
	for i := range f.Documents {
		if d := &f.Documents[i]; f.claims(d) {
			s.added = append(s.added, d)
		}
	}
}

// claims reports whether a document of the file claims an identity: artefacts hold settings, not objects.
func (f *File) claims(d *Document) bool { return f.Role == Manifest && d.Content == Managed }

// resolve finds the layout of the folder.
func (s *scanner) resolve(f *Folder) error {
	if s.same && !s.structural && !s.prev.layout.LooksOutside() {
		f.layout, f.above = s.prev.layout, s.prev.above
		if s.tree.used != nil {
			f.above = s.tree.used
		}
		return nil
	}
	var files []string
	f.root.walk(func(t totals) int { return t.kustomizations }, func(k *File) bool {
		files = append(files, k.Path)
		return true
	})
	src := &source{folder: f, tree: s.tree}
	var prev *layout.Layout
	if s.prev != nil {
		prev = s.prev.layout
	}
	var err error
	f.layout, err = layout.Resolve(s.ctx, src, s.path, files, prev)
	f.above = s.tree.used
	return err
}

func anyFile(t totals) int { return t.files }

func isDir(m manifest.Mode) bool { return m == manifest.ModeDir }
func isFile(m manifest.Mode) bool {
	return m == manifest.ModeFile || m == manifest.ModeExecutable || m == 0o100664
}

// clean gives a path from the repository root without leading or trailing slash; "" is the root.
func clean(p string) string { return strings.Trim(path.Clean("/"+p), "/") }

// within reports whether a path is dir or lies below it.
func within(dir, p string) bool { return dir == "" || p == dir || strings.HasPrefix(p, dir+"/") }

// relative returns a path below dir relative to it.
func relative(dir, p string) string { return strings.TrimPrefix(strings.TrimPrefix(p, dir), "/") }

func dot(p string) string {
	if p == "" {
		return "."
	}
	return p
}
