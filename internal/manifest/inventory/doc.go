// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package inventory knows what a folder holds: the role of every entry, the documents of every manifest, their
// identities, byte ranges and digests, and what is irregular (git-writer 2).
//
// Scan reads a tree once; with the Folder of an earlier tree it reads only trees and blobs whose ids changed. Apply
// gives the Folder after an edit without reading anything again. A Folder is an immutable, persistent value: the next
// one shares all but the changed directories and index pages.
//
// A Folder holds raw facts. What depends on the source cluster (is this kind namespaced?) is asked of a View, so that
// a changed catalog costs nothing and no refusal of a folder can depend on discovery (git-writer 3.1).
//
// Flow: plan scans, acceptance reads what is irregular, placement and the edits find their documents here.
//
// Paths are relative to the repository root; "" is the root. Bytes are never kept.
package inventory
