// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"strconv"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// usualKeys are the merge keys of built-in lists, tried in order when the schema names none; a list of any type is
// matched by unique names last (decisions 22).
var usualKeys = map[string][][]string{
	"ports":                     {{"containerPort", "protocol"}, {"port", "protocol"}},
	"volumeMounts":              {{"mountPath"}},
	"volumeDevices":             {{"devicePath"}},
	"hostAliases":               {{"ip"}},
	"topologySpreadConstraints": {{"topologyKey", "whenUnsatisfiable"}},
	"conditions":                {{"type"}},
}

// ListKeys returns the keys that match the items of two versions of a list: the schema's, else the usual ones of the
// field, else "name". It returns nil when no key set names every item of both lists exactly once; then items are
// matched by place.
func ListKeys(s *change.Schema, field string, a, b []any) []string {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	if s != nil && len(s.ListMapKeys) > 0 && unique(s, a, s.ListMapKeys) && unique(s, b, s.ListMapKeys) {
		return s.ListMapKeys
	}
	for _, keys := range usualKeys[field] {
		if unique(s, a, keys) && unique(s, b, keys) {
			return keys
		}
	}
	if name := []string{"name"}; unique(s, a, name) && unique(s, b, name) {
		return name
	}
	return nil
}

func unique(s *change.Schema, items []any, keys []string) bool {
	seen := make(map[string]bool, len(items))
	for _, it := range items {
		id, ok := ItemKey(s, it, keys)
		if !ok || seen[id] {
			return false
		}
		seen[id] = true
	}
	return true
}

// ItemKey returns an item's identity under a set of merge keys; false when the item has none. Keys an item leaves out
// take their default before matching (decisions 39).
func ItemKey(s *change.Schema, item any, keys []string) (string, bool) {
	m, ok := item.(map[string]any)
	if !ok {
		return "", false
	}
	var b strings.Builder
	for _, k := range keys {
		v := m[k]
		if v == nil {
			if f := s.Item().Field(k); f != nil && f.Default != nil {
				v = f.Default
			} else if k == "protocol" {
				v = "TCP"
			}
		}
		var text string
		switch v := v.(type) {
		case string:
			text = strconv.Quote(v)
		default:
			if text, ok = numberText(v); !ok {
				return "", false
			}
		}
		b.WriteString(text)
		b.WriteByte('/')
	}
	return b.String(), true
}

// order is what the sequence of a list's items means.
type order uint8

const (
	// ordered lists follow live.
	ordered order = iota
	// unordered lists are matched by key, and keep the file's sequence.
	unordered
	// set lists are matched by value, and keep the file's sequence.
	set
)

// builtInOrder overrides the schema for built-in types: decisions 40.
var builtInOrder = map[string]order{
	"containers": ordered, "initContainers": ordered, "ephemeralContainers": ordered, "env": ordered,
	"envFrom": ordered, "volumeMounts": ordered,
	"metrics": set, "finalizers": set,
	"ports": unordered, "volumes": unordered, "imagePullSecrets": unordered, "hostAliases": unordered,
	"secrets": unordered, "topologySpreadConstraints": unordered, "volumeDevices": unordered,
}

// listOrder tells what the sequence of a list means: the built-in lists of decisions 40 first, then the schema. The
// sequence of a list nothing is known of is content.
func listOrder(s *change.Schema, field string, builtIn bool) order {
	if builtIn {
		known := s != nil && s.ListType != ""
		if o, ok := builtInOrder[field]; ok && (!known || o == ordered || o == set) {
			return o
		}
	}
	switch {
	case s == nil || s.Ordered:
		return ordered
	case s.ListType == "map":
		return unordered
	case s.ListType == "set":
		return set
	}
	return ordered
}
