// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package roundtrip proves the promise of sanitizing on a real API server: a document written from a live object,
// applied where the object is not, gives an equal object, and what the server allocated is not in it.
package roundtrip
