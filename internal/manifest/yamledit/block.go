// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

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

// region returns the lines an entry owns: the comment lines right above it that are not indented deeper, its own
// lines, and the comments below it that are indented into it.
func (e blocks) region(n *yamldoc.Node, list []entry, i int) (start, end int) {
	return e.headOf(n, list, i), e.tailOf(n, list, i)
}

// headOf returns where an entry's own head comments start, else where its line starts.
func (e blocks) headOf(n *yamldoc.Node, list []entry, i int) int {
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
func (e blocks) withoutItem(above []int) []int {
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

// tailOf returns the offset behind an entry's last line.
func (e blocks) tailOf(n *yamldoc.Node, list []entry, i int) int {
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

// removeEntries deletes entries of a block collection with the lines they own. When the collection starts behind a dash
// at least one entry stays.
func (e blocks) removeEntries(n *yamldoc.Node, removed []int) {
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

// insertAfter adds lines behind an entry of a block collection.
func (e blocks) insertAfter(n *yamldoc.Node, list []entry, i int, lines []string) {
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
func (e blocks) insertBefore(n *yamldoc.Node, list []entry, i int, lines []string) {
	text := strings.Join(lines, e.look.nl) + e.look.nl
	if e.ownLine(list[i].start) {
		e.insert(e.headOf(n, list, i), text)
		return
	}
	// Behind a dash: the new lines start there, the entry moves to a line of its own.
	e.insert(list[i].start, text[n.Indent:]+spaces(n.Indent))
}
