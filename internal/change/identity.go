// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"cmp"
	"strings"
)

// ObjectID identifies a Kubernetes object across its served versions: group, kind, effective namespace and name.
// Namespace is empty for a cluster-scoped object.
type ObjectID struct {
	Group, Kind, Namespace, Name string
}

// String returns "group/Kind namespace/name", with the empty parts left out.
func (o ObjectID) String() string {
	var b strings.Builder
	if o.Group != "" {
		b.WriteString(o.Group)
		b.WriteByte('/')
	}
	b.WriteString(o.Kind)
	b.WriteByte(' ')
	if o.Namespace != "" {
		b.WriteString(o.Namespace)
		b.WriteByte('/')
	}
	b.WriteString(o.Name)
	return b.String()
}

// Compare orders identities by group, kind, namespace and name.
func (o ObjectID) Compare(p ObjectID) int {
	return cmp.Or(
		cmp.Compare(o.Group, p.Group),
		cmp.Compare(o.Kind, p.Kind),
		cmp.Compare(o.Namespace, p.Namespace),
		cmp.Compare(o.Name, p.Name),
	)
}

// Type is one served resource type of a source cluster.
type Type struct {
	Group, Version, Kind string
	// Resource is the lower-case plural, without a subresource.
	Resource   string
	Namespaced bool
}

// APIVersion returns "group/version", or "version" for the core group.
func (t Type) APIVersion() string {
	if t.Group == "" {
		return t.Version
	}
	return t.Group + "/" + t.Version
}

// GroupResource returns "group/resource", or "resource" for the core group.
func (t Type) GroupResource() string {
	if t.Group == "" {
		return t.Resource
	}
	return t.Group + "/" + t.Resource
}

// Kinds answers which served type a group and kind have in a source cluster. Implementations are read-only and safe
// for concurrent use.
type Kinds interface {
	// Kind returns the preferred served version of group and kind; false when it is not known.
	Kind(group, kind string) (Type, bool)
}

// TargetKey identifies one GitTarget. The UID keeps a re-created GitTarget apart from its predecessor.
type TargetKey struct {
	Namespace, Name, UID string
}

// String returns "namespace/name".
func (k TargetKey) String() string { return k.Namespace + "/" + k.Name }

// Cell is the scope of one stream and so of one snapshot: a type in one namespace, or in all of them.
type Cell struct {
	Group, Resource string
	// Namespace is empty for all namespaces and for cluster-scoped types.
	Namespace string
}

// String returns "group/resource" and, when bounded, "@namespace".
func (c Cell) String() string {
	s := c.Resource
	if c.Group != "" {
		s = c.Group + "/" + s
	}
	if c.Namespace != "" {
		s += "@" + c.Namespace
	}
	return s
}
