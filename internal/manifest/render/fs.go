// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// buildFS is the file system of one build: the files the guard has read and checked, and nothing else. Every write
// is refused, so a build cannot leave anything behind.
type buildFS struct {
	files map[string][]byte
	dirs  map[string]bool
}

var errReadOnly = errors.New("a build may not write")

func newBuildFS(files map[string][]byte) *buildFS {
	f := &buildFS{files: files, dirs: map[string]bool{"": true}}
	for name := range files {
		for d := parent(name); d != ""; d = parent(d) {
			if f.dirs[d] {
				break
			}
			f.dirs[d] = true
		}
	}
	return f
}

func parent(name string) string { return clean(path.Dir(name)) }

// ReadFile implements filesys.FileSystem.
func (f *buildFS) ReadFile(name string) ([]byte, error) {
	b, ok := f.files[clean(name)]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return b, nil
}

// IsDir implements filesys.FileSystem.
func (f *buildFS) IsDir(name string) bool { return f.dirs[clean(name)] }

// Exists implements filesys.FileSystem.
func (f *buildFS) Exists(name string) bool {
	n := clean(name)
	_, ok := f.files[n]
	return ok || f.dirs[n]
}

// CleanedAbs implements filesys.FileSystem.
func (f *buildFS) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	n := clean(name)
	if f.dirs[n] {
		return filesys.ConfirmedDir("/" + n), "", nil
	}
	if _, ok := f.files[n]; ok {
		return filesys.ConfirmedDir("/" + parent(n)), path.Base(n), nil
	}
	return "", "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// Create implements filesys.FileSystem.
func (*buildFS) Create(string) (filesys.File, error) { return nil, errReadOnly }

// Mkdir implements filesys.FileSystem.
func (*buildFS) Mkdir(string) error { return errReadOnly }

// MkdirAll implements filesys.FileSystem.
func (*buildFS) MkdirAll(string) error { return errReadOnly }

// RemoveAll implements filesys.FileSystem.
func (*buildFS) RemoveAll(string) error { return errReadOnly }

// WriteFile implements filesys.FileSystem.
func (*buildFS) WriteFile(string, []byte) error { return errReadOnly }

// Open implements filesys.FileSystem; kustomize's loader reads whole files.
func (*buildFS) Open(name string) (filesys.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errors.ErrUnsupported}
}

// ReadDir implements filesys.FileSystem; no supported construct lists folders.
func (*buildFS) ReadDir(name string) ([]string, error) {
	return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.ErrUnsupported}
}

// Glob implements filesys.FileSystem; no supported construct has patterns.
func (*buildFS) Glob(pattern string) ([]string, error) {
	return nil, &fs.PathError{Op: "glob", Path: pattern, Err: errors.ErrUnsupported}
}

// Walk implements filesys.FileSystem; no supported construct walks folders.
func (*buildFS) Walk(name string, _ filepath.WalkFunc) error {
	return &fs.PathError{Op: "walk", Path: name, Err: errors.ErrUnsupported}
}

var _ filesys.FileSystem = (*buildFS)(nil)
