// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package lifecycle is the frame every reconciler of this operator shares: fetch the object, run its ordered steps,
// derive Ready, Reconciling and Stalled once from what the steps found, patch the status once, and report a change of
// Ready as one event and as metrics.
//
// Conditions and patches are those of fluxcd/pkg/runtime. Two habits differ from Flux on purpose: suspension is handled
// inside a pass, and the request annotation is this operator's own, so that poking a neighbour does not start a
// snapshot (api 1.2).
package lifecycle
