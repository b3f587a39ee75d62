// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package token

import (
	"maps"
	"reflect"
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
		if l, ok := live.(map[string]any); ok {
			return e.object(g, l, ptr)
		}
	case []any:
		if l, ok := live.([]any); ok {
			return e.list(g, l, ptr, field)
		}
	default:
		return e.fresh(live)
	}
	// Another kind of value stands where the file has tokens: they stay.
	if e.lost(git, ptr) {
		return git
	}
	return e.fresh(live)
}

func (e *explainer) object(g, l map[string]any, ptr string) any {
	for _, k := range slices.Sorted(maps.Keys(g)) {
		at := ptr + "/" + escapePointer(k)
		if v, ok := l[k]; ok {
			l[k] = e.walk(g[k], v, at, k)
		} else if e.lost(g[k], at) {
			l[k] = g[k]
		}
	}
	for k, v := range l {
		if _, ok := g[k]; !ok {
			l[k] = e.fresh(v)
		}
	}
	return l
}

// list pairs the items of the file with those of live: by keys, by position when the lengths agree, else from both ends
// as far as the items are each other. A token in an item without a counterpart is reported, and what holds it stays.
func (e *explainer) list(g, l []any, ptr, field string) any {
	keys := compare.ListKeys(nil, field, g, l)
	pairs := pairItems(g, l, keys)
	if pairs == nil {
		if e.lost(g, ptr) {
			return g
		}
		pairs = map[int]int{}
	}
	out := make([]any, len(l))
	paired := make([]bool, len(g))
	for i, v := range l {
		if j, ok := pairs[i]; ok {
			paired[j] = true
			out[i] = e.walk(g[j], v, ptr+"/"+strconv.Itoa(j), field)
		} else {
			out[i] = e.fresh(v)
		}
	}
	for j, c := range g {
		if !paired[j] && e.lost(c, ptr+"/"+strconv.Itoa(j)) {
			out = slices.Insert(out, min(j, len(out)), c)
		}
	}
	return out
}

// pairItems maps positions in live to positions in the file; nil when the lists cannot be paired and it matters.
func pairItems(g, l []any, keys []string) map[int]int {
	pairs := map[int]int{}
	switch {
	case len(keys) > 0:
		used := make([]bool, len(g))
		for _, same := range []func(a, b any) bool{
			func(a, b any) bool { return sameKeys(a, b, keys) },
			// The key itself may be a token.
			func(a, b any) bool { return matchKeys(a, b, keys) },
		} {
			for i, v := range l {
				if _, ok := pairs[i]; ok {
					continue
				}
				if j := slices.IndexFunc(g, func(c any) bool { return same(c, v) }); j >= 0 && !used[j] {
					pairs[i], used[j] = j, true
				}
			}
		}
	case len(g) == len(l):
		for i := range l {
			pairs[i] = i
		}
	default:
		head, tail := 0, 0
		for n := min(len(g), len(l)); head < n && matches(g[head], l[head]); head++ {
			pairs[head] = head
		}
		for n := min(len(g), len(l)) - head; tail < n && matches(g[len(g)-1-tail], l[len(l)-1-tail]); tail++ {
			pairs[len(l)-1-tail] = len(g) - 1 - tail
		}
		if Holds(g[head:len(g)-tail]) && head+tail < len(l) {
			return nil
		}
	}
	return pairs
}

// Holds reports whether a token stands anywhere in a value.
func Holds(v any) bool {
	switch t := v.(type) {
	case string:
		return token.MatchString(t)
	case map[string]any:
		for _, e := range t {
			if Holds(e) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(t, Holds)
	}
	return false
}

// Matches reports whether a text can be what becomes of another one when its tokens are replaced.
func Matches(pattern, text string) bool {
	rest, first := text, true
	for {
		at := token.FindStringIndex(pattern)
		if at == nil {
			return rest == pattern || !first && strings.HasSuffix(rest, pattern)
		}
		literal := pattern[:at[0]]
		pattern = pattern[at[1]:]
		i := strings.Index(rest, literal)
		if i < 0 || first && i > 0 {
			return false
		}
		rest, first = rest[i+len(literal):], false
	}
}

// matches reports whether a live value can be what becomes of a value of the file.
func matches(git, live any) bool {
	switch g := git.(type) {
	case string:
		l, ok := live.(string)
		return ok && (g == l || unescape(g) == l || Matches(g, l)) || !ok && scalar(live) && token.MatchString(g)
	case map[string]any:
		l, ok := live.(map[string]any)
		if !ok || len(g) != len(l) {
			return false
		}
		for k, v := range g {
			if other, ok := l[k]; !ok || !matches(v, other) {
				return false
			}
		}
		return true
	case []any:
		l, ok := live.([]any)
		return ok && slices.EqualFunc(g, l, matches)
	}
	return reflect.DeepEqual(git, live)
}

// matchKeys is sameKeys where a key of the file may be a token.
func matchKeys(git, live any, keys []string) bool {
	x, ok1 := git.(map[string]any)
	y, ok2 := live.(map[string]any)
	if !ok1 || !ok2 {
		return false
	}
	for _, k := range keys {
		if !matches(x[k], y[k]) {
			return false
		}
	}
	return true
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

// lost reports the tokens of a part of the file that the live object does not have at all, and whether there are any.
func (e *explainer) lost(git any, ptr string) bool {
	before := len(e.found)
	switch g := git.(type) {
	case string:
		if t := token.FindString(g); t != "" {
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
	return len(e.found) > before
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
		if !reflect.DeepEqual(x[k], y[k]) {
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
