// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"maps"
	"slices"
)

// SourceNamespaces returns the namespaces of the source cluster that the rules of one GitTarget reach, sorted; just "*"
// when one of them reaches all. A folder that omits namespaces needs exactly one (git-writer 4.8).
func SourceNamespaces(rules []*Compiled) []string {
	found := map[string]struct{}{}
	for _, r := range rules {
		if r.Rule.Kind == ClusterWatchRule {
			// Cluster-scoped objects have no namespace to leave out.
			continue
		}
		for _, i := range r.items {
			if i.all {
				return []string{All}
			}
			for _, ns := range i.namespaces {
				found[ns] = struct{}{}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
