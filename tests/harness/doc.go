// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package harness starts and stops the real parts that tests and the demo run against: etcd and kube-apiserver, Redis
// and the operator's own binary, each on free loopback ports with a private folder. The Git server is
// tests/gitserver.
//
// Nothing here is imported by the product. Every Start function returns only when the part answers; every Stop ends
// the process it started and no other.
package harness
