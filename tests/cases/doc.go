// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package cases keeps the ledger of what must be proved: the public bug reports of the shared folder and the numbered
// scenarios of the write side.
//
// Every number has a test somewhere in the repository whose name carries it, or a line here that says which other test
// proves it, or why this version does not serve it. A number without either fails, and so does a line that is not true
// any more: a test that is gone, an excuse for something that is tested by now.
//
// Names that count are those of Go tests (TestCaseY01_..., TestScenario26_...), of Ginkgo nodes and subtests, and of
// txtar stories: the file's name (k01_..., s046_... for scenario 46, scenario26_...), the names of its parts, and the
// lines before its first part.
package cases
