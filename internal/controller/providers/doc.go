// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package providers reconciles what GitTargets build on: KubeProvider, a source cluster, and GitProvider, a repository.
// Both only check and report; neither reads objects nor writes commits.
package providers
