// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package claims decides who owns a branch of a repository and a folder on it, when several GitTargets name them.
//
// It is pure: the caller lists every GitTarget, unfiltered by any watch selector, and gets one verdict for each. The
// reconciler, the start of a worker and the sweep of workers ask the same function, so they cannot disagree.
package claims
