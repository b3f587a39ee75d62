// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamldoc

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// Sink receives a scalar's decoded text piece by piece. raw is the offset the piece was read from; with same set the
// piece stands there byte for byte, otherwise it is one unit (an escape, a fold) that must not be taken apart. It
// returns false to stop.
type Sink func(raw int, val string, same bool) bool

func (m *mapper) scalar(n *Node, y *yaml.Node, at place) {
	end, content := m.properties(n.Start)
	n.Content = content
	rest := y.Value
	match := func(_ int, val string, _ bool) bool {
		if !strings.HasPrefix(rest, val) {
			return false
		}
		rest = rest[len(val):]
		return true
	}
	ok := true
	switch {
	case y.Style&yaml.DoubleQuotedStyle != 0:
		n.Style = DoubleQuoted
		n.End, ok = ScanQuoted(m.src, content, match)
	case y.Style&yaml.SingleQuotedStyle != 0:
		n.Style = SingleQuoted
		n.End, ok = ScanQuoted(m.src, content, match)
	case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		n.Style = Literal
		if y.Style&yaml.FoldedStyle != 0 {
			n.Style = Folded
		}
		n.Indent, n.End, ok = ScanBlock(m.src, content, at.indent, match)
	case y.Value == "":
		n.Content, n.End = end, end
	default:
		n.End, ok = ScanPlain(m.src, content, y.Value, match)
	}
	m.check(ok && rest == "", y.Line)
}

// fold reads the blanks and line breaks at p of a flow scalar. It returns where they end and the text they stand for;
// escaped says that the first line break was escaped. folded is false when there was no break: then the blanks stand
// for themselves.
func fold(b []byte, p int, escaped bool) (end int, val string, folded bool) {
	var first string
	var rest strings.Builder
	folded = escaped
	for p < len(b) {
		if b[p] == ' ' || b[p] == '\t' {
			p++
			continue
		}
		n := BreakLen(b, p)
		if n == 0 {
			break
		}
		brk := "\n" // yaml v3 reads CRLF, CR and NEL as LF, and keeps LS and PS
		if n == 3 {
			brk = string(b[p : p+n])
		}
		if !folded {
			first, folded = brk, true
		} else {
			rest.WriteString(brk)
		}
		p += n
	}
	switch {
	case !folded:
		return p, "", false
	case first == "\n" && rest.Len() == 0:
		return p, " ", true
	case first == "\n":
		return p, rest.String(), true
	}
	return p, first + rest.String(), true
}

// ScanPlain matches a plain scalar's value against the text at p and returns where the scalar ends.
func ScanPlain(b []byte, p int, value string, emit Sink) (int, bool) {
	for len(value) > 0 {
		if p >= len(b) {
			return p, false
		}
		if b[p] == ' ' || b[p] == '\t' || BreakLen(b, p) > 0 {
			end, val, folded := fold(b, p, false)
			if !folded {
				val = string(b[p:end])
			}
			if !strings.HasPrefix(value, val) || !emit(p, val, !folded) {
				return p, false
			}
			value, p = value[len(val):], end
			continue
		}
		q := p
		for q < len(b) && q-p < len(value) && b[q] == value[q-p] && b[q] != ' ' && b[q] != '\t' && BreakLen(b, q) == 0 {
			q++
		}
		if q == p || !emit(p, value[:q-p], true) {
			return p, false
		}
		value, p = value[q-p:], q
	}
	return p, true
}

// ScanQuoted decodes the quoted scalar whose opening quote is at p and returns the offset behind the closing one.
func ScanQuoted(b []byte, p int, emit Sink) (int, bool) {
	if p >= len(b) || b[p] != '"' && b[p] != '\'' {
		return p, false
	}
	quote := b[p]
	p++
	for p < len(b) {
		c := b[p]
		switch {
		case c == quote && quote == '\'' && p+1 < len(b) && b[p+1] == '\'':
			if !emit(p, "'", false) {
				return p, false
			}
			p += 2
		case c == quote:
			return p + 1, true
		case c == '\\' && quote == '"':
			end, val, ok := escape(b, p)
			if !ok || !emit(p, val, false) {
				return p, false
			}
			p = end
		case c == ' ' || c == '\t' || BreakLen(b, p) > 0:
			end, val, folded := fold(b, p, false)
			if !folded {
				val = string(b[p:end])
			}
			if !emit(p, val, !folded) {
				return p, false
			}
			p = end
		default:
			q := p
			for q < len(b) && b[q] != quote && b[q] != '\\' && b[q] != ' ' && b[q] != '\t' && BreakLen(b, q) == 0 {
				q++
			}
			if q == p { // a backslash in single quotes
				q++
			}
			if !emit(p, string(b[p:q]), true) {
				return p, false
			}
			p = q
		}
	}
	return p, false
}

var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': "\"", '\'': "'", '\\': "\\", '/': "/", 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// escape reads the escape sequence at p of a double-quoted scalar.
func escape(b []byte, p int) (end int, val string, ok bool) {
	if p+1 >= len(b) {
		return p, "", false
	}
	if n := BreakLen(b, p+1); n > 0 {
		end, val, _ = fold(b, p+1+n, true)
		return end, val, true
	}
	digits := 0
	switch b[p+1] {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		val, ok = escapes[b[p+1]]
		return p + 2, val, ok
	}
	if p+2+digits > len(b) {
		return p, "", false
	}
	r := rune(0)
	for _, c := range b[p+2 : p+2+digits] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return p, "", false
		}
	}
	return p + 2 + digits, string(r), true
}

// BlockHeader is the first line of a block scalar, taken apart.
type BlockHeader struct {
	// End is the offset behind the indicators, Line the end of the header's line.
	End, Line int
	// Chomp is '-', '+' or 0; Digit is the indentation indicator or 0.
	Chomp byte
	Digit int
}

// ReadBlockHeader reads the header of the block scalar at p.
func ReadBlockHeader(b []byte, p int) (h BlockHeader, ok bool) {
	if p >= len(b) || b[p] != '|' && b[p] != '>' {
		return h, false
	}
	for p++; p < len(b); p++ {
		switch c := b[p]; {
		case (c == '-' || c == '+') && h.Chomp == 0:
			h.Chomp = c
			continue
		case c >= '1' && c <= '9' && h.Digit == 0:
			h.Digit = int(c - '0')
			continue
		}
		break
	}
	h.End, h.Line = p, LineEnd(b, p)
	return h, true
}

// ScanBlock decodes the block scalar at p inside a block collection at column parent (-1 at the root). It returns the
// column of its text and the end of its last line (without the line break).
func ScanBlock(b []byte, p, parent int, emit Sink) (indent, end int, ok bool) {
	literal := p < len(b) && b[p] == '|'
	h, ok := ReadBlockHeader(b, p)
	if !ok {
		return 0, p, false
	}
	if h.Digit > 0 {
		indent = max(parent, 0) + h.Digit
	}
	end = h.Line
	pos := end + BreakLen(b, end)
	s := blockScan{b: b, parent: parent, indent: indent}
	pos, trailing := s.breaks(pos)
	var leading []brk
	var leadingBlank bool
	for s.column == s.indent && pos < len(b) {
		blank := b[pos] == ' ' || b[pos] == '\t'
		joined := append(leading, trailing...)
		if !literal && !leadingBlank && !blank && len(leading) > 0 && leading[0].val == "\n" {
			if joined = trailing; len(trailing) == 0 {
				joined = []brk{{leading[0].raw, " "}}
			} else if !emit(leading[0].raw, "", false) {
				return s.indent, end, false
			}
		}
		for _, k := range joined {
			if !emit(k.raw, k.val, false) {
				return s.indent, end, false
			}
		}
		leadingBlank = blank
		lineEnd := LineEnd(b, pos)
		if !emit(pos, string(b[pos:lineEnd]), true) {
			return s.indent, end, false
		}
		end = lineEnd
		leading = nil
		pos = lineEnd
		if n := BreakLen(b, lineEnd); n > 0 {
			leading = []brk{{lineEnd, breakText(b, lineEnd, n)}}
			pos += n
		}
		pos, trailing = s.breaks(pos)
	}
	if s.bad {
		return s.indent, end, false
	}
	if h.Chomp != '-' {
		for _, k := range leading {
			if !emit(k.raw, k.val, false) {
				return s.indent, end, false
			}
		}
	}
	if h.Chomp == '+' {
		for _, k := range trailing {
			if !emit(k.raw, k.val, false) {
				return s.indent, end, false
			}
			end = k.raw
		}
	}
	return s.indent, end, true
}

// brk is a line break: where it stands and the text it is read as.
type brk struct {
	raw int
	val string
}

func breakText(b []byte, p, n int) string {
	if n == 3 {
		return string(b[p : p+n])
	}
	return "\n"
}

type blockScan struct {
	b              []byte
	parent, indent int
	column         int
	bad            bool
}

// breaks reads indentation and empty lines, and finds the column of the text when it is not known yet.
func (s *blockScan) breaks(pos int) (int, []brk) {
	var list []brk
	deepest := 0
	for {
		s.column = 0
		for pos < len(s.b) && s.b[pos] == ' ' && (s.indent == 0 || s.column < s.indent) {
			pos++
			s.column++
		}
		deepest = max(deepest, s.column)
		if pos < len(s.b) && s.b[pos] == '\t' && (s.indent == 0 || s.column < s.indent) {
			s.bad = true
			break
		}
		n := BreakLen(s.b, pos)
		if n == 0 {
			break
		}
		list = append(list, brk{pos, breakText(s.b, pos, n)})
		pos += n
	}
	if s.indent == 0 {
		s.indent = max(deepest, s.parent+1, 1)
	}
	return pos, list
}
