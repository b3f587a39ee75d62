// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"path"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// valueNames returns the Helm values files an Argo CD Application (helm.valueFiles) or a Flux HelmRelease
// (spec.chart.spec.valuesFiles) names, each joined with the chart directory it may be relative to.
func valueNames(h yamldoc.Head, v any) []string {
	spec, _ := field(v, "spec").(map[string]any)
	switch {
	case h.Group == "argoproj.io" && h.Kind == "Application":
		sources, _ := spec["sources"].([]any)
		if s, ok := spec["source"]; ok {
			sources = append(slices.Clip(sources), s)
		}
		var out []string
		for _, s := range sources {
			base, _ := field(s, "path").(string)
			out = append(out, withBase(base, texts(field(s, "helm", "valueFiles")))...)
		}
		return out
	case h.Group == "helm.toolkit.fluxcd.io" && h.Kind == "HelmRelease":
		chart, _ := field(spec, "chart", "spec", "chart").(string)
		names := texts(field(spec, "chart", "spec", "valuesFiles"))
		return withBase(chart, append(names, texts(field(spec, "chart", "spec", "valuesFile"))...))
	}
	return nil
}

// withBase returns every name alone and joined with a base directory.
func withBase(base string, names []string) []string {
	var out []string
	for _, n := range names {
		// "$ref/path" reads another source of the same Application; it may be this repository.
		if strings.HasPrefix(n, "$") {
			_, n, _ = strings.Cut(n, "/")
		}
		if n == "" || strings.Contains(n, "://") {
			continue
		}
		out = append(out, n)
		if base != "" && !path.IsAbs(n) && !strings.Contains(base, "://") {
			out = append(out, "/"+path.Join(base, n))
		}
	}
	return out
}

// valuePaths returns every path of the repository the names in a file could mean: from the root, or beside the file.
func valuePaths(file string, names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, strings.Trim(path.Clean("/"+n), "/"))
		if !path.IsAbs(n) {
			if p := path.Join(path.Dir(file), n); !strings.HasPrefix(p, "..") {
				out = append(out, p)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func field(v any, keys ...string) any {
	for _, k := range keys {
		m, _ := v.(map[string]any)
		v = m[k]
	}
	return v
}

func texts(v any) []string {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
