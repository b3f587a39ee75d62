// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// maxNoticed bounds the documents of a scope about which something is remembered.
const maxNoticed = 1000

// notices are remarks about the repository's rules that belong on a condition (decisions 50), by scope and document. The
// last answer of a document counts.
type notices struct {
	mu      sync.Mutex
	byScope map[string]map[string]string
}

func (n *notices) set(scope, path, note string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	m := n.byScope[scope]
	switch {
	case note == "":
		delete(m, path)
	case m == nil:
		if n.byScope == nil {
			n.byScope = map[string]map[string]string{}
		}
		n.byScope[scope] = map[string]string{path: note}
	case len(m) < maxNoticed || m[path] != "":
		m[path] = note
	}
}

// Notice says in which way the repository's rules differ from the spec; empty when they do not, or are not known yet.
func (c *Cache) Notice(scope string) string {
	c.notices.mu.Lock()
	defer c.notices.mu.Unlock()
	all := slices.Compact(slices.Sorted(maps.Values(c.notices.byScope[scope])))
	switch len(all) {
	case 0:
		return ""
	case 1:
		return all[0]
	}
	return fmt.Sprintf("%s; %d more files differ", all[0], len(all)-1)
}

// Forget drops the notices of a scope.
func (c *Cache) Forget(scope string) {
	c.notices.mu.Lock()
	defer c.notices.mu.Unlock()
	delete(c.notices.byScope, scope)
}
