// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import "github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"

// measure reads the style of a document off its nodes: what is most frequent wins, the standard style fills the gaps.
func measure(root *yamldoc.Node, nl string) look {
	t := newTally()
	t.node(root)
	for _, p := range root.Pairs {
		if p.Key.Value != "metadata" { // the document's own head has one order in every style
			visit(p.Value, func(n *yamldoc.Node, _ []string) bool { t.order(n); return true })
		}
	}
	l := look{
		nl:    nl,
		step:  mode(t.steps, standard.step),
		gap:   mode(t.gaps, standard.gap),
		quote: mode(t.quotes, standard.quote),
		text:  mode(t.texts, standard.text),
		order: namedFirst,
	}
	if t.orders[alphabetical] > t.orders[namedFirst] {
		l.order = alphabetical
	}
	l.seq = mode(t.seqs, l.step)
	l.blockMaps = t.blockMaps
	return l
}

type tally struct {
	steps, seqs, gaps map[int]int
	// quotes counts quoted strings, texts the strings that need no quotes.
	quotes, texts map[yamldoc.Style]int
	// orders counts the maps whose keys show an order.
	orders map[order]int
	// blockMaps notes a block list of maps.
	blockMaps bool
}

func newTally() *tally {
	return &tally{
		steps: map[int]int{}, seqs: map[int]int{}, gaps: map[int]int{},
		quotes: map[yamldoc.Style]int{}, texts: map[yamldoc.Style]int{}, orders: map[order]int{},
	}
}

// mode returns the most frequent key; the smaller one of equals, and the fallback of nothing.
func mode[K int | yamldoc.Style](counts map[K]int, fallback K) K {
	best, n := fallback, 0
	for k, c := range counts {
		if c > n || c == n && k < best {
			best, n = k, c
		}
	}
	return best
}

func (t *tally) node(n *yamldoc.Node) {
	switch n.Kind {
	case yamldoc.Scalar:
		t.scalar(n)
	case yamldoc.Map:
		for _, p := range n.Pairs {
			t.child(n, p.Value)
			t.node(p.Value)
		}
	case yamldoc.Seq:
		for _, it := range n.Items {
			if n.Style == yamldoc.Block && it.End > it.Start && it.Start-it.Mark < 12 {
				t.gaps[it.Start-it.Mark]++
			}
			t.blockMaps = t.blockMaps || n.Style == yamldoc.Block && it.Kind == yamldoc.Map
			t.node(it)
		}
	}
}

// child counts how a nested block collection is indented under its key.
func (t *tally) child(parent, v *yamldoc.Node) {
	if parent.Style != yamldoc.Block || v.Style != yamldoc.Block {
		return
	}
	switch {
	case v.Kind == yamldoc.Map && v.Indent > parent.Indent:
		t.steps[v.Indent-parent.Indent]++
	case v.Kind == yamldoc.Seq && v.Indent >= parent.Indent:
		t.seqs[v.Indent-parent.Indent]++
	}
}

func (t *tally) scalar(n *yamldoc.Node) {
	if n.Tag != "!!str" {
		return
	}
	if n.Style == yamldoc.SingleQuoted || n.Style == yamldoc.DoubleQuoted {
		t.quotes[n.Style]++
	}
	if n.Style <= yamldoc.DoubleQuoted && plainSafe(n.Value, false) {
		t.texts[n.Style]++
	}
}

// near returns the document's style corrected by what a node's own entries show.
func (l look) near(n *yamldoc.Node) look {
	if n == nil {
		return l
	}
	t := newTally()
	for _, p := range n.Pairs {
		t.child(n, p.Value)
		if p.Value.Kind == yamldoc.Scalar {
			t.scalar(p.Value)
		}
	}
	for _, it := range n.Items {
		if n.Style == yamldoc.Block && it.End > it.Start && it.Start-it.Mark < 12 {
			t.gaps[it.Start-it.Mark]++
		}
		if it.Kind == yamldoc.Scalar {
			t.scalar(it)
		}
	}
	l.step, l.seq, l.gap = mode(t.steps, l.step), mode(t.seqs, l.seq), mode(t.gaps, l.gap)
	l.quote, l.text = mode(t.quotes, l.quote), mode(t.texts, l.text)
	for i, p := range n.Pairs {
		if i == 0 {
			l.key = p.Key.Style
		}
		if p.Key.Style != l.key {
			l.key = yamldoc.Plain
		}
	}
	return l
}
