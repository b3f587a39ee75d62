// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package kstatus asks Flux's own checker whether the conditions of an object are legal, so that every test that looks
// at a status means the same by it.
package kstatus
