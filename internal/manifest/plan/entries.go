// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/acceptance"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
)

// entries collects what the objects of a flush want from images and replicas entries. One entry serves many objects,
// so the wishes are joined before anything is written.
type entries struct {
	images map[render.Entry]*imageWish
	counts map[render.Entry]*countWish
	// names holds the name of an added entry; its index is counted down from -1.
	names    map[render.Entry]string
	conflict []conflict
	// file names the kustomization of a directory.
	file func(dir string) string
}

type imageWish struct {
	name        *string
	version     bool
	tag, digest string
	by          []*pending
}

type countWish struct {
	count int64
	by    []*pending
}

type conflict struct {
	entry render.Entry
	first change.ObjectID
	other change.ObjectID
}

func newEntries(file func(string) string) *entries {
	return &entries{
		file:   file,
		images: map[render.Entry]*imageWish{}, counts: map[render.Entry]*countWish{}, names: map[render.Entry]string{},
	}
}

func (e *entries) wish(at render.Entry, pd *pending) *imageWish {
	w := e.images[at]
	if w == nil {
		w = &imageWish{}
		e.images[at] = w
	}
	w.by = append(w.by, pd)
	pd.written = append(pd.written, e.file(at.Dir))
	return w
}

func (e *entries) version(at render.Entry, tag, digest string, pd *pending) {
	w := e.wish(at, pd)
	if w.version && (w.tag != tag || w.digest != digest) {
		e.conflict = append(e.conflict, conflict{at, w.by[0].s.id, pd.s.id})
		return
	}
	w.version, w.tag, w.digest = true, tag, digest
}

func (e *entries) name(at render.Entry, name string, pd *pending) {
	w := e.wish(at, pd)
	if w.name != nil && *w.name != name {
		e.conflict = append(e.conflict, conflict{at, w.by[0].s.id, pd.s.id})
		return
	}
	w.name = &name
}

func (e *entries) count(at render.Entry, n int64, pd *pending) {
	w := e.counts[at]
	if w == nil {
		w = &countWish{count: n}
		e.counts[at] = w
	}
	if w.count != n {
		e.conflict = append(e.conflict, conflict{at, w.by[0].s.id, pd.s.id})
	}
	w.by = append(w.by, pd)
	pd.written = append(pd.written, e.file(at.Dir))
}

// added returns the entry to be added for an image name or, with addedCount, for an object name.
func (e *entries) added(dir, name string) render.Entry { return e.add(dir, "image "+name) }

func (e *entries) addedCount(dir, name string) render.Entry { return e.add(dir, "count "+name) }

func (e *entries) add(dir, name string) render.Entry {
	for at, n := range e.names {
		if at.Dir == dir && n == name {
			return at
		}
	}
	at := render.Entry{Dir: dir, Index: -1 - len(e.names)}
	e.names[at] = name
	return at
}

// writeEntries edits the kustomizations, each once.
func (k *kustomize) writeEntries() error {
	for _, c := range k.entries.conflict {
		kust := k.p.layout.Kustomization(c.entry.Dir)
		msg := fmt.Sprintf("%s and %s need different values of one entry", c.first, c.other)
		if c.first == c.other {
			msg = fmt.Sprintf("%s needs two values of one entry, which cannot be expressed", c.first)
		}
		i := acceptance.New(acceptance.KustomizeRenderRefused, k.rel(kust.Path), msg)
		i.Cure = "give the containers different images entries, or take the entry out and pin the images in the manifests"
		k.p.issue(i)
	}
	if len(k.entries.conflict) > 0 {
		return nil
	}
	dirs := map[string]bool{}
	for e := range k.entries.images {
		dirs[e.Dir] = true
	}
	for e := range k.entries.counts {
		dirs[e.Dir] = true
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		if err := k.writeEntriesOf(dir); err != nil {
			return err
		}
	}
	return nil
}

func (k *kustomize) writeEntriesOf(dir string) error {
	c := k.p.layout.Kustomization(dir)
	err := k.p.editKustomization(c.Path, func(v map[string]any) {
		for _, at := range sortedEntries(k.entries.images) {
			if at.Dir == dir {
				setImage(v, at, k.entries.images[at], k.entries.names[at])
			}
		}
		for _, at := range sortedEntries(k.entries.counts) {
			if at.Dir == dir {
				setCount(v, at, k.entries.counts[at], k.entries.names[at])
			}
		}
	})
	if isIO(err) {
		return err
	}
	if err != nil {
		k.p.issue(acceptance.New(acceptance.UnplaceableEdit, k.rel(c.Path), "the entry cannot be edited: "+err.Error()))
		return nil
	}
	return nil
}

// sortedEntries orders existing entries by position and added ones, in the order they were asked for, behind them.
func sortedEntries[W any](m map[render.Entry]W) []render.Entry {
	return slices.SortedFunc(maps.Keys(m), func(a, b render.Entry) int {
		if (a.Index < 0) != (b.Index < 0) {
			return cmp.Compare(b.Index, a.Index)
		}
		if a.Index < 0 {
			return cmp.Compare(b.Index, a.Index)
		}
		return cmp.Compare(a.Index, b.Index)
	})
}

// item returns a copy of the list with a fresh copy of the map at i.
func item(v map[string]any, field string, i int) map[string]any {
	list, _ := v[field].([]any)
	if i >= len(list) {
		return nil
	}
	list = slices.Clone(list)
	m := maps1(list[i])
	list[i] = m
	v[field] = list
	return m
}

func appendItem(v map[string]any, field string, m map[string]any) {
	list, _ := v[field].([]any)
	v[field] = append(slices.Clone(list), m)
}

func setImage(v map[string]any, at render.Entry, w *imageWish, added string) {
	var m map[string]any
	if at.Index < 0 {
		m = map[string]any{"name": added[len("image "):]}
		defer func() { appendItem(v, "images", m) }()
	} else {
		images, _ := v["images"].([]any)
		if at.Index < len(images) {
			m = item(v, "images", at.Index)
		} else {
			m = item(v, "imageTags", at.Index-len(images))
		}
	}
	if m == nil {
		return
	}
	if w.name != nil {
		m["newName"] = *w.name
	}
	if !w.version {
		return
	}
	put := func(key, val string) {
		if val == "" {
			delete(m, key)
		} else {
			m[key] = val
		}
	}
	put("newTag", w.tag)
	put("digest", w.digest)
}

func setCount(v map[string]any, at render.Entry, w *countWish, added string) {
	if at.Index < 0 {
		appendItem(v, "replicas", map[string]any{"name": added[len("count "):], "count": w.count})
		return
	}
	if m := item(v, "replicas", at.Index); m != nil {
		m["count"] = w.count
	}
}
