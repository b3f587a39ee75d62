// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
)

const (
	offerBackoffMin = 100 * time.Millisecond
	offerBackoffMax = 5 * time.Second
)

// errStopped ends a session whose worker is going away.
var errStopped = errors.New("the branch worker has stopped")

// event passes one live event through the filter chain (watch 11) and offers what is left. An error ends the session
// with mark and baseline unchanged.
func (s *stream) event(ctx context.Context, f cluster.Frame) error {
	h, ok := s.scanner.Head(f.Object)
	if !ok || !s.inScope(&h) {
		s.recorder.Event(s.target, s.col.Type, OutcomeNotObject)
		return nil
	}
	key := keyOf(&h)
	was, known := s.baseline[key]
	if f.Type == cluster.Modified && known && was.raw == h.Hash && s.selection.all&opUpdate != 0 && !h.Deleting {
		// The common case, status and heartbeats: nothing is decoded and nothing is allocated.
		return s.pass(&h, OutcomeUnchanged)
	}
	began := s.clock.Now()
	defer func() { s.recorder.Handled(s.col.Type, s.clock.Since(began)) }()
	op, outcome := s.operation(f.Type, &h, was, known)
	switch {
	case outcome != "":
		if f.Type == cluster.Deleted && was.gone {
			delete(s.baseline, key)
		}
		return s.pass(&h, outcome)
	case op == change.Delete:
		return s.remove(ctx, f.Type, &h, key, began)
	}
	return s.write(ctx, f, &h, key, op, began)
}

// pass moves the mark over an event that needs no acceptance.
func (s *stream) pass(h *cluster.Head, outcome string) error {
	s.moveMark(h)
	s.recorder.Event(s.target, s.col.Type, outcome)
	return nil
}

// operation says what an event means for the rules; outcome is set when they do not want it. A deletionTimestamp makes
// a DELETE of it; so does leaving the selection, which the API server reports as DELETED where it selects itself.
func (s *stream) operation(t cluster.EventType, h *cluster.Head, was accepted, known bool) (change.Operation, string) {
	wanted, selected := s.selection.wanted(h.Labels)
	if !selected {
		if !known {
			return "", OutcomeUnchanged
		}
		wanted = s.selection.all
	}
	var op change.Operation
	switch {
	case t == cluster.Deleted || h.Deleting || !selected:
		op = change.Delete
	case t == cluster.Added || len(s.selection.clauses) > 0 && !known:
		op = change.Create
	default:
		op = change.Update
	}
	if op == change.Delete && was.gone {
		// Its removal was accepted when the deletion was requested.
		return op, OutcomeUnchanged
	}
	if wanted&bit(op) == 0 {
		s.member(h, selected, known)
		return op, OutcomeOperationFiltered
	}
	return op, ""
}

// member remembers that an object is in an in-process selection although its operation is not wanted, so that a later
// event of it is an update. Without clauses a filtered event never touches the baseline.
func (s *stream) member(h *cluster.Head, selected, known bool) {
	if len(s.selection.clauses) > 0 && selected && !known && !h.Deleting {
		s.baseline[keyOf(h)] = accepted{}
	}
}

// remove offers a removal.
func (s *stream) remove(ctx context.Context, t cluster.EventType, h *cluster.Head, key objectKey, at time.Time) error {
	c := change.Change{
		Target: s.target, Cell: s.col.Cell(), Operation: change.Delete, Item: s.identity(h), ReceivedAt: at,
	}
	if err := s.offer(ctx, &c); err != nil {
		return err
	}
	if t == cluster.Deleted || !h.Deleting {
		delete(s.baseline, key)
	} else {
		s.baseline[key] = accepted{gone: true}
	}
	return s.pass(h, OutcomeRouted)
}

// write sanitizes and offers a creation or an update.
func (s *stream) write(
	ctx context.Context, f cluster.Frame, h *cluster.Head, key objectKey, op change.Operation, at time.Time,
) error {
	item, err := s.sanitize(f.Object, s.col.Type)
	if err != nil {
		s.log.Error(err, "an object cannot be mirrored", "type", s.col.Type.GroupResource())
		return s.pass(h, OutcomeNotObject)
	}
	if item.Protected != "" {
		// Nothing to write and nothing to compare with later; the raw hash still skips its heartbeats.
		s.baseline[key] = accepted{raw: h.Hash}
		return s.pass(h, OutcomeUnchanged)
	}
	now := accepted{raw: h.Hash, content: contentOf(&item)}
	if s.baseline[key].content == now.content {
		s.baseline[key] = now
		return s.pass(h, OutcomeUnchanged)
	}
	c := change.Change{
		Target: s.target, Cell: s.col.Cell(), Operation: op, Item: item, ReceivedAt: at,
	}
	if err := s.offer(ctx, &c); err != nil {
		return err
	}
	s.baseline[key] = now
	return s.pass(h, OutcomeRouted)
}

// identity returns an item without content, from the raw head.
func (s *stream) identity(h *cluster.Head) change.Item {
	return change.Item{
		Object: change.ObjectID{
			Group: s.col.Type.Group, Kind: s.col.Type.Kind, Namespace: plain(h.Namespace), Name: plain(h.Name),
		},
		Type: s.col.Type, UID: plain(h.UID), ResourceVersion: plain(h.ResourceVersion),
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

// offer names the author and offers a change until the worker takes it (watch 12). The error is the context's, or
// errStopped.
func (s *stream) offer(ctx context.Context, c *change.Change) error {
	if s.attributor != nil {
		c.Author = s.attributor.Attribute(ctx, c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	began := s.clock.Now()
	wait := offerBackoffMin
	paused := false
	for {
		wake := s.sink.Wake()
		v := s.sink.Offer(ctx, *c)
		if v == change.Accepted {
			if wait > offerBackoffMin {
				s.recorder.OfferWaited(s.target, s.clock.Since(began))
			}
			if paused {
				s.say(Streaming, ReasonAllStreamsReady, "")
			}
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.recorder.Refused(s.target, "write", v)
		s.recorder.Event(s.target, s.col.Type, OutcomeRouteFailed)
		switch v {
		case change.Stopped:
			return errStopped
		case change.UnknownTarget:
			s.missing()
		case change.IntakePaused, change.TooLarge:
			if !paused {
				paused = true
				s.say(Replaying, ReasonBranchIntakePaused, "The branch does not take changes now: "+string(v)+".")
			}
		}
		if err := s.waitIntake(ctx, wake, wait); err != nil {
			return err
		}
		wait = min(2*wait, offerBackoffMax)
	}
}

func (s *stream) waitIntake(ctx context.Context, wake <-chan struct{}, d time.Duration) error {
	t := s.clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wake:
	case <-t.C():
	}
	return nil
}
