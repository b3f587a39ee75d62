// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// splice replaces src[start:end] by text.
type splice struct {
	start, end int
	text       string
}

// arrange sorts splices: by place, insertions at the start of a deletion before it.
func arrange(splices []splice) {
	slices.SortStableFunc(splices, func(a, b splice) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(min(a.end-a.start, 1), min(b.end-b.start, 1)))
	})
}

// apply carries out splices on src. ok is false when they overlap.
func apply(src []byte, splices []splice) (out []byte, ok bool) {
	arrange(splices)
	var b strings.Builder
	b.Grow(len(src) + 256)
	pos := 0
	for _, s := range splices {
		if s.start < pos || s.end < s.start || s.end > len(src) {
			return nil, false
		}
		b.Write(src[pos:s.start])
		b.WriteString(s.text)
		pos = s.end
	}
	b.Write(src[pos:])
	return []byte(b.String()), true
}

// joinDeletions merges deletions of whole lines that touch, and lets one that reaches an end of file without line
// break take the line break before it, so that the file keeps ending without one.
func joinDeletions(src []byte, splices []splice, keepBreak func(end int) bool) []splice {
	arrange(splices)
	var out []splice
	last := -1
	for _, s := range splices {
		deletion := s.text == "" && s.end > s.start
		if deletion && last >= 0 && out[last].end == s.start {
			out[last].end = s.end
			continue
		}
		last = -1
		if deletion {
			last = len(out)
		}
		out = append(out, s)
	}
	for i := range out {
		d := &out[i]
		if d.text != "" || d.end == d.start || d.end != len(src) || endsInBreak(src[d.start:]) {
			continue
		}
		if i > 0 && out[i-1].end == d.start && out[i-1].text != "" {
			before := &out[i-1].text
			*before = (*before)[:len(*before)-breakBefore([]byte(*before), len(*before))]
			continue
		}
		if n := breakBefore(src, d.start); n > 0 && !keepBreak(d.start-n) {
			d.start -= n
		}
	}
	return out
}

// breakBefore returns the length of the line break that ends at offset p.
func breakBefore(b []byte, p int) int {
	for _, n := range []int{2, 1, 3} {
		if p >= n && yamldoc.BreakLen(b, p-n) == n {
			return n
		}
	}
	return 0
}

func endsInBreak(b []byte) bool { return breakBefore(b, len(b)) > 0 }
