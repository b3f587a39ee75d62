// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Target is what ownership needs to know of one GitTarget.
type Target struct {
	Key     change.TargetKey
	Created time.Time
	// Repository is the normal form host + path of the provider's URL, so that https and ssh spellings of one
	// repository meet here (decisions 63).
	Repository string
	Branch     string
	// ParentBranch is compared as written: omitted differs from "main".
	ParentBranch string
	// Path is spec.path as written.
	Path string
	// Provider is the namespace/name of the GitProvider.
	Provider string
	// Admitted is false when an accessFrom refuses the target's namespace; such a target owns nothing.
	Admitted bool
}

// Compare is negative when t wins over o: it is older, or of the same age with the lower namespace/name (git-writer 3.5).
func (t Target) Compare(o Target) int {
	return cmp.Or(t.Created.Compare(o.Created), cmp.Compare(t.Key.String(), o.Key.String()), cmp.Compare(t.Key.UID,
		o.Key.UID))
}

// Conflict says why a target may not write. The zero value means it may.
type Conflict struct {
	// With is the older target that is in the way.
	With change.TargetKey
	// Message names the cause and the cure.
	Message string
}

// None reports that there is no conflict.
func (c Conflict) None() bool { return c.Message == "" }

// Resolve returns the conflict of every admitted target with a valid path that has one. The target that is less in
// Compare wins; one in conflict owns nothing, so that a third may have what it wanted.
func Resolve(targets []Target) map[change.TargetKey]Conflict {
	sorted := slices.Clone(targets)
	slices.SortFunc(sorted, Target.Compare)
	type branch struct{ repository, name string }
	owners := map[branch][]Target{}
	out := map[change.TargetKey]Conflict{}
	for _, t := range sorted {
		clean, err := CleanPath(t.Path)
		if !t.Admitted || err != nil {
			continue
		}
		t.Path = clean
		b := branch{t.Repository, t.Branch}
		if c := conflict(owners[b], t); !c.None() {
			out[t.Key] = c
			continue
		}
		owners[b] = append(owners[b], t)
	}
	return out
}

func conflict(owners []Target, t Target) Conflict {
	if len(owners) == 0 {
		return Conflict{}
	}
	first := owners[0]
	if first.Provider != t.Provider {
		return Conflict{With: first.Key, Message: fmt.Sprintf(
			"branch %q of this repository is written through GitProvider %s by GitTarget %s; reference that GitProvider"+
				" (its accessFrom must admit this namespace) or choose another branch", t.Branch, first.Provider, first.Key)}
	}
	if first.ParentBranch != t.ParentBranch {
		return Conflict{With: first.Key, Message: fmt.Sprintf(
			"GitTarget %s writes branch %q with parentBranch %q, this one says %q; use the same parentBranch or another branch",
			first.Key, t.Branch, first.ParentBranch, t.ParentBranch)}
	}
	for _, o := range owners {
		if Overlap(o.Path, t.Path) {
			return Conflict{With: o.Key, Message: fmt.Sprintf(
				"path %q overlaps path %q of GitTarget %s on branch %q; choose a folder that neither holds nor lies in the other",
				display(t.Path), display(o.Path), o.Key, t.Branch)}
		}
	}
	return Conflict{}
}

func display(clean string) string { return cmp.Or(clean, ".") }

// ErrPath is wrapped by every refusal of CleanPath.
var ErrPath = errors.New("invalid path")

// CleanPath returns the normal form of spec.path: relative, without "." segments and trailing slash, and empty for the
// repository root. Absolute paths, backslashes and ".." are refused.
func CleanPath(p string) (string, error) {
	p = strings.TrimSpace(p)
	switch {
	case p == "":
		return "", fmt.Errorf("%w: it is empty; write \".\" for the repository root", ErrPath)
	case strings.HasPrefix(p, "/"):
		return "", fmt.Errorf("%w %q: it must be relative to the repository root", ErrPath, p)
	case strings.Contains(p, `\`):
		return "", fmt.Errorf("%w %q: use / between segments", ErrPath, p)
	case slices.Contains(strings.Split(p, "/"), ".."):
		return "", fmt.Errorf("%w %q: it must not leave the repository with ..", ErrPath, p)
	}
	p = path.Clean(p)
	if p == "." {
		return "", nil
	}
	if first, _, _ := strings.Cut(p, "/"); strings.EqualFold(first, ".git") {
		return "", fmt.Errorf("%w %q: .git belongs to Git", ErrPath, p)
	}
	return p, nil
}

// Overlap reports whether one clean path equals or holds the other, on segment boundaries.
func Overlap(a, b string) bool {
	return a == b || a == "" || b == "" || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}
