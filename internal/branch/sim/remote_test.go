// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"crypto/sha1"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
)

// action is one change of a document, with the version of the object it came from.
type action struct {
	path, value string
	del, sweep  bool
	rv          int
}

// commit is a model commit: a whole tree, and what it did.
type commit struct {
	id      core.Commit
	parent  core.Commit
	depth   int
	tree    map[string]string
	foreign bool
	seq     core.Seq
	author  string
	message string
	actions []action
	life    int // of the machine that made it
}

// reject says which commits the remote refuses for their content.
type reject struct{ author, path, all string }

// git is the model of every repository involved: commits are shared, refs are the remote's.
type git struct {
	commits map[core.Commit]*commit
	made    uint64

	tip       core.Commit // of the write branch; zero = absent
	main      core.Commit // the parent branch; zero = absent
	named     bool        // the parent branch is named by the configuration
	refuse    reject
	down      bool
	racing    time.Time // until then another writer is nearly always faster
	reset     int       // how often history was lost: wiped, forced, deleted
	foreignly map[string]int
}

func newGit() *git {
	return &git{commits: map[core.Commit]*commit{}, foreignly: map[string]int{}}
}

func (g *git) add(c commit) core.Commit {
	g.made++
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], g.made)
	sum := sha1.Sum(append(b[:], c.message...))
	c.id = core.Commit(sum)
	if p := g.commits[c.parent]; p != nil {
		c.depth = p.depth + 1
	}
	g.commits[c.id] = &c
	return c.id
}

func (g *git) tree(id core.Commit) map[string]string {
	if c := g.commits[id]; c != nil {
		return c.tree
	}
	return nil
}

// observe is what a look sees.
func (g *git) observe() core.Remote {
	switch {
	case !g.tip.IsZero():
		return core.Remote{Exists: true, Tip: g.tip}
	case !g.main.IsZero():
		return core.Remote{Parent: g.main, ParentState: core.ParentFound}
	case g.named:
		return core.Remote{ParentState: core.ParentMissing}
	default:
		return core.Remote{ParentState: core.ParentUnborn}
	}
}

// chain returns the commits above base up to tip, oldest first; ok is false when base is not an ancestor.
func (g *git) chain(base, tip core.Commit) (cs []*commit, ok bool) {
	for id := tip; id != base; {
		c := g.commits[id]
		if c == nil {
			return nil, false
		}
		cs = append(cs, c)
		id = c.parent
	}
	slices.Reverse(cs)
	return cs, true
}

// refuses reports whether the remote's rules refuse one of the commits.
func (g *git) refuses(cs []*commit) bool {
	r := g.refuse
	for _, c := range cs {
		switch {
		case r.all != "":
			return true
		case r.author != "" && c.author == r.author:
			return true
		case r.path != "" && slices.ContainsFunc(c.actions, func(a action) bool { return strings.Contains(a.path, r.path) }):
			return true
		}
	}
	return false
}

// receive is the remote's side of a push. It changes the branch when it returns Accepted.
func (g *git) receive(p core.Push) core.PushOutcome {
	base := p.Expected
	if base.IsZero() {
		if g.tip.IsZero() && g.main != p.Parent {
			return core.PushMoved
		}
		base = p.Parent
	}
	if g.tip != p.Expected {
		return core.PushMoved
	}
	cs, ok := g.chain(base, p.Tip)
	if !ok {
		panic("the pushed tip does not descend from the expected commit")
	}
	if g.refuses(cs) {
		return core.PushRejected
	}
	g.tip = p.Tip
	return core.PushAccepted
}

// foreignCommit lets another writer change the branch (or the parent while the branch is absent).
func (g *git) foreignCommit(set map[string]string, del []string) {
	ref := &g.tip
	if g.tip.IsZero() {
		ref = &g.main
	}
	tree := maps.Clone(g.tree(*ref))
	if tree == nil {
		tree = map[string]string{}
	}
	c := commit{parent: *ref, foreign: true, author: "foreign", message: "foreign"}
	for _, p := range slices.Sorted(maps.Keys(set)) {
		tree[p] = set[p]
		c.actions = append(c.actions, action{path: p, value: set[p]})
	}
	for _, p := range del {
		delete(tree, p)
		c.actions = append(c.actions, action{path: p, del: true})
	}
	c.tree = tree
	for _, a := range c.actions {
		g.foreignly[a.path]++
	}
	*ref = g.add(c)
}

// holds reports whether a commit is part of the branch's history.
func (g *git) holds(id core.Commit) bool {
	for at := g.tip; !at.IsZero(); {
		if at == id {
			return true
		}
		c := g.commits[at]
		if c == nil {
			return false
		}
		at = c.parent
	}
	return false
}
