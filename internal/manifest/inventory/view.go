// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"iter"

	"github.com/configbutler/gitops-reverser/internal/change"
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
}

// Effective returns what a document means.
func (f *Folder) Effective(d *Document, v View) Effective { return Effective{} }

// Find returns the documents that claim an identity, in path order, then index. The first one owns it.
func (f *Folder) Find(id change.ObjectID, v View) []*Document { return nil }

// Duplicates iterates over the identities claimed by more than one document, each with its documents in path order.
// The order of the identities is theirs. The cost follows the number of names with more than one place.
func (f *Folder) Duplicates(v View) iter.Seq2[change.ObjectID, []*Document] {
	return func(func(change.ObjectID, []*Document) bool) {}
}

// Code is a diagnostic's reason (git-writer 2.5).
type Code string

// The codes.
const (
	InvalidYAML        Code = "invalid-yaml"
	EmptyDocument      Code = "empty-document"
	NotKRMCode         Code = "not-krm"
	NonEditable        Code = "non-editable"
	MissingSOPSKey     Code = "missing-sops-key"
	DuplicateIdentity  Code = "duplicate-identity"
	UnresolvedMapping  Code = "unresolved-mapping"
	ScopeMismatch      Code = "scope-mismatch"
	AmbiguousNamespace Code = "ambiguous-namespace"
	// AmbiguousOverrides and BuildFailed are reported by a build, never by a scan.
	AmbiguousOverrides Code = "ambiguous-kustomize-overrides"
	BuildFailed        Code = "kustomize-build-failed"
)

// Diagnostic is one remark about a document. It refuses nothing.
type Diagnostic struct {
	Code     Code
	Path     string
	Document int
	Line     int
	Message  string
}

// Diagnose returns the diagnostics of the folder, sorted by path, document and code.
func (f *Folder) Diagnose(v View) []Diagnostic { return nil }
