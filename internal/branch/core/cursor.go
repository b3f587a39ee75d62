// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"slices"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// receipt follows one accepted item through windows, holds and writes until it is settled. It counts the parts that
// still carry the item: a window that goes back into the hold splits into several.
type receipt struct {
	open  int
	lost  bool
	cells []*cell
	// decided: the item was planned; what is lost from now on is not covered by it.
	decided bool
}

func (r *receipt) settled() bool { return r.open == 0 }

// entry is one accepted item in the order of its cell's stream.
type entry struct {
	rv       string
	r        *receipt
	snapshot bool
}

// cell is what the machine knows of one declared cell: the render gate's verdict, what was lost, and the items on
// their way, from which the cursor follows (decisions 29).
type cell struct {
	t       *target
	id      change.Cell
	entries []entry
	// lost: something of the cell was dropped or refused since the last accepted snapshot.
	lost bool
	// asked: a Request is out and no snapshot came since.
	asked    bool
	verdict  GateVerdict
	text     string
	reported *CellReport
	preview  *CellReport
}

// track notes an accepted item. Items of one receipt settle together, so only the last of a run matters.
func (c *cell) track(rv string, r *receipt, snapshot bool) {
	if n := len(c.entries); n > 0 && c.entries[n-1].r == r {
		if rv != "" {
			c.entries[n-1].rv = rv
		}
	} else {
		c.entries = append(c.entries, entry{rv: rv, r: r, snapshot: snapshot})
	}
	if !slices.Contains(r.cells, c) {
		r.cells = append(r.cells, c)
	}
}

// advance drops what is settled and returns the version below which all is published, empty when it did not move.
// A lost item holds the cursor until a later snapshot of the cell is settled: the snapshot stands for it.
func (c *cell) advance() string {
	last := -1
	for i, e := range c.entries {
		if e.snapshot && e.r.settled() && !e.r.lost {
			last = i
		}
	}
	rv, n := "", 0
	for n < len(c.entries) {
		e := c.entries[n]
		if !e.r.settled() || (e.r.lost && n > last) {
			break
		}
		if e.rv != "" {
			rv = e.rv
		}
		n++
	}
	c.compact(n, last)
	return rv
}

// compact keeps the entries from n on, without those the settled snapshot at last covers, and with runs of settled
// entries folded into one, so that the list is bounded by what is open.
func (c *cell) compact(n, last int) {
	kept := c.entries[:0]
	for i := n; i < len(c.entries); i++ {
		e := c.entries[i]
		if i < last && e.r.settled() {
			continue
		}
		k := len(kept)
		switch {
		case k == 0 || i <= last || !e.r.settled() || !kept[k-1].r.settled():
			kept = append(kept, e)
		case kept[k-1].r.lost:
		case e.r.lost:
			kept = append(kept, e)
		default:
			kept[k-1] = e
		}
	}
	clear(c.entries[len(kept):])
	c.entries = kept
}

// uncover takes the standing of a snapshot from those planned before something was lost: they may have found no
// difference only because of it.
func (c *cell) uncover() {
	for i := range c.entries {
		if c.entries[i].r.decided {
			c.entries[i].snapshot = false
		}
	}
}

// cursors turns settled receipts into Advance effects.
type cursors struct {
	m     *Machine
	dirty []*cell
}

// settle ends one part of each receipt.
func (k *cursors) settle(rs []*receipt, lost bool) {
	for _, r := range rs {
		r.open--
		r.lost = r.lost || lost
		if lost {
			for _, c := range r.cells {
				c.lost = true
				c.uncover()
			}
		}
		if r.settled() {
			k.mark(r.cells...)
		}
	}
}

// supersede ends one part of each receipt whose content a snapshot on its way stands for.
func (k *cursors) supersede(rs []*receipt) {
	for _, r := range rs {
		r.open--
		r.lost = true
		if r.settled() {
			k.mark(r.cells...)
		}
	}
}

// block holds a cell's cursor until its next snapshot, because one object of an accepted write was refused.
func (k *cursors) block(c *cell) {
	c.lost = true
	c.uncover()
	c.track("", &receipt{lost: true}, false)
	k.mark(c)
}

func (k *cursors) mark(cs ...*cell) {
	for _, c := range cs {
		if !slices.Contains(k.dirty, c) {
			k.dirty = append(k.dirty, c)
		}
	}
}

func (k *cursors) flush() {
	for _, c := range k.dirty {
		if rv := c.advance(); rv != "" && !c.t.gone && c.t.cells.byID[c.id] == c {
			k.m.emit(Advance{Target: c.t.key, Cell: c.id, RV: rv})
		}
	}
	clear(k.dirty)
	k.dirty = k.dirty[:0]
}
