// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"maps"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// most bounds the objects of one debt.
const most = 1000

// debt is what refused or failed writes left undone. W says why a snapshot was not written. The zero value owes nothing.
type debt[W any] struct {
	objects map[change.ObjectID]change.Cell
	cells   map[change.Cell]W
}

// object notes an object whose write was lost; past 1000 objects its cell is all that is remembered.
func (d *debt[W]) object(id change.ObjectID, c change.Cell, why W) {
	if len(d.objects) >= most {
		d.cell(c, why)
		return
	}
	if d.objects == nil {
		d.objects = map[change.ObjectID]change.Cell{}
	}
	d.objects[id] = c
}

// cell notes a cell whose snapshot was lost.
func (d *debt[W]) cell(c change.Cell, why W) {
	if d.cells == nil {
		d.cells = map[change.Cell]W{}
	}
	d.cells[c] = why
}

// wrote notes an accepted live write of an object and reports whether it was owed.
func (d *debt[W]) wrote(id change.ObjectID) bool {
	_, owed := d.objects[id]
	delete(d.objects, id)
	return owed
}

// paid notes an accepted snapshot of a cell: what was lost of it is written or gone.
func (d *debt[W]) paid(c change.Cell, declared func(change.Cell) bool) {
	over := func(o change.Cell) bool { return o == c || !declared(o) }
	maps.DeleteFunc(d.objects, func(_ change.ObjectID, o change.Cell) bool { return over(o) })
	maps.DeleteFunc(d.cells, func(o change.Cell, _ W) bool { return over(o) })
}

// stale reports whether something is owed to a cell that is not declared.
func (d *debt[W]) stale(declared func(change.Cell) bool) bool {
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

// why returns why the snapshot of a cell is owed.
func (d *debt[W]) why(c change.Cell) (why W, owed bool) {
	why, owed = d.cells[c]
	return why, owed
}

// empty reports whether nothing is owed.
func (d *debt[W]) empty() bool { return len(d.objects) == 0 && len(d.cells) == 0 }
