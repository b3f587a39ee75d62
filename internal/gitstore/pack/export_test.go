// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package pack

// Offsets are where the entries of a tree begin.
func (t *Tree) Offsets() []int32 { return append([]int32{}, t.offs...) }
