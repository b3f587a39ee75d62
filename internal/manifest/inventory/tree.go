// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

// maxChunk bounds the entries of a chunk: the unit that is copied when a directory changes.
const maxChunk = 256

// dirNode is one directory. It is immutable: a change makes a new node that shares the other chunks. Entries are in
// Git's order, which is the order of full paths.
type dirNode struct {
	path   string
	id     manifest.ID // zero after Apply: the id of the new tree is not known
	chunks []*chunk
	sum    totals
}

type chunk struct {
	entries []entry
	sum     totals
}

// entry is one child: a directory or a file.
type entry struct {
	dir  *dirNode
	file *File
}

// totals are summed up the tree, so that a walk for something rare skips what holds none of it.
type totals struct {
	files, documents, managed, ignored, irregular, kustomizations, values, namespaces int
}

func (t *totals) add(o totals) {
	t.files += o.files
	t.documents += o.documents
	t.managed += o.managed
	t.ignored += o.ignored
	t.irregular += o.irregular
	t.kustomizations += o.kustomizations
	t.values += o.values
	t.namespaces += o.namespaces
}

func (e entry) totals() totals {
	if e.dir != nil {
		return e.dir.sum
	}
	f := e.file
	t := totals{files: 1, documents: len(f.Documents)}
	for i := range f.Documents {
		d := &f.Documents[i]
		if d.Content == Managed {
			t.managed++
		}
		if d.isNamespace() && f.claims(d) {
			t.namespaces++
		}
	}
	if f.irregular() {
		t.irregular = 1
	}
	if f.Role == Kustomization {
		t.kustomizations = 1
	}
	if len(f.ValueFiles) > 0 {
		t.values = 1
	}
	return t
}

// path returns the entry's path.
func (e entry) path() string {
	if e.dir != nil {
		return e.dir.path
	}
	return e.file.Path
}

// compare orders the entry against a name in Git's order: a directory sorts as if its name ended in a slash.
func (e entry) compare(name string, dir bool) int {
	p := e.path()
	own := p[strings.LastIndexByte(p, '/')+1:]
	return compareNames(own, e.dir != nil, name, dir)
}

// compareNames compares two names of one directory in Git's order without building the strings.
func compareNames(a string, aDir bool, b string, bDir bool) int {
	n := min(len(a), len(b))
	if c := strings.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	at := func(s string, dir bool) int {
		switch {
		case len(s) > n:
			return int(s[n]) + 1
		case dir:
			return int('/') + 1
		}
		return 0
	}
	if c := at(a, aDir) - at(b, bDir); c != 0 {
		return c
	}
	// "a/" against "a/…": names hold no slash, so only lengths are left.
	return len(a) - len(b)
}

func newChunk(entries []entry) *chunk {
	c := &chunk{entries: entries}
	for _, e := range entries {
		c.sum.add(e.totals())
	}
	return c
}

// newDir builds a directory from its children in Git's order.
func newDir(path string, id manifest.ID, entries []entry, ignored int) *dirNode {
	d := &dirNode{path: path, id: id}
	d.sum.ignored = ignored
	for part := range slices.Chunk(entries, maxChunk) {
		c := newChunk(slices.Clip(part))
		d.chunks = append(d.chunks, c)
		d.sum.add(c.sum)
	}
	return d
}

// find returns the place of a child, or where it would be inserted.
func (d *dirNode) find(name string, dir bool) (ci, ei int, found bool) {
	// The first chunk whose last entry is not before the name.
	ci = sort.Search(len(d.chunks), func(i int) bool {
		c := d.chunks[i].entries
		return c[len(c)-1].compare(name, dir) >= 0
	})
	if ci == len(d.chunks) {
		if ci == 0 {
			return 0, 0, false
		}
		return ci - 1, len(d.chunks[ci-1].entries), false
	}
	c := d.chunks[ci].entries
	ei = sort.Search(len(c), func(i int) bool { return c[i].compare(name, dir) >= 0 })
	return ci, ei, ei < len(c) && c[ei].compare(name, dir) == 0
}

func (d *dirNode) child(name string, dir bool) (entry, bool) {
	if d == nil {
		return entry{}, false
	}
	ci, ei, ok := d.find(name, dir)
	if !ok {
		return entry{}, false
	}
	return d.chunks[ci].entries[ei], true
}

// with returns the directory with a child added or replaced.
func (d *dirNode) with(name string, e entry) *dirNode {
	if len(d.chunks) == 0 {
		return d.spliced(0, 0, []entry{e})
	}
	ci, ei, found := d.find(name, e.dir != nil)
	old := d.chunks[ci].entries
	next := make([]entry, 0, len(old)+1)
	next = append(append(next, old[:ei]...), e)
	if found {
		ei++
	}
	return d.spliced(ci, 1, append(next, old[ei:]...))
}

// without returns the directory without a child.
func (d *dirNode) without(name string, dir bool) *dirNode {
	ci, ei, found := d.find(name, dir)
	if !found {
		return d
	}
	old := d.chunks[ci].entries
	return d.spliced(ci, 1, slices.Concat(old[:ei], old[ei+1:]))
}

// spliced replaces n chunks from ci on by the given entries.
func (d *dirNode) spliced(ci, n int, entries []entry) *dirNode {
	out := &dirNode{path: d.path}
	out.sum.ignored = d.ownIgnored()
	out.chunks = make([]*chunk, 0, len(d.chunks)+1)
	out.chunks = append(out.chunks, d.chunks[:ci]...)
	if len(entries) > maxChunk {
		half := len(entries) / 2
		out.chunks = append(out.chunks, newChunk(slices.Clip(entries[:half])), newChunk(slices.Clone(entries[half:])))
	} else if len(entries) > 0 {
		out.chunks = append(out.chunks, newChunk(entries))
	}
	out.chunks = append(out.chunks, d.chunks[ci+n:]...)
	for _, c := range out.chunks {
		out.sum.add(c.sum)
	}
	return out
}

// ownIgnored is the number of ignored entries directly in the directory.
func (d *dirNode) ownIgnored() int {
	n := d.sum.ignored
	for _, c := range d.chunks {
		n -= c.sum.ignored
	}
	return n
}

// entries iterates over the children in order.
func (d *dirNode) all() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		if d == nil {
			return
		}
		for _, c := range d.chunks {
			for _, e := range c.entries {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// walk calls yield for every file below d whose part of the tree has pick > 0; it stops when yield returns false.
func (d *dirNode) walk(pick func(totals) int, yield func(*File) bool) bool {
	if d == nil || pick(d.sum) == 0 {
		return true
	}
	for _, c := range d.chunks {
		if pick(c.sum) == 0 {
			continue
		}
		for _, e := range c.entries {
			switch {
			case e.dir != nil:
				if !e.dir.walk(pick, yield) {
					return false
				}
			case pick(e.totals()) > 0:
				if !yield(e.file) {
					return false
				}
			}
		}
	}
	return true
}

// file returns the file at a path relative to d.
func (d *dirNode) at(rel string) (entry, bool) {
	for d != nil {
		name, rest, more := strings.Cut(rel, "/")
		if !more {
			if e, ok := d.child(name, false); ok {
				return e, true
			}
			return d.child(name, true)
		}
		e, ok := d.child(name, true)
		if !ok {
			return entry{}, false
		}
		d, rel = e.dir, rest
	}
	return entry{}, false
}
