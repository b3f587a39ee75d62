// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"github.com/configbutler/gitops-reverser/internal/change"
)

// Verdict says whether a type may be watched (watch 4.1).
type Verdict string

// The verdicts.
const (
	Followable Verdict = "followable"
	Retained   Verdict = "retained"
	Pending    Verdict = "pending"
	Refused    Verdict = "refused"
	Unknown    Verdict = "unknown"
)

// Catalog is an immutable snapshot of what a source serves. It implements change.Kinds and rules.Catalog.
type Catalog struct {
	revision uint64
}

var _ change.Kinds = (*Catalog)(nil)

// Revision moves with every change of a fact or of a type's standing.
func (c *Catalog) Revision() uint64 { return c.revision }

// Ready is false until the first facts are known.
func (c *Catalog) Ready() bool { return false }

// Kind implements change.Kinds: the preferred served version of group and kind.
func (c *Catalog) Kind(group, kind string) (change.Type, bool) { return change.Type{}, false }

// Each calls yield for every known version of every type, ordered by group, resource and version, until it returns
// false.
func (c *Catalog) Each(yield func(t change.Type, preferred bool, verdict, reason string) bool) {}

// Degraded lists the group/versions whose discovery fails now, sorted.
func (c *Catalog) Degraded() []string { return nil }
