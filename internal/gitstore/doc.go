// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package gitstore is the bare object store of one repository branch: it reads the remote's tip, fetches the one
// commit that the next plan reads, builds commits by rewriting only the trees on the edited paths, and publishes them
// with a compare-and-swap push.
//
// Invariants:
//   - A cache, not a record (decisions 95): the folder is wiped by New, nothing is synced to disk for safety, no ref is
//     ever written. The remote is the truth; what the store saw of it are fields.
//   - The fetched base is one pack on disk; what came after it, fetched or committed, is an overlay in memory.
//   - A push never forces: the server compares the expected old id (decisions 19).
//   - Every network call ends: at its deadline, or when its context does, on a stalled peer too.
//   - The host's Git configuration, hooks and credential helpers have no effect; the git command is never run.
//
// One goroutine owns a Store: neither it nor go-git's storage has locks. Stats and Remote are the owner's as well.
//
// The package knows nothing of Kubernetes or manifests. In the flow it is the last station: branch (worker) -> gitstore
// -> the remote.
package gitstore
