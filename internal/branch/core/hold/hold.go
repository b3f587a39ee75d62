// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package hold keeps the live changes of a target in order while its render gate is pending (git-writer 6.10). It is
// part of the pure machine of branch/core.
package hold

import (
	"slices"
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Item is one held change with what its owner needs to settle it.
type Item[R any] struct {
	Change   change.Change
	Receipts []R
	// Back: it was in a window already when the gate closed, so it is older than what is held directly.
	Back bool
}

// List is what one target holds. The zero value is empty.
type List[R any] struct {
	items []Item[R]
	bytes int64
	since time.Time
}

// Len returns the number of held changes, Bytes what they are charged, Since when the first of them was held.
func (l *List[R]) Len() int         { return len(l.items) }
func (l *List[R]) Bytes() int64     { return l.bytes }
func (l *List[R]) Since() time.Time { return l.since }

// Add holds a change from now on.
func (l *List[R]) Add(it Item[R], now time.Time) {
	if len(l.items) == 0 {
		l.since = now
	}
	at := len(l.items)
	if it.Back {
		at = 0
		for at < len(l.items) && l.items[at].Back {
			at++
		}
	}
	l.items = slices.Insert(l.items, at, it)
	l.bytes += it.Change.Size()
}

// Take empties the list and returns what it held, in order.
func (l *List[R]) Take() []Item[R] {
	items := l.items
	*l = List[R]{}
	return items
}

// Supersede removes the changes of a cell for which a snapshot stands, except a delete of an object it does not hold,
// and returns them. With back, only those that went back into the hold are older than the snapshot.
func (l *List[R]) Supersede(s *change.Snapshot, back bool) (gone []Item[R]) {
	if len(l.items) == 0 {
		return nil
	}
	has := make(map[change.ObjectID]bool, len(s.Items))
	for i := range s.Items {
		has[s.Items[i].Object] = true
	}
	kept := l.items[:0]
	for _, it := range l.items {
		absent := it.Change.Operation == change.Delete && !has[it.Change.Object]
		if absent || it.Change.Cell != s.Cell || (back && !it.Back) {
			kept = append(kept, it)
			continue
		}
		l.bytes -= it.Change.Size()
		gone = append(gone, it)
	}
	clear(l.items[len(kept):])
	l.items = kept
	return gone
}
