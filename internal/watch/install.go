// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// install makes the streams follow a plan: kept ones are not touched, the others start, restart or stop (watch 7). What
// a leaving collection means for files: nothing.
func (t *target) install(ctx context.Context, plan Plan) {
	wanted := map[change.Cell]Collection{}
	for _, c := range plan.Collections {
		wanted[c.Cell()] = c
	}
	t.plan.cells = slices.SortedFunc(maps.Keys(wanted), compareCells)
	t.plan.held = nil
	t.plan.installed = true

	settled := map[change.Cell]bool{}
	for cell, s := range t.streams {
		c, ok := wanted[cell]
		if ok && t.spec.withheld(c) == nil && keeps(s.col, c) && s.env == t.env {
			if s.control.setNamed(c.Named) {
				s.control.wakeUp()
			}
			continue
		}
		settled[cell] = s.env.sink == t.env.sink && s.control.isSettled()
		t.remove(s)
	}
	for _, cell := range t.plan.cells {
		if t.streams[cell] != nil {
			continue
		}
		c := wanted[cell]
		if h := t.spec.withheld(c); h != nil {
			t.hold(c, h.Reason, h.Message)
			continue
		}
		if len(t.streams) >= t.o.MaxStreams {
			t.hold(c, ReasonTooManyStreams, fmt.Sprintf("The rules select %d streams; --max-streams-per-target is %d.",
				len(t.plan.cells), t.o.MaxStreams))
			continue
		}
		t.streams[cell] = newStream(t.env, c, t.leaving(cell), settled[cell])
	}
	// The worker knows the cells before the first offer of one.
	t.declare(false)
	for _, s := range t.streams {
		t.start(ctx, s)
	}
}

// keeps reports a collection that the running stream already serves.
func keeps(a, b Collection) bool {
	a.Named, b.Named = false, false
	return reflect.DeepEqual(a, b)
}

// withheld returns why a collection must not be streamed; nil when it may.
func (s *TargetSpec) withheld(c Collection) *Withheld {
	for i := range s.Withheld {
		if w := &s.Withheld[i]; w.Group == c.Type.Group && w.Resource == c.Type.Resource {
			return w
		}
	}
	return nil
}

func (t *target) hold(c Collection, reason, message string) {
	t.plan.held = append(t.plan.held, CellStatus{
		Cell: c.Cell(), Type: c.Type, Phase: Blocked, Reason: reason, Message: message, Since: t.o.Clock.Now(),
	})
}

// start begins a stream that was not begun yet.
func (t *target) start(ctx context.Context, s *stream) {
	if s.stop == nil {
		s.since = t.o.Clock.Now()
		s.start(ctx)
	}
}

// remove ends a stream without waiting for it.
func (t *target) remove(s *stream) {
	if s.stop != nil {
		s.close()
		t.ending = append(t.ending, s)
	}
	delete(t.streams, s.col.Cell())
}

// leaving returns the ends of the type's streams that are still running out: they end before a successor starts,
// whatever their scopes, so that no object arrives on two streams.
func (t *target) leaving(cell change.Cell) []<-chan struct{} {
	t.ending = slices.DeleteFunc(t.ending, func(s *stream) bool {
		select {
		case <-s.done:
			return true
		default:
			return false
		}
	})
	var out []<-chan struct{}
	for _, s := range t.ending {
		if c := s.col.Cell(); c.Group == cell.Group && c.Resource == cell.Resource {
			out = append(out, s.done)
		}
	}
	return out
}

// replaceAll restarts every stream of the installed plan with the present surroundings.
func (t *target) replaceAll(ctx context.Context, sameSink bool) {
	old := slices.Collect(maps.Values(t.streams))
	t.stopAll()
	for _, s := range old {
		cell := s.col.Cell()
		t.streams[cell] = newStream(t.env, s.col, t.leaving(cell), sameSink && s.control.isSettled())
	}
	t.declare(false)
	for _, s := range t.streams {
		t.start(ctx, s)
	}
}

func (t *target) stopAll() {
	for _, s := range t.streams {
		t.remove(s)
	}
}

func compareCells(a, b change.Cell) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource),
		cmp.Compare(a.Namespace, b.Namespace))
}
