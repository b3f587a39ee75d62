// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package change holds the words that flow through the operator: which object
// changed, for which GitTarget, to what sanitized content, and by whom.
//
// Flow: watch produces a Change or a Snapshot, branch accepts it, manifest/plan
// decides which bytes of the Git folder follow from it.
//
// It is a leaf: it imports nothing of this module, and a type enters it only
// when two packages that may not import each other exchange it. Values are
// immutable once handed over; byte slices must never be modified by a receiver.
package change
