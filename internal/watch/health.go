// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"math/rand/v2"
	"time"
)

const (
	backoffMin = 2 * time.Second
	backoffMax = 30 * time.Second
	// healthyAfter is how long a session must have lived to count as a success.
	healthyAfter = time.Minute
	// errorAfter and errorAttempts: from then on a failing stream is blocked, before it is merely replaying.
	errorAfter    = 30 * time.Second
	errorAttempts = 3
	// incompleteReplays is after how many replays in a row that the server ends early the type is listed instead.
	incompleteReplays = 3
)

// health counts what went wrong with a stream in a row.
type health struct {
	// failures sets the pause; barren counts those of them that delivered nothing, the first at failedAt.
	failures, barren int
	failedAt         time.Time
	incomplete       int
}

// cured forgets the failures.
func (h *health) cured() { h.failures, h.barren = 0, 0 }

// served notes a session that followed its watch for a while: however it ends, watching works.
func (h *health) served() { h.barren = 0 }

// failed counts a failure and reports whether it is time to say so.
func (h *health) failed(now time.Time) bool {
	h.failures++
	if h.barren++; h.barren == 1 {
		h.failedAt = now
	}
	return h.barren >= errorAttempts || now.Sub(h.failedAt) >= errorAfter
}

// tooOften counts a replay that ended early and reports the third in a row.
func (h *health) tooOften() bool {
	if h.incomplete++; h.incomplete < incompleteReplays {
		return false
	}
	h.incomplete = 0
	return true
}

// backoff doubles from 2 s to 30 s, with a jitter of 20 %.
func (h *health) backoff() time.Duration {
	d := min(backoffMin<<min(max(h.failures-1, 0), 4), backoffMax)
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64())) //nolint:gosec // jitter needs no secrecy
}
