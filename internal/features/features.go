// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package features declares the feature gates of the operator. A gate exists only while a capability may still change
// or must be switched off in an emergency; its name appears in docs/README.md.
package features

import feathelper "github.com/fluxcd/pkg/runtime/features"

const (
	// SkipInitialRecheck leaves out the read of each folder that follows the start of the operator. Without that read a
	// refused folder is reported only when something is written (api 17, gap A8).
	SkipInitialRecheck = "SkipInitialRecheck"
)

// gates maps each gate to its default.
var gates = map[string]bool{
	SkipInitialRecheck: false,
}

// FeatureGates returns the supported gates with their defaults.
func FeatureGates() map[string]bool { return gates }

// Enabled reports whether a gate is on. Unknown gates are off, with an error.
func Enabled(gate string) (bool, error) { return feathelper.Enabled(gate) }
