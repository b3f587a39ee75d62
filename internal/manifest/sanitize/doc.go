// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package sanitize turns a live object into the document that Git should hold.
//
// Flow: watch reads raw JSON, sanitize makes the desired form of it, and everything downstream (hashes, queues, plans,
// encryption, commits) sees only that form.
//
// Invariants:
//   - It is pure and never modifies its input.
//   - It works by a deny-list (decisions 21): what is not known to be the system's stays, so that the file, applied to an
//     empty cluster, gives an equal object.
//   - managedFields and the last-applied annotation are read as evidence of who set what before they are dropped.
//   - Three kinds of field (decisions 34): removed here for good, masked by a noise rule (change.Mask.Keep), and content.
//     A value the system allocates and nobody owns counts only where Git has it already (change.Mask.IfPresent).
//   - Objects that a noise rule skips come out Protected, with the rule's name and without a document (decisions 35).
//   - It is idempotent: a document that went through it once comes out unchanged.
package sanitize
