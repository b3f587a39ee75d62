// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// The words of Catalog.Each.
const (
	followable = "followable"
	retained   = "retained"
	settling   = "pending"
	namedOnly  = "named-only"
	notServed  = "not-served"
	denial     = "denied-by-policy"
	onlySub    = "subresource-only"
	degraded   = "discovery-degraded"
)

// version is one served version of a group's resource.
type version struct {
	typ             change.Type
	preferred       bool
	verdict, reason string
}

// index is a catalog by resource and group.
type index struct {
	// resources maps the plural to the groups and their versions.
	resources map[string]map[string][]version
	degraded  []string
}

func newIndex(c Catalog) *index {
	ix := &index{resources: map[string]map[string][]version{}, degraded: c.Degraded()}
	c.Each(func(t change.Type, preferred bool, verdict, reason string) bool {
		groups := ix.resources[t.Resource]
		if groups == nil {
			groups = map[string][]version{}
			ix.resources[t.Resource] = groups
		}
		groups[t.Group] = append(groups[t.Group], version{t, preferred, verdict, reason})
		return true
	})
	return ix
}

// find resolves every item of a rule.
func (ix *index) find(r *Compiled) *findings {
	f := &findings{}
	for i := range r.items {
		it := &r.items[i]
		for _, word := range it.Resources {
			if word == All {
				ix.wildcard(r, it, f)
			} else {
				ix.named(r, it, strings.ToLower(word), f)
			}
		}
	}
	slices.Sort(f.unresolved)
	f.unresolved = slices.Compact(f.unresolved)
	return f
}

// inScope: a WatchRule selects namespaced types only, a ClusterWatchRule cluster-scoped ones only.
func inScope(r *Compiled, v version) bool {
	return v.typ.Namespaced == (r.Rule.Kind == WatchRule)
}

func hasGroup(it *compiledItem, group string) bool {
	return len(it.APIGroups) == 0 || slices.Contains(it.APIGroups, All) || slices.Contains(it.APIGroups, group)
}

func hasVersion(it *compiledItem, v version) bool {
	return len(it.APIVersions) == 0 || slices.Contains(it.APIVersions, All) ||
		slices.Contains(it.APIVersions, v.typ.Version)
}

// wildcard claims every followable type of the rule's scope.
func (ix *index) wildcard(r *Compiled, it *compiledItem, f *findings) {
	for _, resource := range slices.Sorted(maps.Keys(ix.resources)) {
		groups := ix.resources[resource]
		for _, group := range slices.Sorted(maps.Keys(groups)) {
			if !hasGroup(it, group) {
				continue
			}
			if v, ok := choose(r, it, groups[group]); ok && v.reason != namedOnly {
				f.claim(it, v, false)
			}
		}
	}
}

// choose picks the version a collection is opened at: the preferred one, else the lowest, among those that can be
// watched. A version that is gone counts only when no other serves the resource.
func choose(r *Compiled, it *compiledItem, versions []version) (version, bool) {
	var best version
	found := false
	rank := func(v version) int {
		switch {
		case v.verdict == followable && v.preferred:
			return 3
		case v.verdict == followable:
			return 2
		case v.verdict == retained && v.reason == degraded && v.preferred:
			// Following another version meanwhile would restart the stream for nothing.
			return 4
		case v.verdict == retained:
			return 1
		}
		return 0
	}
	for _, v := range versions {
		if !inScope(r, v) || !hasVersion(it, v) || rank(v) == 0 {
			continue
		}
		if !found || rank(v) > rank(best) || rank(v) == rank(best) && v.typ.Version < best.typ.Version {
			best, found = v, true
		}
	}
	return best, found
}

// named claims one resource by its plural.
func (ix *index) named(r *Compiled, it *compiledItem, resource string, f *findings) {
	var serving []string
	for group, versions := range ix.resources[resource] {
		if hasGroup(it, group) && slices.ContainsFunc(versions, func(v version) bool {
			return inScope(r, v) && hasVersion(it, v) && v.reason != onlySub
		}) {
			serving = append(serving, group)
		}
	}
	slices.Sort(serving)
	switch {
	case len(serving) == 0:
		f.unresolved = append(f.unresolved, resource)
		ix.missing(r, it, resource, f)
		return
	case len(serving) > 1 && len(it.APIGroups) == 0:
		f.unresolved = append(f.unresolved, resource)
		f.ambiguous = append(f.ambiguous, fmt.Sprintf("%q is served by the groups %s; name one in apiGroups.",
			resource, groupNames(serving)))
		return
	}
	for _, group := range serving {
		versions := ix.resources[resource][group]
		if v, ok := choose(r, it, versions); ok {
			f.claim(it, v, true)
			continue
		}
		f.unresolved = append(f.unresolved, resource)
		f.refuse(r, it, versions)
	}
}

// claim takes a type over in every namespace of the item.
func (f *findings) claim(it *compiledItem, v version, named bool) {
	if v.verdict == retained {
		f.retained = append(f.retained, v.typ.GroupResource())
	}
	cl := claim{
		typ: v.typ, preferred: v.preferred, selector: it.selector, operations: it.operations, named: named,
	}
	if it.all {
		f.claims = append(f.claims, cl)
		return
	}
	for _, ns := range it.namespaces {
		cl.namespace = ns
		f.claims = append(f.claims, cl)
	}
}

// refuse says why a served resource cannot be watched.
func (f *findings) refuse(r *Compiled, it *compiledItem, versions []version) {
	for _, v := range versions {
		if !inScope(r, v) || !hasVersion(it, v) {
			continue
		}
		name := v.typ.GroupResource()
		switch {
		case v.verdict == settling && v.reason == notServed:
			f.notServed = append(f.notServed, fmt.Sprintf("%s is not served now.", name))
		case v.verdict == settling:
			f.notReady = append(f.notReady, fmt.Sprintf("%s is not settled yet (%s).", name, v.reason))
		case v.reason == denial:
			f.excluded = append(f.excluded, fmt.Sprintf("%s is never watched: the cluster writes it for itself.", name))
		default:
			f.excluded = append(f.excluded, fmt.Sprintf("%s cannot be watched (%s).", name, v.reason))
		}
		return
	}
}

// missing explains a resource that no group serves in the rule's scope.
func (ix *index) missing(r *Compiled, it *compiledItem, resource string, f *findings) {
	for _, gv := range ix.degraded {
		group, _, found := strings.Cut(gv, "/")
		if !found {
			group = ""
		}
		if hasGroup(it, group) && (len(it.APIGroups) > 0 || len(ix.resources[resource]) == 0) {
			f.notReady = append(f.notReady, fmt.Sprintf("%q is not known: discovery of %s fails.", resource, gv))
			return
		}
	}
	if text := ix.otherScope(r, resource); text != "" {
		f.notServed = append(f.notServed, text)
		return
	}
	f.notServed = append(f.notServed, fmt.Sprintf("%q is not served%s.%s", resource, in(it), ix.suggest(resource)))
}

func in(it *compiledItem) string {
	var s string
	if len(it.APIGroups) > 0 && !slices.Contains(it.APIGroups, All) {
		s = " in " + groupNames(it.APIGroups)
	}
	if len(it.APIVersions) > 0 && !slices.Contains(it.APIVersions, All) {
		s += " at " + strings.Join(it.APIVersions, ", ")
	}
	return s
}

// otherScope says that a resource is served and that a rule of this kind cannot select it.
func (ix *index) otherScope(r *Compiled, resource string) string {
	for _, group := range slices.Sorted(maps.Keys(ix.resources[resource])) {
		for _, v := range ix.resources[resource][group] {
			switch {
			case v.reason == onlySub || v.reason == notServed:
			case inScope(r, v):
				return ""
			case v.typ.Namespaced:
				return fmt.Sprintf("%q is namespaced: a ClusterWatchRule selects cluster-scoped types only.", resource)
			default:
				return fmt.Sprintf("%q is cluster-scoped: a WatchRule selects namespaced types only.", resource)
			}
		}
	}
	return ""
}

// suggest helps with the usual slips: the wrong group or version, the kind or the singular.
func (ix *index) suggest(resource string) string {
	for _, group := range slices.Sorted(maps.Keys(ix.resources[resource])) {
		for _, v := range ix.resources[resource][group] {
			if v.reason != onlySub && v.reason != notServed {
				return fmt.Sprintf(" It is served as %s.", v.typ.APIVersion())
			}
		}
	}
	for _, plural := range slices.Sorted(maps.Keys(ix.resources)) {
		for _, versions := range ix.resources[plural] {
			if strings.EqualFold(versions[0].typ.Kind, resource) || plural == resource+"s" || plural == resource+"es" {
				return fmt.Sprintf(" Did you mean %q?", plural)
			}
		}
	}
	return ""
}

func groupNames(groups []string) string {
	names := make([]string, len(groups))
	for i, g := range groups {
		if names[i] = g; g == "" {
			names[i] = `core ("")`
		}
	}
	return strings.Join(names, ", ")
}
