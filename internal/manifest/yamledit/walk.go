// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// spot is where a node stands: in which parent, and what is known of its field.
type spot struct {
	// parent is the map or sequence that holds the node, i its index there; nil at the root.
	parent *yamldoc.Node
	i      int
	schema *change.Schema
	field  string
}

// after returns the offset behind the colon or dash the node's text follows.
func (s spot) after() int {
	if s.parent.Kind == yamldoc.Seq {
		return s.parent.Items[s.i].Mark + 1
	}
	p := s.parent.Pairs[s.i]
	if p.Colon >= 0 {
		return p.Colon + 1
	}
	return p.Key.End
}

func (s spot) node() *yamldoc.Node {
	if s.parent.Kind == yamldoc.Seq {
		return s.parent.Items[s.i]
	}
	return s.parent.Pairs[s.i].Value
}

// ambiguousNodes collects the ambiguous scalars that may be rewritten, and the nodes around them. A scalar others refer
// to is left alone.
func ambiguousNodes(root *yamldoc.Node) map[*yamldoc.Node]bool {
	set := map[*yamldoc.Node]bool{}
	var mark func(n *yamldoc.Node) bool
	mark = func(n *yamldoc.Node) bool {
		if n.Anchor != "" && root.Uses(n) > 0 {
			return false
		}
		found := n.Ambiguous()
		for _, p := range n.Pairs {
			found = mark(p.Value) || found
		}
		for _, it := range n.Items {
			found = mark(it) || found
		}
		if found {
			set[n] = true
		}
		return found
	}
	mark(root)
	return set
}

// node makes one node mean want; cur is what it means. It returns false when that was not possible in place.
func (e *editor) node(n *yamldoc.Node, cur, want any, at spot) bool {
	same := compare.Same(cur, want)
	if same && !e.ambiguous[n] {
		return true
	}
	if n.Kind == yamldoc.Alias {
		return e.refuse(yamldoc.HazardAlias, n)
	}
	if n.Anchor != "" && e.root.Uses(n) > 0 {
		return e.refuse(yamldoc.HazardAnchor, n)
	}
	if e.forced[n] {
		return e.replace(want, at)
	}
	switch n.Kind {
	case yamldoc.Map:
		if w, ok := want.(map[string]any); ok {
			return e.mapping(n, cur.(map[string]any), w, at)
		}
	case yamldoc.Seq:
		if w, ok := want.([]any); ok {
			return e.sequence(n, cur.([]any), w, at)
		}
	case yamldoc.Scalar:
		if !isCollection(want) {
			return e.scalar(n, cur, want, at)
		}
	}
	return e.replace(want, at)
}

// removable checks that a node may vanish: nobody outside it refers to an anchor in it, and it is no alias itself.
func (e *editor) removable(n *yamldoc.Node) bool {
	if n.Kind == yamldoc.Alias {
		return e.refuse(yamldoc.HazardAlias, n)
	}
	if len(e.root.Hazards()) == 0 {
		return true
	}
	inside := map[*yamldoc.Node]int{}
	count := func(m *yamldoc.Node) {
		if m.Kind == yamldoc.Alias {
			inside[m.Alias]++
		}
	}
	ok := true
	visit(n, func(m *yamldoc.Node, _ []string) bool { count(m); return true })
	visit(n, func(m *yamldoc.Node, _ []string) bool {
		if m.Anchor != "" && e.root.Uses(m) > inside[m] {
			ok = e.refuse(yamldoc.HazardAnchor, m)
		}
		return ok
	})
	return ok
}

// replaceable is removable for a node that is written anew: an alias in it would be written out.
func (e *editor) replaceable(n *yamldoc.Node) bool {
	ok := e.removable(n)
	if !ok || len(e.root.Hazards()) == 0 {
		return ok
	}
	visit(n, func(m *yamldoc.Node, _ []string) bool {
		if m.Kind == yamldoc.Alias {
			ok = e.refuse(yamldoc.HazardAlias, m)
		}
		return ok
	})
	return ok
}
