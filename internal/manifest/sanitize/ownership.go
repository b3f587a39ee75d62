// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sanitize

import (
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
)

// ownership is the evidence of who set which field: managedFields and the last-applied annotation.
type ownership struct {
	entries     []entry
	lastApplied map[string]any
}

// entry is one writer's fields. Entries of the status subresource are not read: status is no content.
type entry struct {
	manager, subresource string
	fields               map[string]any
}

// step goes from a value to a field of it, or to the item of a list with these merge keys.
type step struct {
	field string
	key   map[string]any
}

func fieldSteps(fields ...string) []step {
	out := make([]step, len(fields))
	for i, f := range fields {
		out[i].field = f
	}
	return out
}

// systemManagers are the control plane's own. What they set is allocated, bound or generated, not wished. The
// single-binary distributions run all of it under their own name.
var systemManagers = []string{
	"kube-apiserver", "kube-controller-manager", "kube-scheduler", "cloud-controller-manager", "kubelet", "k3s", "rke2",
}

func (e entry) system() bool { return slices.Contains(systemManagers, e.manager) }

// person reports a manager that stands for somebody's will. The API server's stand-in for writes from before it
// tracked managers proves nothing.
func (e entry) person() bool { return !e.system() && e.manager != "before-first-apply" }

func readOwnership(meta map[string]any, annotations map[string]string) ownership {
	var o ownership
	list, _ := meta["managedFields"].([]any)
	for _, m := range list {
		m, _ := m.(map[string]any)
		fields, _ := m["fieldsV1"].(map[string]any)
		if e := (entry{text(m["manager"]), text(m["subresource"]), fields}); e.subresource != "status" && e.fields != nil {
			o.entries = append(o.entries, e)
		}
	}
	if raw := annotations["kubectl.kubernetes.io/last-applied-configuration"]; raw != "" {
		v, err := compare.Decode([]byte(raw))
		if m, ok := v.(map[string]any); err == nil && ok {
			o.lastApplied = m
		}
	}
	return o
}

// evidence reports whether anything is known of who set what in the object itself.
func (o ownership) evidence() bool {
	return o.lastApplied != nil || slices.ContainsFunc(o.entries, func(e entry) bool { return e.subresource == "" })
}

// userOwns reports whether a person's or a tool's manager owns the field.
func (o ownership) userOwns(path []step) bool {
	return slices.ContainsFunc(o.entries, func(e entry) bool { return e.person() && owns(e.fields, path) })
}

// owners returns the managers that own a field, subresource included when there is one ("manager/scale").
func (o ownership) owners(path []step) []string {
	var out []string
	for _, e := range o.entries {
		if owns(e.fields, path) {
			out = append(out, strings.TrimSuffix(e.manager+"/"+e.subresource, "/"))
		}
	}
	return out
}

// onlySystem reports an object that nobody but the control plane ever wrote.
func (o ownership) onlySystem() bool {
	return len(o.entries) > 0 && o.lastApplied == nil && !slices.ContainsFunc(o.entries, func(e entry) bool { return !e.system() })
}

// owns reports whether a set of fields (FieldsV1) holds a path, as itself, below it, or above it as a whole.
func owns(fields map[string]any, path []step) bool {
	for _, s := range path {
		if len(fields) == 0 {
			return true // an atomic value is owned with all it holds
		}
		next, ok := child(fields, s)
		if !ok {
			return false
		}
		fields = next
	}
	return true
}

func child(fields map[string]any, s step) (map[string]any, bool) {
	if s.key == nil {
		next, ok := fields["f:"+s.field].(map[string]any)
		return next, ok
	}
	for name, v := range fields {
		if key, ok := itemKey(name); ok && matchesKey(s.key, key) {
			next, ok := v.(map[string]any)
			return next, ok
		}
	}
	return nil, false
}

// itemKey reads the merge keys of a FieldsV1 name such as k:{"port":80,"protocol":"TCP"}.
func itemKey(name string) (map[string]any, bool) {
	raw, ok := strings.CutPrefix(name, "k:")
	if !ok {
		return nil, false
	}
	v, err := compare.Decode([]byte(raw))
	key, ok := v.(map[string]any)
	return key, err == nil && ok && len(key) > 0
}

// matchesKey reports whether an item has the values of a key. A protocol that is left out is TCP.
func matchesKey(item, key map[string]any) bool {
	for k, want := range key {
		have := item[k]
		if have == nil && k == "protocol" {
			have = "TCP"
		}
		if !compare.Same(have, want) {
			return false
		}
	}
	return true
}

// applied reports whether the last applied configuration sets a field.
func (o ownership) applied(path []step) bool {
	var v any = o.lastApplied
	for _, s := range path {
		switch at := v.(type) {
		case map[string]any:
			v = at[s.field]
		case []any:
			i := slices.IndexFunc(at, func(item any) bool {
				m, ok := item.(map[string]any)
				return ok && s.key != nil && matchesKey(m, s.key)
			})
			if i < 0 {
				return false
			}
			v = at[i]
		default:
			return false
		}
	}
	return v != nil && !isZero(v)
}

// isZero reports the values by which a manifest leaves the choice to the server.
func isZero(v any) bool { return v == "" || v == int64(0) }
