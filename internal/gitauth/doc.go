// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package gitauth turns Secrets into what a Git transport authenticates with: plain maps in, values out. It reads no
// cluster and keeps no state; callers resolve anew for every network cycle, so a rotated Secret is used at once.
//
// Three dialects are understood side by side: Kubernetes' own Secret types, Flux's keys and Argo CD's repository
// Secrets. The family is chosen by the scheme of the URL first (decisions 56): https takes a GitHub App, then a bearer
// token, then basic; ssh takes a key. A Secret that holds nothing for the scheme is an error, never anonymous access.
//
// Invariants:
//   - Everything fails closed: no known host keys, an unreadable one, or credentials over plain http are errors.
//   - Errors are *Error with a condition reason and a cure; they never hold a secret value.
//   - No file, environment variable or agent is read. (The HTTP transport itself follows the process's proxy
//     environment when no proxy is given.)
//
// Package signing holds the signers of commits.
package gitauth
