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
	comma, comment := e.behind(list[i].end)
	if !comment {
		e.insert(list[i].end, sep+strings.Join(texts, sep))
		return
	}
	// The comment behind the entry stays with it: the new ones start on the next line.
	indent := spaces(list[i].start - yamldoc.LineStart(e.src, list[i].start))
	text := strings.Join(texts, ","+e.look.nl+indent)
	if !comma {
		e.insert(list[i].end, ",")
	} else {
		text += ","
	}
	e.insert(e.nextLine(list[i].end), indent+text+e.look.nl)
}

// behind reports whether a comma, and then a comment, follow on the line of a flow entry that ends at an offset.
// comment is false when something else follows.
func (e *editor) behind(end int) (comma, comment bool) {
	rest := string(e.src[end:yamldoc.LineEnd(e.src, end)])
	trimmed := strings.TrimLeft(rest, " \t")
	trimmed, comma = strings.CutPrefix(trimmed, ",")
	return comma, strings.HasPrefix(strings.TrimLeft(trimmed, " \t"), "#")
}

// alone reports whether a flow entry fills its lines, so that it can be deleted with them: nothing before it, and
// behind it at most a comment and a comma; the comma may only be missing behind a comment that keeps the one before.
func (e *editor) alone(at entry, commented bool) bool {
	comma, comment := e.behind(at.end)
	rest := strings.Trim(string(e.src[at.end:yamldoc.LineEnd(e.src, at.end)]), " \t,")
	return e.ownLine(at.start) && (comment || rest == "" && (comma || commented))
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
	for i := range list {
		switch {
		case !gone[i]:
		case e.alone(list[i], i > first && strings.Contains(string(e.src[list[i-1].end:list[i].start]), "#")):
			e.delete(yamldoc.LineStart(e.src, list[i].start), e.nextLine(list[i].end))
		case i > first:
			e.delete(list[i-1].end, list[i].end)
		default:
			e.delete(list[i].start, e.firstText(e.nextLine(list[i].end), list[i+1].start))
		}
	}
}
