// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/configbutler/gitops-reverser/internal/cluster"
)

const (
	// listPage is the size of one page of a list.
	listPage = 500
	// listBuffer is how many watch events may wait while a list is read; more of them start it over.
	listBuffer = 1024
)

// errOverflow ends a list that took longer than its buffer of events.
var errOverflow = errors.New("more events than the buffer holds came while the objects were listed")

// buffered is a watch event that waits behind a list, or the end of the watch.
type buffered struct {
	frame cluster.Frame
	err   error
}

// listReplay gathers a snapshot from a paged list while a watch that began before it fills a buffer (watch 8.3).
func (s *stream) listReplay(ctx context.Context, stamp Stamp, release func()) error {
	s.voice.last.listed = true
	began := s.clock.Now()
	// One small page tells where to begin the watch; without a version it would repeat every object.
	first, err := s.source.List(ctx, s.collection(), 1, "")
	if err != nil {
		return err
	}
	w, err := s.source.Open(ctx, s.collection(), cluster.Mark{ResourceVersion: first.ResourceVersion})
	if err != nil {
		return err
	}
	defer w.Close()
	s.voice.reads(s.why)
	s.answered()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	events, listed := pump(ctx, w, cancel)
	g := newGathering(s.filter)
	rv, err := g.list(ctx, s.collection())
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errOverflow) {
			return cause
		}
		return err
	}
	close(listed)
	release()
	names := g.index
	s.recorder.Replayed(s.col.Type, len(g.items), s.clock.Since(began))
	s.recorder.Recovered(s.target, s.col.Type, RecoveryList)
	if err := s.offerSnapshot(ctx, g, rv, stamp); err != nil {
		return err
	}
	return s.follow(ctx, func() (cluster.Frame, error) {
		for {
			select {
			case b := <-events:
				if b.err != nil || !s.filter.before(b.frame, rv) {
					names = nil
					return b.frame, b.err
				}
				// A removal that the list shows as absence was seen all the same (decision 73).
				if b.frame.Type == cluster.Deleted && !s.filter.lists(names, b.frame) {
					return b.frame, nil
				}
			case <-ctx.Done():
				return cluster.Frame{}, context.Cause(ctx)
			}
		}
	})
}

// pump copies a watch into a buffer. Until listed is closed a full buffer ends the attempt; from then on it only slows
// the watch down.
func pump(ctx context.Context, w cluster.Stream, overflow context.CancelCauseFunc) (<-chan buffered, chan<- struct{}) {
	events, listed := make(chan buffered, listBuffer), make(chan struct{})
	go func() {
		for {
			f, err := w.Next()
			f.Object = slices.Clone(f.Object)
			b := buffered{frame: f, err: err}
			select {
			case events <- b:
			default:
				select {
				case <-listed:
				default:
					overflow(errOverflow)
					return
				}
				select {
				case events <- b:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return events, listed
}

// list reads all pages at one resource version. A continue token that expired starts it over with nothing gathered.
func (g *gathering) list(ctx context.Context, col cluster.Collection) (string, error) {
	next, rv := "", ""
	for {
		page, err := g.source.List(ctx, col, listPage, next)
		var status *cluster.StatusError
		if errors.As(err, &status) && status.Expired() && next != "" {
			*g = *newGathering(g.filter)
			next, rv = "", ""
			if err := g.wait(ctx, nil, backoffMin); err != nil {
				return "", err
			}
			continue
		}
		if err != nil {
			return "", err
		}
		if rv == "" {
			rv = page.ResourceVersion
		}
		for _, raw := range page.Items {
			g.collect(cluster.Frame{Type: cluster.Added, Object: raw})
		}
		if next = page.Continue; next == "" {
			return rv, nil
		}
	}
}

// lists reports whether an object of the event's name is in an index of gathered objects.
func (f *filter) lists(index map[string]int, fr cluster.Frame) bool {
	h, ok := f.scanner.Head(fr.Object)
	if !ok {
		return false
	}
	_, found := index[nameOf(&h)]
	return found
}

// before reports a buffered event that the list already shows. Versions are compared only when both are numbers; else
// nothing is dropped and the content filter decides.
func (f *filter) before(fr cluster.Frame, rv string) bool {
	if fr.Type == cluster.Failed {
		return false
	}
	h, ok := f.scanner.Head(fr.Object)
	if !ok {
		return false
	}
	event, err1 := strconv.ParseUint(string(h.ResourceVersion), 10, 64)
	list, err2 := strconv.ParseUint(rv, 10, 64)
	return err1 == nil && err2 == nil && event <= list
}
