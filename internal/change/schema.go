// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package change

// Schema holds the facts of one field that comparison and editing need, as a tree that mirrors the object. A nil
// *Schema means "not known" and every method accepts it.
type Schema struct {
	// Quantity marks resource quantities: "1000m" equals "1" (decision 23).
	Quantity bool
	// IntOrString marks fields where 80 and "80" stay different values of one field.
	IntOrString bool
	// Default is the API's default as decoded JSON; nil when there is none.
	Default any
	// Properties are the known fields of a map with fixed keys.
	Properties map[string]*Schema
	// Items describes the elements of a list.
	Items *Schema
	// Values describes the values of a map with free keys.
	Values *Schema
	// ListType is x-kubernetes-list-type: "map", "set", "atomic" or empty.
	ListType string
	// ListMapKeys are the merge keys of a list of maps (x-kubernetes-list-map-keys or the built-in table, decision 22).
	ListMapKeys []string
	// Ordered marks a list whose order means something even though items are matched by key (decision 40).
	Ordered bool
}

// Field returns the schema of a map's field, or nil.
func (s *Schema) Field(name string) *Schema {
	if s == nil {
		return nil
	}
	if p, ok := s.Properties[name]; ok {
		return p
	}
	return s.Values
}

// Item returns the schema of a list's elements, or nil.
func (s *Schema) Item() *Schema {
	if s == nil {
		return nil
	}
	return s.Items
}

// Schemas answers what is known of a type's fields. Implementations are read-only and safe for concurrent use.
type Schemas interface {
	// Schema returns the root schema of a served type; nil when it is not known.
	Schema(group, version, kind string) *Schema
	// BuiltIn reports whether the type is served by the API server itself, which drops empty maps and lists
	// (decision 41).
	BuiltIn(group string) bool
}
