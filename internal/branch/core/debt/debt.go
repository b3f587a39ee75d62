// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package debt

import (
	"maps"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// most bounds the objects of one debt.
const most = 1000

// Debt is what is owed to one target. W says why a snapshot was not written. The zero value owes nothing.
type Debt[W any] struct {
	objects map[change.ObjectID]change.Cell
	cells   map[change.Cell]W
}

// Object notes an object whose write was lost; past 1000 objects its cell is all that is remembered.
func (d *Debt[W]) Object(id change.ObjectID, c change.Cell, why W) {
	if len(d.objects) >= most {
		d.Cell(c, why)
		return
	}
	if d.objects == nil {
		d.objects = map[change.ObjectID]change.Cell{}
	}
	d.objects[id] = c
}

// Cell notes a cell whose snapshot was lost.
func (d *Debt[W]) Cell(c change.Cell, why W) {
	if d.cells == nil {
		d.cells = map[change.Cell]W{}
	}
	d.cells[c] = why
}

// Wrote notes an accepted live write of an object and reports whether it was owed.
func (d *Debt[W]) Wrote(id change.ObjectID) bool {
	_, owed := d.objects[id]
	delete(d.objects, id)
	return owed
}

// Paid notes an accepted snapshot of a cell: what was lost of it is written or gone.
func (d *Debt[W]) Paid(c change.Cell, declared func(change.Cell) bool) {
	over := func(o change.Cell) bool { return o == c || !declared(o) }
	maps.DeleteFunc(d.objects, func(_ change.ObjectID, o change.Cell) bool { return over(o) })
	maps.DeleteFunc(d.cells, func(o change.Cell, _ W) bool { return over(o) })
}

// Stale reports whether something is owed to a cell that is not declared.
func (d *Debt[W]) Stale(declared func(change.Cell) bool) bool {
	for _, c := range d.objects {
		if !declared(c) {
			return true
		}
	}
	for c := range d.cells {
		if !declared(c) {
			return true
		}
	}
	return false
}

// Why returns why the snapshot of a cell is owed.
func (d *Debt[W]) Why(c change.Cell) (why W, owed bool) {
	why, owed = d.cells[c]
	return why, owed
}

// Empty reports whether nothing is owed.
func (d *Debt[W]) Empty() bool { return len(d.objects) == 0 && len(d.cells) == 0 }
