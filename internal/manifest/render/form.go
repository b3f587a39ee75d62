// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
)

// absent stands for a field that is not there.
type absent struct{}

// UnplaceableError is a list whose items cannot be told apart, so that nothing says which source line an item of the
// live list comes from (git-writer 6.4).
type UnplaceableError struct{ Field string }

// Error implements error.
func (e *UnplaceableError) Error() string {
	return fmt.Sprintf("%s: source, render and live object differ and the items have no name to tell them apart", e.Field)
}

// Form returns what a source document must say for the build to give live, when it gives rendered now (git-writer
// 6.4): what the build adds never enters the source, what live changes does.
func Form(src, rendered, live any) (any, error) {
	v, err := form(src, rendered, live, "", "")
	if err != nil {
		return nil, err
	}
	if _, gone := v.(absent); gone {
		return nil, nil
	}
	return v, nil
}

func form(src, rendered, live any, ptr, field string) (any, error) {
	if reflect.DeepEqual(rendered, live) {
		return src, nil
	}
	if reflect.DeepEqual(src, rendered) {
		return live, nil
	}
	switch l := live.(type) {
	case map[string]any:
		s, ok1 := src.(map[string]any)
		r, ok2 := rendered.(map[string]any)
		if ok1 && ok2 {
			return formMap(s, r, l, ptr)
		}
		if _, none := src.(absent); none && ok2 {
			return formMap(map[string]any{}, r, l, ptr)
		}
	case []any:
		s, ok1 := src.([]any)
		r, ok2 := rendered.([]any)
		if ok1 && ok2 {
			return formList(s, r, l, ptr, field)
		}
		if _, none := src.(absent); none && ok2 {
			return formList(nil, r, l, ptr, field)
		}
	}
	return live, nil
}

func get(m map[string]any, k string) any {
	if v, ok := m[k]; ok {
		return v
	}
	return absent{}
}

func formMap(s, r, l map[string]any, ptr string) (any, error) {
	out := map[string]any{}
	keys := maps.Clone(s)
	if keys == nil {
		keys = map[string]any{}
	}
	maps.Copy(keys, r)
	maps.Copy(keys, l)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		v, err := form(get(s, k), get(r, k), get(l, k), ptr+"/"+EscapePointer(k), k)
		if err != nil {
			return nil, err
		}
		if _, none := v.(absent); !none {
			out[k] = v
		}
	}
	return out, nil
}

func formList(s, r, l []any, ptr, field string) (any, error) {
	keys := listKeys(field, s, r, l)
	if len(keys) == 0 {
		return nil, &UnplaceableError{Field: ptr}
	}
	find := func(list []any, item any) any {
		if i := slices.IndexFunc(list, func(c any) bool { return sameKeys(c, item, keys) }); i >= 0 {
			return list[i]
		}
		return absent{}
	}
	out := make([]any, 0, len(l))
	for _, item := range l {
		v, err := form(find(s, item), find(r, item), item, ptr, "")
		if err != nil {
			return nil, err
		}
		if _, none := v.(absent); !none {
			out = append(out, v)
		}
	}
	// Items only the source has were taken out by the build; they keep their place behind their predecessor.
	for i, item := range s {
		_, rendered := find(r, item).(absent)
		_, live := find(l, item).(absent)
		if !rendered || !live {
			continue
		}
		at := 0
		if i > 0 {
			at = slices.IndexFunc(out, func(c any) bool { return sameKeys(c, s[i-1], keys) }) + 1
		}
		out = slices.Insert(out, at, item)
	}
	return out, nil
}

// listKeys returns the fields that tell the items of all lists apart; nil when none do.
func listKeys(field string, lists ...[]any) []string {
	var all []any
	for _, l := range lists {
		all = append(all, l...)
	}
	if len(all) == 0 {
		return nil
	}
	keys := compare.ListKeys(nil, field, lists[len(lists)-1], lists[len(lists)-2])
	if len(keys) == 0 {
		return nil
	}
	for _, l := range lists {
		seen := map[string]bool{}
		for _, item := range l {
			m, ok := item.(map[string]any)
			if !ok {
				return nil
			}
			id := ""
			for _, k := range keys {
				v, ok := m[k]
				if !ok && k == keys[0] {
					return nil
				}
				id += fmt.Sprintf("%v\x00", v)
			}
			if seen[id] {
				return nil
			}
			seen[id] = true
		}
	}
	return keys
}
