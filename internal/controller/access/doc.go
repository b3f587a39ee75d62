// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package access answers, for every controller alike, which providers a GitTarget may use and which branch and folder
// it owns. Every input is an object of the control cluster. A read that fails is an error, never a refusal: nothing
// moves on it.
package access
