// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// scalar changes a scalar into another one, in its own style when the new value allows it (git-writer 4.2).
func (e *editor) scalar(n *yamldoc.Node, cur, want any, at spot) bool {
	if at.parent == nil {
		return e.fail(n, "the document's own shape changes")
	}
	flow := at.parent.Style == yamldoc.Flow
	text, isText := want.(string)
	if !isText {
		if old, ok := cur.(string); !ok || old == "" || n.Style <= yamldoc.DoubleQuoted {
			e.slots().setText(n, at, sameForm(n, want))
			return true
		}
		return e.replace(want, at)
	}
	if _, was := cur.(string); was && n.Tag == "!!str" && n.Start == n.Content && n.End > n.Start {
		if done := e.texts().sameStyle(n, text, at, flow); done {
			return true
		}
	}
	return e.slots().restyle(n, text, at, flow)
}

// setText puts a one-line text where a scalar stands.
func (e slots) setText(n *yamldoc.Node, at spot, text string) {
	if at.parent.Style == yamldoc.Flow {
		e.setFlow(at, text)
		return
	}
	e.set(at, rendered{inline: text})
}

// sameStyle changes a string in its own style; false when the new text does not fit it.
func (e texts) sameStyle(n *yamldoc.Node, text string, at spot, flow bool) bool {
	parent := at.parent.Indent
	put := func(content string) bool {
		e.splices = append(e.splices, splice{n.Content, n.End, content})
		return true
	}
	switch n.Style {
	case yamldoc.Plain:
		if !plainSafe(text, flow) {
			return false
		}
		if content, ok := e.patched(n, parent, text); ok {
			return put(content)
		}
		return put(text)
	case yamldoc.SingleQuoted, yamldoc.DoubleQuoted:
		if n.Style == yamldoc.SingleQuoted && !printable(text) || e.wasForced(n, text, flow) {
			return false
		}
		if content, ok := e.patched(n, parent, text); ok {
			return put(content)
		}
		return put(quoted(text, n.Style))
	case yamldoc.Folded:
		if content, ok := e.patched(n, parent, text); ok {
			return put(content)
		}
		if content, ok := e.refold(n, parent, text); ok {
			return put(content)
		}
		return false
	}
	if e.shrinks(n, text) {
		return false
	}
	if content, ok := e.reline(n, parent, text); ok {
		return put(content)
	}
	return false
}

// wasForced reports a quoted string whose old value could not stand without quotes while the new one can, in a
// document that quotes nothing else: its quotes were a need, not a style. It is what makes the change of a plain text
// into one that needs quotes and back exact (decisions 42). Everywhere else quotes stay.
func (e texts) wasForced(n *yamldoc.Node, text string, flow bool) bool {
	if n.Style != yamldoc.DoubleQuoted || plainSafe(n.Value, flow) || !plainSafe(text, flow) {
		return false
	}
	quotes := 0
	visit(e.root, func(m *yamldoc.Node, _ []string) bool {
		if m.Kind == yamldoc.Scalar && (m.Style == yamldoc.SingleQuoted || m.Style == yamldoc.DoubleQuoted) {
			quotes++
		}
		return quotes < 2
	})
	return quotes == 1
}

// shrinks reports a block of several lines without a final line break that becomes a text of one line: it is written
// as one, as it was before somebody made it several.
func (e texts) shrinks(n *yamldoc.Node, text string) bool {
	h, _ := yamldoc.ReadBlockHeader(e.src, n.Content)
	return h.Chomp == '-' && h.Digit == 0 && strings.Contains(n.Value, "\n") && !strings.Contains(text, "\n")
}

// refold writes a folded block anew: a line for each line of the text.
func (e texts) refold(n *yamldoc.Node, parent int, text string) (string, bool) {
	h, ok := yamldoc.ReadBlockHeader(e.src, n.Content)
	if !ok || strings.Trim(text, "\n") == "" {
		return "", false
	}
	var lines []string
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if i > 0 && line != "" && lines[len(lines)-1] != "" {
			lines = append(lines, "")
		}
		if line != "" {
			line = spaces(n.Indent) + line
		}
		lines = append(lines, line)
	}
	marks := strings.Trim(string(e.src[n.Content:h.End]), "+-") + chomp(text)
	content := marks + string(e.src[h.End:h.Line]) + e.look.nl + strings.Join(lines, e.look.nl)
	return content, e.reads(n, parent, content, text)
}

// restyle writes a string in the style its surroundings have.
func (e slots) restyle(n *yamldoc.Node, text string, at spot, flow bool) bool {
	if flow {
		f := e.flows().flowLook(at.parent)
		e.setFlow(at, f.string(text))
		return true
	}
	l := e.look.near(at.parent)
	if n.Style == yamldoc.Plain {
		l.text = yamldoc.Plain
	}
	e.set(at, l.str(text, where{col: at.parent.Indent, item: at.parent.Kind == yamldoc.Seq}))
	return true
}

// sameForm writes a value that is no string in the notation of the old one: the case of a boolean, the decimals of a
// float, the octal of a file mode.
func sameForm(n *yamldoc.Node, want any) string {
	text := simpleText(want)
	if n.Style != yamldoc.Plain {
		return text
	}
	switch v := want.(type) {
	case bool:
		switch n.Value {
		case "True", "False":
			return strings.ToUpper(text[:1]) + text[1:]
		case "TRUE", "FALSE":
			return strings.ToUpper(text)
		}
	case int64, int, float64, json.Number:
		if n.Tag == "!!int" && len(n.Value) > 1 && n.Value[0] == '0' && strings.Trim(n.Value, "01234567") == "" {
			if i, ok := v.(int64); ok && i > 0 {
				return "0" + strconv.FormatInt(i, 8)
			}
		}
		if _, decimals, ok := strings.Cut(n.Value, "."); ok && n.Tag == "!!float" &&
			strings.Trim(n.Value, "-0123456789.") == "" {
			return withDecimals(want, text, len(decimals))
		}
	}
	return text
}

// withDecimals writes a number with as many decimals as the old one had, when that is exact.
func withDecimals(v any, text string, n int) string {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	fixed := strconv.FormatFloat(f, 'f', n, 64)
	back, err := strconv.ParseFloat(fixed, 64)
	if err != nil || n == 0 || !compare.Same(back, v) {
		return text
	}
	return fixed
}
