// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package pack builds and reads Git objects as bytes: trees edited by splicing, deltas of trees and blobs, packs
// written as a stream and thin packs read in memory.
//
// Trees are never decoded and encoded: what an edit does not name keeps its bytes, modes and order included, and the
// edit is the delta. Input of the network is bounded and checked; nothing panics on damaged packs or trees.
package pack
