// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"net/http"
	"sync"
	"time"
)

// maxPause bounds how long one answer keeps everybody from a host.
const maxPause = time.Hour

// Hosts remembers which hosts asked for a pause, so that every client of a host keeps it and not only the one that was
// told (decisions 59). It is safe for concurrent use; nil remembers nothing.
type Hosts struct {
	mu     sync.Mutex
	pauses map[string]pause
}

type pause struct {
	until time.Time
	text  string
}

// NewHosts returns one for all clients of a process.
func NewHosts() *Hosts { return &Hosts{pauses: map[string]pause{}} }

// told takes note of an answer that asks for a pause.
func (h *Hosts) told(host string, e *Error, now time.Time) {
	if h == nil || e.RetryAfter <= 0 || e.Status != http.StatusTooManyRequests && e.Status != http.StatusForbidden {
		return // 503 speaks of one repository's server
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	until := now.Add(min(e.RetryAfter, maxPause))
	if until.After(h.pauses[host].until) {
		h.pauses[host] = pause{until, e.Said()}
	}
}

// waits returns the error of a request that must not be made yet, nil when it may.
func (h *Hosts) waits(host string, now time.Time) error {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	p, ok := h.pauses[host]
	if !ok {
		return nil
	}
	left := p.until.Sub(now)
	if left <= 0 {
		delete(h.pauses, host)
		return nil
	}
	return &Error{Kind: RateLimited, Text: "the host asked for a pause: " + p.text, RetryAfter: left}
}
