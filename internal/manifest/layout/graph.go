// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	// maxChain bounds how deep kustomizations may refer to each other.
	maxChain = 100
	// maxVisits bounds the ways counted through one folder's graph.
	maxVisits = 100_000
)

// graph derives roots, cycles and reach from the resolved references.
func (r *resolver) graph() {
	l := r.out
	slices.SortFunc(l.sorted, func(a, b *Kustomization) int {
		return cmp.Or(cmp.Compare(a.Dir, b.Dir),
			cmp.Compare(a.Path, b.Path))
	})
	referenced := map[string]bool{}
	for _, k := range l.sorted {
		for _, c := range l.children(k) {
			if c.k != k {
				referenced[c.k.Dir] = true
			}
		}
	}
	for _, k := range l.sorted {
		if k.Writable && !referenced[k.Dir] {
			l.roots = append(l.roots, k)
		}
	}
	r.cycles()
	w := walker{r: r, nodes: map[string][]Reach{}}
	for _, root := range l.roots {
		w.root(root)
	}
	w.files()
	l.nodes = w.nodes
	sortProblems(l.problems)
	l.problems = slices.Compact(l.problems)
}

type child struct {
	k   *Kustomization
	ref *Ref
}

// children returns the kustomizations another one lists.
func (l *Layout) children(k *Kustomization) []child {
	var out []child
	for i := range k.Resources {
		ref := &k.Resources[i]
		if ref.Kind == RefDir && ref.Field != "" {
			if c := l.byDir[ref.Target]; c != nil {
				out = append(out, child{k: c, ref: ref})
			}
		}
	}
	return out
}

// cycles reports every reference that closes a circle.
func (r *resolver) cycles() {
	const (
		open = 1
		done = 2
	)
	state := map[*Kustomization]int{}
	var trail []*Kustomization
	var visit func(k *Kustomization)
	visit = func(k *Kustomization) {
		state[k] = open
		trail = append(trail, k)
		for _, c := range r.out.children(k) {
			switch state[c.k] {
			case 0:
				visit(c.k)
			case open:
				from := slices.Index(trail, c.k)
				names := []string{}
				for _, t := range trail[from:] {
					names = append(names, dot(t.Dir))
				}
				if len(names) > 5 {
					names = append(names[:2:2], append([]string{"…"}, names[len(names)-2:]...)...)
				}
				r.problem(Problem{Path: k.Path, Line: c.ref.Line, Construct: "cycle", Solvable: true,
					Message: fmt.Sprintf("kustomizations refer to each other in a circle: %s, %s", strings.Join(names, ", "),
						dot(c.k.Dir)),
					Cure: "remove one of the references"})
			}
		}
		trail = trail[:len(trail)-1]
		state[k] = done
	}
	for _, k := range r.out.sorted {
		if state[k] == 0 {
			visit(k)
		}
	}
}

// walker follows the builds from their roots.
type walker struct {
	r      *resolver
	nodes  map[string][]Reach // by directory of the kustomization
	seen   map[visitKey]bool
	visits int
}

type visitKey struct{ dir, namespace string }

func (w *walker) root(root *Kustomization) {
	w.seen = map[visitKey]bool{}
	w.visit(root, root, "", nil, nil)
}

// visit notes that a build reaches k with a namespace set further out. via is the entry it was reached through.
func (w *walker) visit(root, k *Kustomization, namespace string, chain []string, via *child) {
	if slices.Contains(chain, k.Dir) {
		return // a cycle, reported already
	}
	namespace = cmp.Or(namespace, k.Namespace)
	parent := root
	if len(chain) > 0 {
		parent = w.r.out.byDir[chain[len(chain)-1]]
	}
	refuse := func(construct, message, cure string) {
		p := Problem{Path: parent.Path, Construct: construct, Message: message, Cure: cure, Solvable: true}
		if via != nil {
			p.Line = via.ref.Line
		}
		w.r.problem(p)
	}
	key := visitKey{k.Dir, namespace}
	switch w.visits++; {
	case w.seen[key]:
		refuse("diamond", fmt.Sprintf("%s is reached twice in the build of %s, so its objects would exist twice",
			dot(k.Dir), dot(root.Dir)),
			"list it once")
		return
	case len(chain) >= maxChain:
		refuse("depth", fmt.Sprintf("kustomizations refer to each other more than %d levels deep", maxChain),
			"use fewer levels")
		return
	case w.visits > maxVisits:
		if w.visits == maxVisits+1 {
			refuse("size", fmt.Sprintf("there are more than %d ways through the kustomizations of the folder",
				maxVisits), "use smaller folders")
		}
		return
	}
	w.seen[key] = true
	chain = append(slices.Clip(chain), k.Dir)
	w.nodes[k.Dir] = append(w.nodes[k.Dir], Reach{Root: root.Dir, Chain: chain, Namespace: namespace})
	for _, c := range w.r.out.children(k) {
		w.visit(root, c.k, namespace, chain, &c)
	}
}

// place is how builds reach one file; files of one kustomization share it.
type place struct {
	reach      []Reach
	namespaces []string
}

// files spreads the reach of kustomizations over the files they list.
func (w *walker) files() {
	l := w.r.out
	l.places = map[string]*place{}
	owner := map[string]*Kustomization{}
	shared := map[string]*place{}
	for _, k := range l.sorted {
		for i := range k.Resources {
			ref := &k.Resources[i]
			if ref.Kind != RefFile || ref.Target == "" || len(w.nodes[k.Dir]) == 0 {
				continue
			}
			first := owner[ref.Target]
			switch {
			case first == nil:
				owner[ref.Target] = k
				if shared[k.Dir] == nil {
					shared[k.Dir] = newPlace(w.nodes[k.Dir])
				}
				l.places[ref.Target] = shared[k.Dir]
			case first != k:
				w.twice(first, k, ref)
				l.places[ref.Target] = newPlace(slices.Concat(l.places[ref.Target].reach, w.nodes[k.Dir]))
			}
		}
	}
}

// twice refuses a file that two kustomizations of one build list with the same namespace.
func (w *walker) twice(first, second *Kustomization, ref *Ref) {
	for _, a := range w.nodes[first.Dir] {
		for _, b := range w.nodes[second.Dir] {
			if a.Root == b.Root && a.Namespace == b.Namespace {
				w.r.problem(Problem{Path: second.Path, Line: ref.Line, Construct: "diamond", Solvable: true,
					Message: fmt.Sprintf("%s is listed by %s too, so its objects would exist twice", ref.Value, first.Path),
					Cure:    "list it once"})
				return
			}
		}
	}
}

func newPlace(reach []Reach) *place {
	p := &place{reach: reach}
	for _, e := range reach {
		p.namespaces = append(p.namespaces, e.Namespace)
	}
	slices.Sort(p.namespaces)
	p.namespaces = slices.Compact(p.namespaces)
	return p
}
