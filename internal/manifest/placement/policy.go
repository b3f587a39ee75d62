// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Policy is GitTarget.spec.placement as plain values.
type Policy struct {
	// ByType maps "[group/]version/resource" to a template; Default is the template of every other type.
	ByType       map[string]string
	Default      string
	UseKustomize bool
}

// ByLabel reports whether a template asks for a label of the objects.
func (p Policy) ByLabel() bool {
	asks := func(template string) bool { return strings.Contains(template, "{label:") }
	if asks(p.Default) {
		return true
	}
	for _, t := range p.ByType {
		if asks(t) {
			return true
		}
	}
	return false
}

// Validate is the static check of git-writer 5.4. additionalSensitive lists "resource" or "group/resource", version
// independent. Errors come in a fixed order and name the field and the cure.
func (p Policy) Validate(additionalSensitive []string) []error {
	sensitive := append([]string{"secrets"}, additionalSensitive...)
	var errs []error
	routes := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(p.ByType)) {
		field := fmt.Sprintf("spec.placement.byType[%q]", key)
		resource, err := resourceOf(key)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", field, err))
			continue
		}
		t, err := Parse(p.ByType[key])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", field, err))
			continue
		}
		if !slices.Contains(sensitive, resource) {
			continue
		}
		routes[resource] = true
		if !t.vars["name"] || !t.vars["namespace"] {
			errs = append(errs, fmt.Errorf("%s: encrypted objects never share a file, "+
				"so the template must hold {namespace} and {name}", field))
		}
	}
	if p.Default == "" {
		return errs
	}
	t, err := Parse(p.Default)
	if err != nil {
		return append(errs, fmt.Errorf("spec.placement.default: %w", err))
	}
	if t.complete() {
		return errs
	}
	for _, resource := range sensitive {
		if !routes[resource] {
			errs = append(errs, fmt.Errorf("spec.placement.default: %q can give two encrypted objects one file; "+
				"add a byType route for %s with {namespace} and {name}, or name {namespace}, {groupPath}, {resource} and {name} in the default",
				p.Default, exampleKey(resource)))
		}
	}
	return errs
}

// resourceOf returns "resource" or "group/resource" of a byType key.
func resourceOf(key string) (string, error) {
	parts := strings.Split(key, "/")
	bad := len(parts) < 2 || len(parts) > 3
	for _, s := range parts {
		bad = bad || s == "" || strings.TrimSpace(s) != s
	}
	switch {
	case bad:
		return "", fmt.Errorf("a key is version/resource or group/version/resource, such as v1/secrets or apps/v1/deployments")
	case len(parts) == 2:
		return parts[1], nil
	}
	return parts[0] + "/" + parts[2], nil
}

func exampleKey(resource string) string {
	if resource == "secrets" {
		return "v1/secrets"
	}
	group, name, ok := strings.Cut(resource, "/")
	if !ok {
		return "<version>/" + resource
	}
	return group + "/<version>/" + name
}
