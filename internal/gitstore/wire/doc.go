// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package wire reads and writes the messages of Git's smart protocol: packet lines, sidebands, the advertisement and
// the fetch of protocol v0, ls-refs and fetch of protocol v2, and the command and report of receive-pack.
//
// It is pure: readers and bytes in, bytes and values out. Input comes from servers nobody vouches for, so every length
// is checked, text is bounded, and nothing panics (fuzzed). Object ids are SHA-1; a SHA-256 repository is
// ErrObjectFormat (decisions 64).
package wire
