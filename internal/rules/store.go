// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Store keeps the compiled rules. It is safe for concurrent use; create it with NewStore.
type Store struct {
	mu     sync.Mutex
	rules  map[Key]*Compiled
	loaded bool
}

// NewStore returns an empty store that is not loaded yet.
func NewStore() *Store { return &Store{rules: map[Key]*Compiled{}} }

// Put adds or replaces a rule and returns the targets whose plan may change: the new one and, when the rule moved, the
// old one.
func (s *Store) Put(c *Compiled) []types.NamespacedName {
	s.mu.Lock()
	defer s.mu.Unlock()
	touched := []types.NamespacedName{c.Rule.Target}
	if old, ok := s.rules[c.Rule.Key]; ok && old.Rule.Target != c.Rule.Target {
		touched = append(touched, old.Rule.Target)
	}
	s.rules[c.Rule.Key] = c
	return touched
}

// Remove takes a rule out and returns the target it fed; false when it was not there.
func (s *Store) Remove(k Key) (types.NamespacedName, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, ok := s.rules[k]
	if !ok {
		return types.NamespacedName{}, false
	}
	delete(s.rules, k)
	return old.Rule.Target, true
}

// Get returns a compiled rule.
func (s *Store) Get(k Key) (*Compiled, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.rules[k]
	return c, ok
}

// ForTarget returns the compiled rules of a GitTarget, oldest first.
func (s *Store) ForTarget(target types.NamespacedName) []*Compiled {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*Compiled
	for _, c := range s.rules {
		if c.Rule.Target == target {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, older)
	return out
}

// MarkLoaded says that every stored rule was tried once. Before that a planner must not answer: a plan made from half
// of the rules would close streams (watch 15).
func (s *Store) MarkLoaded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded = true
}

// Loaded reports whether MarkLoaded was called.
func (s *Store) Loaded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loaded
}

// older orders rules by creation, then kind, namespace and name (watch 5.3).
func older(a, b *Compiled) int {
	if c := a.Rule.Created.Compare(b.Rule.Created); c != 0 {
		return c
	}
	return a.Rule.Key.Compare(b.Rule.Key)
}
