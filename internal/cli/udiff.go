// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

// contextLines are the unchanged lines around a change.
const contextLines = 3

// unified returns the difference of a file as git writes it, so that git apply takes it: created, deleted and empty
// files, modes, names that need quotes, and a last line without a line break included. Nil stands for no file.
func unified(name string, was, now *manifest.File) string {
	var b strings.Builder
	from, to := quoteName("a/"+name), quoteName("b/"+name)
	fmt.Fprintf(&b, "diff --git %s %s\n", from, to)
	var old, next []string
	switch {
	case was == nil:
		fmt.Fprintf(&b, "new file mode %o\n", uint32(now.Mode))
		from = "/dev/null"
	case now == nil:
		fmt.Fprintf(&b, "deleted file mode %o\n", uint32(was.Mode))
		to = "/dev/null"
	case was.Mode != now.Mode:
		fmt.Fprintf(&b, "old mode %o\nnew mode %o\n", uint32(was.Mode), uint32(now.Mode))
	}
	if was != nil {
		old = splitLines(string(was.Content))
	}
	if now != nil {
		next = splitLines(string(now.Content))
	}
	regions := differ{}.lines(old, next)
	if len(regions) == 0 {
		return b.String()
	}
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", endName(from), endName(to))
	for len(regions) > 0 {
		n := 1
		for n < len(regions) && regions[n].a0-regions[n-1].a1 <= 2*contextLines {
			n++
		}
		writeHunk(&b, old, next, regions[:n])
		regions = regions[n:]
	}
	return b.String()
}

// writeHunk writes changed regions that share their context.
func writeHunk(b *strings.Builder, old, next []string, regions []region) {
	first, last := regions[0], regions[len(regions)-1]
	lead := min(contextLines, first.a0)
	tail := min(contextLines, len(old)-last.a1)
	a0, a1, b0, b1 := first.a0-lead, last.a1+tail, first.b0-lead, last.b1+tail
	fmt.Fprintf(b, "@@ -%s +%s @@\n", hunkRange(a0, a1), hunkRange(b0, b1))
	at := a0
	for _, r := range regions {
		writeLines(b, ' ', old[at:r.a0])
		writeLines(b, '-', old[r.a0:r.a1])
		writeLines(b, '+', next[r.b0:r.b1])
		at = r.a1
	}
	writeLines(b, ' ', old[at:a1])
}

// hunkRange is start and length; the start of an empty range is the line before it.
func hunkRange(from, to int) string {
	switch to - from {
	case 0:
		return strconv.Itoa(from) + ",0"
	case 1:
		return strconv.Itoa(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func writeLines(b *strings.Builder, mark byte, lines []string) {
	for _, l := range lines {
		b.WriteByte(mark)
		b.WriteString(l)
		if !strings.HasSuffix(l, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// splitLines cuts a text behind its line feeds.
func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}

// quoteName quotes a name as git does when it holds what would end it.
func quoteName(name string) string {
	plain := true
	for i := range len(name) {
		plain = plain && name[i] >= ' ' && name[i] != '"' && name[i] != '\\' && name[i] != 0x7f
	}
	if plain {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// endName marks where a name with spaces ends.
func endName(name string) string {
	if strings.Contains(name, " ") && !strings.HasPrefix(name, `"`) {
		return name + "\t"
	}
	return name
}
