// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

// Edit is a file's next content, with its path from the repository root. A Mode of zero means manifest.ModeFile.
type Edit struct {
	Path    string
	Mode    manifest.Mode
	Content []byte
	Delete  bool
}

// Apply returns the Folder after edits, without reading anything but the bytes given: t is the tree f was scanned from
// and is read only for what a kustomization newly refers to above the folder. A Scan of the commit that holds the
// edits, with the result as prev, reads the changed trees and no blob.
//
// Edits outside the folder are an error, and so are edits that change what .gittargetignore hides, or of hidden files.
func (f *Folder) Apply(ctx context.Context, t manifest.Tree, edits []Edit) (*Folder, Stats, error) {
	blobs := map[manifest.ID][]byte{}
	s := newScanner(ctx, edited{Tree: t, blobs: blobs}, f.path, f)
	s.same = true
	s.roles = roles{ignore: f.ignore, top: f.path == ""}
	next := *f
	if next.root == nil {
		next.root = newDir(f.path, manifest.ID{}, nil, 0)
	}
	for _, e := range edits {
		if err := s.apply(&next, e, blobs); err != nil {
			return nil, s.stats, fmt.Errorf("apply edit of %s: %w", e.Path, err)
		}
	}
	next.index = f.index.update(s.cancelled())
	err := s.resolve(&next)
	return &next, s.stats, err
}

func (s *scanner) apply(f *Folder, e Edit, blobs map[manifest.ID][]byte) error {
	p := clean(e.Path)
	if p == f.path || !within(f.path, p) {
		return fmt.Errorf("it lies outside the folder %s", dot(f.path))
	}
	if f.blocked != nil {
		return fmt.Errorf("%s is in the way", f.blocked.Path)
	}
	if e.Delete {
		f.root = s.removeFile(f.root, relative(f.path, p))
		if p == path.Join(f.path, IgnoreFileName) && len(f.ignore.list()) > 0 {
			return fmt.Errorf("the folder must be scanned again: its ignore rules are gone")
		}
		return nil
	}
	mode := e.Mode
	if mode == 0 {
		mode = manifest.ModeFile
	}
	role, visible := f.RoleOf(p)
	if !visible {
		return fmt.Errorf("%s hides it", IgnoreFileName)
	}
	id := manifest.BlobID(e.Content)
	blobs[id] = e.Content
	if role == IgnoreFile {
		if !ParseIgnore(e.Content).equal(f.ignore) {
			return fmt.Errorf("the folder must be scanned again: its ignore rules changed")
		}
		f.ignoreID = id
	}
	file := &File{Path: p, ID: id, Mode: mode, Role: role}
	if role.parsed() {
		file.inspect(e.Content, &s.stats)
	}
	f.root = s.putFile(f.root, relative(f.path, p), file)
	return nil
}

// putFile returns d with a file at rel; what is in its way goes.
func (s *scanner) putFile(d *dirNode, rel string, f *File) *dirNode {
	name, rest, more := strings.Cut(rel, "/")
	if other, ok := d.child(name, !more); ok {
		s.changed(swap{old: other})
		d = d.without(name, !more)
	}
	if !more {
		old, _ := d.child(name, false)
		s.changed(swap{old: old, next: entry{file: f}})
		return d.with(name, entry{file: f})
	}
	sub, ok := d.child(name, true)
	if !ok {
		sub.dir = newDir(path.Join(d.path, name), manifest.ID{}, nil, 0)
	}
	return d.with(name, entry{dir: s.putFile(sub.dir, rest, f)})
}

// removeFile returns d without the file at rel; directories that become empty vanish, as in Git.
func (s *scanner) removeFile(d *dirNode, rel string) *dirNode {
	name, rest, more := strings.Cut(rel, "/")
	e, ok := d.child(name, more)
	if !ok {
		return d
	}
	if !more {
		s.changed(swap{old: e})
		return d.without(name, false)
	}
	sub := s.removeFile(e.dir, rest)
	if sub == e.dir {
		return d
	}
	if len(sub.chunks) == 0 && sub.sum.ignored == 0 {
		return d.without(name, true)
	}
	return d.with(name, entry{dir: sub})
}

// cancelled returns what leaves and enters the index, without documents that did both: two edits of one file in a row.
func (s *scanner) cancelled() (removed, added []*Document) {
	in := make(map[*Document]bool, len(s.added))
	for _, d := range s.added {
		in[d] = true
	}
	both := map[*Document]bool{}
	for _, d := range s.removed {
		if in[d] {
			both[d] = true
		}
	}
	drop := func(d *Document) bool { return both[d] }
	return slices.DeleteFunc(s.removed, drop), slices.DeleteFunc(s.added, drop)
}
