// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Parse parses the text of one document. It returns nil for a document without a node, and a *SyntaxError for text
// that yaml v3 refuses, invalid UTF-8, a second document, or nesting beyond MaxDepth.
func Parse(body []byte) (root *Node, err error) {
	defer func() {
		// The parser reports impossible states by panicking; a document must never end the process (decisions 94).
		if r := recover(); r != nil {
			root, err = nil, &SyntaxError{Msg: "the YAML parser failed on this text"}
		}
	}()
	if err := checkText(body); err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(body))
	var doc, rest yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, syntaxError(err)
	}
	if err := dec.Decode(&rest); err == nil {
		return nil, &SyntaxError{Line: rest.Line, Msg: "a second document starts here"}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxError(err)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, nil
	}
	y := doc.Content[0]
	if y.Kind == yaml.ScalarNode && y.Value == "" && y.Tag == "!!null" && y.Anchor == "" && y.Style == 0 {
		return nil, nil
	}
	m := mapper{src: body, line: 1, anchors: map[*yaml.Node]*Node{}, facts: &facts{uses: map[*Node]int{}}}
	root, err = m.node(y, place{indent: -1, empty: -1, mark: -1}, 0)
	if err != nil {
		return nil, err
	}
	if m.lost {
		m.facts.hazards = append(m.facts.hazards, Hazard{Kind: HazardUnmapped, Line: m.lostLine})
	}
	root.facts = m.facts
	return root, nil
}

// checkText refuses what no YAML reader should be given: invalid UTF-8, and a byte order mark inside the text, which
// yaml v3 may read as a signal to drop characters.
func checkText(body []byte) error {
	if !utf8.Valid(body) {
		at := 0
		for at < len(body) {
			r, n := utf8.DecodeRune(body[at:])
			if r == utf8.RuneError && n <= 1 {
				break
			}
			at += n
		}
		return &SyntaxError{Line: lineOf(body, at), Msg: "the text is not valid UTF-8"}
	}
	if at := bytes.Index(body, []byte(bom)); at >= 0 {
		return &SyntaxError{Line: lineOf(body, at), Msg: "a byte order mark inside the text"}
	}
	return nil
}

func lineOf(b []byte, at int) int {
	line := 1
	for i := 0; i < at; {
		if n := BreakLen(b, i); n > 0 {
			line++
			i += n
			continue
		}
		i++
	}
	return line
}

func syntaxError(err error) *SyntaxError {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.HasPrefix(msg, "unknown anchor ") {
		// The one message of the parser that repeats the text: a password such as *hunter2 is such an alias.
		msg = "an alias names an unknown anchor; a text that starts with * must be quoted"
	}
	e := &SyntaxError{Msg: msg}
	if rest, ok := strings.CutPrefix(msg, "line "); ok {
		if num, text, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(num); err == nil {
				e.Line, e.Msg = n, text
			}
		}
	}
	return e
}

// coreTags are the tags a document may name without being refused.
var coreTags = map[string]bool{
	"!!str": true, "!!int": true, "!!float": true, "!!bool": true, "!!null": true, "!!map": true, "!!seq": true,
	"!!timestamp": true, "!!merge": true,
}

// place is what a node's surroundings say about where it is.
type place struct {
	// indent is the column of the enclosing block collection, -1 at the root.
	indent int
	// empty is where a value without text stands; -1 at the root.
	empty int
	// mark is the offset of the item's dash, or -1.
	mark int
	flow bool
}

// mapper turns parser nodes into nodes with spans. It walks the document once, forward.
type mapper struct {
	src []byte
	// off, line and col are the cursor of locate.
	off, line, col int
	anchors        map[*yaml.Node]*Node
	facts          *facts
	path           []string
	// lost reports that a span could not be established.
	lost     bool
	lostLine int
}

func (m *mapper) lose(line int) {
	if !m.lost {
		m.lost, m.lostLine = true, line
	}
}

func (m *mapper) hazard(kind HazardKind, line int, key string) {
	var b strings.Builder
	for _, p := range m.path {
		b.WriteByte('/')
		b.WriteString(pointerEscape.Replace(p))
	}
	m.facts.hazards = append(m.facts.hazards, Hazard{Kind: kind, Line: line, Path: b.String(), Key: key})
}

// locate returns the offset of a 1-based line and column as the parser counts them.
func (m *mapper) locate(line, column int) int {
	p, ok := m.find(line, column)
	m.check(ok, line)
	return p
}

func (m *mapper) find(line, column int) (int, bool) {
	column--
	if line < m.line || line == m.line && column < m.col {
		m.off, m.line, m.col = 0, 1, 0
	}
	for m.off < len(m.src) && (m.line < line || m.col < column) {
		if n := BreakLen(m.src, m.off); n > 0 {
			if m.line == line {
				break
			}
			m.off, m.line, m.col = m.off+n, m.line+1, 0
			continue
		}
		_, n := utf8.DecodeRune(m.src[m.off:])
		m.off += n
		m.col++
	}
	return m.off, m.line == line && m.col == column
}

func (m *mapper) node(y *yaml.Node, at place, depth int) (*Node, error) {
	if depth > MaxDepth {
		return nil, &SyntaxError{Line: y.Line, Msg: fmt.Sprintf("nested deeper than %d levels", MaxDepth)}
	}
	n := &Node{Tag: y.Tag, Value: y.Value, Anchor: y.Anchor, Line: y.Line, Column: y.Column, Mark: at.mark}
	if y.Anchor != "" {
		m.anchors[y] = n
		m.hazard(HazardAnchor, y.Line, "")
	}
	switch {
	case y.Kind != yaml.AliasNode && y.Tag == "!!binary":
		m.hazard(HazardBinary, y.Line, "")
	case y.Kind != yaml.AliasNode && y.Style&yaml.TaggedStyle != 0 && !coreTags[y.Tag]:
		m.hazard(HazardCustomTag, y.Line, "")
	}
	if y.Kind == yaml.ScalarNode && y.Value == "" && y.Style == 0 && y.Anchor == "" && at.empty >= 0 &&
		!m.tagAt(y) {
		n.Start, n.Content, n.End = at.empty, at.empty, at.empty
		return n, nil
	}
	n.Start = m.locate(y.Line, y.Column)
	n.Content = n.Start
	switch y.Kind {
	case yaml.AliasNode:
		n.Kind = Alias
		n.Alias = m.anchors[y.Alias]
		if n.Alias == nil {
			return nil, &SyntaxError{Line: y.Line, Msg: "an alias refers to nothing"}
		}
		m.facts.uses[n.Alias]++
		m.hazard(HazardAlias, y.Line, "")
		n.End = n.Start + 1 + len(y.Value)
		m.check(n.Start < len(m.src) && m.src[n.Start] == '*' && n.End <= len(m.src), y.Line)
		return n, nil
	case yaml.ScalarNode:
		m.scalar(n, y, at)
		return n, nil
	case yaml.SequenceNode:
		n.Kind = Seq
		return n, m.seq(n, y, at, depth)
	case yaml.MappingNode:
		n.Kind = Map
		return n, m.mapping(n, y, at, depth)
	}
	return nil, &SyntaxError{Line: y.Line, Msg: "unknown kind of node"}
}

// tagAt reports whether a valueless scalar is written with the non-specific tag, which the parser does not tell.
func (m *mapper) tagAt(y *yaml.Node) bool {
	p, ok := m.find(y.Line, y.Column)
	return ok && m.byteAt(p) == '!'
}

func (m *mapper) check(ok bool, line int) {
	if !ok {
		m.lose(line)
	}
}

func (m *mapper) byteAt(p int) byte {
	if p >= 0 && p < len(m.src) {
		return m.src[p]
	}
	return 0
}

// properties skips tag and anchor at p. It returns where they end and where the content after them starts.
func (m *mapper) properties(p int) (end, content int) {
	end, content = p, p
	for {
		switch m.byteAt(content) {
		case '&':
			end = content + 1
			for isWord(m.byteAt(end)) {
				end++
			}
		case '!':
			end = content + 1
			if m.byteAt(end) == '<' {
				for end < len(m.src) && m.src[end] != '>' && BreakLen(m.src, end) == 0 {
					end++
				}
				if m.byteAt(end) == '>' {
					end++
				}
				break
			}
			for end < len(m.src) && !strings.ContainsRune(" \t,[]{}", rune(m.src[end])) && BreakLen(m.src, end) == 0 {
				end++
			}
		default:
			return end, content
		}
		content = SkipTrivia(m.src, end)
	}
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-'
}

// SkipTrivia returns the offset of the next byte at or after p that is no blank, no line break and in no comment. It
// must be called between tokens only.
func SkipTrivia(b []byte, p int) int {
	for p < len(b) {
		switch {
		case b[p] == ' ' || b[p] == '\t':
			p++
		case b[p] == '#':
			p = LineEnd(b, p)
		default:
			n := BreakLen(b, p)
			if n == 0 {
				return p
			}
			p += n
		}
	}
	return p
}

func (m *mapper) seq(n *Node, y *yaml.Node, at place, depth int) error {
	n.Style = Block
	if y.Style&yaml.FlowStyle != 0 || at.flow {
		n.Style = Flow
	}
	if y.Anchor != "" || y.Style&yaml.TaggedStyle != 0 || m.byteAt(n.Start) == '!' {
		_, n.Content = m.properties(n.Start)
	}
	pos := n.Content
	inner := place{indent: at.indent, flow: n.Style == Flow, mark: -1}
	if n.Style == Flow {
		m.check(m.byteAt(pos) == '[', y.Line)
		pos++
	} else {
		n.Indent = n.Content - LineStart(m.src, n.Content)
		inner.indent = n.Indent
	}
	for i, c := range y.Content {
		p := SkipTrivia(m.src, pos)
		if n.Style == Block {
			m.check(m.byteAt(p) == '-', c.Line)
			inner.mark, inner.empty = p, p+1
		} else {
			if m.byteAt(p) == ',' {
				p++
			}
			inner.empty = p
		}
		m.path = append(m.path, strconv.Itoa(i))
		item, err := m.node(c, inner, depth+1)
		m.path = m.path[:len(m.path)-1]
		if err != nil {
			return err
		}
		m.check(item.Start >= p && item.End >= item.Start, c.Line)
		n.Items = append(n.Items, item)
		pos = max(pos, item.End)
	}
	m.close(n, y, pos, ']')
	return nil
}

// close finds where a collection ends, given the end of its last child.
func (m *mapper) close(n *Node, y *yaml.Node, pos int, bracket byte) {
	n.End = pos
	if n.Style == Block {
		return
	}
	p := SkipTrivia(m.src, pos)
	if m.byteAt(p) == ',' {
		p = SkipTrivia(m.src, p+1)
	}
	m.check(m.byteAt(p) == bracket, y.Line)
	n.End = min(p+1, len(m.src))
}

func (m *mapper) mapping(n *Node, y *yaml.Node, at place, depth int) error {
	n.Style = Block
	if y.Style&yaml.FlowStyle != 0 || at.flow {
		n.Style = Flow
	}
	if y.Anchor != "" || y.Style&yaml.TaggedStyle != 0 {
		_, n.Content = m.properties(n.Start)
	}
	pos := n.Content
	inner := place{indent: at.indent, flow: n.Style == Flow, mark: -1}
	implicit := false
	if n.Style == Flow {
		if implicit = at.flow && len(y.Content) == 2 && m.byteAt(pos) != '{'; !implicit {
			m.check(m.byteAt(pos) == '{', y.Line)
			pos++
		}
	} else {
		n.Indent = n.Content - LineStart(m.src, n.Content)
		inner.indent = n.Indent
	}
	seen := make(map[string]bool, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		pair, err := m.pair(y.Content[i], y.Content[i+1], pos, inner, seen, depth)
		if err != nil {
			return err
		}
		n.Pairs = append(n.Pairs, pair)
		pos = max(pos, pair.Key.End, pair.Value.End, pair.Colon+1)
	}
	if implicit {
		n.End = pos
		return nil
	}
	m.close(n, y, pos, '}')
	return nil
}

func (m *mapper) pair(k, v *yaml.Node, pos int, inner place, seen map[string]bool, depth int) (Pair, error) {
	pair := Pair{Colon: -1, Question: -1}
	p := SkipTrivia(m.src, pos)
	if inner.flow && m.byteAt(p) == ',' {
		p = SkipTrivia(m.src, p+1)
	}
	if m.byteAt(p) == '?' && (inner.flow || isBlankOrEnd(m.src, p+1)) {
		pair.Question = p
		p++
	}
	inner.empty = p
	var err error
	m.path = append(m.path, k.Value)
	defer func() { m.path = m.path[:len(m.path)-1] }()
	if pair.Key, err = m.node(k, inner, depth+1); err != nil {
		return pair, err
	}
	m.check(pair.Key.Start >= p, k.Line)
	merge := pair.Merge()
	switch {
	case pair.Key.Kind != Scalar || pair.Key.Tag == "!!null":
		m.hazard(HazardComplexKey, k.Line, "")
	case seen[k.Value]:
		m.hazard(HazardDuplicateKey, k.Line, k.Value)
	case merge:
		m.hazard(HazardMergeKey, k.Line, "")
	}
	if pair.Key.Kind == Scalar {
		seen[k.Value] = true
	}
	inner.empty = pair.Key.End
	if p = SkipTrivia(m.src, pair.Key.End); m.byteAt(p) == ':' {
		pair.Colon = p
		inner.empty = p + 1
	}
	if pair.Value, err = m.node(v, inner, depth+1); err != nil {
		return pair, err
	}
	m.check(pair.Value.Start >= inner.empty && pair.Value.End >= pair.Value.Start, v.Line)
	return pair, nil
}

func isBlankOrEnd(b []byte, p int) bool {
	return p >= len(b) || b[p] == ' ' || b[p] == '\t' || BreakLen(b, p) > 0
}
