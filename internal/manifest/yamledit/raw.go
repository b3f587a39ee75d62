// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"strings"
	"unicode/utf8"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// piece is a stretch of a scalar's value and where it stands in the file. A piece that does not stand there byte for
// byte (an escape, a fold) is one unit.
type piece struct {
	raw, rawEnd int
	val         string
	same        bool
}

// pieces takes the text of a scalar apart. end is where its content ends: the closing quote of a quoted one.
func (e texts) pieces(n *yamldoc.Node, parent int) (list []piece, end int, ok bool) {
	sink := func(raw int, val string, same bool) bool {
		if k := len(list); k > 0 {
			list[k-1].rawEnd = raw
		}
		list = append(list, piece{raw: raw, val: val, same: same})
		return true
	}
	switch n.Style {
	case yamldoc.Plain:
		end, ok = yamldoc.ScanPlain(e.src, n.Content, n.Value, sink)
	case yamldoc.SingleQuoted, yamldoc.DoubleQuoted:
		end, ok = yamldoc.ScanQuoted(e.src, n.Content, sink)
		end--
	default:
		_, end, ok = yamldoc.ScanBlock(e.src, n.Content, parent, sink)
	}
	if k := len(list); k > 0 {
		list[k-1].rawEnd = end
	}
	return list, end, ok
}

// rawSpan returns the file's bytes for value[from:to]; ok is false when a unit would be cut.
func rawSpan(list []piece, end, from, to int) (start, stop int, ok bool) {
	at := func(off int) (int, bool) {
		pos := 0
		for _, p := range list {
			if off == pos {
				return p.raw, true
			}
			if off < pos+len(p.val) {
				return p.raw + off - pos, p.same
			}
			pos += len(p.val)
		}
		return end, off == pos
	}
	start, ok = at(from)
	if !ok {
		return 0, 0, false
	}
	if from == to {
		return start, start, true
	}
	stop, ok = at(to)
	return start, stop, ok
}

// patch returns the content of a scalar with its value changed to want by replacing only what differs, so that its
// line breaks, escapes and spelling stay elsewhere. The result is not verified.
func (e texts) patch(n *yamldoc.Node, parent int, want string) (raw string, ok bool) {
	list, end, ok := e.pieces(n, parent)
	if !ok || len(list) == 0 {
		return "", false
	}
	first := list[0].raw
	edits := wordEdits(n.Value, want)
	if edits == nil {
		edits = []wordEdit{spanEdit(n.Value, want)}
	}
	var b strings.Builder
	pos := first
	for _, w := range edits {
		start, stop, ok := rawSpan(list, end, w.from, w.to)
		if !ok || start < pos {
			return "", false
		}
		text, ok := encodeInto(w.text, n.Style)
		if !ok {
			return "", false
		}
		b.Write(e.src[pos:start])
		b.WriteString(text)
		pos = stop
	}
	b.Write(e.src[pos:end])
	return b.String(), true
}

// wordEdit replaces value[from:to] by text.
type wordEdit struct {
	from, to int
	text     string
}

// wordEdits compares two texts word by word; nil when the white space between their words differs.
func wordEdits(old, want string) []wordEdit {
	var edits []wordEdit
	for i, j := 0, 0; i < len(old) || j < len(want); {
		gap := blanks(old[i:])
		if gap != blanks(want[j:]) {
			return nil
		}
		i, j = i+len(gap), j+len(gap)
		a, b := word(old[i:]), word(want[j:])
		if (a == "") != (b == "") {
			return nil
		}
		if a != b {
			in := spanEdit(a, b)
			edits = append(edits, wordEdit{i + in.from, i + in.to, in.text})
		}
		i, j = i+len(a), j+len(b)
	}
	return edits
}

func blanks(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " \n"))] }

func word(s string) string {
	if i := strings.IndexAny(s, " \n"); i >= 0 {
		return s[:i]
	}
	return s
}

// spanEdit returns the one stretch in which two texts differ, cut between characters.
func spanEdit(old, want string) wordEdit {
	p := 0
	for p < len(old) && p < len(want) && old[p] == want[p] {
		p++
	}
	for p > 0 && (p < len(old) && !utf8.RuneStart(old[p]) || p < len(want) && !utf8.RuneStart(want[p])) {
		p--
	}
	i, j := len(old), len(want)
	for i > p && j > p && old[i-1] == want[j-1] {
		i--
		j--
	}
	for i < len(old) && !utf8.RuneStart(old[i]) {
		i++
		j++
	}
	return wordEdit{p, i, want[p:j]}
}

// encodeInto writes a stretch of text the way it stands inside a scalar of a style.
func encodeInto(s string, style yamldoc.Style) (string, bool) {
	switch style {
	case yamldoc.DoubleQuoted:
		var b strings.Builder
		escapeDouble(&b, s)
		return b.String(), utf8.ValidString(s)
	case yamldoc.SingleQuoted:
		return strings.ReplaceAll(s, "'", "''"), printable(s)
	}
	return s, printable(s)
}

// patched tries to change a scalar's text where it differs and checks what a reader makes of it. It returns the
// content from its first byte to its end, quotes and block header included.
func (e texts) patched(n *yamldoc.Node, parent int, want string) (string, bool) {
	raw, ok := e.patch(n, parent, want)
	if !ok {
		return "", false
	}
	list, end, _ := e.pieces(n, parent)
	text := string(e.src[n.Content:list[0].raw]) + raw + string(e.src[end:n.End])
	return text, e.reads(n, parent, text, want)
}

// reads checks that a text put in place of a scalar's content is read as want and ends where it should.
func (e texts) reads(n *yamldoc.Node, parent int, text, want string) bool {
	rest := want
	sink := func(_ int, val string, _ bool) bool {
		if !strings.HasPrefix(rest, val) {
			return false
		}
		rest = rest[len(val):]
		return true
	}
	var end int
	var ok bool
	switch n.Style {
	case yamldoc.Plain:
		end, ok = yamldoc.ScanPlain([]byte(text), 0, want, sink)
	case yamldoc.SingleQuoted, yamldoc.DoubleQuoted:
		end, ok = yamldoc.ScanQuoted([]byte(text), 0, sink)
	default:
		b := append([]byte(text), e.src[n.End:]...)
		_, end, ok = yamldoc.ScanBlock(b, 0, parent, sink)
	}
	return ok && rest == "" && end == len(text)
}

// reline changes a literal block line by line: lines that stay keep their bytes.
func (e texts) reline(n *yamldoc.Node, parent int, want string) (string, bool) {
	h, ok := yamldoc.ReadBlockHeader(e.src, n.Content)
	if !ok || h.Line >= n.End || want == "" || strings.Trim(want, "\n") == "" {
		return "", false
	}
	if ok, digit := blockable(want); !ok || digit && h.Digit == 0 {
		return "", false
	}
	body := h.Line + yamldoc.BreakLen(e.src, h.Line)
	var raw []string
	for p := body; p <= n.End; {
		end := min(yamldoc.LineEnd(e.src, p), n.End)
		raw = append(raw, string(e.src[p:end]))
		if end == n.End {
			break
		}
		p = end + yamldoc.BreakLen(e.src, end)
	}
	old := strings.Split(strings.TrimSuffix(n.Value, "\n"), "\n")
	if len(old) != len(raw) {
		return "", false
	}
	lines := blockLines(want, n.Indent)
	next := strings.Split(strings.TrimSuffix(want, "\n"), "\n")
	for _, p := range compare.Align(len(old), len(next), func(i, j int) bool { return old[i] == next[j] }) {
		lines[p[1]] = raw[p[0]]
	}
	header := string(e.src[n.Content:body])
	text := header + strings.Join(lines, e.look.nl)
	if e.reads(n, parent, text, want) {
		return text, true
	}
	marks := strings.Trim(string(e.src[n.Content:h.End]), "+-") + chomp(want)
	text = marks + string(e.src[h.End:body]) + strings.Join(lines, e.look.nl)
	if n.End == len(e.src) && chomp(want) != "-" {
		text += e.look.nl
		return text, e.reads(n, parent, text, want) || e.reads(n, parent, strings.TrimSuffix(text, e.look.nl), want)
	}
	return text, e.reads(n, parent, text, want)
}
