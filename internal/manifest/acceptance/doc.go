// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package acceptance answers whether the operator may write into a folder, and names what stands against it
// (git-writer 3).
//
// Check runs a literal chain of named checks over an inventory.Folder; CheckWrites runs those that need to know what
// a flush is about to write. Every Issue names its file, document and line, who can cure it and how. One issue is
// enough: nothing of the flush is written.
//
// Invariants: structural only (no refusal depends on discovery); the cost follows what is irregular, not the size of
// the folder; equal folders give equal issues in equal order; messages hold no file content.
package acceptance
