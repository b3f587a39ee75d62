// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package message writes what a commit says: its message from the GitTarget's templates or a literal text, and its
// author and committer from what attribution found (git-writer 9).
//
// It is pure. Templates are checked by rendering them against samples, so that a template that would fail on a real
// commit is refused when the GitTarget is reconciled.
package message
