// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
)

// EscapePointer writes a key as a segment of a JSON pointer.
func EscapePointer(k string) string {
	return strings.ReplaceAll(strings.ReplaceAll(k, "~", "~0"), "/", "~1")
}

func segments(ptr string) []string {
	if ptr == "" {
		return nil
	}
	parts := strings.Split(ptr[1:], "/")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(p, "~1", "/"), "~0", "~")
	}
	return parts
}

// At returns the value at a pointer.
func At(v any, ptr string) (any, bool) {
	for _, s := range segments(ptr) {
		switch t := v.(type) {
		case map[string]any:
			e, ok := t[s]
			if !ok {
				return nil, false
			}
			v = e
		case []any:
			i, err := strconv.Atoi(s)
			if err != nil || i < 0 || i >= len(t) {
				return nil, false
			}
			v = t[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// Counterpart translates a pointer into the value a to the same place in b: list items are found by their merge key,
// else by position when both lists have one length.
func Counterpart(a, b any, ptr string) (string, bool) {
	out, field := "", ""
	for _, s := range segments(ptr) {
		switch t := a.(type) {
		case map[string]any:
			m, ok := b.(map[string]any)
			if !ok {
				return "", false
			}
			if _, ok := m[s]; !ok {
				return "", false
			}
			a, b, field = t[s], m[s], s
			out += "/" + EscapePointer(s)
		case []any:
			l, ok := b.([]any)
			i, err := strconv.Atoi(s)
			if !ok || err != nil || i >= len(t) {
				return "", false
			}
			j := partner(field, t, l, i)
			if j < 0 {
				return "", false
			}
			a, b = t[i], l[j]
			out += "/" + strconv.Itoa(j)
		default:
			return "", false
		}
	}
	return out, true
}

// partner returns the index in l of the item that stands for t[i], or -1.
func partner(field string, t, l []any, i int) int {
	keys := compare.ListKeys(nil, field, t, l)
	if len(keys) == 0 {
		if len(t) == len(l) {
			return i
		}
		return -1
	}
	return slices.IndexFunc(l, func(c any) bool { return sameKeys(t[i], c, keys) })
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

// SetAt returns v with the value at an existing pointer replaced; v itself is not modified.
func SetAt(v any, ptr string, to any) any { return setAt(v, segments(ptr), to) }

func setAt(v any, path []string, to any) any {
	if len(path) == 0 {
		return to
	}
	switch t := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, e := range t {
			out[k] = e
		}
		out[path[0]] = setAt(t[path[0]], path[1:], to)
		return out
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(t) {
			return v
		}
		out := slices.Clone(t)
		out[i] = setAt(t[i], path[1:], to)
		return out
	}
	return v
}
