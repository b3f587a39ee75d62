// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
)

var cells = []change.Cell{{Resource: "configmaps"}, {Group: "apps", Resource: "deployments"}, {Resource: "namespaces"}}

var names = []string{"a", "b", "c", "d"}

var authors = []change.Author{
	{Kind: change.AuthorUser, Username: "alice"},
	{Kind: change.AuthorUser, Username: "bob"},
	{Kind: change.AuthorServiceAccount, Username: "system:serviceaccount:x:y"},
	{Kind: change.AuthorUnresolved},
}

// event is one change of one object in the cluster.
type event struct {
	rv     int
	name   string
	value  string
	del    bool
	author change.Author
}

// state is an object as it stands.
type state struct {
	value string
	rv    int
}

// cluster is the model source cluster: per cell the objects and everything that happened to them.
type cluster struct {
	rv   int
	logs map[change.Cell][]event
	live map[change.Cell]map[string]state
}

func newCluster() *cluster {
	c := &cluster{logs: map[change.Cell][]event{}, live: map[change.Cell]map[string]state{}}
	for _, id := range cells {
		c.live[id] = map[string]state{}
	}
	return c
}

func (c *cluster) set(id change.Cell, name, value string, by change.Author) {
	if value == "" {
		if _, ok := c.live[id][name]; !ok {
			return
		}
	}
	c.rv++
	e := event{rv: c.rv, name: name, value: value, del: value == "", author: by}
	c.logs[id] = append(c.logs[id], e)
	if e.del {
		delete(c.live[id], name)
		return
	}
	c.live[id][name] = state{value: value, rv: c.rv}
}

func object(id change.Cell, name string) change.ObjectID {
	return change.ObjectID{Group: id.Group, Kind: id.Resource, Namespace: "ns", Name: name}
}

func path(t change.TargetKey, id change.Cell, name string) string {
	return t.Name + "/" + id.Resource + "/" + name
}

// target is a GitTarget with its streams.
type target struct {
	key      change.TargetKey
	cfg      core.TargetConfig
	on       bool
	declared bool
	epoch    uint64
	streams  map[change.Cell]*stream
	cells    []change.Cell
	gone     int
	// always: prune mode was Always from the first moment on.
	always bool
}

// stream is the watch of one cell for one target.
type stream struct {
	t       *target
	id      change.Cell
	pos     int
	snap    bool // a snapshot is owed
	initial bool
	recover int // events before this position are delivered as recovered
	cursor  int // stored resource version
	held    bool
	stamp   core.Stamp
}

// next offers what the stream has; it stops at a refusal.
func (w *world) pump(s *stream) {
	for s.t.on && s.t.declared && s.t.streams[s.id] == s && !s.held && !w.dead() {
		log := w.cluster.logs[s.id]
		switch {
		case s.pos < s.recover:
			if !w.offer(s, log[s.pos], true) {
				return
			}
			s.pos++
		case s.snap:
			if !w.snapshot(s) {
				return
			}
		case s.pos < len(log):
			if !w.offer(s, log[s.pos], false) {
				return
			}
			s.pos++
		default:
			return
		}
	}
}

func (w *world) wait(s *stream) {
	s.held = true
	w.after(time.Minute, func() { w.wake(s) })
}

func (w *world) wake(s *stream) {
	if s.held {
		s.held = false
		w.pump(s)
	}
}

func (w *world) wakeAll() {
	for _, t := range w.targets {
		for _, id := range t.cells {
			s := t.streams[id]
			w.after(w.upTo(50*time.Millisecond), func() { w.wake(s) })
		}
	}
}

func (w *world) offer(s *stream, e event, recovered bool) bool {
	op := change.Update
	if e.del {
		op = change.Delete
	}
	c := change.Change{
		Target: s.t.key, Cell: s.id, Operation: op, Author: e.author, ReceivedAt: w.now,
		Item: change.Item{
			Object: object(s.id, e.name), Type: change.Type{Group: s.id.Group, Resource: s.id.Resource},
			ResourceVersion: strconv.Itoa(e.rv),
		},
	}
	if !e.del {
		c.Desired = []byte(e.value)
	}
	before := w.m.Status()
	w.check.offered(s.t, c, recovered)
	v := w.ask(func(k core.Ticket) core.Input { return core.Offered{Ticket: k, Change: c, Recovered: recovered} })
	if v == change.Accepted {
		w.check.budget(before, c.Size())
		return true
	}
	w.check.turnedAway()
	if v != change.UnknownTarget && v != change.Stopped {
		w.wait(s)
	}
	return false
}

func (w *world) snapshot(s *stream) bool {
	log := w.cluster.logs[s.id]
	snap := change.Snapshot{Target: s.t.key, Cell: s.id, ResourceVersion: strconv.Itoa(w.cluster.rv)}
	for _, n := range slices.Sorted(maps.Keys(w.cluster.live[s.id])) {
		o := w.cluster.live[s.id][n]
		snap.Items = append(snap.Items, change.Item{
			Object: object(s.id, n), Desired: []byte(o.value), ResourceVersion: strconv.Itoa(o.rv),
		})
	}
	ts, _ := w.m.Status().Target(s.t.key)
	stamp := core.Stamp{Epoch: s.t.epoch, Applies: ts.Applies, Ahead: ts.Ahead}
	if w.chance(5) {
		stamp.Ahead = true
	}
	if w.quiet {
		stamp.Ahead = ts.Ahead
	}
	before := w.m.Status()
	s.snap = false // a request that comes with the answer asks for another one
	v := w.ask(func(k core.Ticket) core.Input {
		w.check.snapped[k] = &snap
		return core.Snapped{Ticket: k, Snapshot: snap, Stamp: stamp, Initial: s.initial}
	})
	if v != change.Accepted {
		delete(w.check.snapped, w.ticket)
		s.snap = true
		if v != change.UnknownTarget && v != change.Stopped {
			w.wait(s)
		}
		return false
	}
	w.check.budget(before, snap.Size())
	w.check.superseded(s.t, &snap)
	s.pos, s.initial = len(log), false
	return true
}

// declare tells the machine the target's cells and starts its streams.
func (w *world) declare(t *target, restart bool) {
	t.epoch++
	t.declared = true
	w.step(core.CellsDeclared{Target: t.key, Epoch: t.epoch, Cells: slices.Clone(t.cells)})
	for id := range t.streams {
		if !slices.Contains(t.cells, id) {
			delete(t.streams, id)
		}
	}
	for _, id := range t.cells {
		s := t.streams[id]
		if s == nil || restart {
			n := &stream{t: t, id: id, snap: true, initial: true}
			if s != nil && w.cursors && s.cursor > 0 {
				n.cursor = s.cursor
				log := w.cluster.logs[id]
				for n.pos < len(log) && log[n.pos].rv <= n.cursor {
					n.pos++
				}
				n.recover = len(log)
			}
			t.streams[id] = n
			s = n
		}
		w.after(w.upTo(100*time.Millisecond), func() { w.pump(s) })
	}
}

func (w *world) stream(key change.TargetKey, id change.Cell) *stream {
	for _, t := range w.targets {
		if t.key == key {
			return t.streams[id]
		}
	}
	return nil
}

// value makes a new content; a few are refused by the plan.
func (w *world) value() string {
	switch {
	case w.chance(3):
		return fmt.Sprintf("x%d!refuse", w.rng.IntN(5))
	case w.chance(3):
		return fmt.Sprintf("x%d!skip", w.rng.IntN(5))
	case w.chance(2):
		return fmt.Sprintf("x%d!fail", w.rng.IntN(5))
	default:
		return fmt.Sprintf("x%d", w.rng.IntN(5))
	}
}

func bad(value string) bool { return strings.Contains(value, "!") }
