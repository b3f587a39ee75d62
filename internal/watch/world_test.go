// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/cluster/clustertest"
	"github.com/configbutler/gitops-reverser/internal/mailbox"
	"github.com/configbutler/gitops-reverser/internal/rules"
)

var (
	configMaps  = change.Type{Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespaced: true}
	services    = change.Type{Version: "v1", Kind: "Service", Resource: "services", Namespaced: true}
	deployments = change.Type{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Namespaced: true}
	boats       = change.Type{Group: "x.test", Version: "v1", Kind: "Boat", Resource: "boats", Namespaced: true}
	key         = change.TargetKey{Namespace: "team", Name: "mirror", UID: "t-1"}
	cell        = change.Cell{Resource: "configmaps"}
)

// world is a manager over one fake source inside a synctest bubble.
type world struct {
	*testing.T
	server  *clustertest.Server
	sources *cluster.Sources
	manager *Manager
	sink    *fakeSink
	rec     *counts
	dirty   *mailbox.Mailbox[change.TargetKey]
	asked   *mailbox.Mailbox[SnapshotRequest]
	spec    TargetSpec
	began   time.Time

	mu   sync.Mutex
	plan func(context.Context, *cluster.Catalog) (Plan, error)
}

// bubble runs f with a started manager over a source "default" that serves the given types.
func bubble(t *testing.T, types []change.Type, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{
			T: t, server: clustertest.New(types...), sink: newFakeSink(), rec: &counts{n: map[string]int{}},
			dirty: mailbox.New[change.TargetKey](), asked: mailbox.New[SnapshotRequest](),
		}
		w.began = time.Now()
		w.sources = cluster.NewSources(cluster.Options{Log: logr.Discard()})
		if err := w.sources.Set("default", cluster.Config{REST: w.server.Config(), Token: "1", Local: true, QPS: 1e6, Burst: 1e6}); err != nil {
			t.Fatal(err)
		}
		w.manager = NewManager(Options{
			Sources: w.sources, Planner: w, Dirty: w.dirty, Requests: w.asked, Recorder: w.rec, Log: logr.Discard(),
		})
		w.spec = TargetSpec{Key: key, Source: "default", Sink: w.sink, PruneMode: "OnEvent"}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = w.manager.Start(ctx)
		}()
		defer func() {
			cancel()
			<-ended
			// Handlers of the server that sleep notice that their client is gone.
			time.Sleep(time.Minute) // fake time: the bubble's clock
		}()
		f(w)
	})
}

// Plan implements Planner.
func (w *world) Plan(ctx context.Context, _ change.TargetKey, c *cluster.Catalog) (Plan, error) {
	w.mu.Lock()
	p := w.plan
	w.mu.Unlock()
	if p == nil {
		return Plan{}, nil
	}
	return p(ctx, c)
}

// watch plans these collections from now on.
func (w *world) watch(cols ...Collection) {
	w.planned(func(context.Context, *cluster.Catalog) (Plan, error) { return Plan{Collections: cols}, nil })
}

func (w *world) planned(p func(context.Context, *cluster.Catalog) (Plan, error)) {
	w.mu.Lock()
	w.plan = p
	w.mu.Unlock()
}

// rules plans with the real rules from now on.
func (w *world) rules(rr ...rules.Rule) {
	var compiled []*rules.Compiled
	for _, r := range rr {
		res := rules.Compile(r, rules.Access{TargetAdmitted: true, AllowAnySourceNamespace: true}, nil)
		if res.Compiled == nil {
			w.Fatalf("%s: %+v", r.Key, res)
		}
		compiled = append(compiled, res.Compiled)
	}
	w.planned(func(_ context.Context, c *cluster.Catalog) (Plan, error) {
		r := rules.Resolve(compiled, c)
		p := Plan{Retained: r.Retained}
		for _, col := range r.Collections {
			p.Collections = append(p.Collections, convert(col))
		}
		return p, nil
	})
}

// convert is the glue that a controller has as well.
func convert(c rules.Collection) Collection {
	out := Collection{
		Type: c.Type, Namespace: c.Namespace, Selector: c.Selector, Operations: c.Operations, Named: c.Named,
	}
	for _, cl := range c.Clauses {
		out.Clauses = append(out.Clauses, Clause(cl))
	}
	return out
}

func col(t change.Type, ops ...change.Operation) Collection {
	if len(ops) == 0 {
		ops = []change.Operation{change.Create, change.Update, change.Delete}
	}
	return Collection{Type: t, Operations: ops, Named: true}
}

// up declares the target and waits until all streams are ready.
func (w *world) up() {
	w.Helper()
	w.manager.Declare(w.spec)
	w.pass(3 * time.Second)
	if st := w.status(); st.Running != "True" {
		w.Fatalf("not running: %+v", st)
	}
}

// pass lets time pass and everything settle.
func (w *world) pass(d time.Duration) {
	time.Sleep(d) // fake time: the bubble's clock
	synctest.Wait()
}

func (w *world) status() Status {
	w.Helper()
	st, ok := w.manager.Status(key)
	if !ok {
		w.Fatal("the target is not declared")
	}
	return st
}

func configMap(name string, data ...string) clustertest.Object {
	d := clustertest.Object{}
	for i := 0; i+1 < len(data); i += 2 {
		d[data[i]] = data[i+1]
	}
	return clustertest.Object{"metadata": clustertest.Object{"namespace": "dock", "name": name}, "data": d}
}

func labelled(o clustertest.Object, k, v string) clustertest.Object {
	o["metadata"].(clustertest.Object)["labels"] = clustertest.Object{k: v}
	return o
}

func terminating(o clustertest.Object) clustertest.Object {
	o["metadata"].(clustertest.Object)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	o["metadata"].(clustertest.Object)["finalizers"] = []any{"x.test/hold"}
	return o
}

// fakeSink records what it is given and models a folder.
type fakeSink struct {
	mu        sync.Mutex
	verdict   func(c *change.Change, s *change.Snapshot) change.Verdict
	outcome   change.Outcome
	wake      chan struct{}
	offered   []string
	refused   int
	changes   []change.Change
	snapshots []taken
	declared  []string
	cells     []change.Cell
	always    bool
	folder    map[change.ObjectID]string
}

type taken struct {
	change.Snapshot
	initial bool
	stamp   Stamp
}

func newFakeSink() *fakeSink {
	return &fakeSink{wake: make(chan struct{}), outcome: change.Settled, folder: map[change.ObjectID]string{}}
}

func (f *fakeSink) Offer(_ context.Context, c change.Change) change.Verdict {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.verdict != nil {
		if v := f.verdict(&c, nil); v != change.Accepted {
			f.refused++
			return v
		}
	}
	f.changes = append(f.changes, c)
	f.offered = append(f.offered, fmt.Sprintf("%s %s", c.Operation, c.Object.Name))
	if c.Operation == change.Delete {
		delete(f.folder, c.Object)
	} else {
		f.folder[c.Object] = string(c.Desired)
	}
	return change.Accepted
}

func (f *fakeSink) Snapshot(_ context.Context, s change.Snapshot, initial bool, stamp Stamp) (change.Verdict, <-chan change.Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.verdict != nil {
		if v := f.verdict(nil, &s); v != change.Accepted {
			f.refused++
			return v, nil
		}
	}
	f.snapshots = append(f.snapshots, taken{s, initial, stamp})
	f.offered = append(f.offered, fmt.Sprintf("SNAPSHOT %s %d", s.Cell, len(s.Items)))
	keep := map[change.ObjectID]bool{}
	for _, it := range s.Items {
		keep[it.Object] = true
		if it.Protected == "" {
			f.folder[it.Object] = string(it.Desired)
		}
	}
	for id := range f.folder {
		if f.always && !keep[id] && id.Kind == s.Type.Kind && id.Group == s.Type.Group &&
			(s.Cell.Namespace == "" || s.Cell.Namespace == id.Namespace) {
			delete(f.folder, id)
		}
	}
	c := make(chan change.Outcome, 1)
	c <- f.outcome
	return change.Accepted, c
}

func (f *fakeSink) Wake() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wake
}

func (f *fakeSink) Declare(_ change.TargetKey, epoch uint64, cells, blocked []change.Cell) {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := fmt.Sprint(epoch, " ", cells)
	if len(blocked) > 0 {
		text += fmt.Sprint(" without ", blocked)
	}
	f.declared = append(f.declared, text)
	f.cells = cells
}

// reopen wakes those who wait for intake and accepts everything again.
func (f *fakeSink) reopen() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.verdict = nil
	close(f.wake)
	f.wake = make(chan struct{})
}

func (f *fakeSink) refuse(v func(c *change.Change, s *change.Snapshot) change.Verdict) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.verdict = v
}

// take returns what was accepted since the last call.
func (f *fakeSink) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.offered
	f.offered = nil
	return out
}

func (f *fakeSink) names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for id := range f.folder {
		out = append(out, id.Name)
	}
	slices.Sort(out)
	return out
}

func (f *fakeSink) documents() map[change.ObjectID]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.folder)
}

func (f *fakeSink) lastSnapshot() taken {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snapshots[len(f.snapshots)-1]
}

// counts is a Recorder.
type counts struct {
	mu     sync.Mutex
	n      map[string]int
	oldest time.Time
}

var _ Recorder = (*counts)(nil)

func (c *counts) add(k string, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[k] += by
}

func (c *counts) get(k string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[k]
}

func (c *counts) set(k string, v int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[k] = v
}

func (c *counts) Event(_ change.TargetKey, _ change.Type, o string)     { c.add("event "+o, 1) }
func (c *counts) Handled(change.Type, time.Duration)                    { c.add("handled", 1) }
func (c *counts) SessionEnded(_ change.Type, r string)                  { c.add("ended "+r, 1) }
func (c *counts) Replayed(_ change.Type, n int, _ time.Duration)        { c.add("replayed", n) }
func (c *counts) Recovered(_ change.TargetKey, _ change.Type, m string) { c.add(m, 1) }
func (c *counts) Streams(_ string, _ change.TargetKey, s, r, b, o int) {
	c.set("streaming", s)
	c.set("replaying", r)
	c.set("blocked", b)
	c.set("open", o)
}
func (c *counts) Forgotten(change.TargetKey)                            { c.add("forgotten", 1) }
func (c *counts) Planned(_ change.TargetKey, o string, _ time.Duration) { c.add("plan "+o, 1) }
func (c *counts) Triggered(r string, coalesced bool) {
	c.add(fmt.Sprint("trigger ", r, " ", coalesced), 1)
}
func (c *counts) Dirty(n int, since time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n["dirty"], c.oldest = n, since
}
func (c *counts) Refused(_ change.TargetKey, k string, v change.Verdict) {
	c.add("refused "+k+" "+string(v), 1)
}
func (c *counts) OfferWaited(change.TargetKey, time.Duration) { c.add("waited", 1) }
