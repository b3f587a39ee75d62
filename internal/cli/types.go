// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// builtin is what the pinned Kubernetes version serves: types.json lists its types, openapi.json.gz the parts of its
// OpenAPI documents that comparison needs. TestReal_BuiltinTable writes both from a real API server.
//
//go:embed builtin
var builtin embed.FS

// types are the served types of a cluster that is not there: those of the pinned Kubernetes version and the CRDs that
// were found (decisions 91).
type types struct {
	*cluster.Offline
	byKind map[[2]string]change.Type
}

var _ change.Kinds = (*types)(nil)

func newTypes() (*types, error) {
	t := &types{Offline: cluster.NewOffline(), byKind: map[[2]string]change.Type{}}
	b, err := builtin.ReadFile("builtin/types.json")
	if err != nil {
		return nil, err
	}
	var list []change.Type
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, err
	}
	for _, e := range list {
		t.byKind[[2]string{e.Group, e.Kind}] = e
	}
	packed, err := builtin.ReadFile("builtin/openapi.json.gz")
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	doc, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	return t, t.Add(doc, true)
}

// Kind implements change.Kinds.
func (t *types) Kind(group, kind string) (change.Type, bool) {
	e, ok := t.byKind[[2]string{group, kind}]
	return e, ok
}

// lookup finds the types a person means by "Kind", "Kind.group", "resource" or "resource.group".
func (t *types) lookup(word string) (change.Type, error) {
	name, group, bound := strings.Cut(word, ".")
	var found []change.Type
	for _, e := range t.byKind {
		if (strings.EqualFold(e.Kind, name) || strings.EqualFold(e.Resource, name)) && (!bound || e.Group == group) {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b change.Type) int { return cmp.Compare(a.GroupResource(), b.GroupResource()) })
	switch len(found) {
	case 0:
		return change.Type{}, fmt.Errorf(
			"the type %q is not known: write its kind or its plural, and give its CustomResourceDefinition with --crds", word)
	case 1:
		return found[0], nil
	}
	names := make([]string, len(found))
	for i, e := range found {
		names[i] = e.Kind + "." + e.Group
	}
	return change.Type{}, fmt.Errorf("%q can mean %s; name the group too", word, strings.Join(names, " or "))
}

// crd is the part of a CustomResourceDefinition that is read.
type crd struct {
	Spec struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Kind   string `json:"kind"`
			Plural string `json:"plural"`
		} `json:"names"`
		Versions []struct {
			Name   string `json:"name"`
			Served bool   `json:"served"`
			Schema struct {
				OpenAPI map[string]any `json:"openAPIV3Schema"`
			} `json:"schema"`
		} `json:"versions"`
	} `json:"spec"`
}

// addCRDs reads every CustomResourceDefinition of a YAML file, also those in a list, and returns how many there are.
// Other documents are left alone.
func (t *types) addCRDs(file []byte) (int, error) {
	f := yamldoc.Split(file)
	var errs []error
	found := 0
	for i, d := range f.Docs {
		if d.Empty {
			continue
		}
		var v any
		n, err := yamldoc.Parse(f.Body(file, i))
		if err == nil {
			v, err = n.JSON()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("document %d: %w", i+1, err))
			continue
		}
		objects, err := takeApart(v)
		if err != nil {
			continue
		}
		for _, o := range objects {
			if h := headOf(o); h.Group == "apiextensions.k8s.io" && h.Kind == "CustomResourceDefinition" {
				errs = append(errs, t.addCRD(compare.Canonical(o)))
				found++
			}
		}
	}
	return found, errors.Join(errs...)
}

func (t *types) addCRD(b []byte) error {
	var c crd
	if err := json.Unmarshal(b, &c); err != nil {
		return fmt.Errorf("reading a CustomResourceDefinition: %w", err)
	}
	s := &c.Spec
	if t.BuiltIn(s.Group) {
		return nil // no definition changes what the API server itself serves
	}
	for _, v := range s.Versions {
		if !v.Served {
			continue
		}
		k := [2]string{s.Group, s.Names.Kind}
		if _, ok := t.byKind[k]; !ok {
			t.byKind[k] = change.Type{
				Group: s.Group, Version: v.Name, Kind: s.Names.Kind, Resource: s.Names.Plural, Namespaced: s.Scope == "Namespaced",
			}
		}
		if v.Schema.OpenAPI == nil {
			continue
		}
		root := v.Schema.OpenAPI
		root["x-kubernetes-group-version-kind"] = []any{
			map[string]any{"group": s.Group, "version": v.Name, "kind": s.Names.Kind},
		}
		if p, ok := root["properties"].(map[string]any); ok && p["metadata"] == nil {
			p["metadata"] = map[string]any{"type": "object"}
		}
		doc, err := json.Marshal(map[string]any{"components": map[string]any{"schemas": map[string]any{"crd": root}}})
		if err != nil {
			return err
		}
		if err := t.Add(doc, false); err != nil {
			return err
		}
	}
	return nil
}
