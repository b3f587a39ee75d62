// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// intent is what the batch wants for one object: the last state of a window, an item of a snapshot, or a decided
// action.
type intent struct {
	// item belongs to the batch: it is shared, never changed.
	item   *change.Item
	op     change.Operation
	remove bool
	sweep  bool
	// decided is the action of a replay.
	decided *Decided
}

// intake turns a batch into intents.
type intake struct{ *planner }

// intents collapses the batch. Windows keep the order in which objects were first seen, snapshots the order of
// identities (git-writer 9.4).
func (p intake) intents() (upserts, removals []intent) {
	switch {
	case p.req.Decision != nil:
		return replayed(p.req.Decision)
	case p.req.Batch.Snapshot != nil:
		return p.snapshot(p.req.Batch.Snapshot), nil
	}
	for _, it := range collapse(p.req.Batch.Changes) {
		if it.remove {
			removals = append(removals, it)
		} else if p.worthy(it.item, it.op, false) {
			upserts = append(upserts, it)
		}
	}
	return upserts, removals
}

// collapse keeps the last change of each object.
func collapse(changes []change.Change) []intent {
	var out []intent
	at := map[change.ObjectID]int{}
	for i := range changes {
		c := &changes[i]
		it := intent{item: &c.Item, op: c.Operation, remove: c.Operation == change.Delete}
		if j, ok := at[c.Object]; ok {
			out[j] = it
			continue
		}
		at[c.Object] = len(out)
		out = append(out, it)
	}
	return out
}

func (p intake) snapshot(s *change.Snapshot) []intent {
	out := make([]intent, 0, len(s.Items))
	for i := range s.Items {
		if p.worthy(&s.Items[i], change.Update, true) {
			out = append(out, intent{item: &s.Items[i], op: change.Update})
		}
	}
	slices.SortStableFunc(out, func(a, b intent) int { return a.item.Object.Compare(b.item.Object) })
	// An object that is named twice counts once, as it was named last.
	kept := out[:0]
	for i := range out {
		if i+1 == len(out) || out[i].item.Object != out[i+1].item.Object {
			kept = append(kept, out[i])
		}
	}
	return kept
}

// worthy reports whether an item can be written; the others are reported and left alone, and so is their document
// (decision 35).
func (p intake) worthy(it *change.Item, op change.Operation, snapshot bool) bool {
	r := ObjectReport{Object: it.Object, Type: it.Type, Operation: op, Outcome: Skipped}
	switch {
	case it.Protected != "":
		r.Reason, r.Message = ReasonProtected, "left alone by the rule "+it.Protected
	case it.Object.Name == "":
		r.Reason, r.Message = ReasonNoName, "the object has no name yet"
	case it.Desired == nil && snapshot:
		r.Reason, r.Message = ReasonProtected, "the snapshot names the object without its content"
	default:
		return true
	}
	p.res.Report.add(r)
	return false
}

// replayed turns decided actions into intents.
func replayed(d *Decision) (upserts, removals []intent) {
	for i := range d.Actions {
		a := &d.Actions[i]
		it := intent{
			op: a.Operation, remove: a.Action == Remove, sweep: a.Sweep, decided: a,
			item: &change.Item{Object: a.Object, Type: a.Type, UID: a.UID, Desired: a.Desired, Mask: a.Mask},
		}
		if it.remove {
			removals = append(removals, it)
		} else {
			upserts = append(upserts, it)
		}
	}
	return upserts, removals
}
