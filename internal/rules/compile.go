// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package rules

// Compiled is a rule whose gates are passed. It is immutable.
type Compiled struct {
	Rule Rule
}

// Compile answers whether a rule may be planned and with which scopes (watch 5.1, source-namespace-gate). ns may be nil
// when no selector policy exists.
func Compile(r Rule, a Access, ns Namespaces) Result {
	return Result{Effect: Replace, Compiled: &Compiled{Rule: r}}
}
