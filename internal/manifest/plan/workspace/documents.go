// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// Document is a readable document of a file.
type Document struct {
	Index int
	Head  yamldoc.Head

	node *yamldoc.Node
}

// Value decodes the document; nil when it holds what cannot be decoded.
func (d *Document) Value() map[string]any {
	if d == nil {
		return nil
	}
	v, err := d.node.JSON()
	if err != nil {
		return nil
	}
	m, _ := v.(map[string]any)
	return m
}

// DocumentsIn returns the documents of a file that name an object, in order.
func DocumentsIn(b []byte) []*Document {
	var out []*Document
	f := yamldoc.Split(b)
	for i := range f.Docs {
		if n, err := yamldoc.Parse(f.Body(b, i)); err == nil && n != nil {
			if h := yamldoc.ReadHead(n); h.Kind != "" && h.Name != "" {
				out = append(out, &Document{i, h, n})
			}
		}
	}
	return out
}

// DocumentOf returns the document of exactly one identity in a file; nil when there is none.
func DocumentOf(b []byte, id change.ObjectID) *Document {
	for _, d := range DocumentsIn(b) {
		if RawID(d.Head) == id {
			return d
		}
	}
	return nil
}

// DocumentFor returns the document of a file that a rendered object comes from: the one with its namespace, else the
// first with its name, since the build gives namespaces.
func DocumentFor(b []byte, o *render.Object) *Document {
	var first *Document
	for _, d := range DocumentsIn(b) {
		switch h := d.Head; {
		case h.Group != o.Group || h.Kind != o.Kind || h.Name != o.Name:
		case h.Namespace == o.Namespace:
			return d
		case first == nil:
			first = d
		}
	}
	return first
}
