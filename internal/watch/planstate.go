// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
)

const (
	settleSilence = 2 * time.Second
	settleCap     = 10 * time.Second
	passDeadline  = 30 * time.Second
)

// retryLadder are the pauses after passes that installed nothing.
var retryLadder = []time.Duration{2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute}

// planState is what the owner knows about planning.
type planState struct {
	// dirtySince and lastTrigger are zero when nothing waits.
	dirtySince, lastTrigger time.Time
	// again: a trigger came during the last pass, so the next one does not wait.
	again bool
	// failures counts passes in a row that installed nothing; retryAt is when to try again.
	failures int
	retryAt  time.Time
	problem  string

	installed bool
	epoch     uint64
	revision  uint64
	cells     []change.Cell
	// declared is the list last given to the sink; wanted collections without a stream are in held.
	declared []change.Cell
	// blocked are those of declared whose streams cannot read now.
	blocked []change.Cell
	held    []CellStatus
}

// trigger notes a reason to plan and reports whether one was waiting already.
func (p *planState) trigger(now time.Time) (coalesced bool) {
	coalesced = !p.dirtySince.IsZero()
	if !coalesced {
		p.dirtySince = now
	}
	p.lastTrigger = now
	// News may be what a failed pass was waiting for.
	p.retryAt = time.Time{}
	return coalesced
}

// due is when the next pass is due: after two seconds of silence, at most ten after the first trigger, or when a failed
// pass is to be tried again. Zero means never.
func (p *planState) due(ready bool) time.Time {
	if !ready || p.dirtySince.IsZero() {
		return time.Time{}
	}
	if p.again {
		return p.dirtySince
	}
	at := p.lastTrigger.Add(settleSilence)
	if latest := p.dirtySince.Add(settleCap); latest.Before(at) {
		at = latest
	}
	if p.retryAt.After(at) {
		at = p.retryAt
	}
	return at
}

// failed notes a pass that installed nothing.
func (p *planState) failed(now time.Time, err error) {
	p.retryAt = now.Add(retryLadder[min(p.failures, len(retryLadder)-1)])
	p.failures++
	p.problem = err.Error()
}

// made notes a pass that installed its plan. With another trigger waiting the next pass comes at once.
func (p *planState) made(now time.Time, revision uint64, again bool) {
	p.failures, p.retryAt, p.problem, p.revision = 0, time.Time{}, "", revision
	p.dirtySince, p.lastTrigger, p.again = time.Time{}, time.Time{}, again
	if again {
		p.dirtySince = now
	}
}
