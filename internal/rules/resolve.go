// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package rules

// Resolve turns the compiled rules of one GitTarget into the collections to watch and one answer per rule (watch 5.2,
// 5.3, decisions 68, 71). It is deterministic; the order of rules does not matter.
func Resolve(rules []*Compiled, c Catalog) Resolution { return Resolution{} }
