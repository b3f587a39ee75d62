// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package layout

// parsed is one kustomization file, independent of where it lies.
type parsed struct{}

// patchFacts is what matters of a patch file, independent of where it lies.
type patchFacts struct{}
