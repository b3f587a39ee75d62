// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"cmp"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// The index has two levels, pages of buckets, so that a change copies a few kilobytes however many documents there
// are. It doubles when a bucket holds more than maxLoad names on average.
const (
	pageSize = 64
	maxLoad  = 8
)

// index finds documents by group, kind and name. The namespace is left out: what it means depends on the layout.
type index struct {
	seed  maphash.Seed
	pages []*page
	names int
}

type page struct {
	buckets [pageSize][]*group
	// multi counts the groups with more than one document.
	multi int
}

// group holds the documents of one group, kind and name, sorted by written namespace, path and index.
type group struct {
	docs []*Document
	// same reports that two of them have the same written namespace.
	same bool
}

type name struct{ group, kind, name string }

func nameOf(id change.ObjectID) name { return name{id.Group, id.Kind, id.Name} }

func newIndex() *index { return &index{seed: maphash.MakeSeed()} }

func (x *index) slot(n name) (page, bucket int) {
	h := maphash.Comparable(x.seed, n) % uint64(len(x.pages)*pageSize)
	return int(h / pageSize), int(h % pageSize)
}

// get returns the group of a name, or nil.
func (x *index) get(n name) *group {
	if len(x.pages) == 0 {
		return nil
	}
	p, b := x.slot(n)
	if x.pages[p] == nil {
		return nil
	}
	for _, g := range x.pages[p].buckets[b] {
		if nameOf(g.docs[0].Raw) == n {
			return g
		}
	}
	return nil
}

// multiple iterates over the groups with more than one document, in no particular order.
func (x *index) multiple() iter.Seq[*group] {
	return func(yield func(*group) bool) {
		for _, p := range x.pages {
			if p == nil || p.multi == 0 {
				continue
			}
			for _, b := range p.buckets {
				for _, g := range b {
					if len(g.docs) > 1 && !yield(g) {
						return
					}
				}
			}
		}
	}
}

// update returns the index with documents taken out and put in. Documents are compared by address.
func (x *index) update(removed, added []*Document) *index {
	if len(removed) == 0 && len(added) == 0 {
		return x
	}
	type delta struct{ out, in []*Document }
	deltas := map[name]*delta{}
	at := func(d *Document) *delta {
		n := nameOf(d.Raw)
		if deltas[n] == nil {
			deltas[n] = &delta{}
		}
		return deltas[n]
	}
	for _, d := range removed {
		e := at(d)
		e.out = append(e.out, d)
	}
	for _, d := range added {
		e := at(d)
		e.in = append(e.in, d)
	}
	next := x.grown(x.names + len(deltas))
	owned := make([]bool, len(next.pages))
	for n, d := range deltas {
		p, b := next.slot(n)
		if !owned[p] {
			owned[p] = true
			fresh := page{}
			if next.pages[p] != nil {
				fresh = *next.pages[p]
			}
			next.pages[p] = &fresh
		}
		next.names += next.pages[p].replace(b, n, d.out, d.in)
	}
	return next
}

// replace changes one group of a page this update owns and returns by how many the names grew.
func (p *page) replace(b int, n name, out, in []*Document) int {
	old := p.buckets[b]
	i := slices.IndexFunc(old, func(g *group) bool { return nameOf(g.docs[0].Raw) == n })
	var docs []*Document
	if i >= 0 {
		if len(old[i].docs) > 1 {
			p.multi--
		}
		gone := make(map[*Document]bool, len(out))
		for _, d := range out {
			gone[d] = true
		}
		for _, d := range old[i].docs {
			if !gone[d] {
				docs = append(docs, d)
			}
		}
	}
	docs = append(docs, in...)
	bucket := make([]*group, 0, len(old)+1)
	for j, g := range old {
		if j != i {
			bucket = append(bucket, g)
		}
	}
	if len(docs) > 0 {
		bucket = append(bucket, newGroup(docs))
	}
	if len(docs) > 1 {
		p.multi++
	}
	p.buckets[b] = slices.Clip(bucket)
	return len(bucket) - len(old)
}

func newGroup(docs []*Document) *group {
	g := &group{docs: slices.Clip(docs)}
	slices.SortFunc(g.docs, func(a, b *Document) int {
		return cmp.Or(cmp.Compare(a.Raw.Namespace, b.Raw.Namespace), compareDocuments(a, b))
	})
	for i := 1; i < len(docs); i++ {
		g.same = g.same || g.docs[i].Raw.Namespace == g.docs[i-1].Raw.Namespace
	}
	return g
}

// compareDocuments orders documents by path, then index.
func compareDocuments(a, b *Document) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Index, b.Index))
}

// grown returns a copy of the top level, with enough buckets for n names.
func (x *index) grown(n int) *index {
	want := 1
	for want*pageSize*maxLoad < n {
		want *= 2
	}
	if want <= len(x.pages) {
		return &index{seed: x.seed, pages: slices.Clone(x.pages), names: x.names}
	}
	next := &index{seed: x.seed, pages: make([]*page, want), names: x.names}
	for _, p := range x.pages {
		if p == nil {
			continue
		}
		for _, bucket := range p.buckets {
			for _, g := range bucket {
				np, nb := next.slot(nameOf(g.docs[0].Raw))
				if next.pages[np] == nil {
					next.pages[np] = &page{}
				}
				q := next.pages[np]
				q.buckets[nb] = append(q.buckets[nb], g)
				if len(g.docs) > 1 {
					q.multi++
				}
			}
		}
	}
	return next
}
