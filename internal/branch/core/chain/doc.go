// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package chain keeps the pending writes of a branch in order, and which of
// them have a place in the present chain of local commits.
//
// The first Built writes are decided and stand on the base one after the other,
// each with its local commit or without a difference; the rest waits for its
// plan or its replay. Giving up local commits only ever shortens the built part,
// so no write can be pushed that is not rebuilt first. Writes that left the
// chain because the remote refused them are an Aside with a budget.
//
// It is part of the pure machine of branch/core and imports nothing.
package chain
