// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/acceptance"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan/workspace"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamledit"
)

// patcher reads and writes the patch files of the folder.
type patcher struct{ *kustomize }

// patchLayer is one document of a strategic merge patch file for one object.
type patchLayer struct {
	path string
	head yamldoc.Head
	// value is what the document says, next what it is to say.
	value, next map[string]any
	// owner is the kustomization a new patch must be listed in, from the one an existing patch is listed in.
	owner, from *layout.Kustomization
}

// patchLayers returns the patches of the folder for an object, the one that is applied last first.
func (k patcher) patchLayers(root string, o *render.Object) ([]patchLayer, error) {
	var out []patchLayer
	chain := k.chain(root, o.Origin)
	for i, dir := range chain {
		c := k.p.Layout.Kustomization(dir)
		if c == nil || !c.Writable || len(k.rootsOf(c)) != 1 || len(c.Patches) == 0 {
			continue
		}
		input, err := k.inputNamespace(chain, i, o)
		if err != nil {
			return nil, err
		}
		for _, ref := range slices.Backward(c.Patches) {
			if ref.Kind != layout.RefFile || ref.Selects || !within(k.p.Layout.Jail(), ref.Target) ||
				len(k.p.Layout.Reaches(ref.Target)) > 0 {
				continue
			}
			docs, err := k.p.Patches(ref.Target)
			if err != nil {
				return nil, err
			}
			for _, d := range slices.Backward(docs) {
				if !patches(d.Head, o, input) {
					continue
				}
				if v := d.Value(); v != nil && v["$patch"] == nil {
					out = append(out, patchLayer{path: ref.Target, head: d.Head, value: v, from: c})
				}
			}
		}
	}
	return out, nil
}

// patches reports whether a patch names an object. Kustomize compares with every namespace the object has had on its
// way; input is the one it comes in with.
func patches(h yamldoc.Head, o *render.Object, input string) bool {
	return h.Group == o.Group && h.Kind == o.Kind && h.Name == o.Name &&
		(h.Namespace == input || h.Namespace == "" || h.Namespace == o.Namespace)
}

// newPatch starts a patch file beside a kustomization.
func (k patcher) newPatch(pd *pending, c *layout.Kustomization, chain []string, at int) (patchLayer, error) {
	ns, err := k.inputNamespace(chain, at, pd.object)
	if err != nil {
		return patchLayer{}, err
	}
	meta := map[string]any{"name": pd.object.Name}
	if ns != "" {
		meta["namespace"] = ns
	}
	name, err := k.freeName(c.Dir, pd.object, "patch")
	if err != nil {
		return patchLayer{}, err
	}
	return patchLayer{path: name, owner: c, next: map[string]any{
		"apiVersion": pd.object.APIVersion, "kind": pd.object.Kind, "metadata": meta,
	}}, nil
}

// freeName returns the first free path of a file about an object beside a kustomization.
func (k patcher) freeName(dir string, o *render.Object, what string) (string, error) {
	for _, stem := range []string{
		strings.ToLower(o.Kind) + "-" + o.Name, strings.ToLower(o.Kind) + "-" + o.Namespace + "-" + o.Name,
	} {
		name := joinDir(dir, stem+"-"+what+".yaml")
		taken, err := k.p.Work.Occupied(name)
		if err != nil {
			return "", err
		}
		if !taken {
			return name, nil
		}
	}
	return joinDir(dir, strings.ToLower(o.Kind)+"-"+o.Name+"-"+what+".yaml"), nil
}

// writePatch writes one document of a patch file, or the file and its entry.
func (k patcher) writePatch(pd *pending, l patchLayer) error {
	pd.written = append(pd.written, l.path)
	if l.owner != nil {
		b, err := yamledit.EmitPatch(l.next)
		if err != nil {
			return err
		}
		if err := k.p.Write(l.path, b); err != nil {
			return err
		}
		return k.listPatch(l.owner, l.path)
	}
	err := k.p.EditPatch(l.path, l.head, l.next)
	if err == nil || workspace.IsIO(err) {
		return err
	}
	k.p.issue(acceptance.New(acceptance.UnplaceableEdit, k.rel(l.path), fmt.Sprintf("%s: %v", pd.s.id, err)))
	return nil
}

// listPatch adds a patch file to the patches of a kustomization.
func (k patcher) listPatch(c *layout.Kustomization, file string) error {
	err := k.p.AddPatch(c, file)
	if err == nil || workspace.IsIO(err) {
		return err
	}
	k.p.issue(acceptance.New(acceptance.UnplaceableEdit, k.rel(c.Path), "the patch cannot be listed: "+err.Error()))
	return nil
}

// deleteMarker is the first line of a delete patch this operator owns; ownership is the exact content of the file.
const deleteMarker = "# Written by gitops-reverser: the object was deleted in the cluster. Not for editing by hand.\n"

// deletePatch is a patch in the folder's scope that hides an object.
type deletePatch struct {
	path  string
	head  yamldoc.Head
	owner *layout.Kustomization
	owned bool
}

func ownedPatch(h yamldoc.Head) ([]byte, error) {
	meta := map[string]any{"name": h.Name}
	if h.Namespace != "" {
		meta["namespace"] = h.Namespace
	}
	b, err := yamledit.Emit(map[string]any{"apiVersion": h.APIVersion, "kind": h.Kind, "metadata": meta, "$patch": "delete"})
	return append([]byte(deleteMarker), b...), err
}

// deletePatches lists the patches that hide objects, once per plan.
func (k patcher) deletePatches() ([]deletePatch, error) {
	if k.scanned {
		return k.hidden, nil
	}
	k.scanned = true
	for _, c := range k.p.Layout.All() {
		for _, ref := range c.Patches {
			if ref.Kind != layout.RefFile {
				continue
			}
			b, err := k.p.Read(ref.Target)
			if err != nil {
				return nil, err
			}
			for _, d := range workspace.DocumentsIn(b) {
				h := d.Head
				if d.Value()["$patch"] != "delete" {
					continue
				}
				own, err := ownedPatch(h)
				if err != nil {
					return nil, err
				}
				k.hidden = append(k.hidden, deletePatch{
					path: ref.Target, head: h, owner: c, owned: c.Writable && bytes.Equal(b, own),
				})
			}
		}
	}
	return k.hidden, nil
}

// hiddenBy returns the patch that hides an object; nil when none does.
func (k patcher) hiddenBy(id change.ObjectID) (*deletePatch, error) {
	all, err := k.deletePatches()
	if err != nil {
		return nil, err
	}
	for i := range all {
		h := all[i].head
		if h.Group != id.Group || h.Kind != id.Kind || h.Name != id.Name {
			continue
		}
		if h.Namespace == id.Namespace || h.Namespace == "" || k.givesNamespace(all[i].owner, id.Namespace) {
			return &all[i], nil
		}
	}
	return nil, nil
}

// givesNamespace reports whether a build that reads a kustomization sets a namespace.
func (k patcher) givesNamespace(owner *layout.Kustomization, ns string) bool {
	roots := k.rootsOf(owner)
	return slices.ContainsFunc(k.p.Layout.All(), func(c *layout.Kustomization) bool {
		return c.Namespace == ns && slices.ContainsFunc(k.rootsOf(c), func(r string) bool { return slices.Contains(roots, r) })
	})
}

func (k patcher) unowned(dp *deletePatch, id change.ObjectID) acceptance.Issue {
	i := acceptance.New(acceptance.UnownedDeletePatch, k.rel(dp.path),
		fmt.Sprintf("%s exists in the cluster and a patch this operator did not write deletes it", id))
	i.Cure = "remove the patch and its entry, or delete the object"
	return i
}

// restore retires the operator's own delete patch of an object that exists again and returns the build without it. Nil
// without an issue means that no patch hides the object.
func (k patcher) restore(s *subject) (*hit, error) {
	dp, err := k.hiddenBy(s.id)
	if err != nil || dp == nil {
		return nil, err
	}
	if !dp.owned {
		k.p.issue(k.unowned(dp, s.id))
		return nil, nil
	}
	if err := k.retire(dp); err != nil {
		return nil, err
	}
	s.retired = []string{dp.owner.Path, dp.path}
	for _, root := range k.rootsOf(dp.owner) {
		b, err := k.memo.Build(root, k.p.Work)
		if err != nil {
			k.p.issue(acceptance.New(acceptance.KustomizeRenderRefused, k.rel(dp.owner.Path), err.Error()))
			return nil, nil
		}
		if o := k.find(b, s.id, s.item.Type); o != nil {
			k.expected = append(k.expected, expectation{subject: s, root: root, path: o.Origin})
			return &hit{root, b, o}, nil
		}
	}
	return nil, nil
}

func (k patcher) retire(dp *deletePatch) error {
	if err := k.p.Remove(dp.path); err != nil {
		return err
	}
	return k.unlistPatch(dp.owner, dp.path)
}

// unlistPatch takes a patch file out of the patches of a kustomization.
func (k patcher) unlistPatch(c *layout.Kustomization, file string) error {
	err := k.p.RemovePatch(c, file)
	if err == nil || workspace.IsIO(err) {
		return err
	}
	k.p.issue(acceptance.New(acceptance.UnplaceableEdit, k.rel(c.Path), "the patch cannot be taken out: "+err.Error()))
	return nil
}

// drop takes away what kustomizations say about an object that is deleted: its patches and its replicas entry. Without
// the object a build finds nothing they could apply to, and fails. It returns the files it edited.
func (k patcher) drop(h hit) ([]string, error) {
	layers, err := k.patchLayers(h.root, h.object)
	if err != nil {
		return nil, err
	}
	edited, err := k.dropPatches(layers)
	if err != nil {
		return nil, err
	}
	counts, err := k.dropCounts(h, k.chain(h.root, h.object.Origin))
	return append(edited, counts...), err
}

func (k patcher) dropPatches(layers []patchLayer) ([]string, error) {
	var edited []string
	for _, l := range layers {
		b, err := k.p.Read(l.path)
		if err != nil {
			return nil, err
		}
		d := workspace.DocumentOf(b, workspace.RawID(l.head))
		if d == nil {
			continue
		}
		edited = append(edited, l.path)
		rest, empty := yamledit.DeleteDoc(b, d.Index)
		if !empty {
			if err := k.p.Write(l.path, rest); err != nil {
				return nil, err
			}
			continue
		}
		if err := k.p.Remove(l.path); err != nil {
			return nil, err
		}
		if err := k.unlistPatch(l.from, l.path); err != nil {
			return nil, err
		}
		edited = append(edited, l.from.Path)
	}
	return edited, nil
}

// dropCounts takes the replicas entries of an object out of the kustomizations of a chain, unless another object of the
// build has the name too.
func (k patcher) dropCounts(h hit, chain []string) ([]string, error) {
	if !replicated(h.object) || slices.ContainsFunc(h.build.Objects, func(o *render.Object) bool {
		return o != h.object && o.Name == h.object.Name && replicated(o)
	}) {
		return nil, nil
	}
	var edited []string
	for _, dir := range chain {
		c := k.p.Layout.Kustomization(dir)
		if c == nil || !c.Writable || len(k.rootsOf(c)) != 1 ||
			!slices.ContainsFunc(c.Replicas, func(r layout.Replica) bool { return r.Name == h.object.Name }) {
			continue
		}
		err := k.p.RemoveCount(c, h.object.Name)
		if workspace.IsIO(err) {
			return nil, err
		}
		if err != nil {
			k.p.issue(acceptance.New(acceptance.UnplaceableEdit, k.rel(c.Path),
				"the replicas entry cannot be taken out: "+err.Error()))
			return nil, nil
		}
		edited = append(edited, c.Path)
	}
	return edited, nil
}
