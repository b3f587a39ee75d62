// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import "time"

// Machine is one branch. It is not safe for concurrent use: the runner's stepping goroutine owns it.
type Machine struct {
	cfg Config
}

// New returns a machine that knows no target, has no base and makes no request until work arrives.
func New(cfg Config) *Machine {
	return &Machine{cfg: cfg.withDefaults()}
}

// Step takes one input at a time now, which must not be before the previous one's, and returns what to do.
func (m *Machine) Step(now time.Time, in Input) []Effect { return nil }

// Next returns when Tick is due; zero when nothing waits for time.
func (m *Machine) Next() time.Time { return time.Time{} }

// Status returns the present picture. It shares nothing with the machine that changes later.
func (m *Machine) Status() Status { return Status{} }
