// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e plays the users' journeys against the built binary, a real API server and a real Git server. Each spec
// has a namespace and a repository of its own; the operator is one process that some specs kill and start again.
package e2e
