// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package mailbox is a coalescing set of keys with a wake-up channel. It carries the backward edges of the flow
// (published, dirty, hints, snapshot requests): a sender never blocks, and a key that is posted twice before it is
// taken is delivered once. What a key means is read from its owner's status, so coalescing loses nothing.
package mailbox

import "sync"

// Mailbox is safe for concurrent use. The zero value is not usable; call New.
type Mailbox[K comparable] struct {
	mu   sync.Mutex
	set  map[K]struct{}
	keys []K
	wake chan struct{}
}

// New returns an empty mailbox.
func New[K comparable]() *Mailbox[K] {
	return &Mailbox[K]{set: map[K]struct{}{}, wake: make(chan struct{}, 1)}
}

// Post adds a key. It never blocks.
func (m *Mailbox[K]) Post(k K) {
	m.mu.Lock()
	if _, ok := m.set[k]; !ok {
		m.set[k] = struct{}{}
		m.keys = append(m.keys, k)
	}
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Wake receives a value after a Post. One receiver at a time should wait on it and then call Take.
func (m *Mailbox[K]) Wake() <-chan struct{} { return m.wake }

// Take returns the posted keys in order of their first post and empties the mailbox.
func (m *Mailbox[K]) Take() []K {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := m.keys
	m.keys = nil
	clear(m.set)
	return keys
}
