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
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
)

const (
	// schemaWait bounds the reading of a type's schema before its first snapshot.
	schemaWait = 15 * time.Second
	// outcomeWait bounds how long the result of a snapshot is awaited; it cancels nothing.
	outcomeWait = 5 * time.Minute
)

// errList ends a replay whose server cannot stream initial events; the next session lists.
var errList = errors.New("the API server does not stream initial events for this type")

// replay gathers a snapshot, offers it and then follows the same watch (watch 8.2).
func (s *stream) replay(ctx context.Context) error {
	s.voice.tries(s.why)
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
	s.voice.reads(s.why)
	s.answered()
	g := newGathering(s.filter)
	rv, err := g.read(ctx, w)
	if err != nil {
		return s.incomplete(ctx, err)
	}
	release()
	s.health.incomplete = 0
	s.recorder.Replayed(s.col.Type, len(g.items), s.clock.Since(began))
	s.recorder.Recovered(s.target, s.col.Type, RecoveryReplay)
	s.voice.last.listed = false
	if err := s.offerSnapshot(ctx, g, rv, stamp); err != nil {
		return err
	}
	return s.follow(ctx, w.Next)
}

// answered takes an opened session as news of a source that did not answer before: what targets say about it need not
// wait for the next look at discovery.
func (s *stream) answered() {
	if s.source.Reachability().Status == "False" {
		s.refresh()
	}
}

// collection is the stream's collection in the words of the source.
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

// incomplete says what follows a replay that ended before its end bookmark: only a 410 and a broken connection are worth
// another replay (decision 72), and an orderly end no more than three times.
func (s *stream) incomplete(ctx context.Context, err error) error {
	var e *cluster.StatusError
	switch {
	case ctx.Err() != nil:
		return err
	case errors.Is(err, errNoBookmark):
		return s.listFromNowOn(err.Error())
	case errors.As(err, &e) && !e.Expired():
		return s.listFromNowOn(e.Error())
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		if s.health.tooOften() {
			return s.listFromNowOn(fmt.Sprintf("%d replays in a row ended before their end bookmark", incompleteReplays))
		}
		return fmt.Errorf("the initial replay ended early: %w", err)
	}
	return err
}

func (s *stream) listFromNowOn(why string) error {
	if s.source.RememberLists(s.col.Type) {
		s.log.Info("listing a type because its server does not stream initial events",
			"type", s.col.Type.GroupResource(), "version", s.col.Type.Version, "cause", why)
	}
	return errList
}

// offerSnapshot hands the snapshot to the worker. Only acceptance moves the mark, the baseline and replay-done.
func (s *stream) offerSnapshot(ctx context.Context, g *gathering, rv string, stamp Stamp) error {
	snap, next := g.take(rv)
	wake := s.sink.Wake()
	verdict, outcome := s.sink.Snapshot(ctx, snap, !s.control.isSettled(), stamp)
	if verdict != change.Accepted {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.recorder.Refused(s.target, "resync", verdict)
		return &refusedError{verdict: verdict, wake: wake, size: snap.Size()}
	}
	s.filter.baseline, s.replayed = next, true
	s.filter.mark = append(s.filter.mark[:0], rv...)
	s.health.cured()
	s.why = ReasonResumeReplay
	s.voice.last.accepted++
	s.voice.last.objects = len(snap.Items)
	s.voice.say(Streaming, ReasonAllStreamsReady, "")
	go s.await(outcome)
	for _, f := range g.removals() {
		if err := s.filter.event(ctx, f); err != nil {
			return err
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
	if o == change.Discarded {
		pause = s.control.discard()
	} else {
		s.control.settle()
	}
	if o == change.Discarded || o == change.FailedOutcome {
		t.Reset(pause)
		select {
		case <-t.C():
			s.control.snapshotAgain(ReasonResumeReplay)
		case <-s.done:
		}
	}
}

// resume follows the watch from the mark.
func (s *stream) resume(ctx context.Context) error {
	w, err := s.source.Open(ctx, s.collection(), cluster.Mark{ResourceVersion: string(s.filter.mark)})
	if err != nil {
		return err
	}
	defer w.Close()
	s.voice.opened(true)
	s.answered()
	s.recorder.Recovered(s.target, s.col.Type, RecoveryResume)
	if s.voice.last.phase != Streaming {
		s.voice.say(Streaming, ReasonAllStreamsReady, "")
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
			if h, ok := s.filter.scanner.Head(f.Object); ok {
				_ = s.filter.pass(&h, OutcomeBookmark)
			}
		default:
			if err := s.filter.event(ctx, f); err != nil {
				return err
			}
		}
	}
}
