// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"slices"
	"time"

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
	// asked is when the last Request went out to which no snapshot came since.
	asked    time.Time
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
// A lost item holds the cursor until a later snapshot of the cell, and everything between, is settled: the snapshot
// stands for it, and may have found no difference only because of what came between.
func (c *cell) advance() string {
	settled, covered := 0, -1
	for settled < len(c.entries) && c.entries[settled].r.settled() {
		if e := c.entries[settled]; e.snapshot && !e.r.lost {
			covered = settled
		}
		settled++
	}
	rv, n := "", 0
	for n < settled && (!c.entries[n].r.lost || n < covered) {
		if c.entries[n].rv != "" {
			rv = c.entries[n].rv
		}
		n++
	}
	c.compact(n)
	return rv
}

// compact keeps the entries from n on, with runs of settled ones folded, so that the list is bounded by what is open.
func (c *cell) compact(n int) {
	kept := c.entries[:0]
	for _, e := range c.entries[n:] {
		k := len(kept) - 1
		switch {
		case k < 0 || !e.r.settled() || !kept[k].r.settled():
			kept = append(kept, e)
		case e.snapshot && !e.r.lost:
			for k >= 0 && kept[k].r.settled() {
				k--
			}
			kept = append(kept[:k+1], e)
		case kept[k].r.lost:
		case e.r.lost:
			kept = append(kept, e)
		default:
			e.snapshot = kept[k].snapshot
			kept[k] = e
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
		if r.settled() {
			k.mark(r.cells...)
		}
	}
	if lost {
		k.doom(rs)
	}
}

// doom notes that what the receipts stand for will not reach the remote as it was accepted.
func (k *cursors) doom(rs []*receipt) {
	for _, r := range rs {
		r.lost = true
		for _, c := range r.cells {
			c.lost = true
			c.uncover()
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
