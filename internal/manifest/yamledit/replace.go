// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// replace writes the value at a spot anew, in the style around it. The root has no spot: its document is written anew.
func (e *editor) replace(want any, at spot) bool {
	if at.parent == nil {
		return e.fail(e.root, "the document's own shape changes")
	}
	n := at.node()
	if !e.replaceable(n) {
		return false
	}
	if at.parent.Style == yamldoc.Flow {
		e.slots().setFlow(at, flowText(want, e.flows().flowLook(at.parent)))
		return true
	}
	l := e.look.near(at.parent)
	e.slots().set(at, l.value(want, where{col: at.parent.Indent, item: at.parent.Kind == yamldoc.Seq, like: n}))
	return true
}

// setFlow puts a text where a value in a flow collection stands.
func (e slots) setFlow(at spot, text string) {
	n := at.node()
	if at.parent.Kind == yamldoc.Map && at.parent.Pairs[at.i].Colon < 0 {
		e.insert(at.after(), ": "+text)
		return
	}
	if n.End == n.Start {
		if at.parent.Kind == yamldoc.Map {
			text = " " + text
		}
		e.insert(n.Start, text)
		return
	}
	e.splices = append(e.splices, splice{n.Start, n.End, e.anchorOf(n) + text})
}

// set puts a rendered value behind a key or dash of a block collection: the inline text where the old one stood, the
// lines below, the comment at the end of the line kept.
func (e slots) set(at spot, r rendered) {
	n := at.node()
	after := at.after()
	lead := ""
	if at.parent.Kind == yamldoc.Map && at.parent.Pairs[at.i].Colon < 0 {
		lead = ":"
	}
	anchor := e.anchorOf(n)
	lineEnd := yamldoc.LineEnd(e.src, after)
	inlineStart, inlineEnd := after, after
	bodyEnd := lineEnd
	empty := n.End == n.Start
	switch {
	case empty:
	case n.Start > lineEnd && (isBlock(n) || r.inline == ""): // the value stands on the lines below
		bodyEnd = n.End
	case n.Kind == yamldoc.Scalar && n.Style >= yamldoc.Literal:
		h, _ := yamldoc.ReadBlockHeader(e.src, n.Content)
		inlineStart, inlineEnd, bodyEnd = n.Start, h.End, n.End
	case isBlock(n) && n.Content > lineEnd: // tag or anchor on the line, the collection below
		properties, _, _ := strings.Cut(string(e.src[n.Start:lineEnd]), "#")
		inlineStart, inlineEnd, bodyEnd = n.Start, n.Start+len(strings.TrimRight(properties, " \t")), n.End
	default:
		inlineStart, inlineEnd = n.Start, n.End
		lineEnd = yamldoc.LineEnd(e.src, n.End)
		bodyEnd = lineEnd
		if isBlock(n) {
			inlineEnd = lineEnd // the last line's comment goes with what it was about
		}
	}
	if bodyEnd == n.End && n.End > lineEnd && n.Kind != yamldoc.Scalar {
		bodyEnd = yamldoc.LineEnd(e.src, bodyEnd) // the last line's comment goes with what it was about
	}
	e.spliceInline(at, lead, anchor, r.inline, inlineStart, inlineEnd, after)
	if len(r.lines) == 0 && bodyEnd == lineEnd {
		return
	}
	text := ""
	for _, line := range r.lines {
		text += e.look.nl + line
	}
	if bodyEnd == len(e.src) && (strings.HasPrefix(r.inline, "|") && !strings.Contains(r.inline, "-")) {
		text += e.look.nl
	}
	e.splices = append(e.splices, splice{lineEnd, bodyEnd, text})
}

// isBlock reports a map or sequence in block style.
func isBlock(n *yamldoc.Node) bool {
	return (n.Kind == yamldoc.Map || n.Kind == yamldoc.Seq) && n.Style == yamldoc.Block
}

// spliceInline replaces the part of a value that stands on the line of its key or dash.
func (e slots) spliceInline(at spot, lead, anchor, inline string, start, end, after int) {
	switch {
	case inline == "" && anchor == "":
		e.splices = append(e.splices, splice{after, end, lead})
	case start == after: // nothing stood there
		gap := " "
		if at.parent.Kind == yamldoc.Seq {
			gap = spaces(e.look.near(at.parent).gap - 1)
		}
		e.splices = append(e.splices, splice{after, end, lead + gap + strings.TrimRight(anchor+inline, " ")})
	default:
		e.splices = append(e.splices, splice{start, end, strings.TrimRight(anchor, " ") + sepIf(anchor, inline) + inline})
	}
}

func sepIf(a, b string) string {
	if a != "" && b != "" {
		return " "
	}
	return ""
}
