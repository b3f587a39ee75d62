// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errAgain is the cause of a session that ends because a fresh snapshot is wanted.
var errAgain = errors.New("a fresh snapshot is wanted")

// control is the part of a stream that other goroutines touch.
type control struct {
	// kick ends a pause: something that may have caused it has changed.
	kick chan struct{}

	mu sync.Mutex
	// cancel ends the running session; nil between sessions.
	cancel context.CancelCauseFunc
	// again: take a fresh snapshot, for this reason.
	again string
	// settled: some snapshot of this collection was settled.
	settled bool
	// discarded counts snapshots in a row that the branch threw away.
	discarded int
	// named: some rule names the resource.
	named bool
}

func newControl(named, settled bool) *control {
	return &control{kick: make(chan struct{}, 1), named: named, settled: settled}
}

// snapshotAgain asks for a fresh snapshot. It never blocks.
func (c *control) snapshotAgain(reason string) {
	c.mu.Lock()
	c.again = reason
	if c.cancel != nil {
		c.cancel(errAgain)
	}
	c.mu.Unlock()
	c.wakeUp()
}

func (c *control) wakeUp() {
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// begin registers a session and returns the reason of the fresh snapshot it should take, if one is wanted.
func (c *control) begin(cancel context.CancelCauseFunc) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	again := c.again
	c.again, c.cancel = "", cancel
	return again
}

func (c *control) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = nil
}

// setNamed notes whether a rule names the resource and reports a change.
func (c *control) setNamed(named bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := c.named != named
	c.named = named
	return changed
}

func (c *control) isNamed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.named
}

func (c *control) isSettled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settled
}

// settle notes what became of a snapshot.
func (c *control) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settled, c.discarded = true, 0
}

// discard notes a snapshot the branch threw away and returns when to take another. The cause may last, so the distance
// grows.
func (c *control) discard() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	pause := min(backoffMin<<min(c.discarded, 4), backoffMax)
	c.discarded++
	return pause
}
