// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"maps"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// mapping makes a map node mean want: values edited in place, keys only Git has removed, new keys added behind the
// others (git-writer 4.2).
func (e *editor) mapping(n *yamldoc.Node, cur, want map[string]any, at spot) bool {
	var removed []int
	explicit := map[string]bool{}
	var merge *yamldoc.Node
	for i, p := range n.Pairs {
		if p.Merge() {
			merge = p.Value
			continue
		}
		k := p.Key.Value
		explicit[k] = true
		w, keep := want[k]
		if !keep {
			removed = append(removed, i)
			continue
		}
		if !e.node(p.Value, cur[k], w, spot{parent: n, i: i, schema: at.schema.Field(k), field: k}) {
			return false
		}
	}
	var added []string
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if !explicit[k] && !(merge != nil && hasSame(cur, k, want[k])) {
			added = append(added, k)
		}
	}
	if merge != nil {
		for k := range cur {
			if _, keep := want[k]; !keep && !explicit[k] {
				return e.refuse(yamldoc.HazardMergeKey, merge)
			}
		}
	}
	for _, i := range removed {
		if merge != nil && merged(n, n.Pairs[i].Key.Value) {
			return e.refuse(yamldoc.HazardMergeKey, merge)
		}
		if !e.removable(n.Pairs[i].Key) || !e.removable(n.Pairs[i].Value) {
			return false
		}
	}
	if len(removed) == 0 && len(added) == 0 {
		return true
	}
	if len(removed) == len(n.Pairs) && (len(added) == 0 || n.Style == yamldoc.Flow || !e.ownLine(n.Content)) {
		return e.replace(want, at)
	}
	if n.Style == yamldoc.Flow {
		return e.flowMap(n, removed, added, want)
	}
	e.blocks().removeEntries(n, removed)
	e.addPairs(n, added, want, removed)
	return true
}

// addPairs adds keys behind the last entry of a block map.
func (e *editor) addPairs(n *yamldoc.Node, keys []string, want map[string]any, removed []int) {
	if len(keys) == 0 {
		return
	}
	l := e.look.near(n)
	var lines []string
	for _, k := range keys {
		lines = append(lines, l.entry(k, want[k], n.Indent, n)...)
	}
	list := entries(n)
	last := len(list) - 1
	if e.openEnd(list[last].end) && !slices.Contains(removed, last) {
		// The last value is a block scalar whose text lacks the line break at the end of the file: a line behind it
		// would change it.
		e.blocks().insertBefore(n, list, last, lines)
		return
	}
	e.blocks().insertAfter(n, list, last, lines)
}

// merged reports whether a merge key of n supplies key.
func merged(n *yamldoc.Node, key string) bool {
	only := yamldoc.Node{Kind: yamldoc.Map}
	for _, p := range n.Pairs {
		if p.Merge() {
			only.Pairs = append(only.Pairs, p)
		}
	}
	return only.Get(key) != nil
}

func hasSame(m map[string]any, k string, v any) bool {
	w, ok := m[k]
	return ok && compare.Same(w, v)
}

// flowMap removes and adds entries of a flow map. At least one entry stays.
func (e *editor) flowMap(n *yamldoc.Node, removed []int, added []string, want map[string]any) bool {
	if e.src[n.Content] != '{' {
		return e.fail(n, "a flow pair without braces takes no more keys")
	}
	list := entries(n)
	e.flows().removeFlow(list, removed)
	f := e.flows().flowLook(n)
	var texts []string
	for _, k := range added {
		texts = append(texts, f.key(k)+f.colon+flowText(want[k], f))
	}
	e.flows().insertFlow(n, list, len(list)-1, texts)
	return true
}
