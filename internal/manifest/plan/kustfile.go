// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"path"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
	"github.com/configbutler/gitops-reverser/internal/manifest/placement"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamledit"
)

// editKustomization changes the value of a kustomization file and leaves its text as it is otherwise.
func (w *workspace) editKustomization(name string, change func(map[string]any)) error {
	b, err := w.file(name)
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
	v, err := decodeDocument(f.Body(b, index))
	if err != nil {
		return err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is no mapping", name)
	}
	m = cloneMap(m)
	change(m)
	res, err := yamledit.Edit(b, index, m, yamledit.Options{Options: compare.Options{Schema: yamledit.KustomizationSchema()}})
	if err != nil {
		return err
	}
	if err := w.work.Set(name, res.File); err != nil {
		return &ioError{err}
	}
	return nil
}

// unregister takes a removed file out of every kustomization of the folder that lists it.
func (w *workspace) unregister(name string) error {
	for _, k := range w.layout.All() {
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
		err := w.editKustomization(k.Path, func(v map[string]any) {
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

// documents counts the documents of a file that say something.
func (w *workspace) documents(name string) int {
	f := w.folder.File(name)
	if f == nil {
		return 0
	}
	n := 0
	for i := range f.Documents {
		if f.Documents[i].Content != inventory.Empty {
			n++
		}
	}
	return n
}

// dropEntries removes the entries of a list that resolve to a path. The emptied list goes with its key, unless the
// file would then say nothing at all, which kustomize refuses to build.
func dropEntries(v map[string]any, field, dir, target string) {
	list := stringList(v[field])
	for _, e := range list {
		if strings.TrimPrefix(path.Join("/", dir, e), "/") == target {
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
