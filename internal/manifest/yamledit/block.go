// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"maps"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// mapping makes a map node mean want: values edited in place, keys only Git has removed, new keys added behind the
// others (git-writer 4.2).
func (e *editor) mapping(n *yamldoc.Node, cur, want map[string]any, at spot) bool {
	var removed []int
	explicit := map[string]bool{}
	var merge *yamldoc.Node
	for i, p := range n.Pairs {
		if p.Merge() {
			merge = p.Value
			continue
		}
		k := p.Key.Value
		explicit[k] = true
		w, keep := want[k]
		if !keep {
			removed = append(removed, i)
			continue
		}
		if !e.node(p.Value, cur[k], w, spot{parent: n, i: i, schema: at.schema.Field(k), field: k}) {
			return false
		}
	}
	var added []string
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if !explicit[k] && !(merge != nil && hasSame(cur, k, want[k])) {
			added = append(added, k)
		}
	}
	if merge != nil {
		for k := range cur {
			if _, keep := want[k]; !keep && !explicit[k] {
				return e.refuse(yamldoc.HazardMergeKey, merge)
			}
		}
	}
	for _, i := range removed {
		if merge != nil && e.merged(n, n.Pairs[i].Key.Value) {
			return e.refuse(yamldoc.HazardMergeKey, merge)
		}
		if !e.removable(n.Pairs[i].Key) || !e.removable(n.Pairs[i].Value) {
			return false
		}
	}
	if len(removed) == 0 && len(added) == 0 {
		return true
	}
	if len(removed) == len(n.Pairs) && (len(added) == 0 || n.Style == yamldoc.Flow || !e.ownLine(n.Content)) {
		return e.replace(want, at)
	}
	if n.Style == yamldoc.Flow {
		return e.flowMap(n, removed, added, want)
	}
	e.removeEntries(n, removed)
	e.addPairs(n, added, want, removed)
	return true
}

func hasSame(m map[string]any, k string, v any) bool {
	w, ok := m[k]
	return ok && compare.Same(w, v)
}

// merged reports whether a merge key of n supplies key.
func (e *editor) merged(n *yamldoc.Node, key string) bool {
	only := yamldoc.Node{Kind: yamldoc.Map}
	for _, p := range n.Pairs {
		if p.Merge() {
			only.Pairs = append(only.Pairs, p)
		}
	}
	return only.Get(key) != nil
}

// entry is one entry of a block collection as text: the offsets of its first byte and of its value.
type entry struct {
	start int
	value *yamldoc.Node
	end   int
}

// entries returns the entries of a block map or sequence.
func entries(n *yamldoc.Node) []entry {
	var list []entry
	for _, p := range n.Pairs {
		start := p.Key.Start
		if p.Question >= 0 {
			start = p.Question
		}
		list = append(list, entry{start, p.Value, max(p.Value.End, p.Colon+1, p.Key.End)})
	}
	for _, it := range n.Items {
		start := it.Mark
		if n.Style == yamldoc.Flow {
			start = it.Start
		}
		list = append(list, entry{start, it, max(it.End, it.Mark+1)})
	}
	return list
}

// ownLine reports whether only spaces stand before offset p on its line.
func (e *editor) ownLine(p int) bool {
	return strings.Trim(string(e.src[yamldoc.LineStart(e.src, p):p]), " ") == ""
}

// region returns the lines an entry owns: the comment lines right above it that are not indented deeper, its own
// lines, and the comments below it that are indented into it.
func (e *editor) region(n *yamldoc.Node, list []entry, i int) (start, end int) {
	return e.headOf(n, list, i), e.tailOf(n, list, i)
}

// headOf returns where an entry's own head comments start, else where its line starts.
func (e *editor) headOf(n *yamldoc.Node, list []entry, i int) int {
	start := yamldoc.LineStart(e.src, list[i].start)
	if !e.ownLine(list[i].start) || n == e.root && i == 0 {
		return start
	}
	floor := 0
	if i > 0 {
		floor = list[i-1].end
	}
	var above []int // the starts of the comment lines, from the lowest up
	for p := start; p > 0; {
		p = yamldoc.LineStart(e.src, p-max(breakBefore(e.src, p), 1))
		col, comment := e.commentAt(p)
		if !comment || col > n.Indent || p < floor {
			break
		}
		above = append(above, p)
	}
	if n.Kind == yamldoc.Seq {
		above = e.withoutItem(above)
	}
	if len(above) > 0 {
		return above[len(above)-1]
	}
	return start
}

// withoutItem drops a commented-out list item, and what stands above it, from the comment lines above an entry: it is
// nobody's head comment.
func (e *editor) withoutItem(above []int) []int {
	for i, p := range above {
		text := strings.TrimLeft(string(e.src[p:yamldoc.LineEnd(e.src, p)]), " \t#")
		if text != "-" && !strings.HasPrefix(text, "- ") {
			continue
		}
		dash := e.column(p)
		for i > 0 && e.column(above[i-1]) > dash {
			i--
		}
		return above[:i]
	}
	return above
}

// column returns where the text of the comment line at p starts, behind its number signs and blanks.
func (e *editor) column(p int) int {
	line := string(e.src[p:yamldoc.LineEnd(e.src, p)])
	return len(line) - len(strings.TrimLeft(line, " \t#"))
}

// commentAt reports whether the line at offset p holds a comment only, and its column.
func (e *editor) commentAt(p int) (col int, ok bool) {
	for p+col < len(e.src) && (e.src[p+col] == ' ' || e.src[p+col] == '\t') {
		col++
	}
	return col, p+col < len(e.src) && e.src[p+col] == '#'
}

// tailOf returns the offset behind an entry's last line.
func (e *editor) tailOf(n *yamldoc.Node, list []entry, i int) int {
	end := e.nextLine(list[i].end)
	v := list[i].value
	if !isBlock(v) {
		return end
	}
	deep := max(n.Indent+1, min(v.Indent, n.Indent+e.look.step))
	limit := len(e.src)
	if i+1 < len(list) {
		limit = list[i+1].start
	}
	for p := end; p < limit; {
		col, comment := e.commentAt(p)
		next := e.nextLine(p)
		switch {
		case comment && col >= deep:
			end = next
		case !comment && strings.TrimLeft(string(e.src[p:yamldoc.LineEnd(e.src, p)]), " \t") == "" && next > p:
		default:
			return end
		}
		p = next
	}
	return end
}

// nextLine returns the start of the line after the one that holds offset p; the end of the text when there is none.
func (e *editor) nextLine(p int) int {
	p = yamldoc.LineEnd(e.src, p)
	return p + yamldoc.BreakLen(e.src, p)
}

func (e *editor) delete(start, end int) {
	if end > start {
		e.splices = append(e.splices, splice{start: start, end: end})
	}
}

func (e *editor) insert(at int, text string) {
	e.splices = append(e.splices, splice{start: at, end: at, text: text})
}

// removeEntries deletes entries of a block collection with the lines they own. When the collection starts behind a dash
// at least one entry stays.
func (e *editor) removeEntries(n *yamldoc.Node, removed []int) {
	if len(removed) == 0 {
		return
	}
	list := entries(n)
	gone := map[int]bool{}
	for _, i := range removed {
		gone[i] = true
	}
	i := 0
	if gone[0] && !e.ownLine(list[0].start) {
		// The collection starts behind a dash: what stays moves up to that line.
		for gone[i] {
			i++
		}
		_, from := e.region(n, list, i-1)
		if n.Mark >= 0 && e.firstText(from, list[i].start) < list[i].start {
			e.splices = append(e.splices, splice{n.Mark + 1, from, e.look.nl}) // comments stay where they are
		} else {
			e.delete(list[0].start, list[i].start)
		}
	}
	for ; i < len(list); i++ {
		if gone[i] {
			e.delete(e.region(n, list, i))
		}
	}
}

// firstText returns the offset of the first comment between two offsets, or the second one.
func (e *editor) firstText(from, to int) int {
	for p := from; p < to; p = e.nextLine(p) {
		if col, comment := e.commentAt(p); comment {
			return p + col
		}
	}
	return to
}

// addPairs adds keys behind the last entry of a block map.
func (e *editor) addPairs(n *yamldoc.Node, keys []string, want map[string]any, removed []int) {
	if len(keys) == 0 {
		return
	}
	l := e.look.near(n)
	var lines []string
	for _, k := range keys {
		lines = append(lines, l.entry(k, want[k], n.Indent, n)...)
	}
	list := entries(n)
	last := len(list) - 1
	if e.openEnd(list[last].end) && !slices.Contains(removed, last) {
		// The last value is a block scalar whose text lacks the line break at the end of the file: a line behind it
		// would change it.
		e.insertBefore(n, list, last, lines)
		return
	}
	e.insertAfter(n, list, last, lines)
}

// openEnd reports whether the text ends at offset end, without a line break, in a block scalar that would gain one.
func (e *editor) openEnd(end int) bool { return end == len(e.src) && e.breakIsText(end) }

// insertAfter adds lines behind an entry of a block collection.
func (e *editor) insertAfter(n *yamldoc.Node, list []entry, i int, lines []string) {
	pos := e.tailOf(n, list, i)
	text := strings.Join(lines, e.look.nl)
	if endsInBreak(e.src[:pos]) {
		e.insert(pos, text+e.look.nl)
		return
	}
	if a, err := decode([]byte(text)); err == nil {
		if b, err := decode([]byte(text + e.look.nl)); err == nil && !compare.Same(a, b) {
			text += e.look.nl // a block scalar at the end needs its line break
		}
	}
	e.insert(pos, e.look.nl+text)
}

// insertBefore adds lines before an entry of a block collection and its head comments.
func (e *editor) insertBefore(n *yamldoc.Node, list []entry, i int, lines []string) {
	text := strings.Join(lines, e.look.nl) + e.look.nl
	if e.ownLine(list[i].start) {
		e.insert(e.headOf(n, list, i), text)
		return
	}
	// Behind a dash: the new lines start there, the entry moves to a line of its own.
	e.insert(list[i].start, text[n.Indent:]+spaces(n.Indent))
}
