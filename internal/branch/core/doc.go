// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package core is the machine of one repository branch: it groups live changes
// into windows, orders every write, decides when the lane fetches, plans,
// commits and pushes, replays what a moved remote undid, and says truthfully
// what became of each write, save and cursor.
//
// The machine is pure. Step takes the time and one Input and returns Effects;
// Next says when a Tick is due; Status is an immutable picture for observers.
// It knows no clock, no goroutine, no I/O and no randomness, so a history of
// inputs can be replayed and compared byte for byte (package sim does).
//
// Invariants: accepted work is kept until it is published, settled without a
// write, refused or counted as dropped; a write is decided once; commits keep
// the order of arrival; a commit carries one author and one target; nothing is
// pushed from a base the machine does not trust; at most one lane effect is
// outstanding and each is answered exactly once.
//
// It sits between watch, which offers changes and snapshots, and the runner in
// package branch, which carries the effects out on manifest/plan and gitstore.
// It imports change and its own parts below (applies, chain, cursor, group,
// health, hold, pace) only: plans, reports and frozen configuration are opaque.
package core
