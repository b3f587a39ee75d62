// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// look is the style new text is written in.
type look struct {
	// nl is the line break.
	nl string
	// step is how far a map is indented under its key, seq how far a sequence is (0 is flush left), gap how far an
	// item's text stands behind its dash.
	step, seq, gap int
	// quote is the kind of quotes used where quotes are needed, text the style of strings that need none, key the
	// style of keys that need none.
	quote, text, key yamldoc.Style
	// order is that of a new map's keys.
	order order
	// blockMaps says that the document has lists of maps in block style.
	blockMaps bool
}

// standard is the style of new documents (git-writer 1.6).
var standard = look{nl: "\n", step: 2, seq: 2, gap: 2, quote: yamldoc.DoubleQuoted, text: yamldoc.Plain}

// rendered is a value as text behind a colon or a dash: what stands on the same line, and the lines below it.
type rendered struct {
	inline string
	lines  []string
}

// where a value is written.
type where struct {
	// col is the column of the key or dash the value belongs to.
	col int
	// item says that it is a dash.
	item bool
	// like is a node whose style the value takes; nil for none.
	like *yamldoc.Node
}

// value renders a value in block context.
func (l look) value(v any, at where) rendered {
	if isFlow(at.like) && isCollection(v) && !isEmpty(v) {
		f := plainFlow
		f.order = l.order
		if text := flowText(v, f); len(text) <= 80 {
			return rendered{inline: text}
		}
	}
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return rendered{inline: "{}"}
		}
		return l.nested(v, at)
	case []any:
		if len(v) == 0 {
			return rendered{inline: "[]"}
		}
		return l.nested(v, at)
	case string:
		return l.str(v, at)
	}
	return rendered{inline: simpleText(v)}
}

// isFlow reports a flow collection with entries: "{}" is no choice of style.
func isFlow(n *yamldoc.Node) bool {
	return n != nil && n.Style == yamldoc.Flow && len(n.Pairs)+len(n.Items) > 0
}

// nested renders a map or a list that is not empty.
func (l look) nested(v any, at where) rendered {
	col := at.col
	switch v.(type) {
	case map[string]any:
		col += l.step
	default:
		col += l.seq
	}
	if at.item {
		col = at.col + l.gap
	}
	lines := l.block(v, col, at.like)
	if !at.item {
		return rendered{lines: lines}
	}
	return rendered{inline: lines[0][col:], lines: lines[1:]}
}

// block renders a map or list that is not empty as whole lines at a column.
func (l look) block(v any, col int, like *yamldoc.Node) []string {
	var lines []string
	if list, ok := v.([]any); ok {
		for _, it := range list {
			lines = append(lines, l.item(it, col, itemLike(like))...)
		}
		return lines
	}
	m := v.(map[string]any)
	for _, k := range l.order.like(m, like) {
		lines = append(lines, l.entry(k, m[k], col, like)...)
	}
	return lines
}

// item renders one list item as whole lines, its dash at a column.
func (l look) item(v any, col int, like *yamldoc.Node) []string {
	r := l.value(v, where{col: col, item: true, like: like})
	return append([]string{spaces(col) + "-" + spaces(l.gap-1) + r.inline}, r.lines...)
}

// entry renders one map entry as whole lines, its key at a column. like is the map it joins, or one whose style it
// takes.
func (l look) entry(key string, v any, col int, like *yamldoc.Node) []string {
	style, model := l.key, l.sibling(like, v)
	if p := findPair(like, key); p != nil {
		style, model = p.Key.Style, p.Value
	}
	r := l.value(v, where{col: col, like: model})
	text := keyText(key, style, l.quote, false)
	sep := ":"
	if r.inline != "" {
		sep = ": "
	}
	if len(text) > longKey {
		return append([]string{spaces(col) + "? " + text, spaces(col) + sep + r.inline}, r.lines...)
	}
	return append([]string{spaces(col) + text + sep + r.inline}, r.lines...)
}

// sibling returns the last collection of a map that has the shape of v: entries of one map look alike, and so do lists
// of the same kind of item. A list of another kind is a model only while the document shows no block list of maps.
func (l look) sibling(like *yamldoc.Node, v any) *yamldoc.Node {
	if like == nil || like.Kind != yamldoc.Map {
		return nil
	}
	list, isList := v.([]any)
	var other *yamldoc.Node
	for _, p := range slices.Backward(like.Pairs) {
		n := p.Value
		switch {
		case !isList && isCollection(v) && len(n.Pairs) > 0 || isList && sameItems(n, list):
			return n
		case isList && len(n.Items) > 0 && other == nil && !l.blockMaps:
			other = n
		}
	}
	return other
}

// sameItems reports whether a list holds the kind of item a new list holds. Empty items go with every kind.
func sameItems(n *yamldoc.Node, list []any) bool {
	if len(n.Items) == 0 || len(list) == 0 {
		return false
	}
	first := n.Items[0]
	bare := first.Kind != yamldoc.Scalar && len(first.Pairs)+len(first.Items) == 0
	return bare || isEmpty(list[0]) || (first.Kind == yamldoc.Scalar) != isCollection(list[0])
}

// longKey is the length in bytes from which on a key is written with a question mark: readers look for the colon of
// an ordinary key within 1024 characters only.
const longKey = 1000

func keyText(key string, style, quote yamldoc.Style, flow bool) string {
	if style != yamldoc.Plain && style != yamldoc.Literal && style != yamldoc.Folded {
		return quoted(key, style)
	}
	if plainSafe(key, flow) {
		return key
	}
	return quoted(key, quote)
}

// str renders a string in block context.
func (l look) str(s string, at where) rendered {
	if strings.Contains(s, "\n") {
		if ok, digit := blockable(s); ok {
			return l.literal(s, at, digit)
		}
	}
	style := l.text
	if at.like != nil && at.like.Kind == yamldoc.Scalar && at.like.Tag == "!!str" &&
		at.like.Style <= yamldoc.DoubleQuoted {
		style = at.like.Style
	}
	return rendered{inline: l.line(s, style, false)}
}

// line renders a string on one line, in a style when the text allows it.
func (l look) line(s string, style yamldoc.Style, flow bool) string {
	switch {
	case style == yamldoc.SingleQuoted || style == yamldoc.DoubleQuoted:
		return quoted(s, style)
	case plainSafe(s, flow):
		return s
	}
	return quoted(s, l.quote)
}

func (l look) literal(s string, at where, digit bool) rendered {
	col := at.col + l.step
	if at.item {
		col = at.col + l.gap
	}
	head := "|"
	if digit {
		if col-at.col > 9 {
			col = at.col + 2
		}
		head += strconv.Itoa(col - at.col)
	}
	return rendered{inline: head + chomp(s), lines: blockLines(s, col)}
}

// blockLines returns the lines of a literal block.
func blockLines(s string, col int) []string {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = spaces(col) + line
		}
	}
	return lines
}

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

func isCollection(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// findPair returns the pair of a map node with a key; nil when there is none.
func findPair(n *yamldoc.Node, key string) *yamldoc.Pair {
	if n == nil || n.Kind != yamldoc.Map {
		return nil
	}
	for i := range n.Pairs {
		if p := &n.Pairs[i]; p.Key.Kind == yamldoc.Scalar && p.Key.Value == key && !p.Merge() {
			return p
		}
	}
	return nil
}

// itemLike returns the model for items of a list styled like a list.
func itemLike(like *yamldoc.Node) *yamldoc.Node {
	if like == nil || like.Kind != yamldoc.Seq || len(like.Items) == 0 {
		return nil
	}
	return like.Items[len(like.Items)-1]
}

// flowStyle is how flow collections are spelled.
type flowStyle struct {
	// json quotes every key and string.
	json  bool
	quote yamldoc.Style
	// colon stands between key and value, comma between entries.
	colon, comma string
	// pad stands inside the braces of a map.
	pad string
	// order is that of a new map's keys.
	order order
}

var (
	plainFlow = flowStyle{quote: yamldoc.DoubleQuoted, colon: ": ", comma: ", "}
	jsonFlow  = flowStyle{json: true, quote: yamldoc.DoubleQuoted, colon: ": ", comma: ", "}
)

// flowText renders a value on one line, to stand inside a flow collection.
func flowText(v any, f flowStyle) string {
	var b strings.Builder
	f.write(&b, v)
	return b.String()
}

func (f flowStyle) write(b *strings.Builder, v any) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			b.WriteString("{}")
			return
		}
		b.WriteString("{" + f.pad)
		for i, k := range f.order.keys(v) {
			if i > 0 {
				b.WriteString(f.comma)
			}
			b.WriteString(f.key(k) + f.colon)
			f.write(b, v[k])
		}
		b.WriteString(f.pad + "}")
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteString(f.comma)
			}
			f.write(b, e)
		}
		b.WriteByte(']')
	case string:
		b.WriteString(f.string(v))
	default:
		b.WriteString(simpleText(v))
	}
}

func (f flowStyle) key(k string) string {
	text := keyText(k, yamldoc.Plain, f.quote, true)
	if f.json {
		text = quoteDouble(k)
	}
	if len(text) > longKey {
		return "? " + text
	}
	return text
}

func (f flowStyle) string(s string) string {
	switch {
	case f.json:
		return quoteDouble(s)
	case plainSafe(s, true):
		return s
	}
	return quoted(s, f.quote)
}
