// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package layout understands the kustomizations of a folder without building them: which files each render root
// reaches, which namespace a build gives their documents, which kustomization governs a path, and which constructs
// the operator refuses to write through (git-writer 6.1-6.3, 6.11).
//
// Resolve starts at the kustomization files inside the folder (the jail) and follows resources and patches, above the
// folder if need be, never above the repository root, never through a symlink, never over the network. Parsed files
// are remembered by blob id in the Layout they were used for, so an unchanged kustomization is parsed once.
//
// Flow: inventory calls Resolve while it scans; acceptance refuses what Problems names; placement asks Governing and
// Roots; render builds the files Reads lists.
//
// Invariants: a Layout is immutable and safe for concurrent use; equal inputs give equal values; no input makes it
// panic, recurse without bound or expand an alias. Paths are relative to the repository root; "" is the root.
package layout
