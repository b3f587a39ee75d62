// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cursor

import "slices"

// Receipt follows one accepted item until it is settled. It counts the parts that still carry the item: a window that
// goes back into the hold splits into several. T identifies the owner of a line.
type Receipt[T comparable] struct {
	parts int
	lost  bool
	// planned: what is lost from now on is not covered by the item.
	planned bool
	lines   []*Line[T]
}

// Open returns a receipt of one part.
func Open[T comparable]() *Receipt[T] { return &Receipt[T]{parts: 1} }

// Split adds n parts; each is closed on its own.
func (r *Receipt[T]) Split(n int) { r.parts += n }

// Planned notes that the item's content is decided.
func (r *Receipt[T]) Planned() { r.planned = true }

// Owners returns the owners of the streams the item came from.
func (r *Receipt[T]) Owners() (owners []T) {
	for _, l := range r.lines {
		owners = append(owners, l.Owner)
	}
	return owners
}

func (r *Receipt[T]) settled() bool { return r.parts == 0 }

type entry[T comparable] struct {
	version  string
	r        *Receipt[T]
	snapshot bool
	refused  bool
}

func (e *entry[T]) lost() bool { return e.refused || e.r.lost }

// Line is one stream: its accepted items in order, as far as they still matter.
type Line[T comparable] struct {
	Owner T
	// Lost: something of the stream was dropped or refused since the owner last cleared it.
	Lost    bool
	entries []entry[T]
}

// Track notes an accepted item with its resource version. Items of one receipt settle together, so only the last of a
// run matters.
func (l *Line[T]) Track(version string, r *Receipt[T], snapshot bool) {
	if n := len(l.entries); n > 0 && l.entries[n-1].r == r {
		if version != "" {
			l.entries[n-1].version = version
		}
	} else {
		l.entries = append(l.entries, entry[T]{version: version, r: r, snapshot: snapshot})
	}
	if !slices.Contains(r.lines, l) {
		r.lines = append(r.lines, l)
	}
}

// advance drops what is settled and returns the version below which all is published, empty when it did not move.
// A snapshot stands for lost items before it only when everything between is settled too: it may have found no
// difference because of what came between.
func (l *Line[T]) advance() string {
	settled, covered := 0, -1
	for settled < len(l.entries) && l.entries[settled].r.settled() {
		if e := &l.entries[settled]; e.snapshot && !e.lost() {
			covered = settled
		}
		settled++
	}
	version, n := "", 0
	for n < settled && (!l.entries[n].lost() || n < covered) {
		if l.entries[n].version != "" {
			version = l.entries[n].version
		}
		n++
	}
	l.compact(n)
	return version
}

// compact keeps the entries from n on, with runs of settled ones folded, so that the list is bounded by what is open.
func (l *Line[T]) compact(n int) {
	kept := l.entries[:0]
	for _, e := range l.entries[n:] {
		k := len(kept) - 1
		switch {
		case k < 0 || !e.r.settled() || !kept[k].r.settled():
			kept = append(kept, e)
		case e.snapshot && !e.lost():
			for k >= 0 && kept[k].r.settled() {
				k--
			}
			kept = append(kept[:k+1], e)
		case kept[k].lost():
		case e.lost():
			kept = append(kept, e)
		default:
			e.snapshot = kept[k].snapshot
			kept[k] = e
		}
	}
	clear(l.entries[len(kept):])
	l.entries = kept
}

// uncover takes the standing of a snapshot from those planned before something was lost: they may have found no
// difference only because of it.
func (l *Line[T]) uncover() {
	for i := range l.entries {
		if l.entries[i].r.planned {
			l.entries[i].snapshot = false
		}
	}
}

// Set closes receipts and remembers which lines may move.
type Set[T comparable] struct{ dirty []*Line[T] }

// Close ends one part of each receipt.
func (s *Set[T]) Close(rs []*Receipt[T], lost bool) {
	for _, r := range rs {
		r.parts--
		if r.settled() {
			s.mark(r.lines...)
		}
	}
	if lost {
		s.Doom(rs)
	}
}

// Doom notes that what the receipts stand for will not be published as it was accepted.
func (s *Set[T]) Doom(rs []*Receipt[T]) {
	for _, r := range rs {
		r.lost = true
		for _, l := range r.lines {
			l.Lost = true
			l.uncover()
		}
	}
}

// Supersede ends one part of each receipt whose content a snapshot on its way stands for.
func (s *Set[T]) Supersede(rs []*Receipt[T]) {
	for _, r := range rs {
		r.parts--
		r.lost = true
		if r.settled() {
			s.mark(r.lines...)
		}
	}
}

// Refuse holds a line until its next snapshot: the item went through, one object of this stream in it did not.
func (s *Set[T]) Refuse(l *Line[T], rs []*Receipt[T]) {
	l.Lost = true
	l.uncover()
	for i := range l.entries {
		if slices.Contains(rs, l.entries[i].r) {
			l.entries[i].refused = true
		}
	}
}

func (s *Set[T]) mark(ls ...*Line[T]) {
	for _, l := range ls {
		if !slices.Contains(s.dirty, l) {
			s.dirty = append(s.dirty, l)
		}
	}
}

// Flush calls moved for every line that advanced, in the order in which they became ready.
func (s *Set[T]) Flush(moved func(owner T, version string)) {
	for _, l := range s.dirty {
		if v := l.advance(); v != "" {
			moved(l.Owner, v)
		}
	}
	clear(s.dirty)
	s.dirty = s.dirty[:0]
}
