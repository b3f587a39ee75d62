// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package entry

import (
	"cmp"
	"maps"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Ref names one entry of the images or replicas of a kustomization.
type Ref struct {
	// Dir is the directory of the kustomization. Index is the position in its images (older imageTags behind them) or in
	// its replicas; an entry that is to be added has a negative one.
	Dir   string
	Index int
}

// Conflict is an entry that two objects, or two fields of one, need different values of.
type Conflict struct {
	Entry        Ref
	First, Other change.ObjectID
}

// Wishes collects what the objects of a flush want from entries.
type Wishes struct {
	// Conflicts are wishes that cannot both come true.
	Conflicts []Conflict

	images map[Ref]*image
	counts map[Ref]*count
	// names holds the name of an added entry.
	names map[Ref]added
}

type added struct {
	image bool
	name  string
}

type image struct {
	name        *string
	version     bool
	tag, digest string
	first       change.ObjectID
}

type count struct {
	n     int64
	first change.ObjectID
}

// New returns an empty collection.
func New() *Wishes {
	return &Wishes{images: map[Ref]*image{}, counts: map[Ref]*count{}, names: map[Ref]added{}}
}

func (w *Wishes) image(at Ref, by change.ObjectID) *image {
	if w.images[at] == nil {
		w.images[at] = &image{first: by}
	}
	return w.images[at]
}

// Version wants a tag and a digest; an empty one is taken out of the entry (decision 43).
func (w *Wishes) Version(at Ref, tag, digest string, by change.ObjectID) {
	i := w.image(at, by)
	if i.version && (i.tag != tag || i.digest != digest) {
		w.Conflicts = append(w.Conflicts, Conflict{at, i.first, by})
		return
	}
	i.version, i.tag, i.digest = true, tag, digest
}

// Name wants a new name.
func (w *Wishes) Name(at Ref, name string, by change.ObjectID) {
	i := w.image(at, by)
	if i.name != nil && *i.name != name {
		w.Conflicts = append(w.Conflicts, Conflict{at, i.first, by})
		return
	}
	i.name = &name
}

// Count wants a replica count.
func (w *Wishes) Count(at Ref, n int64, by change.ObjectID) {
	c := w.counts[at]
	if c == nil {
		c = &count{n: n, first: by}
		w.counts[at] = c
	}
	if c.n != n {
		w.Conflicts = append(w.Conflicts, Conflict{at, c.first, by})
	}
}

// AddImage returns the entry to be added for an image name, the same one for the same name.
func (w *Wishes) AddImage(dir, name string) Ref { return w.add(dir, added{image: true, name: name}) }

// AddCount returns the entry to be added for an object's name.
func (w *Wishes) AddCount(dir, name string) Ref { return w.add(dir, added{name: name}) }

func (w *Wishes) add(dir string, a added) Ref {
	for at, have := range w.names {
		if at.Dir == dir && have == a {
			return at
		}
	}
	at := Ref{Dir: dir, Index: -1 - len(w.names)}
	w.names[at] = a
	return at
}

// Dirs returns the directories whose kustomizations must be edited, sorted.
func (w *Wishes) Dirs() []string {
	dirs := map[string]bool{}
	for e := range w.images {
		dirs[e.Dir] = true
	}
	for e := range w.counts {
		dirs[e.Dir] = true
	}
	return slices.Sorted(maps.Keys(dirs))
}

// Apply changes the value of the kustomization in a directory.
func (w *Wishes) Apply(dir string, v map[string]any) {
	for _, at := range sorted(w.images) {
		if at.Dir == dir {
			setImage(v, at, w.images[at], w.names[at].name)
		}
	}
	for _, at := range sorted(w.counts) {
		if at.Dir == dir {
			setCount(v, at, w.counts[at].n, w.names[at].name)
		}
	}
}

// sorted orders existing entries by position and added ones, in the order they were asked for, behind them.
func sorted[W any](m map[Ref]W) []Ref {
	return slices.SortedFunc(maps.Keys(m), func(a, b Ref) int {
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
	m := clone(list[i])
	list[i] = m
	v[field] = list
	return m
}

func appendItem(v map[string]any, field string, m map[string]any) {
	list, _ := v[field].([]any)
	v[field] = append(slices.Clone(list), m)
}

func setImage(v map[string]any, at Ref, w *image, name string) {
	var m map[string]any
	if at.Index < 0 {
		m = map[string]any{"name": name}
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

func setCount(v map[string]any, at Ref, n int64, name string) {
	if at.Index < 0 {
		appendItem(v, "replicas", map[string]any{"name": name, "count": n})
		return
	}
	if m := item(v, "replicas", at.Index); m != nil {
		m["count"] = n
	}
}

func clone(v any) map[string]any {
	m, _ := v.(map[string]any)
	if m == nil {
		return map[string]any{}
	}
	return maps.Clone(m)
}
