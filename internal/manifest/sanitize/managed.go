// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sanitize

import (
	"slices"
	"strconv"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
)

// visit walks a set of owned fields (FieldsV1) beside the object and calls leaf for every field that is owned as a
// whole and exists. Pointers and steps are those of the object as it is now.
type visit struct {
	leaf func(pointer string, steps []step)
	// item, when set, is asked before an owned item of a list is entered; true means it was dealt with.
	item func(list []any, index int, steps []step) bool
}

// leaves calls leaf for every whole field of a set but those that identify the object.
func (w *work) leaves(fields map[string]any, leaf func(pointer string, steps []step)) {
	v := visit{leaf: func(p string, steps []step) {
		if !slices.Contains(identity, p) {
			leaf(p, steps)
		}
	}}
	v.walk(fields, w.obj, "", nil)
}

func (v visit) walk(fields map[string]any, at any, p string, steps []step) {
	inside := false
	for _, name := range sorted(fields) {
		if name == "." {
			continue
		}
		inside = true
		next, _ := fields[name].(map[string]any)
		switch {
		case strings.HasPrefix(name, "f:"):
			field := name[2:]
			if m, ok := at.(map[string]any); ok {
				if value, has := m[field]; has {
					v.walk(next, value, p+pointer(field), append(slices.Clip(steps), step{field: field}))
				}
			}
		default:
			list, i := find(at, name)
			if i < 0 {
				continue
			}
			here := append(slices.Clip(steps), step{key: keyOf(name)})
			if v.item != nil && v.item(list, i, here) {
				continue
			}
			v.walk(next, list[i], p+"/"+strconv.Itoa(i), here)
		}
	}
	if !inside && v.leaf != nil && len(steps) > 0 && steps[len(steps)-1].key == nil {
		v.leaf(p, steps)
	}
}

// find returns the list and the index of the item that a FieldsV1 name k:{...}, v:... or i:... means; -1 without.
func find(at any, name string) ([]any, int) {
	list, ok := at.([]any)
	if !ok {
		return nil, -1
	}
	if key, ok := itemKey(name); ok {
		return list, slices.IndexFunc(list, func(item any) bool {
			m, ok := item.(map[string]any)
			return ok && matchesKey(m, key)
		})
	}
	if raw, ok := strings.CutPrefix(name, "v:"); ok {
		value, err := compare.Decode([]byte(raw))
		return list, slices.IndexFunc(list, func(item any) bool { return err == nil && compare.Same(item, value) })
	}
	return nil, -1
}

func keyOf(name string) map[string]any {
	key, ok := itemKey(name)
	if !ok {
		return map[string]any{} // an item of a set
	}
	return key
}

func sorted(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// managed are the fields that the managers of a rule own, at or below the rule's paths when it has any.
func (w *work) managed(r rule) []string {
	var out []string
	for _, e := range w.own.entries {
		if !r.managers[e.manager] {
			continue
		}
		w.leaves(e.fields, func(p string, _ []step) {
			if len(r.FieldPaths) == 0 || slices.ContainsFunc(r.FieldPaths, func(q string) bool { return below(p, q) }) {
				out = append(out, p)
			}
		})
	}
	return out
}

// dropItems takes out the items of lists that only the managers of a rule put there. An item has no address of its own
// in a mask, and nobody else asked for it.
func (w *work) dropItems(r rule) {
	gone := map[*any]bool{}
	for _, e := range w.own.entries {
		if !r.managers[e.manager] {
			continue
		}
		v := visit{item: func(list []any, i int, steps []step) bool {
			if len(r.FieldPaths) > 0 || len(steps[len(steps)-1].key) == 0 || w.shared(r, steps) {
				return false
			}
			gone[&list[i]] = true
			return true
		}}
		v.walk(e.fields, w.obj, "", nil)
	}
	if len(gone) > 0 {
		w.obj, _ = without(w.obj, gone).(map[string]any)
	}
}

// shared reports whether a manager outside the rule owns something at a path.
func (w *work) shared(r rule, steps []step) bool {
	return slices.ContainsFunc(w.own.entries, func(e entry) bool { return !r.managers[e.manager] && owns(e.fields, steps) })
}

// without rebuilds the lists of a value without some of their items.
func without(v any, gone map[*any]bool) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = without(e, gone)
		}
	case []any:
		kept := make([]any, 0, len(v))
		for i := range v {
			if !gone[&v[i]] {
				kept = append(kept, without(v[i], gone))
			}
		}
		return kept
	}
	return v
}
