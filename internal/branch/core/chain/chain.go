// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package chain

import "slices"

// Link is what the chain needs of a write; writes embed it. C is a commit id, its zero value no commit.
type Link[C comparable] struct {
	// Seq is the write's place in the order.
	Seq uint64
	// Bytes is what the write is charged.
	Bytes int64
	// Decided: its first plan is over.
	Decided bool
	// Commit is its local commit in the present chain, zero for a write without a difference; valid while built.
	Commit C
}

// Place gives the chain its part of a write.
func (l *Link[C]) Place() *Link[C] { return l }

// Write is a pending write.
type Write[C comparable] interface {
	comparable
	Place() *Link[C]
}

// List is the pending writes in order. The zero value is empty. All is for reading; it changes through the methods.
type List[W Write[C], C comparable] struct {
	All   []W
	built int
	// waiting counts undecided writes; bytes is what all of them are charged.
	waiting int
	bytes   int64
	// rebuild is the first write whose local commit must be made anew before the next push; zero = none.
	rebuild uint64
}

// Built returns the writes with a place in the present chain, Rest those without.
func (l *List[W, C]) Built() []W { return l.All[:l.built] }
func (l *List[W, C]) Rest() []W  { return l.All[l.built:] }

// Waiting returns the number of undecided writes, Bytes what all of them are charged.
func (l *List[W, C]) Waiting() int { return l.waiting }
func (l *List[W, C]) Bytes() int64 { return l.bytes }

// Insert puts a write at its place. What was built behind it must be built again.
func (l *List[W, C]) Insert(w W) {
	p := w.Place()
	i := slices.IndexFunc(l.All, func(o W) bool { return o.Place().Seq > p.Seq })
	if i < 0 {
		i = len(l.All)
	}
	l.Unbuild(i)
	l.All = slices.Insert(l.All, i, w)
	l.bytes += p.Bytes
	if !p.Decided {
		l.waiting++
	}
}

// Forward lets a write that has no place yet go before the one in front of it; they change numbers.
func (l *List[W, C]) Forward(i int) {
	a, b := l.All[i-1], l.All[i]
	l.All[i-1], l.All[i] = b, a
	a.Place().Seq, b.Place().Seq = b.Place().Seq, a.Place().Seq
}

// Drop takes a write out. What is built behind it keeps its place.
func (l *List[W, C]) Drop(w W) {
	i := slices.Index(l.All, w)
	l.All = slices.Delete(l.All, i, i+1)
	if i < l.built {
		l.built--
	}
	p := w.Place()
	if !p.Decided {
		l.waiting--
	}
	l.bytes -= p.Bytes
}

// Decide notes that a write's first plan is over and what its decision holds on to; zero keeps the old charge.
func (l *List[W, C]) Decide(w W, bytes int64) {
	p := w.Place()
	p.Decided = true
	l.waiting--
	if bytes > 0 {
		l.bytes += bytes - p.Bytes
		p.Bytes = bytes
	}
}

// Grow gives the next write its place: its Commit is set.
func (l *List[W, C]) Grow() { l.built++ }

// Next is the first write without a place in the present chain, zero when there is none.
func (l *List[W, C]) Next() (w W) {
	if l.built < len(l.All) {
		return l.All[l.built]
	}
	return w
}

// Head is the tip of the present chain on a base.
func (l *List[W, C]) Head(base C) C {
	var none C
	for i := l.built - 1; i >= 0; i-- {
		if c := l.All[i].Place().Commit; c != none {
			return c
		}
	}
	return base
}

// Prefix returns the tip and the number of writes of the next push: all that are built, writes without a difference
// behind the tip included, or with one only those up to the first commit. Zero writes: no commit is built.
func (l *List[W, C]) Prefix(one bool) (tip C, n int) {
	var none C
	for i, w := range l.Built() {
		c := w.Place().Commit
		if c == none {
			continue
		}
		tip, n = c, i+1
		if one {
			return tip, n
		}
	}
	if n > 0 {
		n = l.built
	}
	return tip, n
}

// Even is the number of built writes in front of the first commit: the remote's word about the base confirms them.
func (l *List[W, C]) Even() (n int) {
	var none C
	for n < l.built && l.All[n].Place().Commit == none {
		n++
	}
	return n
}

// Unbuild forgets the local commits from position i on.
func (l *List[W, C]) Unbuild(i int) {
	var none C
	for j := i; j < l.built; j++ {
		l.All[j].Place().Commit = none
	}
	l.built = min(l.built, i)
}

// Again asks for new local commits from seq on. It waits for Rebuild: the answer to a push counts writes.
func (l *List[W, C]) Again(seq uint64) {
	if l.rebuild == 0 || seq < l.rebuild {
		l.rebuild = seq
	}
}

// Rebuild carries out what Again asked for.
func (l *List[W, C]) Rebuild() {
	if l.rebuild == 0 {
		return
	}
	if i := slices.IndexFunc(l.All, func(w W) bool { return w.Place().Seq >= l.rebuild }); i >= 0 {
		l.Unbuild(i)
	}
	l.rebuild = 0
}
