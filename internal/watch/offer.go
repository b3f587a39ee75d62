// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"errors"
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
)

const (
	offerBackoffMin = 100 * time.Millisecond
	offerBackoffMax = 5 * time.Second
)

// errStopped ends a session whose worker is going away.
var errStopped = errors.New("the branch worker has stopped")

// offer names the author and offers a change until the worker takes it (watch 12). The error is the context's, or
// errStopped.
func (f *filter) offer(ctx context.Context, c *change.Change) error {
	if f.attributor != nil {
		c.Author = f.attributor.Attribute(ctx, c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	began := f.clock.Now()
	wait := offerBackoffMin
	paused := false
	for {
		wake := f.sink.Wake()
		v := f.sink.Offer(ctx, *c)
		if v == change.Accepted {
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		f.recorder.Refused(f.target, "write", v)
		f.recorder.Event(f.target, f.col.Type, OutcomeRouteFailed)
		switch v {
		case change.Stopped:
			return errStopped
		case change.UnknownTarget:
			f.missing()
		case change.IntakePaused, change.TooLarge:
			if !paused {
				paused = true
				f.voice.say(Replaying, ReasonBranchIntakePaused, "The branch does not take changes now: "+string(v)+".")
			}
		}
		if err := f.wait(ctx, wake, wait); err != nil {
			return err
		}
		wait = min(2*wait, offerBackoffMax)
	}
	if wait > offerBackoffMin {
		f.recorder.OfferWaited(f.target, f.clock.Since(began))
	}
	if paused {
		f.voice.say(Streaming, ReasonAllStreamsReady, "")
	}
	return nil
}

// wait sleeps, at most until wake is closed.
func (e *env) wait(ctx context.Context, wake <-chan struct{}, d time.Duration) error {
	t := e.clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wake:
	case <-t.C():
	}
	return nil
}
