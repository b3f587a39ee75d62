// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs holds the documentation to the product: flags and defaults against the built binary, metrics against the
// golden file of internal/metrics, reasons against the constants in the code, links against the tree, and every example
// against the schemas of config/crd, defaults and CEL rules included.
package docs
