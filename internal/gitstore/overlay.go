// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore

import (
	"container/list"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/gitstore/pack"
)

// treeCacheSize bounds the raw trees kept for the next edit, in bytes.
const treeCacheSize = 4 << 20

// overlay holds what the base reaches and the pack on disk lacks. A delta's base is in the overlay or on disk.
type overlay struct {
	objects map[Hash]*pack.Object
	bytes   int64
	// swept is what was left after the last sweep.
	swept int64
}

func newOverlay() *overlay { return &overlay{objects: map[Hash]*pack.Object{}} }

func (o *overlay) add(x *pack.Object) {
	if _, ok := o.objects[x.ID]; ok {
		return
	}
	o.objects[x.ID] = x
	o.bytes += x.Cost()
}

// grown reports whether a sweep is worth its time.
func (o *overlay) grown() bool { return o.bytes > 2*o.swept+1<<20 }

// keep drops everything that is not in the set.
func (o *overlay) keep(live map[Hash]bool) {
	for id, x := range o.objects {
		if !live[id] {
			o.bytes -= x.Cost()
			delete(o.objects, id)
		}
	}
	o.swept = o.bytes
}

// commit is an unpublished commit with the objects it brought.
type commit struct {
	id, parent, tree Hash
	objects          []*pack.Object
}

// pending holds unpublished commits in the order they were made.
type pending struct {
	commits []*commit
	byID    map[Hash]*commit
	// objects maps an id to its first occurrence: a later one may be a delta of something made from the first.
	objects map[Hash]*pack.Object
	bytes   int64
}

func (p *pending) find(id Hash) *commit { return p.byID[id] }

func (p *pending) add(c *commit) {
	if p.byID[c.id] != nil {
		return
	}
	if p.byID == nil {
		p.byID, p.objects = map[Hash]*commit{}, map[Hash]*pack.Object{}
	}
	p.commits = append(p.commits, c)
	p.byID[c.id] = c
	for _, o := range c.objects {
		if p.objects[o.ID] == nil {
			p.objects[o.ID] = o
			p.bytes += o.Cost()
		}
	}
}

func (p *pending) set(commits []*commit) {
	*p = pending{}
	for _, c := range commits {
		p.add(c)
	}
}

// drop forgets what was made after a commit; everything when the commit is not pending.
func (p *pending) drop(to Hash) {
	i := slices.IndexFunc(p.commits, func(c *commit) bool { return c.id == to })
	if i != len(p.commits)-1 {
		p.set(p.commits[:i+1])
	}
}

// chain returns the unpublished commits that tip consists of, oldest first; nil when tip is not pending.
func (p *pending) chain(tip Hash) []*commit {
	var out []*commit
	for c := p.find(tip); c != nil; c = p.find(c.parent) {
		out = append(out, c)
	}
	slices.Reverse(out)
	return out
}

// treeCache keeps the trees last used, raw and indexed.
type treeCache struct {
	limit, size int
	order       *list.List
	entries     map[Hash]*list.Element
}

type cachedTree struct {
	id Hash
	t  *pack.Tree
}

func newTreeCache(limit int) *treeCache {
	return &treeCache{limit: limit, order: list.New(), entries: map[Hash]*list.Element{}}
}

func (c *treeCache) get(id Hash) *pack.Tree {
	e := c.entries[id]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*cachedTree).t
}

func (c *treeCache) put(id Hash, t *pack.Tree) {
	if c.entries[id] != nil || len(t.Raw) > c.limit {
		return
	}
	c.entries[id] = c.order.PushFront(&cachedTree{id, t})
	c.size += t.Cost()
	for c.size > c.limit {
		e := c.order.Back()
		old := c.order.Remove(e).(*cachedTree)
		delete(c.entries, old.id)
		c.size -= old.t.Cost()
	}
}
