// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// flowMap removes and adds entries of a flow map. At least one entry stays.
func (e *editor) flowMap(n *yamldoc.Node, removed []int, added []string, want map[string]any) bool {
	if e.src[n.Content] != '{' {
		return e.fail(n, "a flow pair without braces takes no more keys")
	}
	list := entries(n)
	e.removeFlow(list, removed)
	f := e.flowLook(n)
	var texts []string
	for _, k := range added {
		texts = append(texts, f.key(k)+f.colon+flowText(want[k], f))
	}
	e.insertFlow(n, list, len(list)-1, texts)
	return true
}

// flowLook reads the spelling of a flow collection off its entries.
func (e *editor) flowLook(n *yamldoc.Node) flowStyle {
	f := plainFlow
	f.quote = e.look.quote
	if json := e.isJSON(n); json {
		f = jsonFlow
	}
	for _, p := range n.Pairs {
		if p.Colon >= 0 && p.Value.Start > p.Colon {
			gap := string(e.src[p.Colon+1 : p.Value.Start])
			if strings.Trim(gap, " ") == "" && (gap != "" || f.json) {
				f.colon = ":" + gap
			}
			if gap == "" && f.json {
				f.comma = ","
			}
		}
	}
	return f
}

// isJSON reports whether a flow collection quotes all its keys and strings, and holds at least one.
func (e *editor) isJSON(n *yamldoc.Node) bool {
	found := false
	all := true
	check := func(m *yamldoc.Node) {
		if m.Kind == yamldoc.Scalar && m.Tag == "!!str" {
			found = true
			all = all && m.Style == yamldoc.DoubleQuoted
		}
	}
	visit(n, func(m *yamldoc.Node, _ []string) bool {
		check(m)
		for _, p := range m.Pairs {
			check(p.Key)
		}
		return true
	})
	return found && all
}

// separator returns what stands between the entries of a flow collection, taken from its last two; for a single entry
// the line layout of the opening bracket decides.
func (e *editor) separator(n *yamldoc.Node, list []entry) string {
	if k := len(list); k > 1 {
		if sep := string(e.src[list[k-2].end:list[k-1].start]); clean(sep) {
			return sep
		}
	}
	if lead := string(e.src[n.Content+1 : list[0].start]); strings.ContainsAny(lead, "\n\r") && strings.TrimSpace(lead) == "" {
		return "," + lead
	}
	return ", "
}

// clean reports a separator that is one comma and white space.
func clean(sep string) bool { return strings.TrimSpace(sep) == "," }

// insertFlow adds texts behind entry i of a flow collection that has entries; -1 is the front.
func (e *editor) insertFlow(n *yamldoc.Node, list []entry, i int, texts []string) {
	if len(texts) == 0 {
		return
	}
	sep := e.separator(n, list)
	if i < 0 {
		e.insert(list[0].start, strings.Join(texts, sep)+sep)
		return
	}
	e.insert(list[i].end, sep+strings.Join(texts, sep))
}

// removeFlow deletes entries of a flow collection. At least one entry stays.
func (e *editor) removeFlow(list []entry, removed []int) {
	gone := map[int]bool{}
	for _, i := range removed {
		gone[i] = true
	}
	first := 0
	for gone[first] {
		first++
	}
	if first > 0 {
		e.delete(list[0].start, e.flowText(list[first-1].end, list[first].start))
	}
	for i := first + 1; i < len(list); i++ {
		switch {
		case !gone[i]:
		case e.commented(list[i-1].end, list[i].end) && e.ownLine(list[i].start):
			e.delete(yamldoc.LineStart(e.src, list[i].start), e.nextLine(list[i].end))
		default:
			e.delete(list[i-1].end, list[i].end)
		}
	}
}

// commented reports whether a comment stands before or behind a flow entry that alone fills its lines.
func (e *editor) commented(before, end int) bool {
	rest := strings.TrimLeft(string(e.src[end:yamldoc.LineEnd(e.src, end)]), " \t,")
	behind := strings.HasPrefix(rest, "#")
	p := before
	for p < end && strings.IndexByte(" \t,\r\n", e.src[p]) >= 0 {
		p++
	}
	return behind || rest == "" && p < end && e.src[p] == '#'
}

// flowText returns where the text that belongs to a flow entry starts, between the end of the one before and its own
// start: a comment on a line of its own belongs to it.
func (e *editor) flowText(from, to int) int { return e.firstText(e.nextLine(from), to) }
