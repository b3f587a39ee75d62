// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core/pace"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// Trouble is a lasting failure for observers (decisions 32). R is the type of its reason.
type Trouble[R ~string] struct {
	Reason R
	Text   string
	Since  time.Time
	// Next is when the machine tries again by itself; zero when only a change of input can help.
	Next time.Time
}

// Refusal is why a flush was refused as a whole.
type Refusal struct {
	// Reason and Text are those of the condition GitPathAccepted.
	Reason string
	Text   string
	// Since is set by the machine.
	Since time.Time
	// FromRead: the refusal was found by reading the folder, not by a write; a clean read clears it.
	FromRead bool
}

// Why says why snapshots are asked for.
type Why uint8

// The causes: the folder or an object is well again, a write was lost, a person changed something.
const (
	Healed Why = iota
	Lost
	Configured
)

// Target is what the health of a target needs of the machine.
type Target interface {
	Now() time.Time
	// Changed: observers see something else now.
	Changed()
	// Follows reports whether snapshots of a cell come.
	Follows(change.Cell) bool
	// Cells lists the cells in order, with whether something of each was dropped or refused.
	Cells(func(c change.Cell, lost bool))
	Ask(change.Cell, Why)
}

// Write is a pending write: its live changes, or the cell of its snapshot.
type Write struct {
	Changes []change.Change
	Cell    *change.Cell
	// Rootless: no snapshot could make up for it.
	Rootless bool
}

// Health is the state of one target. The zero value is well.
type Health[R ~string] struct {
	// Refusal is set while the folder or an edit is refused; undone is what refused writes left.
	Refusal *Refusal
	undone  debt[Refusal]
	// Failure is the last write that failed by itself, lost what such writes left; failures counts them in a row, for
	// the ladder of new snapshots.
	Failure  *Trouble[R]
	lost     debt[struct{}]
	failures int
	// Rejected is set while the remote refuses a write; denied are the cells whose snapshot it refused.
	Rejected *Trouble[R]
	denied   debt[struct{}]
	// Touch asks for a reading of the folder.
	Touch bool
}

// Declared looks at the folder anew when a refused cell is not followed any more: nothing else would.
func (h *Health[R]) Declared(t Target) {
	if h.undone.stale(t.Follows) {
		h.Touch = true
	}
	if h.Failure != nil {
		h.lost.paid(change.Cell{}, t.Follows)
		h.recovered(t)
	}
	h.denied.paid(change.Cell{}, t.Follows)
}

// Refused notes a refused write; objects are those a snapshot would have changed.
func (h *Health[R]) Refused(t Target, w Write, r *Refusal, objects []change.ObjectID) {
	h.refuse(t, r, false)
	for i := range w.Changes {
		h.undone.object(w.Changes[i].Object, w.Changes[i].Cell, *h.Refusal)
	}
	if w.Cell == nil {
		h.Touch = h.Touch || h.undone.stale(t.Follows)
		return
	}
	h.undone.cell(*w.Cell, *h.Refusal)
	for _, id := range objects {
		h.undone.object(id, *w.Cell, *h.Refusal)
	}
}

func (h *Health[R]) refuse(t Target, r *Refusal, read bool) {
	n := Refusal{Reason: "UnsupportedContent", FromRead: read, Since: t.Now()}
	if r != nil {
		n.Reason, n.Text = r.Reason, r.Text
	}
	if old := h.Refusal; old != nil {
		n.Since, n.FromRead = old.Since, old.FromRead && read
	}
	h.Refusal = &n
	t.Changed()
}

// Accepted notes that a write passed. A refusal ends when every cell it touched had an accepted snapshot; a live write
// never ends it, but when it holds an object that was refused, those snapshots are asked for (decisions 62).
func (h *Health[R]) Accepted(t Target, w Write) {
	if w.Cell != nil {
		h.failures = 0
		h.passed(t, *w.Cell)
		return
	}
	hit := false
	for i := range w.Changes {
		id := w.Changes[i].Object
		h.lost.wrote(id)
		hit = h.undone.wrote(id) || hit
	}
	h.recovered(t)
	t.Cells(func(c change.Cell, lost bool) {
		if _, owed := h.undone.why(c); hit && (lost || owed) {
			t.Ask(c, Healed)
		}
	})
}

// passed notes an accepted snapshot of a cell. What is still refused is what the refusal says from now on.
func (h *Health[R]) passed(t Target, cell change.Cell) {
	h.lost.paid(cell, t.Follows)
	h.recovered(t)
	h.undone.paid(cell, t.Follows)
	if h.undone.empty() {
		h.clear(t)
		return
	}
	first := true
	t.Cells(func(c change.Cell, _ bool) {
		if r, owed := h.undone.why(c); owed && first {
			h.Refusal.Reason, h.Refusal.Text, first = r.Reason, r.Text, false
			t.Changed()
		}
	})
}

// recovered ends a failure when later writes made up for it.
func (h *Health[R]) recovered(t Target) {
	if h.Failure != nil && h.lost.empty() {
		h.Failure = nil
		t.Changed()
	}
}

func (h *Health[R]) clear(t Target) {
	h.undone = debt[Refusal]{}
	if h.Refusal != nil {
		h.Refusal = nil
		t.Changed()
	}
}

// Read takes the result of reading the folder: refused, or clean.
func (h *Health[R]) Read(t Target, refused bool, r *Refusal) {
	switch old := h.Refusal; {
	case refused:
		h.refuse(t, r, true)
	case old == nil:
	case old.FromRead:
		h.clear(t)
		ask(t, false, Healed)
	default:
		ask(t, true, Healed)
	}
}

// Failed notes a write that failed by itself and schedules snapshots that re-derive what it lost, on the ladder.
func (h *Health[R]) Failed(t Target, w Write, why R, text string, lowest, highest time.Duration) {
	for i := range w.Changes {
		if c := w.Changes[i].Cell; t.Follows(c) {
			h.lost.object(w.Changes[i].Object, c, struct{}{})
		}
	}
	if w.Cell != nil && t.Follows(*w.Cell) {
		h.lost.cell(*w.Cell, struct{}{})
	}
	if h.lost.empty() && !w.Rootless {
		return // of types that are not followed any more: nothing could make up for it
	}
	h.failures++
	since := t.Now()
	if h.Failure != nil {
		since = h.Failure.Since
	}
	next := t.Now().Add(pace.Ladder(h.failures, lowest, highest))
	h.Failure = &Trouble[R]{Reason: why, Text: text, Since: since, Next: next}
	t.Changed()
}

// Deny notes a write that the remote refuses. What is not set aside but a snapshot stays denied until one lands.
func (h *Health[R]) Deny(t Target, w Write, why R, text string) {
	since := t.Now()
	if h.Rejected != nil {
		since = h.Rejected.Since
	}
	h.Rejected = &Trouble[R]{Reason: why, Text: text, Since: since}
	if w.Cell != nil && t.Follows(*w.Cell) {
		h.denied.cell(*w.Cell, struct{}{})
	}
	t.Changed()
}

// Landed notes that a snapshot of a cell is on the remote.
func (h *Health[R]) Landed(t Target, c change.Cell) { h.denied.paid(c, t.Follows) }

// Admitted ends a rejection when neither a snapshot nor a write set aside is kept away from the remote.
func (h *Health[R]) Admitted(t Target, aside bool) {
	if h.Rejected != nil && !aside && h.denied.empty() {
		h.Rejected = nil
		t.Changed()
	}
}

// Configured reacts to a change that may cure what was refused or failed.
func (h *Health[R]) Configured(t Target) { ask(t, h.Refusal != nil, Configured) }

// Expire asks for what failed when its pause is over.
func (h *Health[R]) Expire(t Target) {
	if f := h.Failure; f != nil && pace.Due(f.Next, t.Now()) {
		f.Next = time.Time{}
		ask(t, false, Lost)
	}
}

// Due adds when Expire has something to do.
func (h *Health[R]) Due(next *pace.Soonest) {
	if h.Failure != nil {
		next.Add(h.Failure.Next)
	}
}

// ask asks for every cell, or for those of which something was dropped or refused.
func ask(t Target, every bool, why Why) {
	t.Cells(func(c change.Cell, lost bool) {
		if every || lost {
			t.Ask(c, why)
		}
	})
}
