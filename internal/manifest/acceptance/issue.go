// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package acceptance

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Kind names a refusal (git-writer 3.2).
type Kind string

// The kinds.
const (
	DuplicateIdentity        Kind = "duplicate-identity"
	ImpureManagedFile        Kind = "impure-managed-file"
	NonKRMYAML               Kind = "non-krm-yaml"
	InvalidYAML              Kind = "invalid-yaml"
	MixedManagedAllowlisted  Kind = "mixed-managed-allowlisted"
	UnsupportedKustomize     Kind = "unsupported-kustomize"
	ForeignFile              Kind = "foreign-file"
	ForeignSymlink           Kind = "foreign-symlink"
	ForeignSubmodule         Kind = "foreign-submodule"
	IgnoreShadowsManaged     Kind = "ignore-shadows-managed"
	WriteEscapesScope        Kind = "write-escapes-scope"
	WriteFanIn               Kind = "write-fan-in"
	KustomizeRenderRefused   Kind = "kustomize-render-refused"
	UnplaceableEdit          Kind = "unplaceable-edit"
	UnownedDeletePatch       Kind = "unowned-delete-patch"
	AmbiguousLayout          Kind = "ambiguous-layout"
	MultipleSourceNamespaces Kind = "multiple-source-namespaces"
	UnrenderedPlacement      Kind = "unrendered-placement"
	RenderDoesNotMatchLive   Kind = "render-does-not-match-live"
	// UnresolvedKRM and OutOfScope are reported by the offline commands only.
	UnresolvedKRM Kind = "unresolved-krm"
	OutOfScope    Kind = "out-of-scope"
)

// Actor is who can cure an issue.
type Actor string

// The actors. Nobody is the empty text.
const (
	RepositoryAuthor Actor = "repository-author"
	PlatformOperator Actor = "platform-operator"
	Nobody           Actor = ""
)

// actor returns who can cure an issue of the kind; for unsupported-kustomize it depends on the construct.
func (k Kind) actor() Actor {
	switch k {
	case WriteEscapesScope, AmbiguousLayout, MultipleSourceNamespaces, UnrenderedPlacement, RenderDoesNotMatchLive,
		UnresolvedKRM:
		return PlatformOperator
	case WriteFanIn, KustomizeRenderRefused, UnplaceableEdit, OutOfScope:
		return Nobody
	}
	return RepositoryAuthor
}

// cure is what helps against an issue of a kind when nothing more is known of it.
func (k Kind) cure() string {
	switch k {
	case WriteEscapesScope:
		return "give the GitTarget a path that holds the file, or change the file in Git"
	case WriteFanIn:
		return "let each build read a file of its own, or change it in Git for all of them"
	case KustomizeRenderRefused:
		return "change the folder in Git so that its build gives what the cluster has"
	case UnplaceableEdit:
		return "make this change in Git"
	case UnsupportedKustomize:
		return "take the construct out, or give the GitTarget a path that this kustomization does not reach"
	}
	return ""
}

// NoDocument is the Document of an issue about a whole file or folder.
const NoDocument = -1

// Issue is one reason to refuse a folder or a flush.
type Issue struct {
	Kind Kind `json:"kind"`
	// Path is relative to the folder, "." for the folder itself; a file above it starts with "..".
	Path string `json:"path"`
	// Document counts from 0; NoDocument for the whole file. Line is 1-based; 0 when no line is to blame.
	Document int `json:"document"`
	Line     int `json:"line,omitempty"`
	// Message says what is wrong in one sentence, Cure what a person can do about it.
	Message  string `json:"message"`
	Cure     string `json:"cure,omitempty"`
	Solvable bool   `json:"solvable"`
	Actor    Actor  `json:"actor,omitempty"`
	// Field and Token say more about some kinds: a JSON pointer, and the text in question.
	Field string `json:"field,omitempty"`
	Token string `json:"token,omitempty"`
	// Ignore is the line of .gittargetignore that would hide the path, for kinds it can cure.
	Ignore string `json:"ignore,omitempty"`
}

// New returns an issue about a whole file, with the solvability, actor and cure of its kind (git-writer 3.2). path is
// relative to the folder.
func New(kind Kind, path string, message string) Issue {
	a := kind.actor()
	return Issue{
		Kind: kind, Path: path, Document: NoDocument, Message: message, Cure: kind.cure(), Actor: a, Solvable: a != Nobody,
	}
}

// At returns the issue at a document and line.
func (i Issue) At(document, line int) Issue {
	i.Document, i.Line = document, line
	return i
}

// WithCure returns the issue with what a person can do.
func (i Issue) WithCure(cure string) Issue {
	i.Cure = cure
	return i
}

// Place says where the issue is: path, document (counted from 1 for people) and line.
func (i Issue) Place() string {
	s := show(i.Path)
	if i.Document > 0 {
		s += " document " + strconv.Itoa(i.Document+1)
	}
	if i.Line > 0 {
		s += " line " + strconv.Itoa(i.Line)
	}
	return s
}

// String says the whole issue in one line.
func (i Issue) String() string {
	var b strings.Builder
	b.WriteString(string(i.Kind))
	b.WriteString(" at ")
	b.WriteString(i.Place())
	if i.Solvable && i.Actor != Nobody {
		b.WriteString(" (" + string(i.Actor) + ")")
	}
	b.WriteString(": " + i.Message)
	if i.Cure != "" {
		b.WriteString("; " + i.Cure)
	}
	return b.String()
}

// Sort orders issues by path, document, kind, line and message.
func Sort(issues []Issue) {
	slices.SortFunc(issues, func(a, b Issue) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
}

// show makes a path safe to print: Git allows line breaks and control characters in names.
func show(p string) string {
	if q := strconv.Quote(p); q != `"`+p+`"` {
		return q
	}
	return p
}
