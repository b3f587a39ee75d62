// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/configbutler/gitops-reverser/internal/manifest/render"
	"github.com/configbutler/gitops-reverser/internal/manifest/render/token"
)

// directives are what people tell kustomize-controller in the file itself. Sanitizing takes them for the applier's own
// marks, so an edit must not remove them.
var directives = []string{"force", "prune", "reconcile", "ssa", "substitute"}

const fluxPrefix = "kustomize.toolkit.fluxcd.io/"

// explain looks at the document a live object is compared with (the file's, or the rendered one). Values that hold a
// substitution token stay and are reported when live differs.
func (p *planner) explain(s *subject, git any, path string) {
	keepDirectives(s, git)
	if substitutionOff(git) {
		return
	}
	v, found := token.Explain(git, s.live, p.req.Policy.EscapeSubstitution)
	if m, ok := v.(map[string]any); ok {
		s.live = m
	}
	for _, f := range found {
		p.res.Divergences = append(p.res.Divergences, Divergence{Object: s.id, Path: path, Field: f.Field, Token: f.Token})
	}
}

// keepDirectives masks the directives of a document, so that it keeps them.
func keepDirectives(s *subject, git any) {
	for _, field := range []string{"labels", "annotations"} {
		have := metadata(git, field)
		for _, d := range directives {
			key := fluxPrefix + d
			if _, ok := have[key]; !ok {
				continue
			}
			ptr := "/metadata/" + field + "/" + render.EscapePointer(key)
			if !slices.Contains(s.options.Mask.Keep, ptr) {
				s.options.Mask.Keep = append(slices.Clone(s.options.Mask.Keep), ptr)
			}
		}
	}
}

// substitutionOff reports that the document asks Flux not to substitute in it.
func substitutionOff(v any) bool {
	for _, field := range []string{"labels", "annotations"} {
		if metadata(v, field)[fluxPrefix+"substitute"] == "disabled" {
			return true
		}
	}
	return false
}

func metadata(v any, field string) map[string]any {
	m, _ := v.(map[string]any)
	meta, _ := m["metadata"].(map[string]any)
	out, _ := meta[field].(map[string]any)
	return out
}
