// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package transport carries Git's smart protocol over HTTP(S) and SSH for package gitstore: one exchange per call, with
// a deadline that also ends a stalled peer, credentials that never reach another host, and errors that say what kind
// of failure it was in the server's own words.
//
// Nothing of the host's Git or SSH configuration is read: no .gitconfig, no credential helper, no agent, no
// known_hosts. An HTTP(S) proxy of the environment is used when the credentials name none, as Flux does.
package transport
