// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package leakproof proves that planted secrets are nowhere to be seen: not in any object of a Git repository, reachable or
// not, not in log files, events, conditions or output. It is used by tests only.
//
// A test plants values (Plant makes random ones), drives the operator through every path it can think of, and then asks
// the Scanner about everything the operator could have written to. A value is searched as it is, escaped for URLs, JSON and
// Go, in hexadecimal, and in base64: of the value itself, as a part of any longer encoded text, and encoded twice (a Secret's
// data inside an encoded object).
package leakproof
