// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Source is one source cluster. It is safe for concurrent use.
type Source struct {
	name string
}

// Name returns the KubeProvider's name.
func (s *Source) Name() string { return s.name }

// Catalog returns what the source serves, as far as it is known. Never nil; not Ready before the first scan.
func (s *Source) Catalog() *Catalog { return nil }

// Reachability returns the last observation.
func (s *Source) Reachability() Reachability { return Reachability{} }

// Refresh scans discovery once. The catalog keeps its facts when it fails.
func (s *Source) Refresh(ctx context.Context) error { return nil }

// Schemas answers field facts from the source's OpenAPI documents and the built-in table. Reading is lazy and cached
// by the API server's own hash.
func (s *Source) Schemas() change.Schemas { return nil }

// Reachability says whether the source answers (watch 2). Status is "True", "False" or "Unknown".
type Reachability struct {
	Status, Reason, Message string
}

// Reasons of SourceClusterReachable.
const (
	ReasonAwaitingDiscovery    = "AwaitingDiscovery"
	ReasonLocalCluster         = "LocalCluster"
	ReasonReachable            = "SourceClusterReachable"
	ReasonUnreachable          = "SourceClusterUnreachable"
	ReasonAuthenticationFailed = "SourceClusterAuthenticationFailed"
	ReasonAccessDenied         = "SourceClusterAccessDenied"
)
