// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package pack_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/gitstore/pack"
)

// TestTreeDiff compares random trees with what a comparison entry by entry says.
func TestTreeDiff(t *testing.T) {
	g := NewWithT(t)
	r := rand.New(rand.NewPCG(7, 7))
	id := func() (h plumbing.Hash) {
		h[0], h[19] = byte(r.IntN(2)), byte(r.IntN(3)) // alike on purpose: equal bytes in unequal places
		return h
	}
	for range 400 {
		tree := &pack.Tree{}
		var first []pack.Change
		for i := range r.IntN(60) {
			first = append(first, pack.Change{Name: fmt.Sprintf("n%02d", i*r.IntN(2)+i), Mode: pack.ModeFile, ID: id()})
		}
		tree, _ = tree.Splice(unique(first))
		var changes []pack.Change
		for range r.IntN(6) {
			c := pack.Change{Name: fmt.Sprintf("n%02d", r.IntN(90)), Mode: pack.ModeFile, ID: id(), Remove: r.IntN(3) == 0}
			if r.IntN(4) == 0 {
				c.Mode = pack.ModeDir
			}
			changes = append(changes, c)
		}
		next, _ := tree.Splice(unique(changes))
		gone, here := tree.Diff(next)
		g.Expect(lines(gone)).To(Equal(without(tree, next)))
		g.Expect(lines(here)).To(Equal(without(next, tree)))
	}
}

func unique(changes []pack.Change) []pack.Change {
	seen := map[string]bool{}
	var out []pack.Change
	for _, c := range changes {
		if !seen[c.Name] {
			out = append(out, c)
		}
		seen[c.Name] = true
	}
	return out
}

func line(e pack.TreeEntry) string { return fmt.Sprintf("%o %s %s", e.Mode, e.Name, e.ID) }

func lines(list []pack.TreeEntry) []string {
	var out []string
	for _, e := range list {
		out = append(out, line(e))
	}
	return out
}

// without lists the entries of a that b does not hold alike.
func without(a, b *pack.Tree) []string {
	in := map[string]bool{}
	for e := range pack.Entries(b.Raw) {
		in[line(e)] = true
	}
	var out []string
	for e := range pack.Entries(a.Raw) {
		if !in[line(e)] {
			out = append(out, line(e))
		}
	}
	return out
}
