// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// flowLook reads the spelling of a flow collection off its entries.
func (e flows) flowLook(n *yamldoc.Node) flowStyle {
	f := plainFlow
	f.quote = e.look.quote
	if json := e.isJSON(n); json {
		f = jsonFlow
	}
	f.order = e.look.order
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
func (e flows) isJSON(n *yamldoc.Node) bool {
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
func (e flows) separator(n *yamldoc.Node, list []entry) string {
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
func (e flows) insertFlow(n *yamldoc.Node, list []entry, i int, texts []string) {
	if len(texts) == 0 {
		return
	}
	sep := e.separator(n, list)
	if i < 0 {
		e.insert(list[0].start, strings.Join(texts, sep)+sep)
		return
	}
	comma, comment, blank := e.behind(list[i].end)
	indent, ok := e.flowIndent(list, i)
	if !comment && !(comma && blank && ok) {
		e.insert(list[i].end, sep+strings.Join(texts, sep))
		return
	}
	// The line of the entry stays as it is, its comment and its blanks included: the new ones start on the next.
	text := strings.Join(texts, ","+e.look.nl+indent)
	if !comma {
		e.insert(list[i].end, ",")
	} else {
		text += ","
	}
	e.insert(e.nextLine(list[i].end), indent+text+e.look.nl)
}

// flowIndent returns the indentation of the entries of a flow collection that start lines, as seen at entry i.
func (e flows) flowIndent(list []entry, i int) (string, bool) {
	for _, k := range []int{i + 1, i} {
		if k < len(list) && e.ownLine(list[k].start) {
			return string(e.src[yamldoc.LineStart(e.src, list[k].start):list[k].start]), true
		}
	}
	return spaces(list[i].start - yamldoc.LineStart(e.src, list[i].start)), false
}

// behind reports what follows on the line of a flow entry that ends at an offset: a comma, then a comment, or blanks
// only.
func (e flows) behind(end int) (comma, comment, blank bool) {
	rest := strings.TrimLeft(string(e.src[end:yamldoc.LineEnd(e.src, end)]), " \t")
	rest, comma = strings.CutPrefix(rest, ",")
	rest = strings.TrimLeft(rest, " \t")
	return comma, strings.HasPrefix(rest, "#"), rest == ""
}

// alone reports whether a flow entry fills its lines, so that it can be deleted with them: nothing before it, and
// behind it at most a comment and a comma; the comma may only be missing behind a comment that keeps the one before.
func (e flows) alone(at entry, commented bool) bool {
	comma, comment, blank := e.behind(at.end)
	return e.ownLine(at.start) && (comment || blank && (comma || commented))
}

// removeFlow deletes entries of a flow collection, run by run. At least one entry stays.
func (e flows) removeFlow(list []entry, removed []int) {
	gone := map[int]bool{}
	for _, i := range removed {
		gone[i] = true
	}
	for p := 0; p < len(list); p++ {
		if !gone[p] {
			continue
		}
		q := p
		for gone[q+1] {
			q++
		}
		e.removeRun(list, p, q)
		p = q
	}
}

// removeRun deletes the entries p to q of a flow collection: with their lines when they fill them, else with the comma
// before them, or the one behind them when they come first (in the collection or on their line).
func (e flows) removeRun(list []entry, p, q int) {
	commented := p > 0 && strings.Contains(string(e.src[list[p-1].end:list[p].start]), "#")
	whole := true
	for i := p; i <= q; i++ {
		whole = whole && e.alone(list[i], commented)
	}
	switch {
	case whole:
		e.delete(yamldoc.LineStart(e.src, list[p].start), e.nextLine(list[q].end))
	case p > 0 && (q+1 == len(list) || !e.ownLine(list[p].start)):
		e.delete(list[p-1].end, list[q].end)
	default:
		e.delete(list[p].start, e.firstText(e.nextLine(list[q].end), list[q+1].start))
	}
}
