// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package pace says how long to wait before the next attempt. It is part of the pure machine of branch/core: equal
// seeds draw equal jitter, and nothing here reads a clock.
package pace

import "time"

// Ladder returns the pause after the n-th failure in a row (n counts from 1): lowest, doubling, at most highest.
func Ladder(n int, lowest, highest time.Duration) time.Duration {
	d := lowest
	for i := 1; i < n && d < highest; i++ {
		d *= 2
	}
	return min(d, highest)
}

// Jitter draws pauses between Min and Max.
type Jitter struct {
	Seed     uint64
	Min, Max time.Duration
	draws    uint64
}

// Next draws one pause (splitmix64).
func (j *Jitter) Next() time.Duration {
	j.draws++
	x := j.Seed + j.draws*0x9e3779b97f4a7c15
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb
	x ^= x >> 31
	if j.Max <= j.Min {
		return j.Min
	}
	return j.Min + time.Duration(x%uint64(j.Max-j.Min))
}

// Due reports whether a deadline is set and has come.
func Due(deadline, now time.Time) bool { return !deadline.IsZero() && !deadline.After(now) }

// Soonest keeps the earliest of the times given to it; zero times do not count.
type Soonest struct{ At time.Time }

// Add considers a time.
func (s *Soonest) Add(t time.Time) {
	if !t.IsZero() && (s.At.IsZero() || t.Before(s.At)) {
		s.At = t
	}
}
