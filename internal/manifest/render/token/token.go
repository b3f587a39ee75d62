// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package token

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
	// dollars are what an envsubst reader takes for the start of a token or halves: any run of dollars.
	dollars = regexp.MustCompile(`\$+\{?`)
)

// Finding is a token that the file does not resolve to the live value.
type Finding struct {
	// Field is a JSON pointer into the file's document, Token the text such as "${REGION}".
	Field, Token string
}

// Explain returns live with the file's own text wherever a token stands in it, and the tokens whose live value is
// different or absent. escape escapes what is new in the file. live is modified.
func Explain(git, live any, escape bool) (any, []Finding) {
	e := explainer{escape: escape}
	v := e.walk(git, live, "", "")
	return v, e.found
}

type explainer struct {
	escape bool
	found  []Finding
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
			// Without keys and with another length only equal scalars are known to be each other.
			j = slices.IndexFunc(g, func(c any) bool { return scalar(v) && scalar(c) && c == v })
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
	if isText && (l == git || unescape(git) == l) {
		return git
	}
	for _, t := range token.FindAllString(git, -1) {
		// A token that stands in the live value as it is was not substituted by anything: it is text like any other.
		if isText && strings.Contains(l, t) {
			continue
		}
		e.found = append(e.found, Finding{Field: ptr, Token: t})
		return git
	}
	return e.fresh(live)
}

// lost reports the tokens of a part of the file that the live object does not have at all.
func (e *explainer) lost(git any, ptr string) {
	switch g := git.(type) {
	case string:
		if t := token.FindString(git.(string)); t != "" {
			e.found = append(e.found, Finding{Field: ptr, Token: t})
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
	return Escape(v)
}

// Escape writes values so that an envsubst reader gives them back: it doubles dollars in front of a brace, and runs of
// dollars, which such a reader halves.
func Escape(v any) any {
	switch t := v.(type) {
	case string:
		return dollars.ReplaceAllStringFunc(t, func(m string) string {
			n := strings.Count(m, "$")
			if n == 1 && len(m) == 1 {
				return m
			}
			return strings.Repeat("$", n) + m
		})
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, e := range t {
			out[k] = Escape(e)
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = Escape(e)
		}
		return out
	}
	return v
}

// unescape is what an envsubst reader makes of a text without looking at its tokens.
func unescape(s string) string {
	return dollars.ReplaceAllStringFunc(s, func(m string) string {
		n := strings.Count(m, "$")
		if n == 1 || n%2 == 1 && len(m) > n {
			return m
		}
		return m[n/2:]
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

func scalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}
