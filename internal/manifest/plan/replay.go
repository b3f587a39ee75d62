// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"path"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
	"github.com/configbutler/gitops-reverser/internal/manifest/placement"
)

// placeAgain puts a decided new document where it was decided (git-writer 10.4). False means that the place is not
// usable on this tree any more: the object is placed as if it were new.
func (p creator) placeAgain(c *creation) bool {
	name := c.subject.decided.Path
	if name == "" || !within(p.Layout.Jail(), name) || p.Folder.Ignore().Match(p.Folder.Rel(name), false) {
		return false
	}
	o := &placement.Placed{
		Object: placement.Object{ID: c.subject.id, Type: c.subject.item.Type, Sensitive: c.sensitive},
		Path:   name, Source: placement.Canonical, Disposition: placement.NewFile,
	}
	if f := p.Folder.File(name); f != nil {
		if f.Role != inventory.Manifest || c.sensitive {
			return false
		}
		for i := range f.Documents {
			if d := &f.Documents[i]; d.Content != inventory.Managed || d.Encrypted {
				return false
			}
		}
		o.Disposition = placement.Appended
	} else if taken, err := p.Work.Occupied(name); err != nil || taken {
		return false
	}
	if k := p.Layout.Governing(name); k != nil {
		if !k.Writable {
			return false
		}
		if !lists(k, name) && placement.Holds(p.Folder.File(name)) {
			return false
		}
		if !lists(k, name) {
			o.Kustomization, o.Entry = k.Path, strings.TrimPrefix(name, strings.TrimSuffix(k.Dir+"/", "/")+"/")
			if k.Dir == "" {
				o.Entry = name
			}
		}
		o.OmitNamespace = k.Namespace != "" && k.Namespace == c.subject.id.Namespace
	}
	if o.Kustomization == "" && p.req.Policy.Placement.UseKustomize && len(p.Layout.Roots()) == 0 {
		// The folder's own kustomization is created together with the document.
		return false
	}
	c.placed = o
	return true
}

func lists(k *layout.Kustomization, name string) bool {
	for _, r := range k.Resources {
		if r.Kind == layout.RefFile && r.Target == name {
			return true
		}
	}
	return false
}

// within reports whether a clean path is dir or below it.
func within(dir, name string) bool {
	return path.Clean(name) == name && !strings.HasPrefix(name, "../") &&
		(dir == "" || name == dir || strings.HasPrefix(name, dir+"/"))
}
