// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"iter"
	"path"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
)

// Role is what an entry of the folder is (git-writer 2.2).
type Role uint8

// The roles. Ignored entries are no part of a Folder.
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
	path     string
	root     *dirNode
	index    *index
	ignore   *Ignore
	ignoreID manifest.ID
	layout   *layout.Layout
	// blocked is a file, symlink or submodule at the folder's path or above it; such a folder is empty.
	blocked *File
	// above are the directories outside the folder that were read, by id.
	above map[manifest.ID][]manifest.DirEntry
}

// Path returns the folder from the repository root; "" is the root.
func (f *Folder) Path() string { return f.path }

// Layout returns the kustomize layout of the folder.
func (f *Folder) Layout() *layout.Layout { return f.layout }

// Ignore returns the rules of .gittargetignore; nil matches nothing.
func (f *Folder) Ignore() *Ignore { return f.ignore }

// Counts returns the totals of the folder.
func (f *Folder) Counts() Counts {
	if f.root == nil {
		return Counts{}
	}
	t := f.root.sum
	return Counts{Files: t.files, Documents: t.documents, Managed: t.managed, Ignored: t.ignored}
}

// File returns the entry at a path from the repository root; nil when there is none, when it is a directory and when
// it is ignored.
func (f *Folder) File(path string) *File {
	path = clean(path)
	if f.blocked != nil && path == f.blocked.Path {
		return f.blocked
	}
	if !within(f.path, path) {
		return nil
	}
	e, _ := f.root.at(relative(f.path, path))
	return e.file
}

// IsDir reports whether a path is a directory of the folder that is not ignored.
func (f *Folder) IsDir(path string) bool {
	path = clean(path)
	if path == f.path {
		return f.root != nil && len(f.root.chunks) > 0
	}
	if !within(f.path, path) {
		return false
	}
	e, ok := f.root.at(relative(f.path, path))
	return ok && e.dir != nil
}

// Manages reports whether a directory holds a document that claims an identity, or a kustomization, at any depth.
func (f *Folder) Manages(dir string) bool {
	d := f.root
	if dir = clean(dir); dir != f.path {
		e, _ := f.root.at(relative(f.path, dir))
		d = e.dir
	}
	return d != nil && d.sum.managed+d.sum.kustomizations > 0
}

// Names iterates over the names of a directory's entries that are not ignored, in Git's order.
func (f *Folder) Names(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		d := f.root
		if dir = clean(dir); dir != f.path {
			if !within(f.path, dir) {
				return
			}
			e, _ := f.root.at(relative(f.path, dir))
			d = e.dir
		}
		for e := range d.all() {
			if !yield(path.Base(e.path())) {
				return
			}
		}
	}
}

// Files iterates over all files in path order.
func (f *Folder) Files() iter.Seq[*File] { return f.pick(anyFile) }

// Irregular iterates in path order over the files that are not plain good manifests or passengers: foreign entries,
// artefacts, and files with an empty, invalid, non-KRM or hidden document, a pointer, or unsafe aliases. The cost
// follows their number.
func (f *Folder) Irregular() iter.Seq[*File] {
	return f.pick(func(t totals) int { return t.irregular })
}

func (f *Folder) pick(what func(totals) int) iter.Seq[*File] {
	return func(yield func(*File) bool) {
		if f.blocked != nil && !yield(f.blocked) {
			return
		}
		f.root.walk(what, yield)
	}
}

// Documents iterates over the documents that claim an identity, in path order, then index. Patch files are among them:
// Effective tells.
func (f *Folder) Documents() iter.Seq[*Document] {
	return func(yield func(*Document) bool) {
		f.root.walk(func(t totals) int { return t.managed }, func(file *File) bool {
			for i := range file.Documents {
				if d := &file.Documents[i]; file.claims(d) && !yield(d) {
					return false
				}
			}
			return true
		})
	}
}

// Unrendered iterates over the documents that no build of the folder reaches although it has a render root (decision
// 47). It walks all documents of such a folder.
func (f *Folder) Unrendered() iter.Seq[*Document] {
	return func(yield func(*Document) bool) {
		if len(f.layout.Roots()) == 0 {
			return
		}
		for d := range f.Documents() {
			if len(f.layout.Reaches(d.Path)) == 0 && !f.layout.NamesPatch(d.Path) && !yield(d) {
				return
			}
		}
	}
}

// ValueFiles returns the files of the folder that hold Helm values for an Application or HelmRelease of the folder
// (git-writer 2.7): they exist, and no document of theirs is a manifest.
func (f *Folder) ValueFiles() map[string]bool {
	out := map[string]bool{}
	f.root.walk(func(t totals) int { return t.values }, func(file *File) bool {
		for _, p := range file.ValueFiles {
			if v := f.File(p); v != nil && (v.Role == Manifest || v.Role == Foreign) && !v.holdsManaged() {
				out[p] = true
			}
		}
		return true
	})
	return out
}

func (f *File) holdsManaged() bool {
	for i := range f.Documents {
		if f.Documents[i].Content == Managed {
			return true
		}
	}
	return false
}

// Rel returns a path relative to the folder, "." for the folder itself; a path outside starts with "..".
func (f *Folder) Rel(p string) string {
	p = clean(p)
	if within(f.path, p) {
		return dot(relative(f.path, p))
	}
	up, base := "", f.path
	for !within(base, p) {
		up, base = up+"../", clean(path.Dir("/"+base))
	}
	return strings.TrimSuffix(up+relative(base, p), "/")
}

// RoleOf returns the role a regular file at a path has or would have; false when .gittargetignore hides it, when it
// lies outside the folder or in a directory no scan enters.
func (f *Folder) RoleOf(p string) (Role, bool) {
	p = clean(p)
	if !within(f.path, p) || p == f.path {
		return Foreign, false
	}
	rel := relative(f.path, p)
	r := roles{ignore: f.ignore, top: f.path == ""}
	for i, c := range rel {
		if c == '/' {
			if skip, _ := r.skips(rel[:i]); skip {
				return Foreign, false
			}
		}
	}
	return r.of(rel, manifest.ModeFile)
}
