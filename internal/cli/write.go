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
	"strconv"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

// staging is the folder that --write fills before the first rename. What a killed run left there is no content.
const staging = ".gitops-reverser.tmp"

// write carries changes out in a folder: every new content is on disk before the first rename, a rename replaces a
// file as a whole, and modes stay. Nothing outside the folder is reached, whatever links it holds, and a file that is
// not what the plan was made on stops it before anything is written.
func write(root *os.Root, changes []fileChange) (err error) {
	if len(changes) == 0 {
		return nil
	}
	if err := errors.Join(root.RemoveAll(staging), root.Mkdir(staging, 0o700)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.RemoveAll(staging)) }()
	staged := make([]string, len(changes))
	for i, c := range changes {
		if err := asPlanned(root, c); err != nil {
			return fmt.Errorf("write %s: %w", c.path, reason(err))
		}
		if c.now == nil {
			continue
		}
		staged[i] = path.Join(staging, strconv.Itoa(i))
		if err := stage(root, c.path, staged[i], *c.now); err != nil {
			return fmt.Errorf("write %s: %w", c.path, reason(err))
		}
	}
	for i, c := range changes {
		if staged[i] != "" {
			if err := root.Rename(staged[i], c.path); err != nil {
				return fmt.Errorf("write %s: %w", c.path, reason(err))
			}
			continue
		}
		if err := root.Remove(c.path); err != nil {
			return fmt.Errorf("remove %s: %w", c.path, reason(err))
		}
		removeEmpty(root, path.Dir(c.path))
	}
	return nil
}

// asPlanned checks that a file is still what the plan was made on.
func asPlanned(root *os.Root, c fileChange) error {
	b, err := root.ReadFile(c.path)
	switch {
	case c.was == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	case c.was != nil && err == nil && string(b) == string(c.was.Content):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return errors.New("it changed since it was read; run the command again")
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
