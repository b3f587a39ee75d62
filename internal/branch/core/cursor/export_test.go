// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cursor

// Length is the number of entries a line keeps.
func Length[T comparable](l *Line[T]) int { return len(l.entries) }
