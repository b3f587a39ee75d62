// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifest is the pure side of the operator: what a Git folder holds and which bytes a live change requires.
// Bytes go in, bytes come out; nothing below it knows a client, a clock, a goroutine or a remote.
//
// This root holds the read-only view of a Git tree that every engine below works on.
package manifest
