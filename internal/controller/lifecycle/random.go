// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import "math/rand"

// Random is for jitter.SetGlobalJitter, whose own default must not be used by several goroutines at once. This one draws
// from the runtime's source, which may.
func Random() *rand.Rand {
	return rand.New(sharedSource{}) //nolint:gosec // jitter needs no secrecy
}

type sharedSource struct{}

// Int63 implements rand.Source.
func (sharedSource) Int63() int64 { return rand.Int63() } //nolint:gosec // jitter needs no secrecy

// Seed implements rand.Source; the runtime's source seeds itself.
func (sharedSource) Seed(int64) {}
