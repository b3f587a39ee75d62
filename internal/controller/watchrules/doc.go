// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package watchrules reconciles WatchRule: it passes each rule through the one compile function, keeps the compiled
// ones in the rule store that the watch plans from, and shows per rule what became of it.
//
// The order of effects is fixed: a refused rule leaves the store and the plan before its condition says so.
package watchrules
