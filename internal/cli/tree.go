// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // names of directories and foreign files inside this process, not a security boundary
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
)

// dirTree is a checked-out repository as a tree, with the edits of earlier plans on top. A directory is read when it
// is asked for, and so is a file: what else lies in the repository, whatever its size, stays on the disk. Symlinks are
// kept as links and never followed; a folder with a .git of its own is a submodule, as Git sees it.
type dirTree struct {
	root *os.Root
	// at is the path an id stands for; a file has the id Git would give it when it can be a manifest.
	at map[manifest.ID]string
	// was are the files on the disk as they were when they were listed.
	was map[string]manifest.DirEntry
	// edits are the files as they will be; nil for a removed one. turns counts the edits below each directory.
	edits map[string]*manifest.File
	turns map[string]int
}

var _ manifest.Tree = (*dirTree)(nil)

func openDir(dir string) (*dirTree, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, reason(err))
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, reason(err))
	}
	return &dirTree{
		root: root, at: map[manifest.ID]string{}, was: map[string]manifest.DirEntry{},
		edits: map[string]*manifest.File{}, turns: map[string]int{},
	}, nil
}

func (t *dirTree) close() error { return t.root.Close() }

// Root implements manifest.Tree.
func (t *dirTree) Root() manifest.ID { return t.dirID("") }

func (t *dirTree) dirID(name string) manifest.ID {
	id := named("directory", name, t.turns[name])
	t.at[id] = name
	return id
}

// named is the id of something that is known by its name.
func named(kind, name string, turn int) manifest.ID {
	return sha1.Sum(fmt.Appendf(nil, "%s %d %s", kind, turn, name)) //nolint:gosec // see the import
}

// Dir implements manifest.Tree.
func (t *dirTree) Dir(id manifest.ID) ([]manifest.DirEntry, error) {
	dir, ok := t.at[id]
	if !ok {
		return nil, fmt.Errorf("directory %s: %w", id, fs.ErrNotExist)
	}
	children := map[string]manifest.DirEntry{}
	list, err := t.list(dir)
	if err != nil {
		return nil, err
	}
	for _, d := range list {
		e, err := t.entry(path.Join(dir, d.Name()), d)
		if err != nil {
			return nil, err
		}
		if e.Mode != 0 {
			children[e.Name] = e
		}
	}
	t.edited(dir, children)
	out := slices.Collect(maps.Values(children))
	slices.SortFunc(out, func(a, b manifest.DirEntry) int { return strings.Compare(sortKey(a), sortKey(b)) })
	return out, nil
}

// list reads a directory; one that only edits hold is empty.
func (t *dirTree) list(dir string) ([]fs.DirEntry, error) {
	d, err := t.root.Open(cmp.Or(dir, "."))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := d.ReadDir(-1)
	return list, errors.Join(err, d.Close())
}

// sortKey gives Git's order of tree entries.
func sortKey(e manifest.DirEntry) string {
	if e.Mode == manifest.ModeDir {
		return e.Name + "/"
	}
	return e.Name
}

// entry is a child of a directory on the disk; its mode is zero when Git would not take it.
func (t *dirTree) entry(name string, d fs.DirEntry) (manifest.DirEntry, error) {
	e := manifest.DirEntry{Name: d.Name()}
	switch {
	case d.Name() == ".git" || name == staging:
		return e, nil
	case d.IsDir():
		e.Mode, e.ID = manifest.ModeDir, t.dirID(name)
		if git, err := t.root.Lstat(path.Join(name, ".git")); err == nil && (git.IsDir() || git.Mode().IsRegular()) {
			e.Mode = manifest.ModeSubmodule
		}
		return e, nil
	case d.Type()&fs.ModeSymlink != 0:
		e.Mode, e.ID = manifest.ModeSymlink, named("link", name, 0)
	case d.Type().IsRegular():
		info, err := d.Info()
		if err != nil {
			return e, err
		}
		e.Mode = manifest.ModeFile
		if info.Mode().Perm()&0o100 != 0 {
			e.Mode = manifest.ModeExecutable
		}
		if e.ID, err = t.fileID(name, info.Size()); err != nil {
			return e, err
		}
	default:
		return e, nil
	}
	t.at[e.ID], t.was[name] = name, e
	return e, nil
}

// fileID is Git's id of a file that may be a manifest. Any other file is only known by its name: nothing is ever
// written in its place, and it is read when it is asked for.
func (t *dirTree) fileID(name string, size int64) (manifest.ID, error) {
	if !isYAML(name) || size > longest {
		return named("file", name, 0), nil
	}
	b, err := t.root.ReadFile(name)
	if err != nil {
		return manifest.ID{}, err
	}
	return manifest.BlobID(b), nil
}

// longest is the size from which on a file is no manifest whatever its name says; the inventory refuses far smaller ones.
const longest = 256 << 20

func (t *dirTree) tooLong(name string) bool {
	return isYAML(name) && t.was[name].ID == named("file", name, 0)
}

// edited puts the edits of a directory into its list.
func (t *dirTree) edited(dir string, children map[string]manifest.DirEntry) {
	for name, f := range t.edits {
		rest, ok := below(dir, name)
		child, _, deep := strings.Cut(rest, "/")
		switch {
		case !ok:
		case deep && f != nil:
			children[child] = manifest.DirEntry{Name: child, Mode: manifest.ModeDir, ID: t.dirID(path.Join(dir, child))}
		case deep:
		case f == nil:
			delete(children, child)
		default:
			id := manifest.BlobID(f.Content)
			t.at[id] = name
			children[child] = manifest.DirEntry{Name: child, Mode: f.Mode, ID: id}
		}
	}
}

// below returns a path relative to a directory above it.
func below(dir, name string) (string, bool) {
	if dir == "" {
		return name, true
	}
	return strings.CutPrefix(name, dir+"/")
}

// Blob implements manifest.Tree.
func (t *dirTree) Blob(id manifest.ID) ([]byte, error) {
	name, ok := t.at[id]
	if !ok {
		return nil, fmt.Errorf("file %s: %w", id, fs.ErrNotExist)
	}
	if f := t.edits[name]; f != nil && manifest.BlobID(f.Content) == id {
		return f.Content, nil
	}
	f, err := t.original(name)
	return f.Content, err
}

// original is a file as it is on the disk, which must be what was listed.
func (t *dirTree) original(name string) (manifest.File, error) {
	e := t.was[name]
	f := manifest.File{Mode: e.Mode}
	if e.Mode == manifest.ModeSymlink {
		to, err := t.root.Readlink(name)
		f.Content = []byte(to)
		return f, err
	}
	if t.tooLong(name) {
		return f, fmt.Errorf("%s is larger than %d MiB, which no manifest is", name, longest>>20)
	}
	var err error
	if f.Content, err = t.root.ReadFile(name); err != nil {
		return f, err
	}
	if isYAML(name) && e.ID != manifest.BlobID(f.Content) {
		return f, fmt.Errorf("%s changed while it was read; run the command again", name)
	}
	return f, nil
}

// apply puts the edits of a plan on top.
func (t *dirTree) apply(edits []plan.Edit) {
	for _, e := range edits {
		t.edits[e.Path] = nil
		if !e.Delete {
			t.edits[e.Path] = &manifest.File{Mode: e.Mode, Content: e.Content}
		}
		for d := path.Dir(e.Path); ; d = path.Dir(d) {
			if d == "." {
				t.turns[""]++
				break
			}
			t.turns[d]++
		}
	}
}

// fileChange is a file before and after; nil stands for no file.
type fileChange struct {
	path     string
	was, now *manifest.File
}

// changes returns what the edits make of the folder, sorted by path.
func (t *dirTree) changes() ([]fileChange, error) {
	var out []fileChange
	for _, name := range slices.Sorted(maps.Keys(t.edits)) {
		c := fileChange{path: name, now: t.edits[name]}
		if _, ok := t.was[name]; ok {
			f, err := t.original(name)
			if err != nil {
				return nil, err
			}
			c.was = &f
		}
		same := c.was == nil && c.now == nil ||
			c.was != nil && c.now != nil && c.was.Mode == c.now.Mode && string(c.was.Content) == string(c.now.Content)
		if !same {
			out = append(out, c)
		}
	}
	return out, nil
}

// files calls f with every file of the tree below a directory, in order and one at a time, that a condition selects by
// its name. Files too long to be manifests are left out.
func (t *dirTree) files(dir manifest.ID, at string, take func(name string) bool, f func(name string, content []byte) error) error {
	list, err := t.Dir(dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		name := path.Join(at, e.Name)
		switch e.Mode {
		case manifest.ModeDir:
			err = t.files(e.ID, name, take, f)
		case manifest.ModeFile, manifest.ModeExecutable:
			if !take(name) || t.tooLong(name) {
				continue
			}
			var b []byte
			if b, err = t.Blob(e.ID); err == nil {
				err = f(name, b)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
