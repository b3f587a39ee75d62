// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
)

const (
	// silentReplay is how long after the last initial event the end bookmark may take; longReplay bounds the whole.
	silentReplay = 30 * time.Second
	longReplay   = 2 * time.Minute
	// schemaWait bounds the reading of a type's schema before its first snapshot.
	schemaWait = 15 * time.Second
)

// errList ends a replay whose server cannot stream initial events; the next session lists.
var errList = errors.New("the API server does not stream initial events for this type")

// refusedError is a snapshot the worker refused.
type refusedError struct {
	verdict change.Verdict
	wake    <-chan struct{}
	size    int64
}

func (e *refusedError) Error() string { return "the branch refused the snapshot: " + string(e.verdict) }

// replay gathers a snapshot, offers it and then follows the same watch (watch 8.2).
func (s *stream) replay(ctx context.Context) error {
	s.say(Replaying, s.why, "")
	stamp := s.stamp()
	release, err := s.source.Replay(ctx)
	if err != nil {
		return err
	}
	defer release()
	s.loadSchema(ctx)
	if s.source.Lists(s.col.Type) {
		return s.listReplay(ctx, stamp, release)
	}
	began := s.clock.Now()
	w, err := s.source.Open(ctx, s.collection(), cluster.Mark{})
	if err != nil {
		return s.cannotStream(err)
	}
	defer w.Close()
	s.opened(true)
	g := newGathering()
	rv, err := s.gather(ctx, w, g)
	if err != nil {
		return err
	}
	release()
	s.recorder.Replayed(s.col.Type, len(g.items), s.clock.Since(began))
	s.recorder.Recovered(s.target, s.col.Type, RecoveryReplay)
	s.last.listed = false
	if err := s.offerSnapshot(ctx, g, rv, stamp); err != nil {
		return err
	}
	return s.follow(ctx, w.Next)
}

// collection is the collection in the words of the source.
func (s *stream) collection() cluster.Collection {
	return cluster.Collection{Type: s.col.Type, Namespace: s.col.Namespace, Selector: s.col.Selector}
}

// loadSchema reads the type's schema before its first object is compared. Without one, comparison is stricter, so a
// failure is only logged.
func (s *stream) loadSchema(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, schemaWait)
	defer cancel()
	if err := s.source.LoadSchema(ctx, s.col.Type); err != nil && ctx.Err() == nil {
		s.log.V(1).Info("no schema for a type", "type", s.col.Type.GroupResource(), "cause", cluster.PlainCause(err))
	}
}

// cannotStream turns the refusal of the replay's options into the fallback (decision 72).
func (s *stream) cannotStream(err error) error {
	var e *cluster.StatusError
	if !errors.As(err, &e) || e.Code != http.StatusBadRequest && e.Code != http.StatusUnprocessableEntity {
		return err
	}
	about := func(text string) bool {
		return strings.Contains(text, "sendInitialEvents") || strings.Contains(text, "resourceVersionMatch")
	}
	if !about(e.Message) && !slices.ContainsFunc(e.Causes, about) {
		return err
	}
	return s.listFromNowOn(e.Error())
}

func (s *stream) listFromNowOn(why string) error {
	if s.source.RememberLists(s.col.Type) {
		s.log.Info("listing a type because its server does not stream initial events",
			"type", s.col.Type.GroupResource(), "version", s.col.Type.Version, "cause", why)
	}
	return errList
}

// gathering collects the objects of a snapshot: the last state of each, and the removals seen on the way.
type gathering struct {
	items   []gathered
	index   map[string]int
	deleted map[string]cluster.Frame
	order   []string
}

type gathered struct {
	item     change.Item
	key      objectKey
	accepted accepted
	dropped  bool
}

func newGathering() *gathering {
	return &gathering{index: map[string]int{}, deleted: map[string]cluster.Frame{}}
}

// drop takes an object out.
func (g *gathering) drop(id string) {
	if i, ok := g.index[id]; ok {
		g.items[i] = gathered{dropped: true}
		delete(g.index, id)
	}
}

func (g *gathering) put(id string, it gathered) {
	delete(g.deleted, id)
	if i, ok := g.index[id]; ok {
		g.items[i] = it
		return
	}
	g.index[id] = len(g.items)
	g.items = append(g.items, it)
}

// gather reads initial events up to the end bookmark and returns its resource version.
func (s *stream) gather(ctx context.Context, w cluster.Stream, g *gathering) (string, error) {
	late := errors.New("no end bookmark")
	var once sync.Once
	var isLate bool
	end := func() { once.Do(func() { isLate = true; w.Close() }) }
	silence := s.clock.AfterFunc(silentReplay, end)
	defer silence.Stop()
	bound := s.clock.AfterFunc(longReplay, end)
	defer bound.Stop()
	for {
		f, err := w.Next()
		if err != nil {
			// After this the timers cannot change isLate any more.
			once.Do(func() {})
			if isLate && ctx.Err() == nil {
				return "", s.listFromNowOn(late.Error())
			}
			return "", s.incompleteReplay(ctx, err)
		}
		switch f.Type {
		case cluster.Failed:
			e := cluster.ParseStatus(f.Object)
			s.recorder.Event(s.target, s.col.Type, OutcomeStreamError)
			if e.Expired() {
				return "", e
			}
			return "", s.listFromNowOn(e.Error())
		case cluster.Bookmark:
			h, ok := s.scanner.Head(f.Object)
			if ok && h.InitialEventsEnd {
				s.incomplete = 0
				return string(h.ResourceVersion), nil
			}
		default:
			silence.Reset(silentReplay)
			s.collect(f, g)
		}
	}
}

// incompleteReplay counts replays that the server ends early; after three in a row the type is listed.
func (s *stream) incompleteReplay(ctx context.Context, err error) error {
	if ctx.Err() != nil || !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if s.incomplete++; s.incomplete >= incompleteReplays {
		s.incomplete = 0
		return s.listFromNowOn(fmt.Sprintf("%d replays in a row ended before their end bookmark", incompleteReplays))
	}
	return fmt.Errorf("the initial replay ended early: %w", err)
}

// collect takes one initial event into the gathering. Terminating objects are not desired: a deletion request already
// means absent. A removal is repeated as a live one behind the snapshot (decision 73).
func (s *stream) collect(f cluster.Frame, g *gathering) {
	h, ok := s.scanner.Head(f.Object)
	if !ok || !s.inScope(&h) {
		s.recorder.Event(s.target, s.col.Type, OutcomeNotObject)
		return
	}
	id := string(h.Namespace) + "\x00" + string(h.Name)
	if f.Type == cluster.Deleted {
		g.drop(id)
		if _, again := g.deleted[id]; !again {
			g.order = append(g.order, id)
		}
		g.deleted[id] = cluster.Frame{Type: f.Type, Object: slices.Clone(f.Object)}
		return
	}
	if _, selected := s.selection.wanted(h.Labels); !selected || h.Deleting {
		g.drop(id)
		return
	}
	item, err := s.sanitize(f.Object, s.col.Type)
	if err != nil {
		// Neither written nor swept: an object that cannot be read must not look absent.
		s.log.Error(err, "an object cannot be mirrored", "type", s.col.Type.GroupResource())
		item = s.identity(&h)
		item.Protected = "unreadable"
	}
	it := gathered{item: item, key: keyOf(&h), accepted: accepted{raw: h.Hash}}
	if item.Protected == "" {
		it.accepted.content = contentOf(&item)
	}
	g.put(id, it)
}

// inScope reports whether an object lies in the collection's namespace.
func (s *stream) inScope(h *cluster.Head) bool {
	return len(h.Name) > 0 && (s.col.Namespace == "" || string(h.Namespace) == s.col.Namespace)
}

// offerSnapshot hands the snapshot to the worker. Only acceptance moves the mark, the baseline and replay-done.
func (s *stream) offerSnapshot(ctx context.Context, g *gathering, rv string, stamp Stamp) error {
	snap := change.Snapshot{
		Target: s.target, Cell: s.col.Cell(), Type: s.col.Type, ResourceVersion: rv, Selected: s.col.bounded(),
	}
	snap.Items = make([]change.Item, 0, len(g.index))
	next := make(baseline, len(g.index))
	for i := range g.items {
		it := &g.items[i]
		if it.dropped {
			continue
		}
		snap.Items = append(snap.Items, it.item)
		next[it.key] = it.accepted
	}
	g.items, g.index = nil, nil
	slices.SortFunc(snap.Items, func(a, b change.Item) int { return a.Object.Compare(b.Object) })
	wake := s.sink.Wake()
	verdict, outcome := s.sink.Snapshot(ctx, snap, !s.isSettled(), stamp)
	if verdict != change.Accepted {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.recorder.Refused(s.target, "resync", verdict)
		return &refusedError{verdict: verdict, wake: wake, size: snap.Size()}
	}
	s.baseline, s.replayed = next, true
	s.mark = append(s.mark[:0], rv...)
	s.failures, s.failedAt = 0, time.Time{}
	s.last.accepted++
	s.last.objects = len(snap.Items)
	s.why = ReasonResumeReplay
	s.say(Streaming, ReasonAllStreamsReady, "")
	go s.await(outcome)
	for _, id := range g.order {
		if f, ok := g.deleted[id]; ok {
			delete(g.deleted, id)
			if err := s.event(ctx, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// await waits for what became of an accepted snapshot.
func (s *stream) await(outcome <-chan change.Outcome) {
	t := s.clock.NewTimer(outcomeWait)
	defer t.Stop()
	var o change.Outcome
	select {
	case o = <-outcome:
	case <-t.C():
	case <-s.done:
		return
	}
	pause := intakeRecheck
	s.control.mu.Lock()
	if o == change.Discarded {
		// The branch wants another one, but the cause may last: ask at a growing distance.
		pause = min(backoffMin<<min(s.control.discarded, 4), backoffMax)
		s.control.discarded++
	} else {
		s.control.settled, s.control.discarded = true, 0
	}
	s.control.mu.Unlock()
	if o == change.Discarded || o == change.FailedOutcome {
		t.Reset(pause)
		select {
		case <-t.C():
			s.snapshotAgain(ReasonResumeReplay)
		case <-s.done:
		}
	}
}

// refused waits for intake to reopen after a refused snapshot, then the next session gathers it again (watch 12).
func (s *stream) refused(e *refusedError) time.Duration {
	s.recorder.SessionEnded(s.col.Type, EndedStopped)
	message := "The branch does not take snapshots now: " + string(e.verdict) + "."
	if e.verdict == change.TooLarge {
		message = fmt.Sprintf("The snapshot of %s holds %d bytes, more than the branch takes while its remote is away.",
			s.col.Cell(), e.size)
	}
	if e.verdict == change.UnknownTarget {
		s.missing()
	}
	s.say(Replaying, ReasonBranchIntakePaused, message)
	t := s.clock.NewTimer(intakeRecheck)
	defer t.Stop()
	if e.verdict == change.UnknownTarget {
		t.Reset(offerBackoffMax)
	}
	select {
	case <-e.wake:
	case <-t.C():
	case <-s.control.kick:
	}
	return 0
}

// resume follows the watch from the mark.
func (s *stream) resume(ctx context.Context) error {
	w, err := s.source.Open(ctx, s.collection(), cluster.Mark{ResourceVersion: string(s.mark)})
	if err != nil {
		return err
	}
	defer w.Close()
	s.opened(true)
	s.recorder.Recovered(s.target, s.col.Type, RecoveryResume)
	if s.last.phase != Streaming {
		s.say(Streaming, ReasonAllStreamsReady, "")
	}
	return s.follow(ctx, w.Next)
}

// follow delivers live events until the stream ends.
func (s *stream) follow(ctx context.Context, next func() (cluster.Frame, error)) error {
	for {
		f, err := next()
		if err != nil {
			if ctx.Err() != nil {
				s.recorder.Event(s.target, s.col.Type, OutcomeShutdown)
			}
			return err
		}
		switch f.Type {
		case cluster.Failed:
			s.recorder.Event(s.target, s.col.Type, OutcomeStreamError)
			return cluster.ParseStatus(f.Object)
		case cluster.Bookmark:
			if h, ok := s.scanner.Head(f.Object); ok {
				s.moveMark(&h)
			}
			s.recorder.Event(s.target, s.col.Type, OutcomeBookmark)
		default:
			if err := s.event(ctx, f); err != nil {
				return err
			}
		}
	}
}

// moveMark advances the mark to an event that was accepted or needs no acceptance.
func (s *stream) moveMark(h *cluster.Head) {
	if len(h.ResourceVersion) > 0 {
		s.mark = append(s.mark[:0], h.ResourceVersion...)
	}
}
