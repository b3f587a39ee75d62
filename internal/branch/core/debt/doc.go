// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package debt remembers what the refused or failed writes of one target left
// undone, by object and by cell, until a later write makes up for it.
//
// A success of one type proves nothing for another: a debt ends object by
// object with live writes and cell by cell with snapshots, and cells that are
// not declared any more count for nothing.
//
// It is part of the pure machine of branch/core and imports change only.
package debt
