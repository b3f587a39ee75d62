// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// builtIn reports a group that the API server serves itself (watch 4.1).
func builtIn(group string) bool {
	switch group {
	case "", "apps", "batch", "autoscaling", "policy", "extensions":
		return true
	}
	return strings.HasSuffix(group, ".k8s.io")
}

type schemas struct{ source *Source }

var _ change.Schemas = (*schemas)(nil)

func newSchemas(s *Source) *schemas { return &schemas{source: s} }

func (s *schemas) reset() {}

func (s *schemas) load(context.Context, change.Type) error { return nil }

// Schema implements change.Schemas.
func (s *schemas) Schema(group, version, kind string) *change.Schema { return nil }

// BuiltIn implements change.Schemas.
func (s *schemas) BuiltIn(group string) bool { return builtIn(group) }
