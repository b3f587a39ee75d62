// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
	"github.com/configbutler/gitops-reverser/internal/manifest/placement"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamledit"
)

// EditKustomization changes the value of a kustomization file and leaves its text as it is otherwise.
func (w *Workspace) EditKustomization(name string, change func(map[string]any)) error {
	b, err := w.Read(name)
	if err != nil {
		return &ioError{err}
	}
	f := yamldoc.Split(b)
	index := -1
	for i, d := range f.Docs {
		if d.Empty {
			continue
		}
		if index >= 0 {
			return fmt.Errorf("%s has more than one document", name)
		}
		index = i
	}
	if index < 0 {
		return fmt.Errorf("%s is empty", name)
	}
	v, err := Decode(f.Body(b, index))
	if err != nil {
		return err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is no mapping", name)
	}
	m = maps.Clone(m)
	change(m)
	res, err := yamledit.Edit(b, index, m, yamledit.Options{Options: compare.Options{Schema: yamledit.KustomizationSchema()}})
	if err != nil {
		return err
	}
	if err := w.Work.Set(name, res.File); err != nil {
		return &ioError{err}
	}
	return nil
}

// NewKustomization is the text of a kustomization that lists files and says nothing else.
func NewKustomization(resources []string) ([]byte, error) {
	return yamledit.Emit(map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": anyList(resources),
	})
}

// AddResources lists files in a kustomization.
func (w *Workspace) AddResources(name string, entries []string) error {
	return w.EditKustomization(name, func(v map[string]any) {
		list := stringList(v["resources"])
		for _, e := range entries {
			list = placement.InsertResource(list, e)
		}
		v["resources"] = anyList(list)
	})
}

// RemoveResource takes one entry out of a kustomization.
func (w *Workspace) RemoveResource(name, entry string) error {
	return w.EditKustomization(name, func(v map[string]any) {
		setList(v, "resources", placement.RemoveResource(stringList(v["resources"]), entry))
	})
}

// RemoveFile takes the entries that resolve to a file out of the resources of a kustomization.
func (w *Workspace) RemoveFile(name, file string) error {
	return w.EditKustomization(name, func(v map[string]any) { dropEntries(v, "resources", Parent(name), file) })
}

// AddPatch lists a patch file in a kustomization.
func (w *Workspace) AddPatch(c *layout.Kustomization, file string) error {
	entry := file
	if c.Dir != "" {
		entry = strings.TrimPrefix(file, c.Dir+"/")
	}
	return w.EditKustomization(c.Path, func(v map[string]any) {
		list, _ := v["patches"].([]any)
		v["patches"] = append(slices.Clone(list), map[string]any{"path": entry})
	})
}

// RemovePatch takes a patch file out of a kustomization.
func (w *Workspace) RemovePatch(c *layout.Kustomization, file string) error {
	return w.removeItems(c.Path, "patches", func(m map[string]any) bool {
		p, _ := m["path"].(string)
		return p != "" && resolve(c.Dir, p) == file
	})
}

// RemoveCount takes the replicas entries of a name out of a kustomization.
func (w *Workspace) RemoveCount(c *layout.Kustomization, object string) error {
	return w.removeItems(c.Path, "replicas", func(m map[string]any) bool { return m["name"] == object })
}

// removeItems takes items out of a list of mappings. The emptied list goes with its key.
func (w *Workspace) removeItems(name, field string, gone func(map[string]any) bool) error {
	return w.EditKustomization(name, func(v map[string]any) {
		list, _ := v[field].([]any)
		list = slices.DeleteFunc(slices.Clone(list), func(e any) bool {
			m, ok := e.(map[string]any)
			return ok && gone(m)
		})
		if len(list) == 0 {
			delete(v, field)
		} else {
			v[field] = list
		}
	})
}

// Unregister takes a removed file out of every kustomization of the folder that lists it.
func (w *Workspace) Unregister(name string) error {
	for _, k := range w.Layout.All() {
		if !k.Writable {
			continue
		}
		listed := map[string]bool{}
		for _, r := range k.Resources {
			if r.Kind == layout.RefFile && r.Target == name {
				listed[r.Field] = true
			}
		}
		if len(listed) == 0 {
			continue
		}
		err := w.EditKustomization(k.Path, func(v map[string]any) {
			for field := range listed {
				dropEntries(v, field, k.Dir, name)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dropEntries removes the entries of a list that resolve to a path. The emptied list goes with its key, unless the
// file would then say nothing at all, which kustomize refuses to build.
func dropEntries(v map[string]any, field, dir, target string) {
	list := stringList(v[field])
	for _, e := range list {
		if resolve(dir, e) == target {
			list = placement.RemoveResource(list, e)
		}
	}
	setList(v, field, list)
}

func setList(v map[string]any, field string, list []string) {
	if len(list) > 0 {
		v[field] = anyList(list)
		return
	}
	delete(v, field)
	for k := range v {
		if k != "apiVersion" && k != "kind" && k != "metadata" {
			return
		}
	}
	v["resources"] = []any{}
}

func stringList(v any) []string {
	l, _ := v.([]any)
	out := make([]string, 0, len(l))
	for _, e := range l {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func anyList(l []string) []any {
	out := make([]any, len(l))
	for i, s := range l {
		out[i] = s
	}
	return out
}

// resolve is the path an entry of a kustomization names, from the repository root.
func resolve(dir, entry string) string { return strings.TrimPrefix(path.Join("/", dir, entry), "/") }

// Parent is the directory of a path, from the repository root; "" is the root.
func Parent(name string) string {
	if d := path.Dir(name); d != "." {
		return d
	}
	return ""
}
