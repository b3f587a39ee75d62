// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// IgnoreFileName is the only name under which ignore rules are honoured, directly in the folder (git-writer 2.3).
const IgnoreFileName = ".gittargetignore"

// maxIgnoreRules bounds the rules of one file; further lines are not read.
const maxIgnoreRules = 10_000

// Ignore holds compiled rules in gitignore syntax. A nil *Ignore matches nothing. It is immutable.
type Ignore struct {
	rules []ignoreRule
}

// ignoreRule is one pattern line.
type ignoreRule struct {
	line    int
	text    string
	negate  bool
	dirOnly bool
	// base matches the last segment only, because the pattern has no slash.
	base     bool
	segments []string
}

// Catastrophic is a pattern that would hide everything (git-writer 2.3).
type Catastrophic struct {
	Line    int
	Pattern string
}

// ParseIgnore compiles rules as git does: the last match wins, "!" takes back, a file below a hidden directory stays
// hidden. Beyond git, CRLF line breaks are fine. It never fails: a pattern that is no pattern matches nothing.
func ParseIgnore(src []byte) *Ignore {
	g := &Ignore{}
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	n := 0
	for line := range strings.SplitSeq(string(src), "\n") {
		n++
		if r, ok := parseRule(strings.TrimSuffix(line, "\r")); ok {
			r.line = n
			g.rules = append(g.rules, r)
		}
		if len(g.rules) == maxIgnoreRules {
			break
		}
	}
	return g
}

func parseRule(line string) (ignoreRule, bool) {
	if strings.HasPrefix(line, "#") {
		return ignoreRule{}, false
	}
	line = trimUnescapedSpaces(line)
	r := ignoreRule{text: line}
	if rest, ok := strings.CutPrefix(line, "!"); ok {
		r.negate, line = true, rest
	}
	if rest, ok := strings.CutSuffix(line, "/"); ok && line != "/" {
		r.dirOnly, line = true, rest
	}
	if line == "" {
		return r, false
	}
	if strings.HasPrefix(line, `\`) && len(line) > 1 && (line[1] == '#' || line[1] == '!') {
		line = line[1:]
	}
	r.base = !strings.Contains(line, "/")
	r.segments = strings.Split(strings.ReplaceAll(strings.TrimPrefix(line, "/"), `\/`, "/"), "/")
	return r, true
}

// trimUnescapedSpaces drops trailing spaces, but keeps one that a backslash quotes.
func trimUnescapedSpaces(s string) string {
	end := len(s)
	for end > 0 && s[end-1] == ' ' {
		end--
	}
	if end < len(s) && end > 0 && s[end-1] == '\\' {
		slashes := end - len(strings.TrimRight(s[:end], `\`))
		if slashes%2 == 1 {
			end++
		}
	}
	return s[:end]
}

// Match reports whether a path relative to the folder is hidden: by a rule for itself or for a directory above it.
func (g *Ignore) Match(rel string, dir bool) bool {
	if g == nil || len(g.rules) == 0 || rel == "" || rel == "." {
		return false
	}
	segments := strings.Split(rel, "/")
	for i := 1; i < len(segments); i++ {
		if g.last(segments[:i], true) {
			return true
		}
	}
	return g.last(segments, dir)
}

// MatchEntry is Match for an entry whose parent directories are known not to be hidden.
func (g *Ignore) matchEntry(rel string, dir bool) bool {
	return g != nil && len(g.rules) > 0 && g.last(strings.Split(rel, "/"), dir)
}

// last returns the verdict of the last rule that matches.
func (g *Ignore) last(segments []string, dir bool) bool {
	for i := len(g.rules) - 1; i >= 0; i-- {
		if g.rules[i].match(segments, dir) {
			return !g.rules[i].negate
		}
	}
	return false
}

func (r *ignoreRule) match(segments []string, dir bool) bool {
	if r.dirOnly && !dir {
		return false
	}
	if r.base {
		return matchSegment(r.segments[0], segments[len(segments)-1])
	}
	return matchSegments(r.segments, segments)
}

// Catastrophic returns the patterns that hide everything: those of git-writer 2.3 and any other that hides a YAML file
// whatever its name and place.
func (g *Ignore) Catastrophic() []Catastrophic {
	var out []Catastrophic
	if g == nil {
		return nil
	}
	for i := range g.rules {
		r := &g.rules[i]
		if !r.negate && r.hidesAll() {
			out = append(out, Catastrophic{Line: r.line, Pattern: r.text})
		}
	}
	return out
}

// probes are names nobody uses, so that only a pattern for any name matches them all.
var probes = [...]string{"\x7fq\x7f", "\x7fz9\x7f"}

func (r *ignoreRule) hidesAll() bool {
	if r.text == "/" {
		return true
	}
	for _, ext := range []string{".yaml", ".yml"} {
		all := true
		for _, p := range probes {
			one := Ignore{rules: []ignoreRule{*r}}
			all = all && one.Match(p+ext, false) && one.Match(path.Join(p, p+p, p+ext), false)
		}
		if all {
			return true
		}
	}
	return false
}

// equal reports whether two sets of rules hide the same paths; comments and line numbers do not count.
func (g *Ignore) equal(h *Ignore) bool {
	return slices.EqualFunc(g.list(), h.list(), func(a, b ignoreRule) bool { return a.text == b.text })
}

func (g *Ignore) list() []ignoreRule {
	if g == nil {
		return nil
	}
	return g.rules
}
