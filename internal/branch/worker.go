// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// inbound is one input with the places its answers go to.
type inbound struct {
	in core.Input
	// verdict takes the answer of an offer or snapshot; outcome what became of an accepted snapshot.
	verdict chan change.Verdict
	outcome chan change.Outcome
	// answer takes the present state of a save.
	answer chan core.Answer
}

// worker is one repository branch. Its fields are owned by the stepping goroutine unless a comment says otherwise.
type worker struct {
	repository Repository
	machine    *core.Machine
	clock      clock.Clock
	log        logr.Logger
	out        outlets

	// inbox and answers feed the stepping goroutine; done is closed when it has ended.
	inbox   chan inbound
	answers chan core.Input
	jobs    chan job
	done    chan struct{}

	ticket   core.Ticket
	verdicts map[core.Ticket]chan change.Verdict
	settles  map[core.Ticket]chan change.Outcome
	saves    map[string]chan core.Answer
	// targets are those that are set: what is left of others is published and not counted as theirs.
	targets map[change.TargetKey]struct{}
	// cancel ends the outstanding lane effect.
	cancel context.CancelFunc
	lane   *lane

	// status and wake are read by everybody.
	status atomic.Pointer[core.Status]
	wake   atomic.Pointer[chan struct{}]
	// credentials is replaced when a target brings newer ones; the lane reads it.
	credentials atomic.Pointer[credentialsFunc]
}

// job is a lane effect with the context an Abort cancels.
type job struct {
	effect core.Effect
	ctx    context.Context
	// targets are those the machine knows: the lane forgets the folders of others.
	targets []core.TargetStatus
}

// run steps the machine until it stopped and returns when the store is closed. ctx ends with the process or the last
// target: then the machine publishes once more within grace.
func (w *worker) run(ctx context.Context, grace time.Duration) {
	laneCtx, stopLane := context.WithCancel(context.WithoutCancel(ctx))
	var lane sync.WaitGroup
	lane.Go(func() { w.lane.run(laneCtx, w.clock, w.jobs, w.answers) })
	w.loop(ctx, laneCtx, grace)
	w.refuseRest()
	close(w.done)
	stopLane()
	lane.Wait()
}

func (w *worker) loop(ctx, laneCtx context.Context, grace time.Duration) {
	stopping := ctx.Done()
	for {
		timer := w.timer()
		select {
		case r := <-w.inbox:
			w.accept(laneCtx, r)
		case a := <-w.answers:
			w.out.answered(w, a)
			w.step(laneCtx, a)
		case <-timer.C():
			w.step(laneCtx, core.Tick{})
		case <-stopping:
			stopping = nil
			w.step(laneCtx, core.Shutdown{Until: w.clock.Now().Add(grace)})
		}
		timer.Stop()
		if w.status.Load().Stopped {
			return
		}
	}
}

// tickPause keeps ticks apart whatever the machine asks for.
const tickPause = time.Millisecond

// timer fires when the machine wants a Tick; far away when it wants none.
func (w *worker) timer() clock.Timer {
	next := w.machine.Next()
	if next.IsZero() {
		return w.clock.NewTimer(24 * time.Hour)
	}
	return w.clock.NewTimer(max(tickPause, next.Sub(w.clock.Now())))
}

// accept registers where the answers of an input go and steps the machine with it.
func (w *worker) accept(ctx context.Context, r inbound) {
	switch in := r.in.(type) {
	case core.Offered:
		w.ticket++
		in.Ticket = w.ticket
		w.verdicts[in.Ticket] = r.verdict
		r.in = in
	case core.Snapped:
		w.ticket++
		in.Ticket = w.ticket
		w.verdicts[in.Ticket], w.settles[in.Ticket] = r.verdict, r.outcome
		r.in = in
	case core.TargetSet:
		w.targets[in.Target] = struct{}{}
	case core.TargetGone:
		delete(w.targets, in.Target)
		defer w.out.endTarget(in.Target)
	case core.SaveOpened:
		w.saves[in.Save.ID] = r.answer
	case core.SaveClosed:
		w.saves[in.ID] = r.answer
	}
	w.step(ctx, r.in)
}

func (w *worker) step(ctx context.Context, in core.Input) {
	effects := w.machine.Step(w.clock.Now(), in)
	for _, e := range effects {
		if !isNews(e) {
			w.carry(ctx, e)
		}
	}
	// A picture costs as much as there are cells; most steps change nothing that it shows.
	if w.machine.Version() != w.status.Load().Version {
		s := w.machine.Status()
		w.status.Store(&s)
	}
	// Whoever hears of a change reads the status at once: it has to be there first.
	for _, e := range effects {
		if isNews(e) {
			w.carry(ctx, e)
		}
	}
}

// isNews reports an effect that makes others read the status.
func isNews(e core.Effect) bool {
	o, ok := e.(core.Observe)
	return ok && o.Observation.What == core.ObservedStatus
}

// carry performs one effect. Nothing in here blocks: the lane is free whenever the machine uses it.
func (w *worker) carry(ctx context.Context, e core.Effect) {
	switch e := e.(type) {
	case core.Look:
		w.start(ctx, e, e.Deadline)
	case core.Fetch:
		w.out.fetching(w, e.Why)
		w.start(ctx, e, e.Deadline)
	case core.Write:
		w.start(ctx, e, e.Deadline)
	case core.Push:
		w.start(ctx, e, e.Deadline)
	case core.Abort:
		if w.cancel != nil {
			w.cancel()
		}
	case core.Admit:
		if c := w.verdicts[e.Ticket]; c != nil {
			c <- e.Verdict
		}
		delete(w.verdicts, e.Ticket)
		if e.Verdict != change.Accepted {
			delete(w.settles, e.Ticket)
		}
	case core.Settle:
		if c := w.settles[e.Ticket]; c != nil {
			o := e.Outcome
			if e.Kept {
				o = change.KeptOutcome
			}
			c <- o
			close(c)
		}
		delete(w.settles, e.Ticket)
	case core.Answer:
		if c := w.saves[e.Save]; c != nil {
			c <- e
			delete(w.saves, e.Save)
		}
	case core.Advance:
		w.out.advance(e)
	case core.Request:
		w.out.request(e)
	case core.Observe:
		w.observe(e)
	case core.Ask, core.Current:
		// Appliers are joined with the trigger kinds; without one the machine never asks.
	}
}

// start hands a lane effect to the lane with a context of its own.
func (w *worker) start(ctx context.Context, e core.Effect, deadline time.Time) {
	if w.cancel != nil {
		w.cancel()
	}
	// The machine aborts at the deadline; the margin ends a call whose Abort was lost to a frozen process.
	ctx, w.cancel = context.WithDeadline(ctx, deadline.Add(5*time.Second))
	w.jobs <- job{effect: e, ctx: ctx, targets: w.status.Load().Targets}
}

func (w *worker) observe(e core.Observe) {
	switch e.Observation.What {
	case core.ObservedIntake:
		next := make(chan struct{})
		close(*w.wake.Swap(&next))
	case core.ObservedStatus:
		w.out.dirty(w, e.Target)
	}
	w.out.observe(w, e)
}

// refuseRest answers what is still waiting when the machine has stopped.
func (w *worker) refuseRest() {
	if w.cancel != nil {
		w.cancel()
	}
	for t, c := range w.verdicts {
		c <- change.Stopped
		delete(w.verdicts, t)
	}
	for t, c := range w.settles {
		c <- change.FailedOutcome
		close(c)
		delete(w.settles, t)
	}
	close(*w.wake.Load())
}

// send gives an input to the stepping goroutine; false when it has ended or the caller gave up.
func (w *worker) send(ctx context.Context, r inbound) bool {
	select {
	case w.inbox <- r:
		return true
	case <-w.done:
		return false
	case <-ctx.Done():
		return false
	}
}
