// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package sim tries to break branch/core. It holds tests only.
//
// A seed makes a world: a model cluster whose objects change, a model remote
// that accepts, refuses, loses replies, stalls, is down, is moved by other
// writers or wiped, watch streams that offer changes and snapshots, commit
// requests, people who reconfigure and suspend targets, and kills that leave
// the remote and start a new machine from stored cursors and snapshots. A
// driver plays the runner. After every step the invariants are checked; when
// the faults end, everything must drain and the folders must equal the cluster.
// Each seed runs twice and both runs must produce the same effects.
//
// go test runs a bounded share; SIM_SEED chooses the first seed and SIM_N the
// number of histories, SIM_TRACE=1 prints a failing history from its beginning.
package sim
