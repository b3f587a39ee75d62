// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package acceptance

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
)

// MaxMessage bounds the message of a condition, in bytes (git-writer 3.1).
const MaxMessage = 512

// families maps kinds to reasons of GitPathAccepted=False (git-writer 3.4); any other kind is UnsupportedContent.
var families = map[Kind]string{
	IgnoreShadowsManaged:     "IgnoreShadowsManagedPath",
	AmbiguousLayout:          "AmbiguousLayout",
	MultipleSourceNamespaces: "MultipleSourceNamespaces",
	UnrenderedPlacement:      "UnrenderedPlacement",
	WriteEscapesScope:        "WriteBoundaryRefused",
	WriteFanIn:               "WriteBoundaryRefused",
	KustomizeRenderRefused:   "WriteBoundaryRefused",
	UnplaceableEdit:          "WriteBoundaryRefused",
	UnownedDeletePatch:       "WriteBoundaryRefused",
}

// Unsupported is the reason of every mixture and of every kind without a family.
const Unsupported = "UnsupportedContent"

// Reason returns the reason of GitPathAccepted: "Succeeded" without issues, a family when all issues belong to it, else
// Unsupported.
func Reason(issues []Issue) string {
	if len(issues) == 0 {
		return "Succeeded"
	}
	reason := families[issues[0].Kind]
	for _, i := range issues {
		if reason == "" || families[i.Kind] != reason {
			return Unsupported
		}
	}
	return reason
}

// Condition returns reason and message of GitPathAccepted. The message is at most MaxMessage bytes: the first issue
// with its place and cure, a ready .gittargetignore when that alone would do, and how many more there are.
func Condition(issues []Issue) (reason, message string) {
	if len(issues) == 0 {
		return "Succeeded", "The folder can be written"
	}
	tail := ""
	if more := len(issues) - 1; more > 0 {
		tail = fmt.Sprintf("; and %d more", more)
	}
	first := issues[0]
	lines := IgnoreLines(issues)
	if len(issues) > 1 && allIgnorable(issues) {
		first.Cure = ""
		head := first.String()
		room := MaxMessage - len(tail) - len(head)
		return Reason(issues), clip(head, MaxMessage-len(tail)) + readyIgnore(lines, room) + tail
	}
	return Reason(issues), clip(first.String(), MaxMessage-len(tail)) + tail
}

func allIgnorable(issues []Issue) bool {
	return !slices.ContainsFunc(issues, func(i Issue) bool { return i.Ignore == "" })
}

// readyIgnore lists as many ignore lines as fit into room bytes; nothing when none does.
func readyIgnore(lines []string, room int) string {
	text := fmt.Sprintf("; lines for %s:", inventory.IgnoreFileName)
	room -= len(text)
	n := 0
	for _, l := range lines {
		if room -= len(l) + 1; room < 0 {
			break
		}
		text += " " + l
		n++
	}
	if n == 0 {
		return ""
	}
	return text
}

// IgnoreLines returns the .gittargetignore lines that cure the issues that can be cured so, sorted, without repetition.
func IgnoreLines(issues []Issue) []string {
	var out []string
	for _, i := range issues {
		if i.Ignore != "" {
			out = append(out, i.Ignore)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ignoreLine returns the line that hides a path: of the highest directory that holds nothing to manage, else of the
// file itself. Empty for a path outside the folder, and for one no rule can say.
func ignoreLine(f *inventory.Folder, p string) string {
	if !inside(f, p) || f.Rel(p) == "." || strings.ContainsAny(p, "\r\n") {
		return ""
	}
	rel := f.Rel(p)
	for i, c := range rel {
		if c == '/' && !f.Manages(strings.TrimPrefix(f.Path()+"/"+rel[:i], "/")) {
			return "/" + quoteIgnore(rel[:i]) + "/"
		}
	}
	return "/" + quoteIgnore(rel)
}

// quoteIgnore writes a path so that ignore rules take it literally.
func quoteIgnore(p string) string {
	var b strings.Builder
	for i := range len(p) {
		if strings.IndexByte(`*?[\`, p[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(p[i])
	}
	s := b.String()
	if strings.HasSuffix(s, " ") {
		s = s[:len(s)-1] + `\ `
	}
	return s
}

// clip cuts a text to at most n bytes at a character boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const ellipsis = "…"
	n -= len(ellipsis)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:max(n, 0)] + ellipsis
}
