// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"regexp"
	"slices"

	"sigs.k8s.io/kustomize/api/types"
)

// unsupported names the first construct of a kustomization that is never built (git-writer 6.2), and why. The folder's
// acceptance reports all of them with positions; this check is the last line before the library.
func unsupported(k *types.Kustomization) (construct, detail string) {
	if k.Kind == types.ComponentKind {
		return "components", "a component is no render root and no base"
	}
	for _, c := range []struct {
		name string
		used bool
	}{
		{"openapi", len(k.OpenAPI) > 0},
		{"crds", len(k.Crds) > 0},
		{"configurations", len(k.Configurations) > 0},
		{"components", len(k.Components) > 0},
		{"configMapGenerator", len(k.ConfigMapGenerator) > 0},
		{"secretGenerator", len(k.SecretGenerator) > 0},
		{"generators", len(k.Generators) > 0},
		{"transformers", len(k.Transformers) > 0},
		{"validators", len(k.Validators) > 0},
		{"replacements", len(k.Replacements) > 0},
		{"vars", len(k.Vars) > 0},
		{"namePrefix", k.NamePrefix != ""},
		{"nameSuffix", k.NameSuffix != ""},
		{"patchesStrategicMerge", len(k.PatchesStrategicMerge) > 0},
		{"patchesJson6902", len(k.PatchesJson6902) > 0},
		{"helmCharts", len(k.HelmCharts) > 0},
		{"helmGlobals", k.HelmGlobals != nil},
		{"helmChartInflationGenerator", len(k.HelmChartInflationGenerator) > 0},
	} {
		if c.used {
			return c.name, "this field is not supported"
		}
	}
	for i, p := range k.Patches {
		switch {
		case p.Path == "":
			return "patches", fmt.Sprintf("patch %d is written inline; only patches with a path are supported", i)
		case p.Options != nil && (p.Options.AllowNameChange || p.Options.AllowKindChange):
			return "patches", fmt.Sprintf("patch %d may change names or kinds", i)
		}
	}
	return malformed(k)
}

func malformed(k *types.Kustomization) (construct, detail string) {
	for i, im := range k.Images {
		if im.Name == "" || im.TagSuffix != "" {
			return "images", fmt.Sprintf("entry %d has no name or a tagSuffix", i)
		}
		if _, err := regexp.Compile("^" + im.Name + "$"); err != nil {
			return "images", fmt.Sprintf("entry %d: the name %q is read as a pattern and is none", i, im.Name)
		}
	}
	for i, r := range k.Replicas {
		if r.Name == "" || r.Count < 0 {
			return "replicas", fmt.Sprintf("entry %d has no name or a negative count", i)
		}
	}
	known := []string{types.OriginAnnotations, types.TransformerAnnotations, types.ManagedByLabelOption}
	for _, m := range k.BuildMetadata {
		if !slices.Contains(known, m) {
			return "buildMetadata", fmt.Sprintf("%q is not known", m)
		}
	}
	return "", ""
}
