// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"bytes"
	"context"
	"strconv"
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
)

// filter is the chain that live events pass (watch 11), with what it remembers. It belongs to a stream's goroutine.
type filter struct {
	*env
	col       Collection
	voice     *voice
	scanner   *cluster.Scanner
	selection *selection
	baseline  baseline
	// mark is the version after which a resume starts. It moves only over what was accepted or needs no acceptance.
	mark []byte
}

func newFilter(e *env, col Collection, v *voice) *filter {
	return &filter{env: e, col: col, voice: v, scanner: cluster.NewScanner(), baseline: baseline{}}
}

// prepare parses the collection's selectors.
func (f *filter) prepare() error {
	var err error
	f.selection, err = newSelection(f.col)
	return err
}

// event passes one live event and offers what is left of it. An error ends the session with mark and baseline unchanged.
func (f *filter) event(ctx context.Context, fr cluster.Frame) error {
	h, ok := f.scanner.Head(fr.Object)
	if !ok || !f.inScope(&h) {
		f.recorder.Event(f.target, f.col.Type, OutcomeNotObject)
		return nil
	}
	key := keyOf(&h)
	was, known := f.baseline[key]
	if fr.Type == cluster.Modified && known && was.raw == h.Hash && f.selection.all&opUpdate != 0 && !h.Deleting {
		// The common case, status and heartbeats: nothing is decoded and nothing is allocated.
		return f.pass(&h, OutcomeUnchanged)
	}
	began := f.clock.Now()
	defer func() { f.recorder.Handled(f.col.Type, f.clock.Since(began)) }()
	op, outcome := f.operation(fr.Type, &h, was, known)
	switch {
	case outcome != "":
		if fr.Type == cluster.Deleted && was.gone {
			delete(f.baseline, key)
		}
		return f.pass(&h, outcome)
	case op == change.Delete:
		return f.remove(ctx, fr.Type, &h, began)
	}
	return f.write(ctx, fr, &h, op, began)
}

// inScope reports whether an object lies in the collection's namespace.
func (f *filter) inScope(h *cluster.Head) bool {
	return len(h.Name) > 0 && (f.col.Namespace == "" || string(h.Namespace) == f.col.Namespace)
}

// pass moves the mark over an event that needs no acceptance, or was accepted.
func (f *filter) pass(h *cluster.Head, outcome string) error {
	// A removal repeated behind its snapshot is older than the mark.
	if len(h.ResourceVersion) > 0 && !older(h.ResourceVersion, f.mark) {
		f.mark = append(f.mark[:0], h.ResourceVersion...)
	}
	f.recorder.Event(f.target, f.col.Type, outcome)
	return nil
}

// older reports that version a is before b, where both are numbers.
func older(a, b []byte) bool {
	for _, v := range [...][]byte{a, b} {
		for _, c := range v {
			if c < '0' || c > '9' {
				return false
			}
		}
	}
	return len(a) < len(b) || len(a) == len(b) && bytes.Compare(a, b) < 0
}

// operation says what an event means for the rules; outcome is set when they do not want it. A deletionTimestamp makes
// a DELETE of it; so does leaving the selection, which the API server reports as DELETED where it selects itself.
func (f *filter) operation(t cluster.EventType, h *cluster.Head, was accepted, known bool) (change.Operation, string) {
	wanted, selected := f.selection.wanted(h.Labels)
	if !selected {
		if !known {
			return "", OutcomeUnchanged
		}
		wanted = f.selection.all
	}
	var op change.Operation
	switch {
	case t == cluster.Deleted || h.Deleting || !selected:
		op = change.Delete
	case t == cluster.Added || len(f.selection.clauses) > 0 && !known:
		op = change.Create
	default:
		op = change.Update
	}
	if op == change.Delete && was.gone {
		// Its removal was accepted when the deletion was requested.
		return op, OutcomeUnchanged
	}
	if wanted&bit(op) == 0 {
		f.member(h, selected, known)
		return op, OutcomeOperationFiltered
	}
	return op, ""
}

// member remembers that an object is in an in-process selection although its operation is not wanted, so that a later
// event of it is an update. Without clauses a filtered event never touches the baseline.
func (f *filter) member(h *cluster.Head, selected, known bool) {
	if len(f.selection.clauses) > 0 && selected && !known && !h.Deleting {
		f.baseline[keyOf(h)] = accepted{}
	}
}

// remove offers a removal.
func (f *filter) remove(ctx context.Context, t cluster.EventType, h *cluster.Head, at time.Time) error {
	c := change.Change{
		Target: f.target, Cell: f.col.Cell(), Operation: change.Delete, Item: f.identity(h), ReceivedAt: at,
	}
	if err := f.offer(ctx, &c); err != nil {
		return err
	}
	if t == cluster.Deleted || !h.Deleting {
		delete(f.baseline, keyOf(h))
	} else {
		f.baseline[keyOf(h)] = accepted{gone: true}
	}
	return f.pass(h, OutcomeRouted)
}

// write sanitizes and offers a creation or an update.
func (f *filter) write(ctx context.Context, fr cluster.Frame, h *cluster.Head, op change.Operation, at time.Time) error {
	item, err := f.sanitize(fr.Object, f.col.Type)
	if err != nil {
		f.log.Error(err, "an object cannot be mirrored", "type", f.col.Type.GroupResource())
		return f.pass(h, OutcomeNotObject)
	}
	key := keyOf(h)
	if item.Protected != "" {
		// Nothing to write and nothing to compare with later; the raw hash still skips its heartbeats.
		f.baseline[key] = accepted{raw: h.Hash}
		return f.pass(h, OutcomeUnchanged)
	}
	now := accepted{raw: h.Hash, content: contentOf(&item)}
	if f.baseline[key].content == now.content {
		f.baseline[key] = now
		return f.pass(h, OutcomeUnchanged)
	}
	c := change.Change{Target: f.target, Cell: f.col.Cell(), Operation: op, Item: item, ReceivedAt: at}
	if err := f.offer(ctx, &c); err != nil {
		return err
	}
	f.baseline[key] = now
	return f.pass(h, OutcomeRouted)
}

// identity returns an item without content, from the raw head.
func (f *filter) identity(h *cluster.Head) change.Item {
	t := f.col.Type
	return change.Item{
		Object: change.ObjectID{Group: t.Group, Kind: t.Kind, Namespace: plain(h.Namespace), Name: plain(h.Name)},
		Type:   t, UID: plain(h.UID), ResourceVersion: plain(h.ResourceVersion),
	}
}

// plain resolves the escapes of a raw JSON string.
func plain(raw []byte) string {
	if bytes.IndexByte(raw, '\\') >= 0 {
		if t, err := strconv.Unquote(`"` + string(raw) + `"`); err == nil {
			return t
		}
	}
	return string(raw)
}
