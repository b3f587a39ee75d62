// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
)

const (
	// silentReplay is how long after the last initial event the end bookmark may take; longReplay bounds the whole.
	silentReplay = 30 * time.Second
	longReplay   = 2 * time.Minute
)

// errNoBookmark ends a replay whose end bookmark did not come in time.
var errNoBookmark = errors.New("the end bookmark did not come")

// gathering collects the objects of a snapshot: the last state of each, and the removals seen on the way.
type gathering struct {
	*filter
	items   []gathered
	index   map[string]int
	deleted map[string]cluster.Frame
	order   []string
}

type gathered struct {
	item     change.Item
	key      objectKey
	accepted accepted
	dropped  bool
}

func newGathering(f *filter) *gathering {
	return &gathering{filter: f, index: map[string]int{}, deleted: map[string]cluster.Frame{}}
}

// nameOf names an object within its type.
func nameOf(h *cluster.Head) string { return string(h.Namespace) + "\x00" + string(h.Name) }

// drop takes an object out.
func (g *gathering) drop(id string) {
	if i, ok := g.index[id]; ok {
		g.items[i] = gathered{dropped: true}
		delete(g.index, id)
	}
}

func (g *gathering) put(id string, it gathered) {
	delete(g.deleted, id)
	if i, ok := g.index[id]; ok {
		g.items[i] = it
		return
	}
	g.index[id] = len(g.items)
	g.items = append(g.items, it)
}

// read takes initial events up to the end bookmark and returns its resource version. Errors: errNoBookmark, the server's
// *StatusError of an ERROR event, else the stream's.
func (g *gathering) read(ctx context.Context, w cluster.Stream) (string, error) {
	var once sync.Once
	var late bool
	giveUp := func() { once.Do(func() { late = true; w.Close() }) }
	silence := g.clock.AfterFunc(silentReplay, giveUp)
	defer silence.Stop()
	bound := g.clock.AfterFunc(longReplay, giveUp)
	defer bound.Stop()
	for {
		f, err := w.Next()
		if err != nil {
			// After this the timers cannot change late any more.
			once.Do(func() {})
			if late && ctx.Err() == nil {
				return "", errNoBookmark
			}
			return "", err
		}
		switch f.Type {
		case cluster.Failed:
			g.recorder.Event(g.target, g.col.Type, OutcomeStreamError)
			return "", cluster.ParseStatus(f.Object)
		case cluster.Bookmark:
			if h, ok := g.scanner.Head(f.Object); ok && h.InitialEventsEnd {
				return string(h.ResourceVersion), nil
			}
		default:
			silence.Reset(silentReplay)
			g.collect(f)
		}
	}
}

// collect takes one initial event. Terminating objects are not desired: a deletion request already means absent. A
// removal is repeated as a live one behind the snapshot (decision 73).
func (g *gathering) collect(f cluster.Frame) {
	h, ok := g.scanner.Head(f.Object)
	if !ok || !g.inScope(&h) {
		g.recorder.Event(g.target, g.col.Type, OutcomeNotObject)
		return
	}
	id := nameOf(&h)
	if f.Type == cluster.Deleted {
		g.drop(id)
		if _, again := g.deleted[id]; !again {
			g.order = append(g.order, id)
		}
		g.deleted[id] = cluster.Frame{Type: f.Type, Object: slices.Clone(f.Object)}
		return
	}
	if _, selected := g.selection.wanted(h.Labels); !selected || h.Deleting {
		g.drop(id)
		return
	}
	item, err := g.sanitize(f.Object, g.col.Type)
	if err != nil {
		// Neither written nor swept: an object that cannot be read must not look absent.
		g.log.Error(err, "an object cannot be mirrored", "type", g.col.Type.GroupResource())
		item = g.identity(&h)
		item.Protected = "unreadable"
	}
	it := gathered{item: item, key: keyOf(&h), accepted: accepted{raw: h.Hash}}
	if item.Protected == "" {
		it.accepted.content = contentOf(&item)
	}
	g.put(id, it)
}

// take returns the snapshot and the baseline that its acceptance brings, and lets go of the objects.
func (g *gathering) take(rv string) (change.Snapshot, baseline) {
	snap := change.Snapshot{
		Target: g.target, Cell: g.col.Cell(), Type: g.col.Type, ResourceVersion: rv, Selected: g.col.bounded(),
		Items: make([]change.Item, 0, len(g.index)),
	}
	next := make(baseline, len(g.index))
	for i := range g.items {
		if it := &g.items[i]; !it.dropped {
			snap.Items = append(snap.Items, it.item)
			next[it.key] = it.accepted
		}
	}
	g.items, g.index = nil, nil
	slices.SortFunc(snap.Items, func(a, b change.Item) int { return a.Object.Compare(b.Object) })
	return snap, next
}

// removals are the objects whose deletion was seen and that did not come back, in order.
func (g *gathering) removals() []cluster.Frame {
	var out []cluster.Frame
	for _, id := range g.order {
		if f, ok := g.deleted[id]; ok {
			out = append(out, f)
			delete(g.deleted, id)
		}
	}
	return out
}
