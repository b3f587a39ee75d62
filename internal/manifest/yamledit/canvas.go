// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"fmt"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// canvas is the text of one document, what is known of its nodes and style, and the splices collected so far. The
// writers of one concern each (blocks, flows, slots, texts) are thin wrappers around it.
type canvas struct {
	src     []byte
	root    *yamldoc.Node
	look    look
	splices []splice
}

// blocks adds, removes and finds the entries of block collections.
type blocks struct{ *canvas }

// flows adds and removes the entries of flow collections.
type flows struct{ *canvas }

// slots puts values behind keys and dashes.
type slots struct{ *canvas }

// texts changes strings in their own style.
type texts struct{ *canvas }

func (e *canvas) blocks() blocks { return blocks{e} }
func (e *canvas) flows() flows   { return flows{e} }
func (e *canvas) slots() slots   { return slots{e} }
func (e *canvas) texts() texts   { return texts{e} }

// ownLine reports whether only spaces stand before offset p on its line.
func (e *canvas) ownLine(p int) bool {
	return strings.Trim(string(e.src[yamldoc.LineStart(e.src, p):p]), " ") == ""
}

// nextLine returns the start of the line after the one that holds offset p; the end of the text when there is none.
func (e *canvas) nextLine(p int) int {
	p = yamldoc.LineEnd(e.src, p)
	return p + yamldoc.BreakLen(e.src, p)
}

// firstText returns the offset of the first comment between two offsets, or the second one.
func (e *canvas) firstText(from, to int) int {
	for p := from; p < to; p = e.nextLine(p) {
		if col, comment := e.commentAt(p); comment {
			return p + col
		}
	}
	return to
}

// commentAt reports whether the line at offset p holds a comment only, and its column.
func (e *canvas) commentAt(p int) (col int, ok bool) {
	for p+col < len(e.src) && (e.src[p+col] == ' ' || e.src[p+col] == '\t') {
		col++
	}
	return col, p+col < len(e.src) && e.src[p+col] == '#'
}

// column returns where the text of the comment line at p starts, behind its number signs and blanks.
func (e *canvas) column(p int) int {
	line := string(e.src[p:yamldoc.LineEnd(e.src, p)])
	return len(line) - len(strings.TrimLeft(line, " \t#"))
}

func (e *canvas) delete(start, end int) {
	if end > start {
		e.splices = append(e.splices, splice{start: start, end: end})
	}
}

func (e *canvas) insert(at int, text string) {
	e.splices = append(e.splices, splice{start: at, end: at, text: text})
}

// anchorOf returns the anchor a value keeps when its text is replaced, with the blank behind it.
func (e *canvas) anchorOf(n *yamldoc.Node) string {
	if n.Anchor == "" {
		return ""
	}
	return "&" + n.Anchor + " "
}

// breakIsText reports whether the line break at offset end belongs to the value of a block scalar that ends there.
func (e *canvas) breakIsText(end int) bool {
	found := false
	visit(e.root, func(n *yamldoc.Node, _ []string) bool {
		if n.Kind == yamldoc.Scalar && n.Style >= yamldoc.Literal && n.End == end {
			h, _ := yamldoc.ReadBlockHeader(e.src, n.Content)
			found = h.Chomp != '-'
		}
		return !found && n.Start <= end
	})
	return found
}

// openEnd reports whether the text ends at offset end, without a line break, in a block scalar that would gain one.
func (e *canvas) openEnd(end int) bool { return end == len(e.src) && e.breakIsText(end) }

// seal gives the block scalar that ends at an offset the indicator that keeps its value when a line break follows.
func (e *canvas) seal(end int) {
	visit(e.root, func(n *yamldoc.Node, _ []string) bool {
		if n.Kind == yamldoc.Scalar && n.Style >= yamldoc.Literal && n.End == end {
			if h, ok := yamldoc.ReadBlockHeader(e.src, n.Content); ok && h.Chomp != '-' {
				header := strings.Trim(string(e.src[n.Content:h.End]), "+") + "-"
				e.splices = append(e.splices, splice{n.Content, h.End, header})
			}
		}
		return n.Start <= end
	})
}

func (e *canvas) pathOf(n *yamldoc.Node) string {
	var found string
	visit(e.root, func(m *yamldoc.Node, path []string) bool {
		if m == n {
			found = pointer(path)
		}
		return found == "" && m.Start <= n.Start
	})
	return found
}

// visit walks nodes and keys in document order until f returns false for a subtree.
func visit(n *yamldoc.Node, f func(n *yamldoc.Node, path []string) bool) {
	var walk func(n *yamldoc.Node, path []string)
	walk = func(n *yamldoc.Node, path []string) {
		if !f(n, path) {
			return
		}
		for _, p := range n.Pairs {
			walk(p.Value, append(path, p.Key.Value))
		}
		for i, it := range n.Items {
			walk(it, append(path, fmt.Sprint(i)))
		}
	}
	walk(n, nil)
}

func pointer(path []string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
	}
	return b.String()
}
