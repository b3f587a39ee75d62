// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package placement

// Exported to the tests, which live outside the package because gomega's names meet those of the rungs.
var (
	CanonicalPath = canonical
	Fold          = fold
	IsDevice      = device
	IsReserved    = reserved
)
