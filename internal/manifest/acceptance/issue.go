// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package acceptance

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

// NoDocument is the Document of an issue about a whole file or folder.
const NoDocument = -1

// Issue is one reason to refuse a folder or a flush.
type Issue struct {
	Kind Kind `json:"kind"`
	// Path is relative to the folder, "." for the folder itself; a file above it starts with "../".
	Path string `json:"path"`
	// Document counts from 0; NoDocument for the whole file. Line is 1-based; 0 when no line is to blame.
	Document int `json:"document"`
	Line     int `json:"line,omitempty"`
	// Message says what is wrong in one sentence, Cure what a person can do about it (empty: nothing today).
	Message  string `json:"message"`
	Cure     string `json:"cure,omitempty"`
	Solvable bool   `json:"solvable"`
	Actor    Actor  `json:"actor,omitempty"`
	// Field and Token say more about some kinds: a JSON pointer, and the text in question.
	Field string `json:"field,omitempty"`
	Token string `json:"token,omitempty"`
}

// New returns an issue with the solvability and actor of its kind (git-writer 3.2).
func New(kind Kind, path string, message string) Issue {
	return Issue{Kind: kind, Path: path, Document: NoDocument, Message: message}
}
