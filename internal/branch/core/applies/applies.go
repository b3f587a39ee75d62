// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package applies

// Due is an apply that waits until every write up to Mark is published.
type Due struct {
	Applier string
	Attempt string
	Reasons []string
	Mark    uint64
}

// applier is one Flux Kustomization or Argo CD Application.
type applier struct {
	// epoch grows with each send and each end of a sent attempt; out is between the two.
	epoch uint64
	out   bool
	due   *Due
}

// Set holds the appliers of a branch, in the order in which they were first named.
type Set struct {
	byName map[string]*applier
	list   []*applier
}

func (s *Set) get(name string) *applier {
	a := s.byName[name]
	if a == nil {
		if s.byName == nil {
			s.byName = map[string]*applier{}
		}
		a = &applier{}
		s.byName[name] = a
		s.list = append(s.list, a)
	}
	return a
}

// Want notes that an apply is due; a newer one replaces it.
func (s *Set) Want(d Due) { s.get(d.Applier).due = &d }

// Sent notes that the applier was told to write to the cluster.
func (s *Set) Sent(name string) {
	a := s.get(name)
	a.epoch++
	a.out = true
}

// Ended notes the end of an attempt and reports whether it had been sent.
func (s *Set) Ended(name string) bool {
	a := s.get(name)
	if !a.out {
		return false
	}
	a.epoch++
	a.out = false
	return true
}

// Waiting reports whether an apply waits for a write that oldest, the oldest unpublished one, is part of.
func (s *Set) Waiting(oldest uint64) bool {
	for _, a := range s.list {
		if a.due != nil && oldest != 0 && oldest <= a.due.Mark {
			return true
		}
	}
	return false
}

// Take returns the applies whose writes are all published and whose applier is free. Oldest is the oldest unpublished
// write, zero when there is none.
func (s *Set) Take(oldest uint64) []Due {
	var ready []Due
	for _, a := range s.list {
		if a.due != nil && !a.out && (oldest == 0 || oldest > a.due.Mark) {
			ready = append(ready, *a.due)
			a.due = nil
		}
	}
	return ready
}

// State returns an applier's epoch and whether Git is ahead of it.
func (s *Set) State(name string) (epoch uint64, ahead bool) {
	if a := s.byName[name]; a != nil {
		return a.epoch, a.out
	}
	return 0, false
}
