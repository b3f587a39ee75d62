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

// Find returns the entry of a name, whatever its kind.
func (t *Tree) Find(name string) (TreeEntry, bool) {
	n := []byte(name)
	for _, dir := range []bool{false, true} {
		if i := t.search(n, dir); i < len(t.offs) {
			if e := t.at(i); e.IsDir() == dir && bytes.Equal(e.Name, n) {
				return e, true
			}
		}
	}
	return TreeEntry{}, false
}

// Change sets or removes one entry of a directory.
type Change struct {
	Name   string
	Remove bool
	Mode   uint32
	ID     plumbing.Hash
}

// Splice returns the tree with changes and the delta that makes it of the old one. Names must be different from each
// other. Removing what is not there changes nothing.
func (t *Tree) Splice(changes []Change) (raw, delta []byte) {
	type step struct {
		start, end int // bytes of the old tree that go
		insert     []byte
		name       []byte
		dir        bool
	}
	steps := make([]step, 0, len(changes))
	for _, c := range changes {
		name := []byte(c.Name)
		old, found := t.Find(c.Name)
		if found && (c.Remove || old.IsDir() != (c.Mode == ModeDir)) {
			steps = append(steps, step{start: old.Start, end: old.End, name: name, dir: old.IsDir()})
			found = false
		}
		if c.Remove {
			continue
		}
		s := step{name: name, dir: c.Mode == ModeDir}
		s.insert = fmt.Appendf(nil, "%o %s\x00", c.Mode, c.Name)
		s.insert = append(s.insert, c.ID[:]...)
		if found {
			s.start, s.end = old.Start, old.End
		} else if i := t.search(name, s.dir); i < len(t.offs) {
			s.start = int(t.offs[i])
			s.end = s.start
		} else {
			s.start, s.end = len(t.Raw), len(t.Raw)
		}
		steps = append(steps, s)
	}
	sort.Slice(steps, func(i, j int) bool {
		return compareKeys(steps[i].name, steps[i].dir, steps[j].name, steps[j].dir) < 0
	})
	d := NewDelta(t.Raw)
	raw = make([]byte, 0, len(t.Raw)+len(changes)*48)
	pos := 0
	for _, s := range steps {
		raw = append(raw, t.Raw[pos:s.start]...)
		d.Copy(pos, s.start)
		raw = append(raw, s.insert...)
		if len(s.insert) > 0 {
			d.Insert(s.insert)
		}
		pos = s.end
	}
	raw = append(raw, t.Raw[pos:]...)
	d.Copy(pos, len(t.Raw))
	return raw, d.Bytes()
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
