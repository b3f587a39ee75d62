// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
)

var (
	token = regexp.MustCompile(`\$\{[^{}]+\}`)
	// dollars are what an envsubst reader would take for the start of a token or for an escaped one.
	dollars = regexp.MustCompile(`\$+\{`)
)

// directives are what people tell kustomize-controller in the file itself. Sanitizing takes them for the applier's own
// marks, so an edit must not remove them.
var directives = []string{"force", "prune", "reconcile", "ssa", "substitute"}

const fluxPrefix = "kustomize.toolkit.fluxcd.io/"

// explain looks at the document a live object is compared with (the file's, or the rendered one). Values that hold a
// substitution token stay and are reported when live differs (git-writer 6.10, decision 48): nothing here knows what
// the token stands for, and freezing today's value would be wrong tomorrow.
func (p *planner) explain(s *subject, git any, path string) {
	if substitutionOff(git) {
		keepDirectives(s, git)
		return
	}
	keepDirectives(s, git)
	e := explainer{escape: p.req.Policy.EscapeSubstitution, options: s.options}
	if v, ok := e.walk(git, s.live, "", "").(map[string]any); ok {
		s.live = v
	}
	for _, f := range e.found {
		f.Object, f.Path = s.id, path
		p.res.Divergences = append(p.res.Divergences, f)
	}
}

func keepDirectives(s *subject, git any) {
	m, _ := git.(map[string]any)
	meta, _ := m["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations"} {
		have, _ := meta[field].(map[string]any)
		for _, d := range directives {
			key := fluxPrefix + d
			if _, ok := have[key]; !ok {
				continue
			}
			if ptr := "/metadata/" + field + "/" + escapePointer(key); !slices.Contains(s.options.Mask.Keep, ptr) {
				s.options.Mask.Keep = append(slices.Clone(s.options.Mask.Keep), ptr)
			}
		}
	}
}

// substitutionOff reports that the document asks Flux not to substitute in it.
func substitutionOff(v any) bool {
	m, _ := v.(map[string]any)
	meta, _ := m["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations"} {
		have, _ := meta[field].(map[string]any)
		if have[fluxPrefix+"substitute"] == "disabled" {
			return true
		}
	}
	return false
}

type explainer struct {
	escape  bool
	options compare.Options
	found   []Divergence
}

// walk returns live with the file's text where a token stands there. field is the key of the closest list or value.
func (e *explainer) walk(git, live any, ptr, field string) any {
	switch g := git.(type) {
	case string:
		return e.text(g, live, ptr)
	case map[string]any:
		l, ok := live.(map[string]any)
		if !ok {
			e.lost(git, ptr)
			return live
		}
		return e.object(g, l, ptr)
	case []any:
		l, ok := live.([]any)
		if !ok {
			e.lost(git, ptr)
			return live
		}
		return e.list(g, l, ptr, field)
	}
	return e.fresh(live)
}

func (e *explainer) object(g, l map[string]any, ptr string) any {
	for _, k := range slices.Sorted(maps.Keys(g)) {
		at := ptr + "/" + escapePointer(k)
		v, ok := l[k]
		if !ok {
			n := len(e.found)
			if e.lost(g[k], at); len(e.found) > n {
				l[k] = g[k]
			}
			continue
		}
		l[k] = e.walk(g[k], v, at, k)
	}
	for k, v := range l {
		if _, ok := g[k]; !ok {
			l[k] = e.fresh(v)
		}
	}
	return l
}

func (e *explainer) list(g, l []any, ptr, field string) any {
	keys := compare.ListKeys(nil, field, g, l)
	for i, v := range l {
		j := i
		if len(keys) > 0 {
			j = slices.IndexFunc(g, func(c any) bool { return sameKeys(c, v, keys) })
		} else if len(g) != len(l) {
			j = slices.IndexFunc(g, func(c any) bool { return c == v })
			if !comparable1(v) {
				j = -1
			}
		}
		if j < 0 || j >= len(g) {
			l[i] = e.fresh(v)
			continue
		}
		l[i] = e.walk(g[j], v, ptr+"/"+strconv.Itoa(j), field)
	}
	if len(keys) == 0 {
		return l
	}
	for j, c := range g {
		if !slices.ContainsFunc(l, func(v any) bool { return sameKeys(c, v, keys) }) {
			e.lost(c, ptr+"/"+strconv.Itoa(j))
		}
	}
	return l
}

// text settles one scalar of the file.
func (e *explainer) text(git string, live any, ptr string) any {
	l, isText := live.(string)
	if isText && (l == git || unescapeTokens(git) == l) {
		return git
	}
	for _, t := range token.FindAllString(git, -1) {
		// A token that stands in the live value as it is was not substituted by anything: it is text like any other.
		if isText && strings.Contains(l, t) {
			continue
		}
		e.found = append(e.found, Divergence{Field: ptr, Token: t})
		return git
	}
	return e.fresh(live)
}

// lost reports the tokens of a part of the file that the live object does not have at all.
func (e *explainer) lost(git any, ptr string) {
	switch g := git.(type) {
	case string:
		if t := token.FindString(git.(string)); t != "" {
			e.found = append(e.found, Divergence{Field: ptr, Token: t})
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(g)) {
			e.lost(g[k], ptr+"/"+escapePointer(k))
		}
	case []any:
		for i, v := range g {
			e.lost(v, ptr+"/"+strconv.Itoa(i))
		}
	}
}

// fresh returns a value that is new in the file.
func (e *explainer) fresh(v any) any {
	if !e.escape {
		return v
	}
	return escapeTokens(v)
}

// escapeTokens doubles the dollars in front of a brace, which an envsubst reader halves again.
func escapeTokens(v any) any {
	switch t := v.(type) {
	case string:
		return dollars.ReplaceAllStringFunc(t, func(m string) string { return strings.Repeat("$", 2*(len(m)-1)) + "{" })
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, e := range t {
			out[k] = escapeTokens(e)
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = escapeTokens(e)
		}
		return out
	}
	return v
}

func unescapeTokens(s string) string {
	return dollars.ReplaceAllStringFunc(s, func(m string) string {
		if n := len(m) - 1; n%2 == 0 {
			return strings.Repeat("$", n/2) + "{"
		}
		return m
	})
}

func escapePointer(k string) string {
	return strings.ReplaceAll(strings.ReplaceAll(k, "~", "~0"), "/", "~1")
}

func sameKeys(a, b any, keys []string) bool {
	x, ok1 := a.(map[string]any)
	y, ok2 := b.(map[string]any)
	if !ok1 || !ok2 {
		return false
	}
	for _, k := range keys {
		if x[k] != y[k] {
			return false
		}
	}
	return true
}

func comparable1(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}
