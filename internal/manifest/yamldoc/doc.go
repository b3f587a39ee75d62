// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package yamldoc reads YAML files without losing a byte: it cuts a file into its documents, parses one document into
// nodes that know their exact place, and decodes them the way kustomize and Flux do.
//
// Invariants:
//   - Split never fails and never drops a byte; the texts between the documents are kept as framing.
//   - Parse never panics, never expands an alias and refuses hostile depth, whatever the bytes are.
//   - A node's span is found by our own scanner over the same bytes the parser read; where it cannot be established the
//     document carries HazardUnmapped and is not edited, but its values and identity can still be read.
//
// It is the lowest layer of the manifest engine: compare, inventory, layout, yamledit, render and encryption read
// documents through it. It knows nothing of Kubernetes beyond the four fields of an identity.
package yamldoc
