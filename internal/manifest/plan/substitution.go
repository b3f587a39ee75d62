// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/configbutler/gitops-reverser/internal/manifest/render/token"
)

const fluxPrefix = "kustomize.toolkit.fluxcd.io/"

// explain looks at the document a live object is compared with (the file's, or the rendered one). Values that hold a
// substitution token stay and are reported when live differs.
func (p *planner) explain(s *subject, git any, path string) {
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
