// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"path"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
)

// fewPlacements is the size of a batch up to which directories are read through instead of indexed.
const fewPlacements = 8

// taken finds names of the folder that a new path cannot stand beside: a directory where a file must go, a file where
// a directory must go, and names that differ by case only (decision 27).
type taken struct {
	folder  *inventory.Folder
	indexed bool
	dirs    map[string]map[string][]string // directory to folded name to names
}

func newTaken(f *inventory.Folder, batch int) *taken {
	return &taken{folder: f, indexed: batch > fewPlacements, dirs: map[string]map[string][]string{}}
}

// fold makes names comparable that a case-insensitive file system takes for the same.
func fold(s string) string { return strings.ToLower(strings.ToUpper(s)) }

// names returns the names of a directory that fold to the same text.
func (t *taken) names(dir, name string) []string {
	if !t.indexed {
		var out []string
		for n := range t.folder.Names(dir) {
			if strings.EqualFold(n, name) {
				out = append(out, n)
			}
		}
		return out
	}
	in, ok := t.dirs[dir]
	if !ok {
		in = map[string][]string{}
		for n := range t.folder.Names(dir) {
			in[fold(n)] = append(in[fold(n)], n)
		}
		t.dirs[dir] = in
	}
	return in[fold(name)]
}

// conflict returns the entry that stands against a path, or "". A file at exactly the path is none.
func (t *taken) conflict(name string) string {
	jail := t.folder.Path()
	dirs := []string{jail}
	rel := strings.TrimPrefix(strings.TrimPrefix(name, jail), "/")
	parts := strings.Split(rel, "/")
	for i, part := range parts {
		var next []string
		for _, d := range dirs {
			for _, n := range t.names(d, part) {
				p := path.Join(d, n)
				isDir := t.folder.IsDir(p)
				switch last := i == len(parts)-1; {
				case last && (isDir || p != name), !last && !isDir:
					return p
				case isDir:
					next = append(next, p)
				}
			}
		}
		dirs = next
	}
	return ""
}

// clash returns a path of the batch that a new one cannot stand beside.
func clash(used map[string]string, name string) (string, bool) {
	folded := fold(name)
	if other, ok := used[folded]; ok {
		return other, true
	}
	for i, c := range folded {
		if c == '/' {
			if other, ok := used[folded[:i]]; ok {
				return other, true
			}
		}
	}
	return "", false
}
