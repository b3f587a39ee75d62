// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package chain

// Aside is the writes the remote refused, in the order in which they left the chain. The zero value is empty.
type Aside[W Write[C], C comparable] struct {
	All   []W
	bytes int64
}

// Bytes is what the writes are charged.
func (a *Aside[W, C]) Bytes() int64 { return a.bytes }

// Put keeps a write and returns the oldest ones that must go so that the rest stays within the budget.
func (a *Aside[W, C]) Put(w W, budget int64) (gone []W) {
	a.All = append(a.All, w)
	a.bytes += w.Place().Bytes
	for a.bytes > budget {
		a.bytes -= a.All[0].Place().Bytes
		gone = append(gone, a.All[0])
		a.All = a.All[1:]
	}
	return gone
}

// Take empties it and returns what it held.
func (a *Aside[W, C]) Take() []W {
	all := a.All
	*a = Aside[W, C]{}
	return all
}

// Keep asks each write what it is charged from now on and lets those go for which the answer is negative.
func (a *Aside[W, C]) Keep(charge func(W) int64) {
	kept := a.All[:0]
	a.bytes = 0
	for _, w := range a.All {
		n := charge(w)
		if n < 0 {
			continue
		}
		w.Place().Bytes = n
		a.bytes += n
		kept = append(kept, w)
	}
	clear(a.All[len(kept):])
	a.All = kept
}
