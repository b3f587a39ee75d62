// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
)

const (
	// notPermittedPause is the wait after a 403; skippedPause the one of a type only a wildcard selects.
	notPermittedPause = time.Minute
	skippedPause      = 10 * time.Minute
	// intakeRecheck bounds the wait for a wake-up after a refused snapshot.
	intakeRecheck = time.Minute
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
	// seen is the last report and since when it says so; both belong to the owner.
	seen  report
	since time.Time
	// control is how others reach the goroutine. The fields below it belong to the goroutine.
	control *control

	voice  *voice
	filter *filter
	health health
	// replayed: this stream completed a replay of its own, so it may resume from its mark.
	replayed bool
	// why is the reason of the next replay.
	why string
}

func newStream(e *env, col Collection, after []<-chan struct{}, settled bool) *stream {
	s := &stream{
		env: e, col: col, after: after, done: make(chan struct{}), control: newControl(col.Named, settled),
		why: ReasonInitialReplay, seen: report{phase: Replaying, reason: ReasonInitialReplay},
	}
	s.voice = &voice{post: func(r report) { e.report(s, r) }}
	s.filter = newFilter(e, col, s.voice)
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

func (s *stream) run(ctx context.Context) {
	for _, ended := range s.after {
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
	if err := s.filter.prepare(); err != nil {
		// The rules were compiled with the same parser, so this is a programming error: say so and stay closed.
		s.voice.say(Blocked, ReasonWatchError, err.Error())
		<-ctx.Done()
		return
	}
	for ctx.Err() == nil {
		began := s.clock.Now()
		err := s.session(ctx)
		if s.voice.last.open && s.replayed && s.clock.Since(began) >= backoffMin {
			s.health.served()
		}
		s.voice.opened(false)
		if ctx.Err() != nil {
			s.recorder.SessionEnded(s.col.Type, EndedStopped)
			return
		}
		s.pause(ctx, s.ended(err, s.clock.Since(began)))
	}
}

// session runs one session: a resume when this stream completed its own replay, else a replay (watch 8.2 step 1).
func (s *stream) session(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if again := s.control.begin(cancel); again != "" {
		s.replayed, s.why = false, again
	}
	defer s.control.end()
	var err error
	if s.replayed && len(s.filter.mark) > 0 {
		err = s.resume(ctx)
	} else {
		err = s.replay(ctx)
	}
	if cause := context.Cause(ctx); errors.Is(cause, errAgain) {
		return cause
	}
	return err
}

// delay is how to wait until the next session. wake is nil when only time and a kick end the wait.
type delay struct {
	d    time.Duration
	wake <-chan struct{}
}

// pause waits, or ends early when something that concerns this stream changed.
func (s *stream) pause(ctx context.Context, r delay) {
	if r.d <= 0 {
		return
	}
	t := s.clock.NewTimer(r.d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C():
	case <-r.wake:
	case <-s.control.kick:
	}
}

// ended decides what follows a session (watch 8.4).
func (s *stream) ended(err error, lived time.Duration) delay {
	if lived >= healthyAfter {
		s.health.cured()
	}
	var status *cluster.StatusError
	var refused *refusedError
	switch {
	case errors.Is(err, errList):
		return delay{}
	case errors.Is(err, errAgain):
		s.recorder.SessionEnded(s.col.Type, EndedStopped)
		return delay{}
	case errors.As(err, &refused):
		s.recorder.SessionEnded(s.col.Type, EndedStopped)
		return s.refused(refused)
	case errors.Is(err, errStopped):
		s.voice.say(Replaying, ReasonBranchIntakePaused, "The branch worker has stopped.")
		return delay{d: offerBackoffMax}
	case cluster.IsNotConnected(err):
		s.recorder.SessionEnded(s.col.Type, EndedCredentials)
		s.replayed, s.why = false, s.voice.againReason()
		s.voice.say(Replaying, ReasonNotReady, "The source is not connected: its KubeProvider is suspended or has no usable credentials.")
		return delay{d: intakeRecheck}
	case errors.As(err, &status):
		return s.status(status)
	case errors.Is(err, io.EOF) && s.replayed && s.health.failures == 0 && lived >= backoffMin:
		// The server ends every watch after some time; that is no failure.
		return delay{}
	}
	s.recorder.SessionEnded(s.col.Type, EndedError)
	return s.failed(err)
}

// status handles a refusal in the server's words.
func (s *stream) status(e *cluster.StatusError) delay {
	switch {
	case e.Expired():
		s.recorder.SessionEnded(s.col.Type, EndedExpired)
		s.replayed, s.why = false, ReasonExpired
		if s.health.failures++; s.health.failures == 1 {
			return delay{}
		}
		return delay{d: s.health.backoff()}
	case e.Code == http.StatusUnauthorized || e.Code == http.StatusForbidden:
		s.recorder.SessionEnded(s.col.Type, EndedForbidden)
		s.voice.last.skipped = !s.control.isNamed() && e.Code == http.StatusForbidden
		message := e.Error()
		if e.Code == http.StatusUnauthorized {
			message = "The API server does not accept the credentials of the KubeProvider: " + message
		}
		s.voice.say(Blocked, ReasonWatchNotPermitted, message)
		if s.voice.last.skipped {
			return delay{d: skippedPause}
		}
		return delay{d: notPermittedPause}
	case e.Code == http.StatusNotFound:
		// The type is gone, or this server does not serve it yet: discovery knows more.
		s.refresh()
	}
	s.recorder.SessionEnded(s.col.Type, EndedError)
	r := s.failed(e)
	if e.Code == http.StatusTooManyRequests && e.RetryAfter > 0 {
		r.d = e.RetryAfter
	}
	return r
}

// failed counts a failure and returns the pause after it. A stream is blocked only when it keeps failing.
func (s *stream) failed(err error) delay {
	if s.health.failed(s.clock.Now()) {
		s.voice.say(Blocked, ReasonWatchError, "Watching "+s.col.Type.GroupResource()+" fails: "+cluster.PlainCause(err))
	}
	return delay{d: s.health.backoff()}
}

// refusedError is a snapshot the worker refused.
type refusedError struct {
	verdict change.Verdict
	wake    <-chan struct{}
	size    int64
}

func (e *refusedError) Error() string { return "the branch refused the snapshot: " + string(e.verdict) }

// refused waits for intake to reopen after a refused snapshot; the next session gathers it again (watch 12).
func (s *stream) refused(e *refusedError) delay {
	r := delay{d: intakeRecheck, wake: e.wake}
	message := "The branch does not take snapshots now: " + string(e.verdict) + "."
	switch e.verdict {
	case change.TooLarge:
		message = fmt.Sprintf("The snapshot of %s holds %d bytes, more than the branch takes while its remote is away.",
			s.col.Cell(), e.size)
	case change.UnknownTarget:
		s.missing()
		r.d = offerBackoffMax
	}
	s.voice.say(Replaying, ReasonBranchIntakePaused, message)
	return r
}
