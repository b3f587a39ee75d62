// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core/cursor"
	"github.com/configbutler/gitops-reverser/internal/change"
)

type receipt = cursor.Receipt[*cell]

// cell is what the machine knows of one declared cell: the items on their way, the render gate's verdict, the results
// of its snapshots.
type cell struct {
	cursor.Line[*cell]
	t  *target
	id change.Cell
	// asked is when the last Request went out to which no snapshot came since.
	asked   time.Time
	verdict GateVerdict
	text    string
	// blocked: its stream cannot be read, so it has no verdict to wait for.
	blocked  bool
	reported *CellReport
	preview  *CellReport
}

func newCell(t *target, id change.Cell) *cell {
	c := &cell{t: t, id: id}
	c.Owner = c
	return c
}

// advanced tells watch how far the cursor of a cell may go.
func (m *Machine) advanced(c *cell, version string) {
	if !c.t.gone && c.t.cells.byID[c.id] == c {
		m.emit(Advance{Target: c.t.key, Cell: c.id, RV: version})
	}
}
