// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Verdict says whether a type may be watched (watch 4.1).
type Verdict string

// The verdicts.
const (
	Followable Verdict = "followable"
	// Retained: its facts are not trusted now; streams stay and a target that claims it is not planned anew.
	Retained Verdict = "retained"
	// Pending: seen for less than the settling time.
	Pending Verdict = "pending"
	Refused Verdict = "refused"
)

// Reason codes of the funnel (watch 4.1).
const (
	ReasonNotServed         = "not-served"
	ReasonSubresourceOnly   = "subresource-only"
	ReasonDiscoveryDegraded = "discovery-degraded"
	ReasonSettling          = "settling"
	ReasonGVKNotUnique      = "gvk-not-unique"
	ReasonGVRNotUnique      = "gvr-not-unique"
	ReasonScopeUnknown      = "scope-unknown"
	ReasonMissingVerb       = "missing-verb"
	ReasonDeniedByPolicy    = "denied-by-policy"
	// ReasonNamedOnly accompanies Followable: wildcards skip the type (watch 4.2).
	ReasonNamedOnly = "named-only"
)

// entry is one served version of one type. It is comparable, so that two catalogs can be compared.
type entry struct {
	Type      change.Type
	Preferred bool
	Verdict   Verdict
	Reason    string
}

// Catalog is an immutable snapshot of what a source serves. It implements change.Kinds and rules.Catalog.
type Catalog struct {
	revision uint64
	ready    bool
	// entries are sorted by group, resource and version.
	entries  []entry
	degraded []string
	kinds    map[[2]string]change.Type
}

var _ change.Kinds = (*Catalog)(nil)

// Revision moves with every change of a fact or of a type's standing.
func (c *Catalog) Revision() uint64 { return c.revision }

// Ready is false until the first facts are known.
func (c *Catalog) Ready() bool { return c.ready }

// Kind implements change.Kinds: the preferred served version of group and kind, else the lowest version that serves it.
// Types that may not be watched are known too: a folder can hold them.
func (c *Catalog) Kind(group, kind string) (change.Type, bool) {
	t, ok := c.kinds[[2]string{group, kind}]
	return t, ok
}

// Each calls yield for every known version of every type, ordered by group, resource and version, until it returns
// false. reason is empty for a plainly followable type.
func (c *Catalog) Each(yield func(t change.Type, preferred bool, verdict, reason string) bool) {
	for _, e := range c.entries {
		if !yield(e.Type, e.Preferred, string(e.Verdict), e.Reason) {
			return
		}
	}
}

// Degraded lists the group/versions whose discovery fails now, sorted.
func (c *Catalog) Degraded() []string { return c.degraded }

// Standing returns the verdict and reason of one served version; Refused and ReasonNotServed when it is not known.
func (c *Catalog) Standing(t change.Type) (Verdict, string) {
	i, ok := slices.BinarySearchFunc(c.entries, t, func(e entry, t change.Type) int { return compareTypes(e.Type, t) })
	if !ok {
		return Refused, ReasonNotServed
	}
	return c.entries[i].Verdict, c.entries[i].Reason
}

// counts returns the sizes behind the catalog gauges.
func (c *Catalog) counts() (allowed, excluded, trusted, degraded int) {
	versions := map[string]bool{}
	for _, e := range c.entries {
		if e.Verdict == Refused && e.Reason == ReasonDeniedByPolicy {
			excluded++
		} else {
			allowed++
		}
		versions[e.Type.APIVersion()] = true
	}
	for _, d := range c.degraded {
		delete(versions, d)
	}
	return allowed, excluded, len(versions), len(c.degraded)
}

func compareTypes(a, b change.Type) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Version, b.Version))
}

// deniedResources are never followed, at any version (watch 4.2).
var deniedResources = map[[2]string]bool{
	{"", "pods"}:                                    true,
	{"", "events"}:                                  true,
	{"", "endpoints"}:                               true,
	{"events.k8s.io", "events"}:                     true,
	{"discovery.k8s.io", "endpointslices"}:          true,
	{"coordination.k8s.io", "leases"}:               true,
	{"apps", "controllerrevisions"}:                 true,
	{"flowcontrol.apiserver.k8s.io", "flowschemas"}: true,
	{"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"}: true,
	{"batch", "jobs"}: true,
}

// namedOnlyResources are followed only when a rule names them (watch 4.2).
var namedOnlyResources = map[[2]string]bool{
	{"batch", "cronjobs"}:                 true,
	{"configbutler.ai", "commitrequests"}: true,
}
