// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
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

// standIn returns the document whose name or namespace becomes an object's when its tokens are replaced; nil when there
// is none. A second document would give the object twice (case K18).
func (p *planner) standIn(id change.ObjectID) *inventory.Document {
	if !p.tokensLooked {
		p.tokensLooked = true
		for d := range p.Folder.Documents() {
			if d.Content == inventory.Managed && (token.Holds(d.Raw.Name) || token.Holds(d.Raw.Namespace)) {
				p.tokens = append(p.tokens, d)
			}
		}
	}
	for _, d := range p.tokens {
		r := d.Raw
		if r.Group == id.Group && r.Kind == id.Kind && token.Matches(r.Name, id.Name) &&
			(r.Namespace == "" || token.Matches(r.Namespace, id.Namespace)) {
			return d
		}
	}
	return nil
}
