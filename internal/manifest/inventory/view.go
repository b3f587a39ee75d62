// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
)

// View is the reading of a Folder's raw identities: the folder's own layout says which namespace a build gives, Kinds
// which kinds are namespaced.
type View struct {
	// Kinds may be nil or not know a kind; then the built-in cluster-scoped kinds are known and any other kind keeps the
	// namespace it has.
	Kinds change.Kinds
	// DefaultNamespace is the namespace of namespaced documents that nothing gives one to: the one source namespace of a
	// target with serializeNamespace: false. Empty leaves them without.
	DefaultNamespace string
}

// NamespaceSource says where an effective namespace comes from (git-writer 2.4).
type NamespaceSource uint8

// The sources.
const (
	NamespaceNone NamespaceSource = iota
	NamespaceExplicit
	NamespaceKustomize
	NamespaceDefault
)

// Effective is what a document means in its folder.
type Effective struct {
	// ID is the identity the document claims.
	ID     change.ObjectID
	Source NamespaceSource
	// Others are further identities, when builds give the document different namespaces (ambiguous-namespace).
	Others []change.ObjectID
	// Patch reports a document of a patch file: it claims nothing.
	Patch bool
	// ScopeMismatch reports a cluster-scoped kind that carries a namespace: the namespace is no part of ID.
	ScopeMismatch bool
	// Unresolved reports a kind View.Kinds does not know.
	Unresolved bool
	// Renamed reports a Namespace whose build gives it another name than the document: kustomize's namespace: field names
	// Namespace objects too. ID is what the build gives.
	Renamed bool
}

// Claims reports whether id is one of the identities.
func (e *Effective) Claims(id change.ObjectID) bool {
	return !e.Patch && (e.ID == id || slices.Contains(e.Others, id))
}

// scope says whether a kind is namespaced.
type scope uint8

const (
	scopeUnknown scope = iota
	scopeNamespaced
	scopeCluster
)

func (v View) scope(group, kind string) scope {
	if v.Kinds != nil {
		if t, ok := v.Kinds.Kind(group, kind); ok {
			if t.Namespaced {
				return scopeNamespaced
			}
			return scopeCluster
		}
	}
	if layout.ClusterScoped(group, kind) {
		return scopeCluster
	}
	return scopeUnknown
}

// Effective returns what a document means.
func (f *Folder) Effective(d *Document, v View) Effective {
	e := Effective{ID: d.Raw, Patch: f.layout.IsPatch(d.Path)}
	if v.Kinds != nil {
		_, ok := v.Kinds.Kind(d.Raw.Group, d.Raw.Kind)
		e.Unresolved = !ok
	}
	if v.scope(d.Raw.Group, d.Raw.Kind) == scopeCluster {
		e.ScopeMismatch = d.Raw.Namespace != ""
		e.ID.Namespace = ""
		if d.isNamespace() {
			f.rename(d, &e)
		}
		return e
	}
	given := f.layout.Namespaces(d.Path)
	if len(given) == 0 {
		e.ID.Namespace, e.Source = v.written(d.Raw.Namespace)
		return e
	}
	for i, ns := range given {
		id, source := d.Raw, NamespaceKustomize
		if id.Namespace = ns; ns == "" {
			id.Namespace, source = v.written(d.Raw.Namespace)
		}
		switch {
		case i == 0:
			e.ID, e.Source = id, source
		case id != e.ID && !slices.Contains(e.Others, id):
			e.Others = append(e.Others, id)
		}
	}
	return e
}

// isNamespace reports a core Namespace: the one cluster-scoped kind that kustomize's namespace: field changes.
func (d *Document) isNamespace() bool { return d.Raw.Kind == "Namespace" && d.APIVersion == "v1" }

// rename fills in the names the builds give to a Namespace.
func (f *Folder) rename(d *Document, e *Effective) {
	for i, name := range f.layout.Namespaces(d.Path) {
		id := e.ID
		id.Name = cmp.Or(name, d.Raw.Name)
		e.Renamed = e.Renamed || id.Name != d.Raw.Name
		if i == 0 {
			e.ID = id
		} else if id != e.ID {
			e.Others = append(e.Others, id)
		}
	}
}

// namespaces iterates over the documents that are Namespaces.
func (f *Folder) namespaces() iter.Seq[*Document] {
	return func(yield func(*Document) bool) {
		f.root.walk(func(t totals) int { return t.namespaces }, func(file *File) bool {
			for i := range file.Documents {
				if d := &file.Documents[i]; d.isNamespace() && file.claims(d) && !yield(d) {
					return false
				}
			}
			return true
		})
	}
}

// written is the namespace of a document no build changes.
func (v View) written(ns string) (string, NamespaceSource) {
	switch {
	case ns != "":
		return ns, NamespaceExplicit
	case v.DefaultNamespace != "":
		return v.DefaultNamespace, NamespaceDefault
	}
	return "", NamespaceNone
}

// fewDocuments is the size from which a group is searched by namespace instead of read.
const fewDocuments = 8

// Find returns the documents that claim an identity, in path order, then index. The first one owns it.
func (f *Folder) Find(id change.ObjectID, v View) []*Document {
	var docs []*Document
	switch g := f.index.get(nameOf(id)); {
	case id.Group == "" && id.Kind == "Namespace" && f.layout.SetsNamespace():
		docs = slices.Collect(f.namespaces()) // a document may get another name than it has
	case g == nil:
	case len(g.docs) > fewDocuments && id.Namespace != "" && !f.layout.SetsNamespace():
		docs = slices.Concat(g.in(""), g.in(id.Namespace))
	default:
		docs = g.docs
	}
	var out []*Document
	for _, d := range docs {
		if e := f.Effective(d, v); e.Claims(id) {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, compareDocuments)
	return out
}

// in returns the documents with a written namespace.
func (g *group) in(namespace string) []*Document {
	lo := sort.Search(len(g.docs), func(i int) bool { return g.docs[i].Raw.Namespace >= namespace })
	hi := sort.Search(len(g.docs), func(i int) bool { return g.docs[i].Raw.Namespace > namespace })
	return g.docs[lo:hi]
}

// Duplicates iterates over the identities claimed by more than one document, each with its documents in path order.
// The order of the identities is theirs. The cost follows the number of names with more than one place.
func (f *Folder) Duplicates(v View) iter.Seq2[change.ObjectID, []*Document] {
	claims := map[change.ObjectID][]*Document{}
	claim := func(d *Document) {
		e := f.Effective(d, v)
		if e.Patch {
			return
		}
		claims[e.ID] = append(claims[e.ID], d)
		for _, id := range e.Others {
			claims[id] = append(claims[id], d)
		}
	}
	sets := f.layout.SetsNamespace()
	for g := range f.index.multiple() {
		first := g.docs[0]
		if first.isNamespace() && sets {
			continue // below, by the names they get
		}
		if !g.same && v.DefaultNamespace == "" && !sets && v.scope(first.Raw.Group, first.Raw.Kind) != scopeCluster {
			continue // different written namespaces stay different
		}
		for _, d := range g.docs {
			claim(d)
		}
	}
	if sets {
		f.namespaces()(func(d *Document) bool { claim(d); return true })
	}
	ids := make([]change.ObjectID, 0, len(claims))
	for id, docs := range claims {
		if len(docs) > 1 {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, change.ObjectID.Compare)
	return func(yield func(change.ObjectID, []*Document) bool) {
		for _, id := range ids {
			slices.SortFunc(claims[id], compareDocuments)
			if !yield(id, claims[id]) {
				return
			}
		}
	}
}

// sortDiagnostics orders diagnostics by path, document and code.
func sortDiagnostics(list []Diagnostic) {
	slices.SortFunc(list, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Code, b.Code))
	})
}
