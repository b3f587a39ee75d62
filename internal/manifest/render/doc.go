// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package render builds kustomizations in memory and finds which input
// supplies a rendered value.
//
// It is the only package that imports kustomize, at the version Flux uses
// (decision 92). A build reads through Files, so it sees exactly the files of
// one tree plus the edits of a plan; plugins are off, nothing is fetched, a
// panic of the library is an error, and no file reaches the library before its
// aliases were checked (decision 94).
//
// Flow: plan asks for the render before an edit, for the owner of each value
// that differs, and for the render after; a Memo keyed by the blobs a build
// read answers the first from the previous flush.
package render
