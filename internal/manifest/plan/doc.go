// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan decides which bytes of a Git folder follow from a live change.
//
// It is the one entry the branch worker and the offline commands call:
// Plan(ctx, Request) takes a read-only tree, a batch of live objects and the
// policy of one GitTarget, and returns the files to write, why each object was
// written where it was, and a Decision that re-applies the same actions on
// another tree.
//
// The way of a batch: inventory of the folder, acceptance, then per object the
// match, the source form, the edit or the placement; then the preconditions
// (ignored paths, write jail, fan-in, render before and after), and only then
// the result.
//
// Invariants: equal requests give equal results; a refused folder or flush has
// no edits at all; a refusal of one object never drops the others; nothing is
// written outside the folder; a sensitive object never leaves in clear; a
// replay applies decided actions only.
package plan
