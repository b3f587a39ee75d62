// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package health knows what is wrong with one target's folder and writes, what
// its refused or failed writes left undone, and when that is made up for.
//
// A success of one type proves nothing for another: what is undone ends object
// by object with live writes and cell by cell with snapshots. Cells that are
// not followed any more count for nothing, because no snapshot of them comes.
// Snapshots are asked for through the Target; a refusal ends with them only.
//
// It is part of the pure machine of branch/core and imports change and pace.
package health
