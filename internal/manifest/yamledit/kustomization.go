// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import "github.com/configbutler/gitops-reverser/internal/change"

// KustomizationSchema describes the lists of a kustomization: entries with a name are matched by it, the sequence of
// every list is content. A kustomization is edited through Edit like any document, so that its layout and comments
// survive (git-writer 4.9).
func KustomizationSchema() *change.Schema {
	atomic := &change.Schema{ListType: "atomic"}
	byName := &change.Schema{ListType: "map", ListMapKeys: []string{"name"}, Ordered: true}
	s := &change.Schema{Properties: map[string]*change.Schema{}}
	for _, field := range []string{
		"resources", "bases", "components", "crds", "configurations", "generators", "transformers", "validators",
		"patches", "patchesStrategicMerge", "patchesJson6902", "labels", "replacements", "helmCharts", "buildMetadata",
	} {
		s.Properties[field] = atomic
	}
	for _, field := range []string{"images", "replicas", "configMapGenerator", "secretGenerator", "vars"} {
		s.Properties[field] = byName
	}
	return s
}
