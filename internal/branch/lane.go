// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
)

type credentialsFunc func(context.Context) (gitstore.Credentials, error)

// lane carries out one network call or one write at a time. Its goroutine owns everything in here.
type lane struct {
	store   *gitstore.Store
	now     func() time.Time
	log     logr.Logger
	folders map[change.TargetKey]*folder
	thrift  *thrift
	// swollen is when a large snapshot was planned whose garbage is still there; zero when there is none.
	swollen time.Time
}

const (
	// largeSnapshot is the size from which the garbage of a plan is given back to the system, in bytes.
	largeSnapshot = 8 << 20
	// tidyAfter is how long the lane must have been idle before: by then the write is published and let go.
	tidyAfter = 5 * time.Second
	// tidyAnyway is how long a busy lane goes without.
	tidyAnyway = 30 * time.Second
)

// folder is what the lane remembers of a target between writes; all of it can be found out again from the tree.
type folder struct {
	inventory *inventory.Folder
	memo      *render.Memo
	path      string
}

func newLane(store *gitstore.Store, now func() time.Time, log logr.Logger, t *thrift) *lane {
	return &lane{store: store, now: now, log: log, folders: map[change.TargetKey]*folder{}, thrift: t}
}

// run answers every job exactly once.
func (l *lane) run(ctx context.Context, c clock.Clock, jobs <-chan job, answers chan<- core.Input) {
	defer func() { _ = l.store.Close() }()
	defer l.slim()
	for l.turn(ctx, c, jobs, answers) {
	}
}

// turn takes one job, or tidies up when none comes; false ends the lane.
func (l *lane) turn(ctx context.Context, c clock.Clock, jobs <-chan job, answers chan<- core.Input) bool {
	var idle <-chan time.Time
	if !l.swollen.IsZero() {
		t := c.NewTimer(tidyAfter)
		defer t.Stop()
		idle = t.C()
	}
	select {
	case j := <-jobs:
		answers <- l.do(j)
		if !l.swollen.IsZero() && c.Since(l.swollen) > tidyAnyway {
			l.slim()
		}
	case <-idle:
		l.slim()
	case <-ctx.Done():
		return false
	}
	return true
}

// swell is called before a large snapshot is planned.
func (l *lane) swell() {
	if l.swollen.IsZero() {
		l.thrift.begin()
	}
	l.swollen = l.now()
}

// slim gives the memory of a large snapshot back: an idle process would keep the garbage for minutes, because nothing
// makes it collect.
func (l *lane) slim() {
	if l.swollen.IsZero() {
		return
	}
	l.swollen = time.Time{}
	debug.FreeOSMemory()
	l.thrift.end()
}

// do performs an effect; a panic of a library is that effect's failure, never the process's (decisions 94).
func (l *lane) do(j job) (answer core.Input) {
	defer func() {
		if p := recover(); p != nil {
			l.log.Error(fmt.Errorf("panic: %v", p), "a lane effect panicked", "stack", string(debug.Stack()))
			// What was remembered may be half changed; all of it can be read again.
			clear(l.folders)
			answer = failed(j.effect, &core.Failure{Reason: core.ReasonWriteFailed, Text: fmt.Sprintf("internal error: %v", p)})
		}
	}()
	l.keep(j.targets)
	switch e := j.effect.(type) {
	case core.Look:
		return l.look(j.ctx, e)
	case core.Fetch:
		return l.fetch(j.ctx, e)
	case core.Write:
		return l.write(j.ctx, e)
	case core.Push:
		return l.push(j.ctx, e)
	}
	panic(fmt.Sprintf("%T is no lane effect", j.effect))
}

// keep forgets the folders of targets that are gone.
func (l *lane) keep(targets []core.TargetStatus) {
	for k := range l.folders {
		if !slices.ContainsFunc(targets, func(t core.TargetStatus) bool { return t.Target == k }) {
			delete(l.folders, k)
		}
	}
}

func failed(e core.Effect, f *core.Failure) core.Input {
	switch e := e.(type) {
	case core.Look:
		return core.Looked{Op: e.Op, Err: f}
	case core.Fetch:
		return core.Fetched{Op: e.Op, Err: f}
	case core.Push:
		return core.Pushed{Op: e.Op, Outcome: core.PushUnknown, Text: f.Text, Reason: f.Reason, RetryAfter: f.RetryAfter}
	case core.Write:
		return core.Written{Op: e.Op, Seq: e.Seq, Outcome: core.WriteFailed, Err: f}
	}
	return nil
}

func (l *lane) look(ctx context.Context, e core.Look) core.Input {
	r, err := l.store.Look(ctx)
	if err != nil {
		return failed(e, failure(ctx, err))
	}
	return core.Looked{Op: e.Op, Remote: remote(r)}
}

func (l *lane) fetch(ctx context.Context, e core.Fetch) core.Input {
	err := l.store.Fetch(ctx, gitstore.Hash(e.Want))
	if errors.Is(err, gitstore.ErrParentMissing) {
		return core.Fetched{Op: e.Op, Remote: remote(l.store.Remote())}
	}
	if err != nil {
		return failed(e, failure(ctx, err))
	}
	return core.Fetched{Op: e.Op, Remote: remote(l.store.Remote()), Base: core.Commit(l.store.Base())}
}

func (l *lane) push(ctx context.Context, e core.Push) core.Input {
	r, err := l.store.Push(ctx, gitstore.Hash(e.Expected), gitstore.Hash(e.Tip))
	if err != nil {
		f, outcome := failure(ctx, err), core.PushFailed
		var transport *gitstore.TransportError
		if errors.As(err, &transport) && transport.MayHaveLanded() {
			outcome = core.PushUnknown
		}
		return core.Pushed{Op: e.Op, Outcome: outcome, Text: f.Text, Reason: f.Reason, RetryAfter: f.RetryAfter}
	}
	p := core.Pushed{Op: e.Op, Outcome: core.PushOutcome(r.Outcome), Text: r.Text, RetryAfter: r.RetryAfter}
	if r.TipKnown {
		p.Tip = core.Commit(r.Tip)
	}
	if r.Outcome == gitstore.Accepted {
		l.maintain(ctx)
	}
	return p
}

// maintain keeps the store's memory bounded; its failure costs nothing, the next fetch tries again.
func (l *lane) maintain(ctx context.Context) {
	done, err := l.store.Maintain(ctx)
	if err != nil {
		l.log.Info("could not replace the grown object store yet", "cause", err.Error())
	} else if done {
		l.log.V(1).Info("replaced the grown object store by a fresh fetch")
	}
}

func remote(r gitstore.Remote) core.Remote {
	return core.Remote{
		Exists: r.Exists, Tip: core.Commit(r.Tip),
		Parent: core.Commit(r.Parent), ParentState: core.ParentState(r.ParentState),
	}
}
