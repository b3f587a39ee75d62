// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import "strings"

// matchSegments matches a pattern with slashes against a path. "**" stands for any number of directories; at the end
// it stands for at least one entry. The work is bounded by pattern times path: on a mismatch only the last "**" moves.
func matchSegments(pattern, name []string) bool {
	p, n := 0, 0
	starP, starN := -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			if p == len(pattern)-1 {
				return true
			}
			starP, starN = p, n
			p++
		case p < len(pattern) && matchSegment(pattern[p], name[n]):
			p++
			n++
		case starP >= 0:
			starN++
			p, n = starP+1, starN
		default:
			return false
		}
	}
	return p == len(pattern)
}

// matchSegment matches one path segment: "*", "?", "[...]" and backslash quoting as in git's wildmatch. Like there, the
// unit is the byte, and a pattern that ends in a lone backslash or an open bracket matches nothing.
func matchSegment(pattern, name string) bool {
	p, n := 0, 0
	starP, starN := -1, 0
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			for p < len(pattern) && pattern[p] == '*' {
				p++
			}
			starP, starN = p, n
			continue
		}
		if size, ok := matchOne(pattern[p:], name[n]); ok {
			p += size
			n++
			continue
		}
		if starP < 0 {
			return false
		}
		starN++
		p, n = starP, starN
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// matchOne matches the first element of a pattern against a byte; it returns the element's length.
func matchOne(pattern string, c byte) (length int, ok bool) {
	if pattern == "" {
		return 0, false
	}
	switch pattern[0] {
	case '?':
		return 1, true
	case '[':
		n, in := matchClass(pattern, c)
		return n, n > 0 && in
	case '\\':
		if len(pattern) == 1 {
			return 0, false
		}
		return 2, pattern[1] == c
	}
	return 1, pattern[0] == c
}

// matchClass matches a bracket expression; it returns its length, 0 when it is not closed.
func matchClass(pattern string, c byte) (length int, in bool) {
	i := 1
	negate := false
	if i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^') {
		negate = true
		i++
	}
	for first := true; i < len(pattern); first = false {
		if pattern[i] == ']' && !first {
			return i + 1, in != negate
		}
		if name, ok := strings.CutPrefix(pattern[i:], "[:"); ok {
			if class, _, closed := strings.Cut(name, ":]"); closed {
				in = in || posixClass(class, c)
				i += len(class) + 4
				continue
			}
		}
		lo, n := classChar(pattern[i:])
		if n == 0 {
			return 0, false
		}
		i += n
		hi := lo
		if i+1 < len(pattern) && pattern[i] == '-' && pattern[i+1] != ']' {
			var m int
			if hi, m = classChar(pattern[i+1:]); m == 0 {
				return 0, false
			}
			i += 1 + m
		}
		in = in || lo <= c && c <= hi
	}
	return 0, false
}

func classChar(s string) (byte, int) {
	if s[0] == '\\' {
		if len(s) == 1 {
			return 0, 0
		}
		return s[1], 2
	}
	return s[0], 1
}

func posixClass(name string, c byte) bool {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	graph := '!' <= c && c <= '~'
	switch name {
	case "alnum":
		return lower || upper || digit
	case "alpha":
		return lower || upper
	case "digit":
		return digit
	case "lower":
		return lower
	case "upper":
		return upper
	case "blank":
		return c == ' ' || c == '\t'
	case "space":
		return c == ' ' || '\t' <= c && c <= '\r'
	case "punct":
		return graph && !lower && !upper && !digit
	case "graph":
		return graph
	case "print":
		return graph || c == ' '
	case "cntrl":
		return c < ' ' || c == 0x7f
	case "xdigit":
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
	}
	return false
}
