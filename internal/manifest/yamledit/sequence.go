// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// sequence makes a sequence node mean want. Items that stay keep their text and their comments, also when they move.
func (e *editor) sequence(n *yamldoc.Node, cur, want []any, at spot) bool {
	pairs := compare.Match(at.schema, at.field, cur, want)
	stays := make([]bool, len(n.Items))
	kept, sorted, last := 0, true, -1
	for _, i := range pairs {
		if i >= 0 {
			stays[i] = true
			kept++
			sorted = sorted && i > last
			last = i
		}
	}
	if kept == 0 {
		return e.replace(want, at)
	}
	var removed []int
	for i, it := range n.Items {
		if stays[i] {
			continue
		}
		if !e.removable(it) {
			return false
		}
		removed = append(removed, i)
	}
	if !sorted {
		return e.reorder(n, cur, want, pairs, at)
	}
	for j, i := range pairs {
		if i >= 0 && !e.node(n.Items[i], cur[i], want[j], spot{parent: n, i: i, schema: at.schema.Item()}) {
			return false
		}
	}
	list := entries(n)
	if n.Style == yamldoc.Flow {
		e.flows().removeFlow(list, removed)
	} else {
		e.blocks().removeEntries(n, removed)
	}
	prev := -1
	for j := 0; j < len(pairs); {
		if pairs[j] >= 0 {
			prev = pairs[j]
			j++
			continue
		}
		end := j
		for end < len(pairs) && pairs[end] < 0 {
			end++
		}
		e.insertItems(n, list, prev, want[j:end], stays)
		j = end
	}
	return true
}

// insertItems adds items behind item prev of a sequence; -1 is the front.
func (e *editor) insertItems(n *yamldoc.Node, list []entry, prev int, items []any, stays []bool) {
	if n.Style == yamldoc.Flow {
		f := e.flows().flowLook(n)
		var texts []string
		for _, it := range items {
			texts = append(texts, flowText(it, f))
		}
		if prev < 0 {
			// In front of the first item that stays: what is deleted before it goes with its comma.
			for !stays[prev+1] {
				prev++
			}
			sep := e.flows().separator(n, list)
			e.insert(list[prev+1].start, strings.Join(texts, sep)+sep)
			return
		}
		e.flows().insertFlow(n, list, prev, texts)
		return
	}
	lines := e.blocks().itemLines(n, items, max(prev, 0))
	if prev < 0 {
		e.blocks().insertBefore(n, list, 0, lines)
		return
	}
	if e.openEnd(list[prev].end) {
		e.seal(list[prev].end)
	}
	e.blocks().insertAfter(n, list, prev, lines)
}

// itemLines renders items for a block sequence in the style of one of its items.
func (e blocks) itemLines(n *yamldoc.Node, items []any, model int) []string {
	l := e.look.near(n)
	var lines []string
	for _, it := range items {
		lines = append(lines, l.item(it, n.Indent, n.Items[model])...)
	}
	return lines
}

// reorder writes the items of a sequence in another order: each with its own comments, the text between them where it
// was.
func (e *editor) reorder(n *yamldoc.Node, cur, want []any, pairs []int, at spot) bool {
	list := entries(n)
	if n.Style == yamldoc.Block && !e.ownLine(list[0].start) {
		return e.replace(want, at)
	}
	type span struct{ start, end int }
	spans := make([]span, len(list))
	for i := range list {
		spans[i] = span{list[i].start, list[i].end}
		if n.Style == yamldoc.Block {
			spans[i].start, spans[i].end = e.blocks().region(n, list, i)
		}
	}
	outer := e.splices
	texts := make([]string, len(want))
	for j, i := range pairs {
		if i < 0 {
			texts[j] = e.newItem(n, want[j])
			continue
		}
		e.splices = nil
		if !e.node(n.Items[i], cur[i], want[j], spot{parent: n, i: i, schema: at.schema.Item()}) {
			return false
		}
		text, ok := applyWithin(e.src, e.splices, spans[i].start, spans[i].end)
		if !ok {
			e.splices = outer
			return e.replace(want, at)
		}
		texts[j] = text
	}
	e.splices = outer
	gaps := make([]string, 0, len(list))
	for i := 1; i < len(list); i++ {
		gaps = append(gaps, string(e.src[spans[i-1].end:spans[i].start]))
	}
	start, end := spans[0].start, spans[len(spans)-1].end
	text := assemble(n, texts, gaps, e.look.nl)
	if n.Style == yamldoc.Block && !endsInBreak(e.src[:end]) {
		text = strings.TrimSuffix(text, e.look.nl)
	}
	e.splices = append(e.splices, splice{start, end, text})
	return true
}

// newItem renders one item as the text of a whole entry.
func (e *editor) newItem(n *yamldoc.Node, v any) string {
	if n.Style == yamldoc.Flow {
		return flowText(v, e.flows().flowLook(n))
	}
	return strings.Join(e.blocks().itemLines(n, []any{v}, 0), e.look.nl) + e.look.nl
}

// assemble joins entry texts with the gaps of the original. Gaps left over are kept when they hold a comment.
func assemble(n *yamldoc.Node, texts, gaps []string, nl string) string {
	var b strings.Builder
	for j, text := range texts {
		b.WriteString(text)
		if n.Style == yamldoc.Flow {
			if j < len(texts)-1 {
				if j < len(gaps) {
					b.WriteString(gaps[j])
				} else {
					b.WriteString(", ")
				}
			}
			continue
		}
		if !endsInBreak([]byte(text)) {
			b.WriteString(nl)
		}
		if j < len(gaps) && (j < len(texts)-1 || strings.Contains(gaps[j], "#")) {
			b.WriteString(gaps[j])
		}
	}
	for _, g := range gaps[min(len(texts), len(gaps)):] {
		if n.Style == yamldoc.Block && strings.Contains(g, "#") {
			b.WriteString(g)
		}
	}
	return b.String()
}

// applyWithin carries out splices that lie inside src[start:end] and returns that stretch.
func applyWithin(src []byte, splices []splice, start, end int) (string, bool) {
	for i, s := range splices {
		if s.start < start || s.end > end {
			return "", false
		}
		splices[i].start -= start
		splices[i].end -= start
	}
	out, ok := apply(src[start:end], slices.Clone(splices))
	return string(out), ok
}
