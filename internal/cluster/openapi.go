// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// document is the part of an OpenAPI v3 document that is read.
type document struct {
	Components struct {
		Schemas map[string]*node `json:"schemas"`
	} `json:"components"`
}

// node is one schema of a document.
type node struct {
	Ref                  string           `json:"$ref"`
	AllOf                []*node          `json:"allOf"`
	Default              json.RawMessage  `json:"default"`
	Pattern              string           `json:"pattern"`
	Properties           map[string]*node `json:"properties"`
	Items                *node            `json:"items"`
	AdditionalProperties json.RawMessage  `json:"additionalProperties"`
	IntOrString          bool             `json:"x-kubernetes-int-or-string"`
	ListType             string           `json:"x-kubernetes-list-type"`
	ListMapKeys          []string         `json:"x-kubernetes-list-map-keys"`
	MergeKey             string           `json:"x-kubernetes-patch-merge-key"`
	Kinds                []struct {
		Group   string `json:"group"`
		Version string `json:"version"`
		Kind    string `json:"kind"`
	} `json:"x-kubernetes-group-version-kind"`
}

const (
	refPrefix       = "#/components/schemas/"
	quantityName    = "io.k8s.apimachinery.pkg.api.resource.Quantity"
	intOrStringName = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
	// quantityPattern begins the pattern that controller-gen writes for quantities in a CRD.
	quantityPattern = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]`
)

// kindKey names a root schema.
type kindKey struct{ group, version, kind string }

// parseOpenAPI converts a document into the schemas of the kinds it serves. builtin adds the table of defaults that the
// API server applies without saying so in the document.
func parseOpenAPI(b []byte, builtin bool) (map[kindKey]*change.Schema, error) {
	var d document
	if err := json.Unmarshal(b, &d); err != nil {
		return nil, fmt.Errorf("reading an OpenAPI document: %w", err)
	}
	c := converter{nodes: d.Components.Schemas, builtin: builtin, done: map[string]*change.Schema{}}
	out := map[kindKey]*change.Schema{}
	for name, n := range d.Components.Schemas {
		// Only kinds with metadata are objects; lists and options of requests come with many kinds at once.
		if len(n.Kinds) != 1 || n.Properties["metadata"] == nil || n.Properties["items"] != nil {
			continue
		}
		k := n.Kinds[0]
		out[kindKey{k.Group, k.Version, k.Kind}] = c.component(name)
	}
	c.finish()
	return out, nil
}

// converter turns the nodes of one document into schemas. A component becomes one schema that is shared, also by itself:
// schemas may be recursive.
type converter struct {
	nodes   map[string]*node
	builtin bool
	done    map[string]*change.Schema
	// copies are uses of a component with a default of their own; they are filled when all components are.
	copies []schemaCopy
}

type schemaCopy struct {
	to, from *change.Schema
	value    any
}

func (c *converter) finish() {
	for _, cp := range c.copies {
		*cp.to = *cp.from
		cp.to.Default = cp.value
	}
	if !c.builtin {
		return
	}
	for name, s := range c.done {
		applyTable(name, s)
	}
}

func (c *converter) component(name string) *change.Schema {
	if s, ok := c.done[name]; ok {
		return s
	}
	s := &change.Schema{}
	c.done[name] = s
	switch name {
	case quantityName:
		s.Quantity = true
		return s
	case intOrStringName:
		s.IntOrString = true
		return s
	}
	if n := c.nodes[name]; n != nil {
		c.fill(s, n)
	}
	return s
}

// schema converts the use of a node.
func (c *converter) schema(n *node) *change.Schema {
	if n == nil {
		return nil
	}
	ref := n.Ref
	if ref == "" && len(n.AllOf) == 1 && len(n.Properties) == 0 {
		ref = n.AllOf[0].Ref
	}
	if ref == "" {
		s := &change.Schema{}
		c.fill(s, n)
		return s
	}
	s := c.component(strings.TrimPrefix(ref, refPrefix))
	value := decodeDefault(n.Default)
	if value == nil {
		return s
	}
	cp := &change.Schema{}
	c.copies = append(c.copies, schemaCopy{to: cp, from: s, value: value})
	return cp
}

func (c *converter) fill(s *change.Schema, n *node) {
	s.Default = decodeDefault(n.Default)
	s.IntOrString = n.IntOrString
	s.Quantity = strings.HasPrefix(n.Pattern, quantityPattern)
	s.ListType, s.ListMapKeys = n.ListType, n.ListMapKeys
	if s.ListType == "" && n.MergeKey != "" {
		s.ListType = "map"
	}
	if len(s.ListMapKeys) == 0 && n.MergeKey != "" {
		s.ListMapKeys = []string{n.MergeKey}
	}
	s.Items = c.schema(n.Items)
	if len(n.Properties) > 0 {
		s.Properties = make(map[string]*change.Schema, len(n.Properties))
		for name, p := range n.Properties {
			s.Properties[name] = c.schema(p)
		}
	}
	var values node
	if bytes.HasPrefix(bytes.TrimSpace(n.AdditionalProperties), []byte("{")) &&
		json.Unmarshal(n.AdditionalProperties, &values) == nil {
		s.Values = c.schema(&values)
	}
}

// decodeDefault reads a default as decoded JSON with integers as int64; nil when there is none.
func decodeDefault(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return exact(v)
}

func exact(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = exact(v[k])
		}
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
	}
	return v
}
