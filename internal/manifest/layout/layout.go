// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

// Mode says what a folder is, in the words of status.placement.mode.
type Mode string

// The modes. An ambiguous folder has none.
const (
	Plain            Mode = "Plain"
	KustomizeRoot    Mode = "KustomizeRoot"
	KustomizeOverlay Mode = "KustomizeOverlay"
)

// Summary is a layout in a few words, for status.placement and LayoutResolved (git-writer 6.11).
type Summary struct {
	// Mode is empty when the folder has several render roots, or kustomizations but no root (a cycle).
	Mode Mode
	// Root is the directory of the one render root; Roots are all of them, sorted. "." stands for the repository root.
	Root  string
	Roots []string
	// ReadOnlyBases are the bases outside the folder that its kustomizations read: directories, and single files. Sorted.
	ReadOnlyBases []string
	// Ambiguous reports several render roots.
	Ambiguous bool
}

// Layout is the graph of one folder's kustomizations. The zero value is a folder without any.
type Layout struct {
	jail     string
	byDir    map[string]*Kustomization
	sorted   []*Kustomization
	roots    []*Kustomization
	places   map[string]*place
	nodes    map[string][]Reach
	patches  map[string]bool
	problems []Problem
	// What was learnt of blobs, for the next Resolve.
	parsed  map[manifest.ID]*parsed
	aliases map[manifest.ID]string
	patchOf map[manifest.ID]patchFacts
	// outside reports that something above the folder was looked at, names that a namespace: field exists.
	outside, names bool
}

// Kustomization is one kustomization file with its references resolved.
type Kustomization struct {
	// Path is the file, Dir its directory; both from the repository root.
	Path, Dir string
	ID        manifest.ID
	// Writable reports that the file lies inside the folder and is a Kustomization the operator can edit.
	Writable bool
	// Kind is "Kustomization" or "Component".
	Kind string
	// Namespace is the namespace: field, empty when there is none.
	Namespace string
	// HasResources reports a resources: key (an empty list included); without it an entry needs the key first.
	HasResources bool
	// Resources are resources and the older bases, in order. Patches are the patches that name a file.
	Resources []Ref
	Patches   []Ref
	Images    []Image
	Replicas  []Replica
	// Transforms names the fields that change documents beyond namespace, images and replicas: labels, commonLabels,
	// commonAnnotations, patches. Sorted.
	Transforms []string
	// Deprecated are the fields that kustomize still reads and has another name for, in the order of the file.
	Deprecated []Deprecated
}

// Deprecated is a field that kustomize wants written in another way.
type Deprecated struct {
	Field, Instead string
	// Line is the field's 1-based line in the kustomization file.
	Line int
}

// RefKind says what a reference resolves to.
type RefKind uint8

// The kinds of reference. All but RefFile and RefDir are problems.
const (
	RefFile RefKind = iota
	RefDir
	RefMissing
	RefRemote
	RefOutside
	RefSymlink
	RefGlob
)

// Ref is one entry of resources or patches.
type Ref struct {
	// Field is the key the entry stands under: resources, bases, patches.
	Field string
	// Value is the entry as written, Line its 1-based line in the kustomization file.
	Value string
	Line  int
	// Target is the path it resolves to, from the repository root; empty when it resolves to nothing here.
	Target string
	Kind   RefKind
	// Selects reports a patch with a target of its own: it patches what the target selects, not what its file names.
	Selects bool
}

// Image is one entry of images (or the older imageTags, see Field).
type Image struct {
	Field                         string
	Index, Line                   int
	Name, NewName, NewTag, Digest string
}

// Replica is one entry of replicas.
type Replica struct {
	Index, Line int
	Name        string
	Count       int64
}

// Reach is one way a build reaches a file.
type Reach struct {
	// Root is the directory of the render root.
	Root string
	// Chain lists the directories of the kustomizations from the root to the one that names the file, both included.
	Chain []string
	// Namespace is what the build sets on namespaced documents of the file; empty when no kustomization of the chain
	// sets one. The outermost wins.
	Namespace string
}

// Jail returns the folder, from the repository root; "" is the root.
func (l *Layout) Jail() string { return l.jail }

// All returns every kustomization in scope, read-only bases included, sorted by directory.
func (l *Layout) All() []*Kustomization { return l.sorted }

// Roots returns the render roots: the kustomizations in the folder that no kustomization in scope refers to. Sorted.
func (l *Layout) Roots() []*Kustomization { return l.roots }

// Kustomization returns the kustomization of a directory, or nil.
func (l *Layout) Kustomization(dir string) *Kustomization { return l.byDir[clean(dir)] }

// Governing returns the nearest kustomization at or above the directory of a file, inside the folder; nil when there
// is none (git-writer 5.8).
func (l *Layout) Governing(file string) *Kustomization {
	for d := dirOf(file); within(l.jail, d); d = dirOf(d) {
		if k := l.byDir[d]; k != nil {
			return k
		}
		if d == "" {
			break
		}
	}
	return nil
}

// Reaches returns every way the builds of the folder reach a file, in order of root and chain; nil for a file no
// build reads as a resource. More than one is a fan-in (git-writer 6.9).
func (l *Layout) Reaches(file string) []Reach {
	if p := l.places[file]; p != nil {
		return p.reach
	}
	return nil
}

// Readers returns every way the builds of the folder read a file, be it a resource, a patch or a kustomization. More
// than one is a fan-in: an edit of the file moves more than one place (git-writer 6.9).
func (l *Layout) Readers(file string) []Reach {
	if p := l.places[file]; p != nil {
		return p.reach
	}
	if k := l.byDir[dirOf(file)]; k != nil && k.Path == file {
		return l.nodes[k.Dir]
	}
	var out []Reach
	if l.patches[file] {
		for _, k := range l.sorted {
			if slices.ContainsFunc(k.Patches, func(r Ref) bool { return r.Target == file }) {
				out = append(out, l.nodes[k.Dir]...)
			}
		}
	}
	return out
}

// Reads returns the files a build of the root in dir reads, sorted: kustomizations, resources and patches
// (git-writer 6.3).
func (l *Layout) Reads(dir string) []string {
	seen := map[string]bool{}
	var visit func(k *Kustomization)
	visit = func(k *Kustomization) {
		if k == nil || seen[k.Path] {
			return
		}
		seen[k.Path] = true
		for _, refs := range [][]Ref{k.Resources, k.Patches} {
			for _, r := range refs {
				if r.Kind == RefFile && r.Target != "" {
					seen[r.Target] = true
				}
			}
		}
		for _, c := range l.children(k) {
			visit(c.k)
		}
	}
	visit(l.byDir[clean(dir)])
	return slices.Sorted(maps.Keys(seen))
}

// IsPatch reports whether a kustomization names the file under patches, or under a field that is refused. Such a file is retained, not managed, unless
// a kustomization lists it as a resource too (git-writer 2.7).
func (l *Layout) IsPatch(file string) bool { return l.patches[file] && l.places[file] == nil }

// NamesPatch reports whether any kustomization names the file under patches, or under a field that is refused.
func (l *Layout) NamesPatch(file string) bool { return l.patches[file] }

// Namespaces returns the namespaces the builds give to namespaced documents of a file, sorted and without repetition.
// Nil: no build reaches the file. An empty string stands for a build that leaves the namespace as it is.
func (l *Layout) Namespaces(file string) []string {
	if p := l.places[file]; p != nil {
		return p.namespaces
	}
	return nil
}

// BuildNamespaces returns the namespaces the builds give to namespaced documents a kustomization lists, like Namespaces.
func (l *Layout) BuildNamespaces(k *Kustomization) []string {
	return newPlace(l.nodes[k.Dir]).namespaces
}

// SetsNamespace reports whether any kustomization in scope has a namespace: field, so that an effective namespace can
// differ from the written one.
func (l *Layout) SetsNamespace() bool { return l.names }

// LooksOutside reports that the layout depends on entries above the folder, or would if they existed.
func (l *Layout) LooksOutside() bool { return l.outside }

// Problems returns what the operator refuses, sorted by path, line and construct.
func (l *Layout) Problems() []Problem { return l.problems }

// Summary returns the layout in a few words.
func (l *Layout) Summary() Summary {
	var s Summary
	for _, r := range l.roots {
		s.Roots = append(s.Roots, dot(r.Dir))
	}
	for _, k := range l.sorted {
		if !within(l.jail, k.Dir) {
			s.ReadOnlyBases = append(s.ReadOnlyBases, dot(k.Dir))
			continue
		}
		for _, ref := range k.Resources {
			if ref.Kind == RefFile && ref.Target != "" && !within(l.jail, ref.Target) {
				s.ReadOnlyBases = append(s.ReadOnlyBases, ref.Target)
			}
		}
	}
	slices.Sort(s.ReadOnlyBases)
	s.ReadOnlyBases = slices.Compact(s.ReadOnlyBases)
	switch {
	case len(l.roots) > 1:
		s.Ambiguous = true
	case len(l.roots) == 1 && len(s.ReadOnlyBases) > 0:
		s.Mode, s.Root = KustomizeOverlay, s.Roots[0]
	case len(l.roots) == 1:
		s.Mode, s.Root = KustomizeRoot, s.Roots[0]
	case len(l.sorted) == 0:
		s.Mode = Plain
	}
	return s
}

// clean gives a path from the repository root in the form every index here uses: no leading or trailing slash, "" for
// the root.
func clean(p string) string { return strings.Trim(path.Clean("/"+p), "/") }

func dirOf(p string) string {
	d := path.Dir(p)
	if d == "." {
		return ""
	}
	return d
}

// within reports whether a path is dir or lies below it.
func within(dir, p string) bool { return dir == "" || p == dir || strings.HasPrefix(p, dir+"/") }

func dot(p string) string {
	if p == "" {
		return "."
	}
	return p
}
