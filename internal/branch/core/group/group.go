// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package group holds the parts of a commit window that need no machine: coalescing changes and the two timers
// (git-writer 9.4, 10.3). It is part of the pure machine of branch/core.
package group

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Batch keeps the last state per object, in first-seen order. The zero value is empty.
type Batch struct {
	Changes []change.Change
	// Bytes is what the changes are charged.
	Bytes int64
	index map[change.ObjectID]int
}

// Put adds a change or replaces the earlier one of its object.
func (b *Batch) Put(c change.Change) {
	if i, ok := b.index[c.Object]; ok {
		b.Bytes += c.Size() - b.Changes[i].Size()
		b.Changes[i] = c
		return
	}
	if b.index == nil {
		b.index = map[change.ObjectID]int{}
	}
	b.index[c.Object] = len(b.Changes)
	b.Changes = append(b.Changes, c)
	b.Bytes += c.Size()
}

// Timers close a window: a snapshot of the target's, or those of an attached save.
type Timers struct {
	// From is where Max counts from; Last is the last change, where Idle counts from.
	From, Last time.Time
	Max, Idle  time.Duration
	// Quiet: there is no idle timer.
	Quiet bool
}

// End returns when the window closes by itself, and whether because of silence.
func (t Timers) End() (at time.Time, idle bool) {
	end := t.From.Add(t.Max)
	if silence := t.Last.Add(t.Idle); !t.Quiet && !silence.After(end) {
		return silence, true
	}
	return end, false
}
