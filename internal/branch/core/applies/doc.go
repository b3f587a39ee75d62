// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package applies keeps, for the appliers of one branch, which apply waits for
// which writes and which snapshots were gathered while Git was ahead of the
// cluster (apply 3.2, 3.6).
//
// It is part of the pure machine of branch/core and imports nothing of this
// module. The machine flushes up to the mark, then takes what is ready and
// hands it to the dispatcher.
package applies
