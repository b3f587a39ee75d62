// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package placement decides where a new document goes: the ladder of git-writer 5.2, the path templates of 5.3, file
// names every file system can hold (decisions 27 and 44), and the kustomization that must list a new file (5.8).
//
// Validate is the static half, for the GitTarget controller; Place is the half at write time. A batch is resolved
// against the folder as it was before the batch, so the order of arrival cannot change the outcome, and a declared
// template that gives no usable path refuses its object instead of falling through to the next rung.
//
// Invariants: pure; equal inputs give equal results; a placed path lies inside the folder, is visible to the
// inventory, and two identities never share it unless they are plain and share the file on purpose.
package placement
