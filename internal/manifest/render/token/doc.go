// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package token knows the substitution tokens of Flux's postBuild, such as ${REGION}.
//
// A manifest with tokens does not say what the cluster gets. Explain walks a document and its live object together,
// keeps the file's text where a token stands, and names each token whose value the file does not give (git-writer 6.10,
// decision 48). Nothing here knows what a token stands for: freezing today's value would be wrong tomorrow.
//
// Pure; used by plan, before it compares.
package token
