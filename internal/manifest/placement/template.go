// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// The values that stand in for a missing namespace or label.
const (
	clusterSegment   = "_cluster"
	unlabeledSegment = "_unlabeled"
)

// canonical is the path of git-writer 5.2, rung 4.
var canonical = mustParse("{namespace}/{groupPath}/{resource}/{name}{sensitiveSuffix}")

// beside is the file name of rung 3.
var beside = mustParse("{name}{sensitiveSuffix}")

func mustParse(s string) *Template {
	t, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return t
}

// Template is a parsed path template (git-writer 5.3).
type Template struct {
	segments [][]part
	vars     map[string]bool
}

// part is literal text or, with a name, a variable.
type part struct {
	literal  string
	name     string
	label    string
	fallback *string
}

// variables are the known names; true for those that take a fallback.
var variables = map[string]bool{
	"name": false, "resource": false, "kind": false, "version": false, "group": false, "groupPath": false,
	"apiVersion": false, "namespace": true, "scope": false, "sensitiveSuffix": false,
}

// strippedLabels are the label prefixes sanitizing removes (git-writer 1.2, decision 46): no object has them here.
var strippedLabels = []string{
	"kustomize.toolkit.fluxcd.io/", "kro.run/", "applyset.kubernetes.io/", "helm.toolkit.fluxcd.io/",
	"resourceset.fluxcd.controlplane.io/", "meta.helm.sh/", "kapp.k14s.io/", "reconcile.fluxcd.io/",
	"reconcile.configbutler.ai/", "argocd.argoproj.io/refresh", "argocd.argoproj.io/hydrate",
}

var fallbackText = regexp.MustCompile(`^[A-Za-z0-9._-]{0,63}$`)

// Parse reads and validates one template. Errors say what is wrong and what would be right.
func Parse(s string) (*Template, error) {
	t := &Template{segments: [][]part{nil}, vars: map[string]bool{}}
	for rest := s; rest != ""; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			i = len(rest)
		}
		if err := t.literal(rest[:i]); err != nil {
			return nil, err
		}
		if rest = rest[i:]; rest == "" {
			break
		}
		end := strings.IndexAny(rest[1:], "{}")
		if rest[0] == '}' || end < 0 || rest[1+end] == '{' {
			return nil, fmt.Errorf("%q has a brace that belongs to no variable", s)
		}
		p, err := variable(rest[1 : 1+end])
		if err != nil {
			return nil, err
		}
		t.add(p)
		t.vars[p.name] = true
		rest = rest[2+end:]
	}
	return t, t.check(s)
}

func (t *Template) add(p part) {
	last := len(t.segments) - 1
	t.segments[last] = append(t.segments[last], p)
}

func (t *Template) literal(text string) error {
	bad := func(c rune) bool { return c < ' ' || c == 0x7f || strings.ContainsRune(`<>:"|?*\%`, c) }
	if i := strings.IndexFunc(text, bad); i >= 0 {
		return fmt.Errorf("character %q cannot be part of a path", text[i:i+1])
	}
	for i, s := range strings.Split(text, "/") {
		if i > 0 {
			t.segments = append(t.segments, nil)
		}
		if s != "" {
			t.add(part{literal: s})
		}
	}
	return nil
}

// variable reads the text between two braces.
func variable(text string) (part, error) {
	name, fallback, has := strings.Cut(text, "|")
	p := part{name: name}
	if key, ok := strings.CutPrefix(name, "label:"); ok {
		p.name, p.label = "label", key
		if errs := validation.IsQualifiedName(key); len(errs) > 0 {
			return p, fmt.Errorf("{%s} names no label: %s", text, errs[0])
		}
		if slices.ContainsFunc(strippedLabels, func(s string) bool { return strings.HasPrefix(key, s) }) {
			return p, fmt.Errorf("{%s} names a label that is never written to Git", text)
		}
	} else if takes, ok := variables[name]; !ok {
		if name == "namespaceOrCluster" {
			return p, fmt.Errorf("{%s} does not exist; {namespace} is %q for cluster-scoped objects", text, clusterSegment)
		}
		return p, fmt.Errorf("{%s} is no variable; known are name, resource, kind, version, group, groupPath, apiVersion, "+
			"namespace, scope, sensitiveSuffix and label:<key>", text)
	} else if has && !takes {
		return p, fmt.Errorf("{%s}: only {namespace} and {label:<key>} take a fallback", text)
	}
	if has {
		if !fallbackText.MatchString(fallback) || fallback == "." || fallback == ".." {
			return p, fmt.Errorf("{%s}: a fallback is at most 63 letters, digits, dots, dashes and underscores", text)
		}
		p.fallback = &fallback
	}
	return p, nil
}

// check is the rest of git-writer 5.4 for one template.
func (t *Template) check(s string) error {
	switch {
	case s == "":
		return fmt.Errorf("the template is empty")
	case strings.HasPrefix(s, "/"):
		return fmt.Errorf("%q starts with a slash; paths are relative to spec.path", s)
	}
	for _, seg := range t.segments {
		if len(seg) != 1 || seg[0].name != "" {
			continue
		}
		switch l := seg[0].literal; {
		case l == ".." || l == ".":
			return fmt.Errorf("%q has the segment %q; paths stay below spec.path", s, l)
		case reserved(l):
			return fmt.Errorf("%q has the segment %q, which holds no objects", s, l)
		}
	}
	last := t.segments[len(t.segments)-1]
	if len(last) > 0 {
		switch end := last[len(last)-1]; {
		case end.name == "sensitiveSuffix", strings.HasSuffix(end.literal, ".yaml"), strings.HasSuffix(end.literal, ".yml"):
			return nil
		}
	}
	return fmt.Errorf("%q must end in .yaml, .yml or {sensitiveSuffix}", s)
}

// complete reports that the path of an object tells its identity, so that two objects never share one.
func (t *Template) complete() bool {
	return t.vars["name"] && t.vars["namespace"] && t.vars["resource"] && (t.vars["groupPath"] || t.vars["group"])
}

// Render returns the path of an object relative to the folder. The error is a *Refusal (git-writer 5.5).
func (t *Template) Render(o Object) (string, error) {
	var out []string
	for i, seg := range t.segments {
		var b strings.Builder
		for _, p := range seg {
			b.WriteString(p.value(o))
		}
		text := b.String()
		switch text {
		case "":
			continue
		case ".", "..":
			return "", refuse(InvalidPath, "the template renders the segment %q", text)
		}
		out = append(out, safeSegment(text, i == len(t.segments)-1, o.Sensitive))
	}
	p := strings.Join(out, "/")
	if !strings.HasSuffix(p, ".yaml") && !strings.HasSuffix(p, ".yml") {
		return p, refuse(InvalidPath, "the template renders %q, which is no YAML file", p)
	}
	return p, nil
}

// value returns what a part stands for.
func (p part) value(o Object) string {
	or := func(text, missing string) string {
		if text != "" {
			return text
		}
		if p.fallback != nil {
			return *p.fallback
		}
		return missing
	}
	switch p.name {
	case "":
		return p.literal
	case "name":
		return escape(o.ID.Name, true)
	case "label":
		return or(escape(o.Labels[p.label], true), unlabeledSegment)
	case "namespace":
		return or(escape(o.namespace(), false), clusterSegment)
	case "resource":
		return escape(o.Type.Resource, false)
	case "kind":
		return escape(o.ID.Kind, false)
	case "version":
		return escape(o.Type.Version, false)
	case "group", "groupPath":
		return escape(o.ID.Group, false)
	case "apiVersion":
		return escape(o.Type.APIVersion(), false)
	case "scope":
		if o.namespace() != "" {
			return "namespaced"
		}
		return "cluster"
	}
	if o.Sensitive {
		return ".sops.yaml"
	}
	return ".yaml"
}

// namespace is empty for a cluster-scoped object.
func (o Object) namespace() string {
	if !o.Type.Namespaced {
		return ""
	}
	return o.ID.Namespace
}

// TypeKey returns the key of a type in Policy.ByType: "[group/]version/resource".
func TypeKey(t change.Type) string { return t.APIVersion() + "/" + t.Resource }
