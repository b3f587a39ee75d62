// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import "github.com/configbutler/gitops-reverser/internal/change"

// Offline holds field facts that were read from files instead of a source cluster, for the offline commands. It gives
// what a source with the same OpenAPI documents would give. It is safe for concurrent use once it is filled.
type Offline struct {
	kinds map[kindKey]*change.Schema
}

var _ change.Schemas = (*Offline)(nil)

// NewOffline returns a holder that knows nothing.
func NewOffline() *Offline { return &Offline{kinds: map[kindKey]*change.Schema{}} }

// Add reads an OpenAPI v3 document. builtIn adds the table of defaults that the API server applies without saying so.
func (o *Offline) Add(document []byte, builtIn bool) error {
	kinds, err := parseOpenAPI(document, builtIn)
	for k, s := range kinds {
		o.kinds[k] = s
	}
	return err
}

// Schema implements change.Schemas.
func (o *Offline) Schema(group, version, kind string) *change.Schema {
	return o.kinds[kindKey{group, version, kind}]
}

// BuiltIn implements change.Schemas.
func (o *Offline) BuiltIn(group string) bool { return builtInGroups[group] }
