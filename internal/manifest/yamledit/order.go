// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"maps"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// order is how the keys of a new map follow each other where no neighbour shows it.
type order int

const (
	// alphabetical is the order of documents the operator creates (git-writer 1.6).
	alphabetical order = iota
	// namedFirst is how people write: what an item is and which one it is, then the rest. It is what an edit writes into
	// a document unless the document's own maps are alphabetical.
	namedFirst
)

// naming are the keys that say what a map is about, in the order people write them: kind and name, then the keys lists
// are merged by.
var naming = []string{
	"apiVersion", "apiGroup", "kind", "metadata", "name", "namespace",
	"key", "type", "containerPort", "port", "mountPath", "devicePath", "ip", "topologyKey",
}

// keys returns the keys of a map in this order.
func (o order) keys(m map[string]any) []string {
	if o == alphabetical {
		return slices.Sorted(maps.Keys(m))
	}
	return rootOrder(m, naming...)
}

// like returns the keys of m in the order of a model map, the keys the model lacks behind them.
func (o order) like(m map[string]any, model *yamldoc.Node) []string {
	keys := make([]string, 0, len(m))
	known := map[string]bool{}
	if model != nil && model.Kind == yamldoc.Map {
		for _, p := range model.Pairs {
			if _, ok := m[p.Key.Value]; ok && !known[p.Key.Value] && p.Key.Kind == yamldoc.Scalar {
				known[p.Key.Value] = true
				keys = append(keys, p.Key.Value)
			}
		}
	}
	for _, k := range o.keys(m) {
		if !known[k] {
			keys = append(keys, k)
		}
	}
	return keys
}

// orders counts the habit of a map's keys, when its keys can show one.
func (t *tally) order(n *yamldoc.Node) {
	m := make(map[string]any, len(n.Pairs))
	keys := make([]string, 0, len(n.Pairs))
	for _, p := range n.Pairs {
		m[p.Key.Value] = nil
		keys = append(keys, p.Key.Value)
	}
	sorted, named := alphabetical.keys(m), namedFirst.keys(m)
	switch {
	case len(m) < 2 || len(m) != len(keys) || slices.Equal(sorted, named):
	case slices.Equal(keys, sorted):
		t.orders[alphabetical]++
	case keys[0] == named[0]:
		t.orders[namedFirst]++
	}
}
