// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package gitserver runs a real Git server for tests and for the demo: git http-backend behind net/http, and
// git-upload-pack and git-receive-pack behind an in-process SSH server. It counts requests and bytes, injects faults
// (status codes, hangs, early closes, lost replies) and installs hooks.
//
// Repositories are plain bare folders made and read with the git command from PATH, in an environment of its own, so
// that what a test sees is Git's view and never this project's. Nothing here needs *testing.T; Start is the
// convenience for tests.
package gitserver
