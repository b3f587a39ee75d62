// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"path"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

// roles decides what an entry is. The order of the tests is that of git-writer 2.2.
type roles struct {
	ignore *Ignore
	// top reports that the folder is the repository root, where CI files are passengers too (decision 49).
	top bool
}

// skips reports whether a directory is not descended into.
func (r roles) skips(rel string) (skip, ignored bool) {
	if path.Base(rel) == ".git" || r.top && rel == ".github" {
		return true, false
	}
	ignored = r.ignore.matchEntry(rel, true)
	return ignored, ignored
}

// of returns the role of an entry that is not a directory; false when it is ignored.
func (r roles) of(rel string, mode manifest.Mode) (Role, bool) {
	base := path.Base(rel)
	switch {
	case mode == manifest.ModeSymlink:
		return ForeignSymlink, !r.ignore.matchEntry(rel, false)
	case mode == manifest.ModeSubmodule:
		return ForeignSubmodule, !r.ignore.matchEntry(rel, true)
	case rel == IgnoreFileName:
		return IgnoreFile, true
	case base == "README.md":
		return Passenger, true
	case base == ".sops.yaml":
		return SOPSConfig, true
	case base == "kustomization.yaml", base == "kustomization.yml":
		return Kustomization, true
	case r.ignore.matchEntry(rel, false):
		return Foreign, false
	case r.top && (rel == ".gitlab-ci.yml" || rel == "CODEOWNERS" || rel == ".editorconfig" || rel == "Makefile"):
		return Passenger, true
	case strings.HasSuffix(base, ".yaml"), strings.HasSuffix(base, ".yml"):
		return Manifest, true
	case harmless(base):
		return Passenger, true
	}
	return Foreign, true
}

func harmless(base string) bool {
	switch base {
	case ".gitignore", ".gitattributes", ".gitkeep", ".keep":
		return true
	}
	switch strings.TrimSuffix(base, ".txt") {
	case "LICENSE", "LICENCE", "COPYING", "NOTICE":
		return true
	}
	return strings.HasSuffix(base, ".md") || strings.HasSuffix(base, ".markdown")
}

// parsed reports whether files of the role are read.
func (r Role) parsed() bool { return r == Manifest || r == Kustomization || r == SOPSConfig }
