// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamldoc

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxDepth is the deepest nesting Parse accepts, in levels.
const MaxDepth = 1000

// MaxExpanded is the largest number of nodes a document may have after its aliases are expanded (decisions 94).
const MaxExpanded = 100_000

// SyntaxError says why a document cannot be read. Its text never holds a value of the document.
type SyntaxError struct {
	// Line and Column are 1-based and relative to the text that was parsed; 0 when unknown.
	Line, Column int
	Msg          string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Msg
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Msg)
}

// Kind is the shape of a node.
type Kind uint8

// The kinds of node.
const (
	Scalar Kind = iota
	Map
	Seq
	Alias
)

// Style is how a node is written.
type Style uint8

// The styles: the first five belong to scalars, the last two to maps and sequences.
const (
	Plain Style = iota
	SingleQuoted
	DoubleQuoted
	Literal
	Folded
	Block
	Flow
)

// Span is where a node's text stands.
type Span struct {
	// Start and End enclose the text, tag and anchor included. A block scalar ends with its last line's text (blank
	// lines that belong to the value included), never with a line break.
	Start, End int
	// Content is where the text after tag and anchor starts.
	Content int
}

// Node is one value of a document together with its place. Offsets are bytes relative to the parsed text.
type Node struct {
	Kind Kind
	// Tag is the resolved tag in short form, such as "!!str".
	Tag string
	// Value is a scalar's decoded text, or the name an alias refers to.
	Value string
	Style Style
	// Anchor is the node's anchor name, without the ampersand.
	Anchor string
	// Alias is the node an alias stands for.
	Alias *Node
	Span
	// Line and Column are the 1-based place of Start; columns count characters.
	Line, Column int
	// Mark is the offset of the dash that introduces an item of a block sequence; -1 elsewhere.
	Mark int
	// Indent is the column of a block collection's keys or dashes, and the column of a block scalar's text.
	Indent int
	Pairs  []Pair
	Items  []*Node

	facts *facts
}

// Pair is one entry of a map.
type Pair struct {
	Key, Value *Node
	// Colon is the offset of the colon; -1 when the entry has none.
	Colon int
	// Question is the offset of the question mark of an explicit key; -1 otherwise.
	Question int
}

// Merge reports whether the pair is a merge key.
func (p Pair) Merge() bool { return p.Key.Kind == Scalar && p.Key.Tag == "!!merge" }

// HazardKind names a construct that makes an edit unsafe (decisions 37).
type HazardKind string

// The hazards. Anchors, aliases and merge keys forbid edits whose path touches them; the others forbid every edit of
// their document.
const (
	HazardAnchor       HazardKind = "anchor"
	HazardAlias        HazardKind = "alias"
	HazardMergeKey     HazardKind = "merge key"
	HazardDuplicateKey HazardKind = "duplicate key"
	HazardCustomTag    HazardKind = "custom tag"
	HazardBinary       HazardKind = "binary scalar"
	// HazardComplexKey is a key that is no text: a map, a list, an alias or nothing.
	HazardComplexKey HazardKind = "complex key"
	// HazardAmbiguous is a plain scalar readers take differently (editing.md I7). It forbids nothing: see Ambiguities.
	HazardAmbiguous HazardKind = "ambiguous scalar"
	// HazardEncrypted is a document with a top-level map "sops": it is encrypted anew as a whole, never edited.
	HazardEncrypted HazardKind = "encrypted document"
	// HazardUnmapped is a document whose nodes could not be placed exactly.
	HazardUnmapped HazardKind = "unmapped text"
)

// WholeDocument reports whether the hazard forbids every edit of its document.
func (k HazardKind) WholeDocument() bool {
	return k != HazardAnchor && k != HazardAlias && k != HazardMergeKey && k != HazardAmbiguous
}

// Hazard is one place that makes edits unsafe.
type Hazard struct {
	Kind HazardKind
	// Line is 1-based, relative to the parsed text.
	Line int
	// Path is the JSON pointer of the node.
	Path string
	// Key is the key of a duplicate, else empty.
	Key string
}

// facts is what was found out about a document while it was parsed; it hangs on the root node.
type facts struct {
	hazards []Hazard
	// uses counts the aliases of each anchored node.
	uses map[*Node]int
}

// Hazards returns the hazards of the document in their order. It is meaningful on the node Parse returned.
func (n *Node) Hazards() []Hazard {
	if n == nil || n.facts == nil {
		return nil
	}
	return n.facts.hazards
}

// Ambiguities lists the plain scalars whose text readers take differently: they equal no value, so a document that
// holds one is never proof that Git and a live object agree (editing.md I7, decisions 93).
func (n *Node) Ambiguities() []Hazard {
	var list []Hazard
	var walk func(n *Node, path string)
	walk = func(n *Node, path string) {
		if n.Ambiguous() {
			list = append(list, Hazard{Kind: HazardAmbiguous, Line: n.Line, Path: path})
		}
		for _, p := range n.Pairs {
			walk(p.Value, path+"/"+pointerEscape.Replace(p.Key.Value))
		}
		for i, it := range n.Items {
			walk(it, path+"/"+strconv.Itoa(i))
		}
	}
	if n != nil {
		walk(n, "")
	}
	return list
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// Uses returns how many aliases of the document refer to the anchored node a. It is meaningful on the node Parse
// returned.
func (n *Node) Uses(a *Node) int {
	if n == nil || n.facts == nil {
		return 0
	}
	return n.facts.uses[a]
}

// Get walks maps by key and returns the value, or nil. Aliases are followed, and a key a map lacks is looked up in its
// merge keys.
func (n *Node) Get(keys ...string) *Node {
	for _, k := range keys {
		if n = n.Resolve().field(k, 0); n == nil {
			return nil
		}
	}
	return n.Resolve()
}

// Resolve returns the node an alias stands for, or the node itself; nil for nil.
func (n *Node) Resolve() *Node {
	for i := 0; n != nil && n.Kind == Alias; i++ {
		if i > MaxDepth {
			return nil
		}
		n = n.Alias
	}
	return n
}

func (n *Node) field(key string, depth int) *Node {
	if n == nil || n.Kind != Map || depth > 16 {
		return nil
	}
	for _, p := range n.Pairs {
		if p.Key.Kind == Scalar && p.Key.Value == key && !p.Merge() {
			return p.Value
		}
	}
	for _, p := range n.Pairs {
		if !p.Merge() {
			continue
		}
		sources := []*Node{p.Value}
		if v := p.Value.Resolve(); v != nil && v.Kind == Seq {
			sources = v.Items
		}
		for _, s := range sources {
			if v := s.Resolve().field(key, depth+1); v != nil {
				return v
			}
		}
	}
	return nil
}
