// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package yamledit changes one document of a YAML file so that it means a desired object, by splicing bytes.
//
// Flow: split (yamldoc) -> normalize (compare) -> walk nodes and desired value side by side into splices -> apply ->
// parse again and compare. What is not spliced is not touched: comments, blank lines, alignment, line ends, other
// documents. When the result does not mean what it should, the smallest enclosing node is written anew, then (only
// with AllowReplace) the document; else the edit is refused with an UneditableError. Design: editing.md I1 to I7.
//
// The one emitter of this package writes new documents (git-writer 1.6), inserted values in the style around them, and
// every scalar, so that what was created is never reformatted by its first update.
package yamledit
