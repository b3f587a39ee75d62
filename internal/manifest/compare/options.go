// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package compare

import "github.com/configbutler/gitops-reverser/internal/change"

// Options are the facts a comparison needs. The zero value knows nothing of the type.
type Options struct {
	// Schema is the root schema of the type; nil when it is not known.
	Schema *change.Schema
	// BuiltIn reports that the API server itself serves the type: it drops empty maps and lists (decisions 41).
	BuiltIn bool
	Mask    change.Mask
}
