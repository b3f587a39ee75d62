// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
)

// staging is the folder that --write fills before the first rename. What a killed run left there is no content.
const staging = ".gitops-reverser.tmp"

// readDir reads a checked-out repository as a tree. Symlinks are kept as links and never followed; a folder with a
// .git of its own is a submodule, as Git sees it.
func readDir(dir string) (map[string]manifest.File, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", dir)
	}
	files := map[string]manifest.File{}
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil || rel == "." {
			return err
		}
		name := filepath.ToSlash(rel)
		switch {
		case d.IsDir() && (d.Name() == ".git" || name == staging):
			return fs.SkipDir
		case d.IsDir():
			if git, err := os.Lstat(filepath.Join(p, ".git")); err == nil && (git.IsDir() || git.Mode().IsRegular()) {
				files[name] = manifest.File{Mode: manifest.ModeSubmodule}
				return fs.SkipDir
			}
			return nil
		case d.Name() == ".git":
			return nil
		}
		f, err := readFile(p, d)
		if err == nil && f.Mode != 0 {
			files[name] = f
		}
		return err
	})
	return files, err
}

func readFile(p string, d fs.DirEntry) (manifest.File, error) {
	switch t := d.Type(); {
	case t&fs.ModeSymlink != 0:
		to, err := os.Readlink(p)
		return manifest.File{Mode: manifest.ModeSymlink, Content: []byte(to)}, err
	case !t.IsRegular():
		return manifest.File{}, nil
	}
	info, err := d.Info()
	if err != nil {
		return manifest.File{}, err
	}
	f := manifest.File{Mode: manifest.ModeFile}
	if info.Mode().Perm()&0o100 != 0 {
		f.Mode = manifest.ModeExecutable
	}
	f.Content, err = os.ReadFile(p)
	return f, err
}

// apply puts edits into a file set.
func apply(files map[string]manifest.File, edits []plan.Edit) {
	for _, e := range edits {
		if e.Delete {
			delete(files, e.Path)
		} else {
			files[e.Path] = manifest.File{Mode: e.Mode, Content: e.Content}
		}
	}
}

// write brings a folder from one file set to another: every new content is on disk before the first rename, a rename
// replaces a file as a whole, and modes stay. Nothing outside the folder is reached, whatever links it holds.
func write(dir string, before, after map[string]manifest.File) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	names := changed(before, after)
	if len(names) == 0 {
		return nil
	}
	if err := errors.Join(root.RemoveAll(staging), root.Mkdir(staging, 0o700)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.RemoveAll(staging)) }()
	staged := map[string]string{}
	for i, name := range names {
		f, ok := after[name]
		if !ok {
			continue
		}
		tmp := path.Join(staging, strconv.Itoa(i))
		if err := stage(root, name, tmp, f); err != nil {
			return fmt.Errorf("write %s: %w", name, reason(err))
		}
		staged[name] = tmp
	}
	for _, name := range names {
		if tmp, ok := staged[name]; ok {
			if err := root.Rename(tmp, name); err != nil {
				return fmt.Errorf("write %s: %w", name, reason(err))
			}
			continue
		}
		if err := root.Remove(name); err != nil {
			return fmt.Errorf("remove %s: %w", name, reason(err))
		}
		removeEmpty(root, path.Dir(name))
	}
	return nil
}

// stage writes new content where it can be renamed from, and makes the folder it goes to.
func stage(root *os.Root, name, tmp string, f manifest.File) error {
	if err := root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o755); err != nil {
		return err
	}
	perm := fs.FileMode(0o644)
	if f.Mode == manifest.ModeExecutable {
		perm = 0o755
	}
	if info, err := root.Lstat(name); err == nil {
		if !info.Mode().IsRegular() {
			return errors.New("it is no regular file")
		}
		perm = info.Mode().Perm()
	}
	out, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = out.Write(f.Content)
	return errors.Join(err, out.Chmod(perm), out.Sync(), out.Close())
}

// removeEmpty removes folders that hold nothing any more, as Git would not have them either.
func removeEmpty(root *os.Root, dir string) {
	for ; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if root.Remove(dir) != nil {
			return
		}
	}
}

// changed returns the paths that differ, sorted.
func changed(before, after map[string]manifest.File) []string {
	var out []string
	for name, f := range after {
		if was, ok := before[name]; !ok || was.Mode != f.Mode || string(was.Content) != string(f.Content) {
			out = append(out, name)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// insideRepo cleans the --path flag.
func insideRepo(p string) (string, error) {
	c := path.Clean(filepath.ToSlash(p))
	if path.IsAbs(c) || c == ".." || strings.HasPrefix(c, "../") {
		return "", fmt.Errorf("--path %s must be a folder inside DIR", p)
	}
	return c, nil
}
