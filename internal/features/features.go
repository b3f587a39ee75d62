// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package features declares the feature gates of the operator. A gate exists only while a capability may still change
// or must be switched off in an emergency; its name appears in docs/README.md. This version has none.
package features

// FeatureGates returns the supported gates with their defaults.
func FeatureGates() map[string]bool { return map[string]bool{} }
