// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package workspace is the folder of a GitTarget as a plan leaves it step by step.
//
// It finds documents in files that the same plan may have edited before, and
// edits kustomizations and patch files as people would: entries added, taken
// out and emptied lists removed, the text as it is otherwise. What to write and
// where is decided by package plan; nothing here refuses or reports.
//
// Pure: the tree below is read through an overlay, and nothing is written until
// the caller takes the changed files out of it.
package workspace
