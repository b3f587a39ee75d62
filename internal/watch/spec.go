// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
)

// TargetSpec is what a GitTarget's controller declares.
type TargetSpec struct {
	Key change.TargetKey
	// Source is the KubeProvider's name.
	Source string
	// Sink is the branch worker; another Sink than before means fresh snapshots of every collection.
	Sink Sink
	// Attributor is nil with attribution off.
	Attributor Attributor
	// Stamp is read before each snapshot is gathered; nil gives the zero Stamp.
	Stamp func() Stamp
	// PruneMode is spec.prune.mode; a change to "Always" takes a fresh snapshot of every collection.
	PruneMode string
	// Ignore is spec.ignore.
	Ignore sanitize.Config
	// Withheld types open no stream and are reported as blocked (decision 52).
	Withheld []Withheld
}

// Withheld is a type that must not be streamed now.
type Withheld struct {
	Group, Resource string
	Reason, Message string
}

// Collection is one stream of a plan. Its fields are those of rules.Collection, so one converts into the other.
type Collection struct {
	Type change.Type
	// Namespace is empty for all namespaces and for cluster-scoped types.
	Namespace string
	// Selector is the canonical label selector the API server applies; empty when there is none or when Clauses decide.
	Selector string
	// Clauses are evaluated in process, one of them must match; empty means every object and Operations.
	Clauses []Clause
	// Operations is the union over all rules, in the order CREATE, UPDATE, DELETE.
	Operations []change.Operation
	// Named is true when at least one rule names the resource, false when only wildcards select it.
	Named bool
}

// Clause is one selection of objects with the operations it wants.
type Clause struct {
	Selector   string
	Operations []change.Operation
}

// Cell returns the collection's scope.
func (c Collection) Cell() change.Cell {
	return change.Cell{Group: c.Type.Group, Resource: c.Type.Resource, Namespace: c.Namespace}
}

// Plan is what a target should watch.
type Plan struct {
	Collections []Collection
	// Retained lists claimed types whose facts are not trusted now. Non-empty aborts the pass: current streams stay.
	Retained []string
}

// Planner resolves what a target's rules select. It should not block: ctx ends after 30 s. An error aborts the pass: current streams
// stay and it is tried again after 2, 5, 10, 30, 60 s.
type Planner interface {
	Plan(ctx context.Context, target change.TargetKey, c *cluster.Catalog) (Plan, error)
}
