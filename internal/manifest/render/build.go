// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strconv"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/provenance"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
)

// Version is the kustomize version renders are made with, for the log (decision 92).
func Version() string { return provenance.GetProvenance().Semver() }

// Object is one rendered object.
type Object struct {
	APIVersion, Kind, Namespace, Name string
	// Group is APIVersion's group.
	Group string
	// Origin is the file the object comes from, from the repository root.
	Origin string
	// JSON is the object as canonical JSON.
	JSON []byte
}

// Value decodes the object.
func (o *Object) Value() (any, error) { return compare.Decode(o.JSON) }

// Build is one finished render. It is immutable.
type Build struct {
	// Root is the directory of the root kustomization.
	Root    string
	Objects []*Object

	graph *graph
	index map[key][]*Object
}

type key struct{ group, kind, namespace, name string }

// Find returns the object of an identity; the version does not count. More than one cannot be rendered.
func (b *Build) Find(group, kind, namespace, name string) *Object {
	if l := b.index[key{group, kind, namespace, name}]; len(l) > 0 {
		return l[0]
	}
	return nil
}

// FindAnyNamespace returns the first object of a group, kind and name, whatever namespace the build gave it.
func (b *Build) FindAnyNamespace(group, kind, name string) *Object {
	for _, o := range b.Objects {
		if o.Group == group && o.Kind == kind && o.Name == name {
			return o
		}
	}
	return nil
}

// Files returns the blobs the build read, by path.
func (b *Build) Files() map[string]manifest.ID {
	out := maps.Clone(b.graph.reads)
	for p, id := range out {
		if id.IsZero() {
			delete(out, p)
		}
	}
	return out
}

// BuildError is a folder that kustomize cannot build.
type BuildError struct {
	Root string
	Err  error
}

// Error implements error.
func (e *BuildError) Error() string {
	return fmt.Sprintf("kustomize cannot build %s: %v", shown(e.Root), e.Err)
}

// Unwrap returns the library's error.
func (e *BuildError) Unwrap() error { return e.Err }

// run builds a loaded graph.
func run(g *graph) (*Build, error) {
	files := g.files
	root := g.kusts[g.root]
	failed := func(err error) error { return &BuildError{Root: g.root, Err: quiet(err, files)} }
	traced, err := withOrigins(files[root.file])
	if err != nil {
		return nil, failed(err)
	}
	files = maps.Clone(files)
	files[root.file] = traced
	res, err := krustyRun(files, g.root)
	if err != nil {
		return nil, failed(err)
	}
	b := &Build{Root: g.root, graph: g, Objects: make([]*Object, 0, len(res)), index: make(map[key][]*Object, len(res))}
	for _, r := range res {
		o, err := object(g.root, r)
		if err != nil {
			return nil, failed(err)
		}
		b.Objects = append(b.Objects, o)
		k := key{o.Group, o.Kind, o.Namespace, o.Name}
		b.index[k] = append(b.index[k], o)
	}
	return b, nil
}

// krustyRun is the only call into the library's build. Plugins are off, the file system is memory, a panic is an error.
func krustyRun(files map[string][]byte, root string) (res []*resource.Resource, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, fmt.Errorf("the kustomize library panicked: %v", p)
		}
	}()
	o := krusty.MakeDefaultOptions()
	o.LoadRestrictions = types.LoadRestrictionsNone
	o.PluginConfig = types.DisabledPluginConfig()
	m, err := krusty.MakeKustomizer(o).Run(newBuildFS(modern(files)), "/"+root)
	if err != nil {
		return nil, err
	}
	return m.Resources(), nil
}

// withOrigins asks the build to say which file each object comes from.
func withOrigins(kustomization []byte) ([]byte, error) {
	n, err := kyaml.Parse(string(kustomization))
	if err != nil {
		return nil, err
	}
	meta, err := n.Pipe(kyaml.LookupCreate(kyaml.SequenceNode, "buildMetadata"))
	if err != nil {
		return nil, err
	}
	elems, err := meta.Elements()
	if err != nil {
		return nil, err
	}
	for _, e := range elems {
		if e.YNode().Value == types.OriginAnnotations {
			return kustomization, nil
		}
	}
	if err := meta.PipeE(kyaml.Append(kyaml.NewStringRNode(types.OriginAnnotations).YNode())); err != nil {
		return nil, err
	}
	s, err := n.String()
	return []byte(s), err
}

// object takes a resource out of the library: its origin, its identity and its value.
func object(root string, r *resource.Resource) (*Object, error) {
	o := &Object{
		APIVersion: r.GetApiVersion(), Kind: r.GetKind(), Namespace: r.GetNamespace(), Name: r.GetName(),
		Group: r.GetGvk().Group,
	}
	origin, err := r.GetOrigin()
	if err != nil {
		return nil, err
	}
	if origin != nil {
		o.Origin = clean(path.Join("/", root, origin.Path))
	}
	if err := r.SetOrigin(nil); err != nil {
		return nil, err
	}
	if err := r.ClearTransformations(); err != nil {
		return nil, err
	}
	v, err := value(r.YNode())
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", o.Kind, o.Name, err)
	}
	o.JSON = compare.Canonical(v)
	return o, nil
}

// value turns a node into JSON values. Aliases are bounded by the check every file passed.
func value(n *kyaml.Node) (any, error) {
	switch n.Kind {
	case kyaml.DocumentNode:
		return value(n.Content[0])
	case kyaml.AliasNode:
		return value(n.Alias)
	case kyaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			v, err := value(c)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case kyaml.MappingNode:
		out := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			v, err := value(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			out[n.Content[i].Value] = v
		}
		return out, nil
	}
	return scalar(n)
}

func scalar(n *kyaml.Node) (any, error) {
	switch n.ShortTag() {
	case kyaml.NodeTagNull:
		return nil, nil
	case kyaml.NodeTagBool, kyaml.NodeTagFloat:
		var v any
		if err := n.Decode(&v); err != nil {
			return nil, err
		}
		return v, nil
	case kyaml.NodeTagInt:
		if i, err := strconv.ParseInt(n.Value, 10, 64); err == nil {
			return i, nil
		}
		var i int64
		if err := n.Decode(&i); err == nil {
			return i, nil
		}
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value), nil
		}
		return n.Value, nil
	}
	return n.Value, nil
}

// Equal reports whether two rendered objects are the same, bytes of their values compared.
func (o *Object) Equal(p *Object) bool { return bytes.Equal(o.JSON, p.JSON) }
