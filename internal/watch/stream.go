// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
)

const (
	backoffMin = 2 * time.Second
	backoffMax = 30 * time.Second
	// healthyAfter is how long a session must have lived to count as a success.
	healthyAfter = time.Minute
	// notPermittedPause is the wait after a 403; skippedPause the one of a type only a wildcard selects.
	notPermittedPause = time.Minute
	skippedPause      = 10 * time.Minute
	// intakeRecheck bounds the wait for a wake-up after a refused snapshot.
	intakeRecheck = time.Minute
	// outcomeWait bounds how long the result of a snapshot is awaited; it cancels nothing.
	outcomeWait = 5 * time.Minute
	// errorAfter and errorAttempts: from then on a failing stream is blocked, before it is merely replaying.
	errorAfter    = 30 * time.Second
	errorAttempts = 3
	// incompleteReplays is after how many replays in a row that the server ends early the type is listed instead.
	incompleteReplays = 3
)

// env is what all streams of a target share.
type env struct {
	target     change.TargetKey
	source     *cluster.Source
	sink       Sink
	attributor Attributor
	stamp      func() Stamp
	sanitize   func(raw []byte, t change.Type) (change.Item, error)
	clock      clock.WithDelayedExecution
	log        logr.Logger
	recorder   Recorder
	// report hands a stream's words to the owner; missing asks the owner to declare the cells again.
	report  func(*stream, report)
	missing func()
	// refresh asks for a look at discovery.
	refresh func()
}

// stream follows one collection: one goroutine, strict arrival order (watch 1 W3).
type stream struct {
	*env
	col Collection
	// after must all be closed before the first session: a leaving stream ends before its replacement starts.
	after []<-chan struct{}
	done  chan struct{}
	stop  context.CancelFunc

	// The fields below belong to the goroutine.
	scanner    *cluster.Scanner
	selection  *selection
	baseline   baseline
	mark       []byte
	replayed   bool
	incomplete int
	failures   int
	failedAt   time.Time
	why        string
	last       report

	// control is how others reach the goroutine.
	control control
}

// control is the part of a stream that other goroutines touch.
type control struct {
	mu sync.Mutex
	// cancel ends the running session; nil between sessions.
	cancel context.CancelCauseFunc
	// again: take a fresh snapshot, for this reason.
	again string
	// settled: some snapshot of this collection was settled.
	settled bool
	// discarded counts snapshots in a row that the branch threw away.
	discarded int
	named     bool
	kick      chan struct{}
}

// errAgain is the cause of a session that ends because a fresh snapshot is wanted.
var errAgain = errors.New("a fresh snapshot is wanted")

func newStream(e *env, col Collection, after []<-chan struct{}, settled bool) *stream {
	s := &stream{
		env: e, col: col, after: after, done: make(chan struct{}),
		scanner: cluster.NewScanner(), baseline: baseline{}, why: ReasonInitialReplay,
	}
	s.control.kick = make(chan struct{}, 1)
	s.control.named, s.control.settled = col.Named, settled
	return s
}

// start runs the stream until the context ends or close is called.
func (s *stream) start(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	go func() {
		defer close(s.done)
		s.run(ctx)
	}()
}

// close ends the stream; done is closed when it has ended.
func (s *stream) close() { s.stop() }

// snapshotAgain asks for a fresh snapshot. It never blocks.
func (s *stream) snapshotAgain(reason string) {
	c := &s.control
	c.mu.Lock()
	c.again = reason
	if c.cancel != nil {
		c.cancel(errAgain)
	}
	c.mu.Unlock()
	s.wakeUp()
}

// wakeUp ends a pause: something that may have caused it has changed.
func (s *stream) wakeUp() {
	select {
	case s.control.kick <- struct{}{}:
	default:
	}
}

// setNamed notes whether a rule names the resource and reports a change.
func (s *stream) setNamed(named bool) bool {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	changed := s.control.named != named
	s.control.named = named
	return changed
}

func (s *stream) isSettled() bool {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	return s.control.settled
}

func (s *stream) named() bool {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	return s.control.named
}

func (s *stream) run(ctx context.Context) {
	for _, ended := range s.after {
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
	var err error
	if s.selection, err = newSelection(s.col); err != nil {
		// The rules were compiled with the same parser, so this is a programming error: say so and stay closed.
		s.say(Blocked, ReasonWatchError, err.Error())
		<-ctx.Done()
		return
	}
	s.say(Replaying, ReasonInitialReplay, "")
	for ctx.Err() == nil {
		began := s.clock.Now()
		err := s.session(ctx)
		s.opened(false)
		if ctx.Err() != nil {
			s.recorder.SessionEnded(s.col.Type, EndedStopped)
			return
		}
		if pause := s.ended(err, s.clock.Since(began)); pause > 0 {
			s.pause(ctx, pause)
		}
	}
}

// session runs one session: a resume when this stream completed its own replay, else a replay (watch 8.2 step 1).
func (s *stream) session(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &s.control
	c.mu.Lock()
	if c.again != "" {
		s.replayed, s.why, c.again = false, c.again, ""
	}
	c.cancel = cancel
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.cancel = nil
		c.mu.Unlock()
	}()
	var err error
	if s.replayed && len(s.mark) > 0 {
		err = s.resume(ctx)
	} else {
		err = s.replay(ctx)
	}
	if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// ended decides what follows a session (watch 8.4) and how long to wait before.
func (s *stream) ended(err error, lived time.Duration) time.Duration {
	if lived >= healthyAfter {
		s.failures, s.failedAt = 0, time.Time{}
	}
	var status *cluster.StatusError
	var refused *refusedError
	switch {
	case errors.Is(err, errAgain):
		s.recorder.SessionEnded(s.col.Type, EndedStopped)
		return 0
	case errors.As(err, &refused):
		return s.refused(refused)
	case cluster.IsNotConnected(err):
		s.recorder.SessionEnded(s.col.Type, EndedCredentials)
		s.replayed, s.why = false, s.againReason()
		s.say(Replaying, ReasonNotReady, "The source cluster has no usable credentials now.")
		return intakeRecheck
	case errors.Is(err, errList):
		return 0
	case errors.Is(err, errStopped):
		s.say(Replaying, ReasonBranchIntakePaused, "The branch worker has stopped.")
		return offerBackoffMax
	case errors.As(err, &status):
		return s.status(status)
	case errors.Is(err, io.EOF) && s.replayed && s.failures == 0 && lived >= backoffMin:
		// The server ends every watch after some time; that is no failure.
		return 0
	}
	s.recorder.SessionEnded(s.col.Type, EndedError)
	return s.failed(err)
}

// status handles a refusal in the server's words.
func (s *stream) status(e *cluster.StatusError) time.Duration {
	switch {
	case e.Expired():
		s.recorder.SessionEnded(s.col.Type, EndedExpired)
		s.replayed, s.why = false, ReasonExpired
		if s.failures++; s.failures == 1 {
			return 0
		}
		return s.backoff()
	case e.Code == http.StatusUnauthorized || e.Code == http.StatusForbidden:
		s.recorder.SessionEnded(s.col.Type, EndedForbidden)
		s.last.skipped = !s.named()
		s.say(Blocked, ReasonWatchNotPermitted, e.Error())
		if s.last.skipped {
			return skippedPause
		}
		return notPermittedPause
	case e.Code == http.StatusNotFound:
		// The type is gone, or this server does not serve it yet: discovery knows more.
		s.refresh()
	case e.Code == http.StatusTooManyRequests && e.RetryAfter > 0:
		s.failed(e)
		return e.RetryAfter
	}
	s.recorder.SessionEnded(s.col.Type, EndedError)
	return s.failed(e)
}

// failed counts a failure and returns the pause after it. A stream is blocked only when it keeps failing.
func (s *stream) failed(err error) time.Duration {
	now := s.clock.Now()
	if s.failures++; s.failures == 1 {
		s.failedAt = now
	}
	if s.failures >= errorAttempts || now.Sub(s.failedAt) >= errorAfter {
		s.say(Blocked, ReasonWatchError, "Watching "+s.col.Type.GroupResource()+" fails: "+cluster.PlainCause(err))
	}
	return s.backoff()
}

// backoff doubles from 2 s to 30 s, with a jitter of 20 %.
func (s *stream) backoff() time.Duration {
	d := backoffMin << min(max(s.failures-1, 0), 4)
	d = min(d, backoffMax)
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64())) //nolint:gosec // jitter needs no secrecy
}

// pause waits, or ends early when something that concerns this stream changed.
func (s *stream) pause(ctx context.Context, d time.Duration) {
	t := s.clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C():
	case <-s.control.kick:
	}
}

// againReason is the reason of a replay that is not the first.
func (s *stream) againReason() string {
	if s.last.accepted == 0 {
		return ReasonInitialReplay
	}
	return ReasonResumeReplay
}

// say reports a phase to the owner.
func (s *stream) say(p Phase, reason, message string) {
	if p != Blocked {
		s.last.skipped = false
	}
	s.last.phase, s.last.reason, s.last.message = p, reason, message
	s.report(s, s.last)
}

// opened reports whether the API server holds a session of this stream.
func (s *stream) opened(open bool) {
	if s.last.open != open {
		s.last.open = open
		s.report(s, s.last)
	}
}
