// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package targets reconciles GitTarget: it validates what the target names, declares it to its branch worker and to the
// watch, and shows in conditions and status what both report.
//
// The data plane is declared only after validation; a target that loses validity loses its streams and its worker, and
// no file. What the watch and the worker find out later arrives through their Dirty mailboxes as another pass.
package targets
