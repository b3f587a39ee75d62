// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// notText matches plain scalars that some YAML 1.1 or 1.2 reader takes for a number or a time, beyond those yaml v3
// itself resolves: base 60, octal, and the forms with underscores.
var notText = regexp.MustCompile(`^(?:[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?` +
	`|[-+]?0[bxo]?[0-9a-fA-F_]+` +
	`|[-+]?[0-9_]*\.?[0-9_]*(?:[eE][-+]?[0-9]+)?)$`)

// plainSafe reports whether a string can be written without quotes, so that YAML 1.1 and 1.2 readers all take it as
// this very text.
func plainSafe(s string, flow bool) bool {
	if s == "" || !printable(s) || s[0] == ' ' || s[len(s)-1] == ' ' || s[len(s)-1] == ':' ||
		strings.Contains(s, ": ") || strings.Contains(s, " #") {
		return false
	}
	switch s[0] {
	case '!', '&', '*', ',', '[', ']', '{', '}', '#', '|', '>', '@', '`', '"', '\'', '%':
		return false
	case '-', '?', ':':
		if len(s) == 1 || s[1] == ' ' || flow && s[0] != '-' {
			return false
		}
	case '=', '<':
		if s == "=" || s == "<<" {
			return false
		}
	}
	if strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...") || flow && strings.ContainsAny(s, ",[]{}?") {
		return false
	}
	return isText(s)
}

// isText reports whether no reader takes the plain scalar s for anything but text.
func isText(s string) bool {
	if yamldoc.Ambiguous(s) {
		return false
	}
	if strings.IndexByte("+-._0123456789", s[0]) >= 0 && strings.ContainsAny(s, "0123456789") && notText.MatchString(s) {
		return false
	}
	n := yaml.Node{Kind: yaml.ScalarNode, Value: s}
	return n.ShortTag() == "!!str"
}

// printable reports whether a string can stand in a file as it is, on one line: no control characters, no line
// breaks, nothing a reader refuses or drops.
func printable(s string) bool {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c < 0x20 || c == 0x7F {
				return false
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n <= 1 || needsEscape(r) {
			return false
		}
		i += n
	}
	return true
}

// needsEscape reports characters beyond ASCII that are only written as escapes: C1 controls, the line breaks NEL, LS
// and PS, the byte order mark and the two non-characters readers refuse.
func needsEscape(r rune) bool {
	return r >= 0x80 && r < 0xA0 || r == 0x2028 || r == 0x2029 || r == 0xFEFF || r == 0xFFFE || r == 0xFFFF
}

// quoteDouble writes s as a double-quoted scalar with the escapes JSON knows.
func quoteDouble(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	escapeDouble(&b, s)
	b.WriteByte('"')
	return b.String()
}

func escapeDouble(b *strings.Builder, s string) {
	const hex = "0123456789abcdef"
	for _, r := range s {
		switch r {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		default:
			if r < 0x20 || r == 0x7F || needsEscape(r) {
				b.WriteString(`\u`)
				for shift := 12; shift >= 0; shift -= 4 {
					b.WriteByte(hex[r>>shift&15])
				}
				continue
			}
			b.WriteRune(r)
		}
	}
}

func quoteSingle(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// quoted writes s in quotes: of the wanted kind when the text allows it, else double.
func quoted(s string, want yamldoc.Style) string {
	if want == yamldoc.SingleQuoted && printable(s) {
		return quoteSingle(s)
	}
	return quoteDouble(s)
}

// simpleText writes a value that is no string and no collection.
func simpleText(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return floatDot(string(v))
	}
	return floatDot(string(compare.Canonical(v)))
}

// floatDot gives a number in exponent form the dot YAML 1.1 readers ask of a float.
func floatDot(s string) string {
	if i := strings.IndexAny(s, "eE"); i > 0 && !strings.Contains(s, ".") {
		return s[:i] + ".0" + s[i:]
	}
	return s
}

// blockable reports whether s can be a literal block, and whether its first line needs an indentation indicator.
func blockable(s string) (ok, digit bool) {
	if strings.Trim(s, "\n") == "" {
		return false, false
	}
	for _, line := range strings.Split(s, "\n") {
		if !printable(strings.ReplaceAll(line, "\t", " ")) {
			return false, false
		}
	}
	first := strings.TrimLeft(s, "\n")
	return true, first[0] == ' ' || first[0] == '\t'
}

// chomp returns the chomping indicator a block scalar needs for s.
func chomp(s string) string {
	switch {
	case !strings.HasSuffix(s, "\n"):
		return "-"
	case strings.HasSuffix(s, "\n\n"):
		return "+"
	}
	return ""
}
