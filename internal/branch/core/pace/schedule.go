// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package pace

import "time"

// attempts is how many pushes of a cycle follow each other without a pause (git-writer 10.6, decisions 59).
const attempts = 3

// Schedule says when a branch may talk to its remote: the cooldown after a success, the ladder after failures, the
// pauses of a contended cycle. The exported fields are set once.
type Schedule struct {
	RetryMin, RetryMax time.Duration
	Cooldown, Cycle    time.Duration
	Jitter             Jitter

	// failures counts failed attempts in a row; retryAt ends the backoff.
	failures int
	retryAt  time.Time
	// cooldown ends the pause after a success; pause that between contended pushes.
	cooldown, pause time.Time
	// start and pushes are of the present cycle: one publication with its replays.
	start  time.Time
	pushes int
}

// MayDial reports whether a request may be made.
func (s *Schedule) MayDial(now time.Time) bool { return !s.Pausing(now) && !s.retryAt.After(now) }

// Pausing reports whether a contended cycle waits, Backing whether a failed attempt waits for its retry.
func (s *Schedule) Pausing(now time.Time) bool { return s.pause.After(now) }
func (s *Schedule) Backing(now time.Time) bool { return s.retryAt.After(now) }

// Cooling reports whether a new cycle should wait because the last one was a success a moment ago.
func (s *Schedule) Cooling(now time.Time) bool { return s.start.IsZero() && s.cooldown.After(now) }

// Start is when the present cycle began; zero between cycles.
func (s *Schedule) Start() time.Time { return s.start }

// Begin starts a cycle unless one runs; Push counts a push of it.
func (s *Schedule) Begin(now time.Time) {
	if s.start.IsZero() {
		s.start = now
	}
}
func (s *Schedule) Push() { s.pushes++ }

// Succeed ends the cycle, the backoff and every pause but the cooldown, which begins.
func (s *Schedule) Succeed(now time.Time) {
	s.endCycle()
	s.Rest()
	s.cooldown = now.Add(s.Cooldown)
}

// Fail ends the cycle and returns when the next attempt is due; wish is the host's own.
func (s *Schedule) Fail(now time.Time, wish time.Duration) time.Time {
	s.endCycle()
	s.failures++
	s.retryAt = now.Add(max(Ladder(s.failures, s.RetryMin, s.RetryMax), wish))
	return s.retryAt
}

// Break ends the cycle without a result: the branch must not talk for a while, which is nobody's contention.
func (s *Schedule) Break() { s.endCycle() }

func (s *Schedule) endCycle() { s.start, s.pushes, s.pause = time.Time{}, 0, time.Time{} }

// Contended is what follows a push that lost its race.
type Contended uint8

// The first pushes of a cycle are repeated at once, further ones after a pause, and a cycle that took too long is over.
const (
	AtOnce Contended = iota
	AfterAPause
	TooLong
)

// Lost takes note of a push that found the branch moved. With last there is no time for pauses.
func (s *Schedule) Lost(now time.Time, last bool) Contended {
	switch {
	case s.pushes < attempts:
		return AtOnce
	case last || Due(s.start.Add(s.Cycle), now):
		return TooLong
	default:
		s.pause = now.Add(s.Jitter.Next())
		return AfterAPause
	}
}

// Revive ends the backoff: something changed that may help. Rest also forgets the failures before.
func (s *Schedule) Revive() { s.retryAt = time.Time{} }
func (s *Schedule) Rest()   { s.failures, s.retryAt = 0, time.Time{} }

// Hurry ends every pause.
func (s *Schedule) Hurry() { s.retryAt, s.pause, s.cooldown = time.Time{}, time.Time{}, time.Time{} }

// Wake is when a request may be made again, zero when it may now; Warm when the cooldown ends.
func (s *Schedule) Wake(now time.Time) time.Time {
	switch {
	case s.MayDial(now):
		return time.Time{}
	case s.pause.After(s.retryAt):
		return s.pause
	default:
		return s.retryAt
	}
}
func (s *Schedule) Warm() time.Time { return s.cooldown }
