// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package entry edits the images and replicas of kustomizations.
//
// One entry serves many objects. Wishes collects what the objects of a flush want, joins equal wishes, names those that
// cannot both come true, and then changes the decoded value of each kustomization once; the text is yamledit's business
// (git-writer 6.6, 6.7).
//
// Pure and deterministic.
package entry
