// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/openapi"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// Absorb lets a strategic merge patch take the live values of the fields it speaks about, and of no others. rest is
// live with what the patch took replaced by the rendered value: what is left for the next source below. The patch
// itself is not modified.
func Absorb(patch, rendered, live map[string]any) (next, rest map[string]any) {
	n, r := absorbMap(patch, rendered, live)
	return n, r
}

func absorb(patch, rendered, live any, field string) (next, rest any) {
	if reflect.DeepEqual(rendered, live) {
		return patch, live
	}
	switch p := patch.(type) {
	case map[string]any:
		r, ok1 := rendered.(map[string]any)
		l, ok2 := live.(map[string]any)
		if ok1 && ok2 {
			return absorbMap(p, r, l)
		}
	case []any:
		r, ok1 := rendered.([]any)
		l, ok2 := live.([]any)
		if ok1 && ok2 {
			return absorbList(p, r, l, field)
		}
	}
	if _, gone := live.(absent); gone {
		return absent{}, live
	}
	if patch == nil {
		// The patch deletes the field; a live value is written below it.
		return absent{}, live
	}
	return live, rendered
}

func absorbMap(p, r, l map[string]any) (next, rest map[string]any) {
	next, rest = maps.Clone(p), maps.Clone(l)
	for _, k := range slices.Sorted(maps.Keys(p)) {
		if k == "$patch" {
			continue
		}
		v, left := absorb(p[k], get(r, k), get(l, k), k)
		put(next, k, v)
		put(rest, k, left)
	}
	return next, rest
}

func put(m map[string]any, k string, v any) {
	if _, gone := v.(absent); gone {
		delete(m, k)
	} else {
		m[k] = v
	}
}

// absorbList matches the items of a merged list; a list that cannot be matched belongs to the patch as a whole.
func absorbList(p, r, l []any, field string) (next, rest any) {
	keys := listKeys(field, p, r, l)
	if len(keys) == 0 {
		return l, r
	}
	out, left := make([]any, 0, len(p)), slices.Clone(l)
	for _, item := range p {
		i := slices.IndexFunc(r, func(c any) bool { return sameKeys(c, item, keys) })
		j := slices.IndexFunc(l, func(c any) bool { return sameKeys(c, item, keys) })
		m, _ := item.(map[string]any)
		switch {
		case j < 0 && i >= 0:
			// Gone live: the patch must not bring it back; the source below loses it too when it has it.
		case j >= 0 && i < 0 && m["$patch"] == "delete":
			// Back live: the patch deletes it no longer.
		case i < 0 || j < 0:
			out = append(out, item)
		default:
			v, rem := absorb(item, r[i], l[j], "")
			out = append(out, v)
			left[j] = rem
		}
	}
	return out, left
}

// Extend grows a strategic merge patch so that a build which gives rendered now gives live. lower is the value below
// the patch, nil when it is not known; fields the patch alone supplied are dropped from it instead of being deleted.
func Extend(patch, lower, rendered, live map[string]any) (next map[string]any, err error) {
	defer func() {
		if p := recover(); p != nil {
			next, err = nil, fmt.Errorf("the kustomize library panicked: %v", p)
		}
	}()
	rs := openapi.SchemaForResourceType(kyaml.TypeMeta{
		APIVersion: fmt.Sprint(rendered["apiVersion"]), Kind: fmt.Sprint(rendered["kind"]),
	})
	if patch == nil {
		patch = map[string]any{}
	}
	return extendMap(patch, lower, rendered, live, rs, "")
}

func extendMap(p, lower, r, l map[string]any, rs *openapi.ResourceSchema, ptr string) (map[string]any, error) {
	out := maps.Clone(p)
	keys := maps.Clone(r)
	maps.Copy(keys, l)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if reflect.DeepEqual(get(r, k), get(l, k)) {
			continue
		}
		v, err := extend(get(p, k), get(lower, k), get(r, k), get(l, k), fieldOf(rs, k), ptr+"/"+EscapePointer(k))
		if err != nil {
			return nil, err
		}
		put(out, k, v)
	}
	return out, nil
}

func fieldOf(rs *openapi.ResourceSchema, name string) *openapi.ResourceSchema {
	if rs == nil {
		return nil
	}
	return rs.Field(name)
}

func elementsOf(rs *openapi.ResourceSchema) *openapi.ResourceSchema {
	if rs == nil {
		return nil
	}
	return rs.Elements()
}

func extend(p, lower, r, l any, rs *openapi.ResourceSchema, ptr string) (any, error) {
	if _, silent := p.(absent); silent && reflect.DeepEqual(lower, l) {
		// What stands below is right as soon as no patch says otherwise.
		return absent{}, nil
	}
	if _, gone := l.(absent); gone {
		if _, none := lower.(absent); none {
			if _, said := p.(absent); !said {
				return absent{}, nil
			}
		}
		return nil, nil
	}
	switch live := l.(type) {
	case map[string]any:
		rm, ok := r.(map[string]any)
		if !ok {
			return l, nil
		}
		pm, _ := p.(map[string]any)
		if pm == nil {
			pm = map[string]any{}
		}
		lm, _ := lower.(map[string]any)
		return extendMap(pm, lm, rm, live, rs, ptr)
	case []any:
		rl, ok := r.([]any)
		if !ok {
			return l, nil
		}
		pl, _ := p.([]any)
		ll, _ := lower.([]any)
		return extendList(pl, ll, rl, live, rs, ptr)
	}
	return l, nil
}

// extendList writes a list of a patch. A list kustomize merges by key starts with the patch's items, so the patch names
// every item up to the last one it changes, unchanged ones by their key alone; other lists are replaced as a whole.
func extendList(p, lower, r, l []any, rs *openapi.ResourceSchema, ptr string) (any, error) {
	keys := mergeKeys(rs)
	if len(keys) == 0 {
		if primitiveMerge(rs) {
			return nil, &UnplaceableError{Field: ptr}
		}
		return l, nil
	}
	if listKeys2(keys, r) == nil || listKeys2(keys, l) == nil {
		return nil, &UnplaceableError{Field: ptr}
	}
	find := func(list []any, item any) any {
		if i := slices.IndexFunc(list, func(c any) bool { return sameKeys(c, item, keys) }); i >= 0 {
			return list[i]
		}
		return absent{}
	}
	r = comeBack(p, lower, r, l, find)
	var out []any
	for _, item := range l[:prefix(p, r, l, keys, find)] {
		ri, _ := find(r, item).(map[string]any)
		pi, _ := find(p, item).(map[string]any)
		li, _ := find(lower, item).(map[string]any)
		if ri == nil {
			out = append(out, item)
			continue
		}
		v, err := extendMap(withKeys(pi, item, keys), li, ri, item.(map[string]any), elementsOf(rs), ptr)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	for _, item := range r {
		_, gone := find(l, item).(absent)
		_, below := find(lower, item).(absent)
		_, said := find(p, item).(absent)
		if !gone || below && !said {
			continue
		}
		d := withKeys(nil, item, keys)
		d["$patch"] = "delete"
		out = append(out, d)
	}
	for _, item := range p {
		m, _ := item.(map[string]any)
		if _, gone := find(l, item).(absent); gone && m["$patch"] == "delete" {
			out = append(out, item)
		}
	}
	if out == nil {
		return absent{}, nil
	}
	return out, nil
}

// comeBack adds to the rendered list the items that stand below, are live and that no patch says anything about any
// more: they will be there without being named.
func comeBack(p, lower, r, l []any, find func([]any, any) any) []any {
	out := slices.Clone(r)
	for i, item := range lower {
		live := find(l, item)
		_, said := find(p, item).(absent)
		_, there := find(out, item).(absent)
		if !said || !there || !reflect.DeepEqual(live, item) {
			continue
		}
		at := 0
		for _, before := range slices.Backward(lower[:i]) {
			if j := slices.IndexFunc(out, func(c any) bool { return reflect.DeepEqual(c, find(out, before)) }); j >= 0 {
				at = j + 1
				break
			}
		}
		out = slices.Insert(out, at, item)
	}
	return out
}

// prefix returns how many items of the live list the patch must name so that the merged list has live's order.
func prefix(p, r, l []any, keys []string, find func([]any, any) any) int {
	for n := 0; n <= len(l); n++ {
		rest := slices.DeleteFunc(slices.Clone(r), func(c any) bool {
			_, out := find(l, c).(absent)
			_, named := find(l[:n], c).(absent)
			return out || !named
		})
		if !reflect.DeepEqual(rest, append([]any{}, l[n:]...)) {
			continue
		}
		if slices.ContainsFunc(p, func(c any) bool { _, later := find(l[n:], c).(absent); return !later }) {
			continue
		}
		return n
	}
	return len(l)
}

func withKeys(p map[string]any, item any, keys []string) map[string]any {
	out := maps.Clone(p)
	if out == nil {
		out = map[string]any{}
	}
	m, _ := item.(map[string]any)
	for _, k := range keys {
		if v, ok := m[k]; ok {
			out[k] = v
		}
	}
	return out
}

func mergeKeys(rs *openapi.ResourceSchema) []string {
	if rs == nil {
		return nil
	}
	strategy, keys := rs.PatchStrategyAndKeyList()
	if !strings.Contains(strategy, "merge") {
		return nil
	}
	return keys
}

func primitiveMerge(rs *openapi.ResourceSchema) bool {
	if rs == nil {
		return false
	}
	strategy, keys := rs.PatchStrategyAndKeyList()
	return strings.Contains(strategy, "merge") && len(keys) == 0
}

// listKeys2 returns keys when they tell all items of a list apart.
func listKeys2(keys []string, list []any) []string {
	for i, a := range list {
		m, ok := a.(map[string]any)
		if !ok {
			return nil
		}
		if _, ok := m[keys[0]]; !ok {
			return nil
		}
		for _, b := range list[:i] {
			if sameKeys(a, b, keys) {
				return nil
			}
		}
	}
	return keys
}
