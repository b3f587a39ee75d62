// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package rules compiles WatchRules and ClusterWatchRules and resolves them
// against what a source cluster serves. It is the one answer to "may this rule
// watch that, and which streams follow": controllers, start-up and the planner
// of the watch all call it.
//
// Flow: Compile turns one rule and the facts of its gates into a Compiled rule
// or a refusal; a Store keeps the compiled ones; Resolve turns all rules of one
// GitTarget and a catalog into collections (one stream each) and one answer per
// rule.
//
// The package is pure: no client, no clock, no goroutine. Equal input gives
// equal output in equal order, so a controller that resolves again for its
// status sees what the planner saw.
package rules
