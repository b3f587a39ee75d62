// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package state keeps in Redis (or Valkey) what must outlive the process and does not belong into Git. Redis is
// optional: without it everything works, and what it would have saved is done again after a restart.
//
// Kept so far: the keyed digests of encrypted documents (encryption.Digests), by which an operator that cannot decrypt
// knows after a restart that a Secret did not change (decisions 20, 53). They are useless without the digest key, which
// stands in a Secret of the operator's namespace and never in Redis.
//
// Invariants: no call blocks for longer than a second or two, and a server that does not answer is not asked again for a
// while; errors never hold the password; no object's name, value or unkeyed digest of either reaches Redis.
package state
