// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"sort"

	"github.com/go-git/go-git/v5/plumbing"
)

// The modes of tree entries that matter here.
const (
	ModeDir        = 0o040000
	ModeFile       = 0o100644
	ModeExecutable = 0o100755
	ModeSymlink    = 0o120000
	ModeSubmodule  = 0o160000
)

// TreeEntry is one entry of a raw tree. Name aliases the tree.
type TreeEntry struct {
	Name []byte
	Mode uint32
	ID   plumbing.Hash
	// Start and End are its bytes in the tree.
	Start, End int
}

// IsDir reports whether the entry is a directory.
func (e TreeEntry) IsDir() bool { return e.Mode == ModeDir }

var errTree = errors.New("damaged tree")

// parseEntry reads the entry at an offset.
func parseEntry(raw []byte, at int) (TreeEntry, error) {
	e := TreeEntry{Start: at}
	i := at
	for ; i < len(raw) && raw[i] >= '0' && raw[i] <= '7' && i-at < 8; i++ {
		e.Mode = e.Mode<<3 | uint32(raw[i]-'0')
	}
	if i == at || i >= len(raw) || raw[i] != ' ' {
		return e, fmt.Errorf("%w: mode at byte %d", errTree, at)
	}
	n := bytes.IndexByte(raw[i+1:], 0)
	if n <= 0 || i+1+n+1+20 > len(raw) {
		return e, fmt.Errorf("%w: name at byte %d", errTree, i+1)
	}
	e.Name = raw[i+1 : i+1+n]
	e.End = i + 1 + n + 1 + 20
	copy(e.ID[:], raw[e.End-20:e.End])
	return e, nil
}

// Entries yields the entries of a raw tree in its order. Damage ends it with an error.
func Entries(raw []byte) iter.Seq2[TreeEntry, error] {
	return func(yield func(TreeEntry, error) bool) {
		for at := 0; at < len(raw); {
			e, err := parseEntry(raw, at)
			if !yield(e, err) || err != nil {
				return
			}
			at = e.End
		}
	}
}

// Tree is a raw tree with the offsets of its entries.
type Tree struct {
	Raw  []byte
	offs []int32
}

// NewTree indexes a raw tree. Entries out of Git's order are an error: an edit by position would corrupt them further.
func NewTree(raw []byte) (*Tree, error) {
	t := &Tree{Raw: raw, offs: make([]int32, 0, len(raw)/36+1)}
	var prev TreeEntry
	for e, err := range Entries(raw) {
		if err != nil {
			return nil, err
		}
		if len(t.offs) > 0 && compareKeys(prev.Name, prev.IsDir(), e.Name, e.IsDir()) >= 0 {
			return nil, fmt.Errorf("%w: entry %q is out of order", errTree, e.Name)
		}
		t.offs = append(t.offs, int32(e.Start)) //nolint:gosec // trees of 2 GiB do not exist
		prev = e
	}
	return t, nil
}

// Len is the number of entries.
func (t *Tree) Len() int { return len(t.offs) }

func (t *Tree) at(i int) TreeEntry {
	e, _ := parseEntry(t.Raw, int(t.offs[i])) // NewTree has read it
	return e
}

// search returns the index of the first entry at or behind a name.
func (t *Tree) search(name []byte, dir bool) int {
	return sort.Search(len(t.offs), func(i int) bool {
		e := t.at(i)
		return compareKeys(e.Name, e.IsDir(), name, dir) >= 0
	})
}

// index returns where the entry of a name is, whatever its kind.
func (t *Tree) index(name []byte) (int, TreeEntry, bool) {
	for _, dir := range []bool{false, true} {
		if i := t.search(name, dir); i < len(t.offs) {
			if e := t.at(i); e.IsDir() == dir && bytes.Equal(e.Name, name) {
				return i, e, true
			}
		}
	}
	return 0, TreeEntry{}, false
}

// Find returns the entry of a name, whatever its kind.
func (t *Tree) Find(name string) (TreeEntry, bool) {
	_, e, ok := t.index([]byte(name))
	return e, ok
}

// Change sets or removes one entry of a directory.
type Change struct {
	Name   string
	Remove bool
	Mode   uint32
	ID     plumbing.Hash
}

// step replaces the old entries [from, to) by one new entry or none.
type step struct {
	from, to int
	name     []byte
	dir      bool
	insert   []byte
}

// steps are the changes in Git's order.
func (t *Tree) steps(changes []Change) []step {
	steps := make([]step, 0, len(changes))
	for _, c := range changes {
		name := []byte(c.Name)
		i, old, found := t.index(name)
		if found && (c.Remove || old.IsDir() != (c.Mode == ModeDir)) {
			steps = append(steps, step{from: i, to: i + 1, name: name, dir: old.IsDir()})
			found = false
		}
		if c.Remove {
			continue
		}
		s := step{name: name, dir: c.Mode == ModeDir, from: i, to: i + 1}
		if !found {
			s.from = t.search(name, s.dir)
			s.to = s.from
		}
		s.insert = fmt.Appendf(nil, "%o %s\x00", c.Mode, c.Name)
		s.insert = append(s.insert, c.ID[:]...)
		steps = append(steps, s)
	}
	sort.Slice(steps, func(i, j int) bool {
		return compareKeys(steps[i].name, steps[i].dir, steps[j].name, steps[j].dir) < 0
	})
	return steps
}

// Splice returns the tree with changes and the delta that makes it of the old one. Names must be different from each
// other. Removing what is not there changes nothing. The cost is a copy of the tree, not a parse.
func (t *Tree) Splice(changes []Change) (*Tree, []byte) {
	d := NewDelta(t.Raw)
	next := &Tree{Raw: make([]byte, 0, len(t.Raw)+len(changes)*48), offs: make([]int32, 0, len(t.offs)+len(changes))}
	done := 0
	keep := func(to int) { // the old entries [done, to)
		if done >= to {
			return
		}
		start, end := int(t.offs[done]), t.start(to)
		shift := int32(len(next.Raw) - start) //nolint:gosec // see NewTree
		for _, off := range t.offs[done:to] {
			next.offs = append(next.offs, off+shift)
		}
		next.Raw = append(next.Raw, t.Raw[start:end]...)
		d.Copy(start, end)
		done = to
	}
	for _, s := range t.steps(changes) {
		keep(s.from)
		done = max(done, s.to)
		if s.insert != nil {
			next.offs = append(next.offs, int32(len(next.Raw))) //nolint:gosec // see NewTree
			next.Raw = append(next.Raw, s.insert...)
			d.Insert(s.insert)
		}
	}
	keep(len(t.offs))
	return next, d.Bytes()
}

// Diff returns what two trees differ in, in Git's order: the entries of t that next does not hold alike, and those of
// next that t does not. What both begin and end with is skipped by comparing bytes.
func (t *Tree) Diff(next *Tree) (gone, here []TreeEntry) {
	i, j := 0, 0
	endI, endJ := len(t.offs), len(next.offs)
	same := commonPrefix(t.Raw, next.Raw)
	i = sort.Search(endI, func(k int) bool { return t.start(k+1) > same })
	j = i // equal bytes hold equal entries
	tail := commonSuffix(t.Raw[t.start(i):], next.Raw[next.start(j):])
	for endI > i && endJ > j {
		left := len(t.Raw) - t.start(endI-1)
		if left > tail || left != len(next.Raw)-next.start(endJ-1) {
			break
		}
		endI, endJ = endI-1, endJ-1
	}
	for i < endI || j < endJ {
		switch c := t.compareAt(i, endI, next, j, endJ); {
		case c < 0:
			gone = append(gone, t.at(i))
			i++
		case c > 0:
			here = append(here, next.at(j))
			j++
		default:
			if a, b := t.at(i), next.at(j); a.Mode != b.Mode || a.ID != b.ID {
				gone, here = append(gone, a), append(here, b)
			}
			i, j = i+1, j+1
		}
	}
	return gone, here
}

// compareAt compares the entry i of t with the entry j of next in Git's order; a tree at its end comes last.
func (t *Tree) compareAt(i, endI int, next *Tree, j, endJ int) int {
	switch {
	case i == endI:
		return 1
	case j == endJ:
		return -1
	}
	a, b := t.at(i), next.at(j)
	return compareKeys(a.Name, a.IsDir(), b.Name, b.IsDir())
}

// block is how many bytes are compared at once.
const block = 512

func commonPrefix(a, b []byte) int {
	limit, n := min(len(a), len(b)), 0
	for n+block <= limit && bytes.Equal(a[n:n+block], b[n:n+block]) {
		n += block
	}
	for n < limit && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b []byte) int {
	limit, n := min(len(a), len(b)), 0
	for n+block <= limit && bytes.Equal(a[len(a)-n-block:len(a)-n], b[len(b)-n-block:len(b)-n]) {
		n += block
	}
	for n < limit && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	return n
}

// start is the offset of an entry; of the end for the entry behind the last.
func (t *Tree) start(i int) int {
	if i == len(t.offs) {
		return len(t.Raw)
	}
	return int(t.offs[i])
}

// compareKeys is Git's order of entries: a directory sorts as if its name ended in a slash.
func compareKeys(a []byte, aDir bool, b []byte, bDir bool) int {
	n := min(len(a), len(b))
	if c := bytes.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	return int(keyAt(a, aDir, n)) - int(keyAt(b, bDir, n))
}

// keyAt is the byte of a key at or just behind its end. Both ends equal means the same key.
func keyAt(name []byte, dir bool, i int) byte {
	switch {
	case i < len(name):
		return name[i]
	case dir:
		return '/'
	}
	return 0
}

// Cost is the memory a tree holds, in bytes.
func (t *Tree) Cost() int { return len(t.Raw) + 4*cap(t.offs) + 100 }
