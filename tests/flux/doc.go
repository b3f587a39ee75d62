// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package flux proves that what the operator writes is what Flux reads: the operator mirrors a namespace with encryption
// into a real Git repository, and Flux's own source-controller and kustomize-controller apply that repository into another
// namespace, decrypting with the generated age identity.
//
// The controllers are built by `make tools-appliers`. Without them the test is skipped with one line; with CI=true their
// absence is a failure (decisions 86).
package flux
