// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package branch runs one worker per repository branch. A worker is two goroutines around the pure machine of
// branch/core: one feeds inputs in and carries immediate effects out, the other works the lane, one network call or
// one commit at a time, on manifest/plan and gitstore.
//
// Flow: watch offers changes and snapshots -> the machine decides when -> the lane plans, commits and pushes ->
// Published and Dirty mailboxes tell watch and the controllers.
//
// State has one owner: the stepping goroutine owns the machine, the lane goroutine owns the store and what it
// remembers of each target's folder. Everybody else reads an immutable Status.
package branch
