// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster is the connection to one source cluster, keyed by the name
// of its KubeProvider: transport and limits, the discovery catalog with its
// funnel of followable types, schema facts, and whether it can be reached.
//
// Flow: a controller sets a Source's Config in Sources; the watch acquires the
// Source of each GitTarget, plans against its Catalog and opens streams with
// Open. The last release drops the connection.
//
// Invariants: a Catalog is an immutable value with a revision that moves only
// when a fact moves. Failing to look is not seeing nothing: a group whose
// discovery fails keeps its last facts, and a type that is gone from a complete
// scan stays for a grace of 60 s. Nothing here lists objects on its own.
package cluster
