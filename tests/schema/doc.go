// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package schema holds the tests of the API's schema: what a real API server stores, defaults, prints and refuses.
//
// One API server serves the whole package. Tests are named after the scenarios of the API's specification; beside
// them a last test proves that every validation rule of every definition was seen both to refuse and to let pass.
package schema
