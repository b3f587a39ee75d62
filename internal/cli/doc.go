// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package cli holds the sub-commands of the binary. Called as flux-reverser they are a Flux CLI plugin (decisions 26).
//
// Data goes to standard output, progress and errors to standard error. Exit codes: 0 done, 1 a refusal, 2 misuse.
package cli
