// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"iter"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
)

// Role is what an entry of the folder is (git-writer 2.2).
type Role uint8

// The roles. Ignored entries are not part of a Folder.
const (
	// Manifest is a *.yaml or *.yml file: it is split into documents.
	Manifest Role = iota
	// Kustomization is a kustomization.yaml or kustomization.yml.
	Kustomization
	// SOPSConfig is a .sops.yaml.
	SOPSConfig
	// IgnoreFile is <folder>/.gittargetignore.
	IgnoreFile
	// Passenger is a harmless file: README.md, a licence, .gitkeep and the like; at the repository root also CI files.
	Passenger
	// Foreign is any other file.
	Foreign
	// ForeignSymlink and ForeignSubmodule are never followed.
	ForeignSymlink
	ForeignSubmodule
)

// Content says what one document is.
type Content uint8

// The contents.
const (
	// Managed is a mapping with apiVersion, kind and metadata.name: it claims its identity, whatever else it holds
	// (decision 37).
	Managed Content = iota
	// Empty has no node: blank, or comments only.
	Empty
	// NotKRM is YAML that is no manifest, such as Helm values.
	NotKRM
	// Invalid does not parse.
	Invalid
	// Hidden is encrypted so that its identity cannot be read; it blocks its own path only.
	Hidden
)

// Hazard is a construct that makes some edits of its document impossible: an anchor, alias, merge key, duplicate key,
// custom tag or binary scalar (decision 37).
type Hazard struct {
	Kind string
	// Line is 1-based in the file, Path a JSON pointer into the document.
	Line int
	Path string
}

// Document is one document of a manifest or artefact, as written. Values are shared and must not be modified.
type Document struct {
	// Path is the file, from the repository root.
	Path string
	// Raw is the identity as the bytes say it; zero when Content is not Managed.
	Raw        change.ObjectID
	APIVersion string
	// Note says more about an Invalid or NotKRM document, such as the parser's words; it never holds a value of the
	// document.
	Note string
	// Hazards are the first of them, at most 32.
	Hazards []Hazard
	// Digest is compare.Digest of the document's value; zero when the value cannot be computed (a syntax error, an alias
	// cycle or bomb).
	Digest [32]byte
	// Index counts the documents of the file from 0, as yamldoc.Split does. Start and End are the byte range in the file.
	Index, Start, End int32
	// Line is the 1-based line of Start in the file. For an Invalid document it is the line of the error.
	Line    int32
	Content Content
	// Encrypted reports a top-level sops mapping (git-writer 2.6).
	Encrypted bool
}

// File is one entry of the folder that is not a directory. Values are shared and must not be modified.
type File struct {
	// Path is relative to the repository root.
	Path string
	ID   manifest.ID
	Mode manifest.Mode
	Role Role
	// CRLF and BOM describe the file's framing.
	CRLF, BOM bool
	// Pointer names what stands in place of the content: "Git LFS" or "git-crypt"; empty for ordinary files.
	Pointer string
	// Aliases says why the file's aliases must not be expanded (decision 94); empty for ordinary files.
	Aliases string
	// Documents are all documents, empty and invalid ones included. Only manifests and artefacts have any.
	Documents []Document
	// ValueFiles are the Helm values files its Argo CD Applications and HelmReleases name: every place in the repository
	// they could mean (git-writer 2.7).
	ValueFiles []string
}

// Stats counts what a Scan or Apply did.
type Stats struct {
	// TreesRead and BlobsRead count reads through the Tree, DocumentsParsed parsed documents.
	TreesRead, BlobsRead, DocumentsParsed int
}

// Counts says what a folder holds.
type Counts struct {
	Files, Documents, Managed, Ignored int
}

// Folder is what a folder of one tree holds. It is immutable and safe for concurrent use.
type Folder struct {
	path   string
	layout *layout.Layout
}

// Path returns the folder from the repository root; "" is the root.
func (f *Folder) Path() string { return f.path }

// Layout returns the kustomize layout of the folder.
func (f *Folder) Layout() *layout.Layout { return f.layout }

// Ignore returns the rules of .gittargetignore; never nil.
func (f *Folder) Ignore() *Ignore { return nil }

// Counts returns the totals of the folder.
func (f *Folder) Counts() Counts { return Counts{} }

// File returns the entry at a path from the repository root; nil when there is none (or it is ignored).
func (f *Folder) File(path string) *File { return nil }

// Files iterates over all files in path order.
func (f *Folder) Files() iter.Seq[*File] { return func(func(*File) bool) {} }

// Irregular iterates in path order over the files that are not plain good manifests or passengers: foreign entries,
// artefacts, and files with an empty, invalid, non-KRM or hidden document. The cost follows their number.
func (f *Folder) Irregular() iter.Seq[*File] { return func(func(*File) bool) {} }

// Documents iterates over the documents that claim an identity, in path order, then index. Patch files are among them:
// a View tells.
func (f *Folder) Documents() iter.Seq[*Document] { return func(func(*Document) bool) {} }

// Rel returns a path relative to the folder, "." for the folder itself; a path outside is returned as it is.
func (f *Folder) Rel(path string) string { return path }

// RoleOf returns the role a new file at a path would have; false when .gittargetignore hides it or it lies outside
// the folder.
func (f *Folder) RoleOf(path string) (Role, bool) { return Manifest, false }
