// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package metrics declares every Prometheus metric of the operator, so that names and labels stand in one place and a
// golden test can hold them still. It is a leaf: packages report through small interfaces they declare themselves, and
// main joins them here.
//
// Labels name configuration (a GitTarget, a GitProvider, a branch) and API types, never a file path and never a
// mirrored object. Series end with the object they describe.
package metrics
