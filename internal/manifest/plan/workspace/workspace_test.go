// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

func open(t *testing.T, files map[string]string) *Workspace {
	t.Helper()
	m := map[string]manifest.File{}
	for name, content := range files {
		m[name] = manifest.File{Content: []byte(content)}
	}
	tree := manifest.NewMemTree(m)
	folder, _, err := inventory.Scan(t.Context(), tree, ".", nil)
	if err != nil {
		t.Fatal(err)
	}
	return New(tree, folder)
}

func text(t *testing.T, w *Workspace, name string) string {
	t.Helper()
	b, err := w.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// An entry is added, found again by the file it resolves to and taken out; a list that is empty then goes with its key
// unless nothing would be left, and everything else keeps its bytes.
func TestKustomizationEntries(t *testing.T) {
	g := NewWithT(t)
	const before = "# ours\nresources: # sorted\n- ./a.yaml\n- c.yaml\nreplicas:\n- name: web\n  count: 2\n"
	w := open(t, map[string]string{"kustomization.yaml": before, "a.yaml": "", "c.yaml": ""})
	c := w.Layout.Kustomization("")
	g.Expect(w.AddResources(c.Path, []string{"b.yaml"})).To(Succeed())
	g.Expect(w.AddPatch(c, "p.yaml")).To(Succeed())
	g.Expect(text(t, w, c.Path)).To(Equal("# ours\nresources: # sorted\n- ./a.yaml\n- b.yaml\n- c.yaml\nreplicas:\n- name: web\n  count: 2\n" +
		"patches:\n- path: p.yaml\n"))
	g.Expect(w.RemovePatch(c, "p.yaml")).To(Succeed())
	g.Expect(w.RemoveResource(c.Path, "b.yaml")).To(Succeed())
	g.Expect(text(t, w, c.Path)).To(Equal(before))
	g.Expect(w.Work.Changed()).To(BeEmpty(), "what was taken back is no change")
	g.Expect(w.RemoveCount(c, "web")).To(Succeed())
	g.Expect(w.Unregister("a.yaml")).To(Succeed())
	g.Expect(w.RemoveFile(c.Path, "c.yaml")).To(Succeed())
	g.Expect(text(t, w, c.Path)).To(Equal("# ours\nresources: [] # sorted\n"))
}

// A null in a patch says "delete the field": it is added, kept in its spelling and taken out like any other value.
func TestPatchNulls(t *testing.T) {
	g := NewWithT(t)
	w := open(t, map[string]string{"p.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: ~ # gone\n  y: \"1\"\n"})
	h := yamldoc.Head{Kind: "ConfigMap", APIVersion: "v1", Name: "a"}
	next := func(data map[string]any) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "data": data}
	}
	g.Expect(w.EditPatch("p.yaml", h, next(map[string]any{"x": nil, "y": nil}))).To(Succeed())
	g.Expect(text(t, w, "p.yaml")).To(ContainSubstring("data:\n  x: ~ # gone\n  y: null\n"))
	g.Expect(w.EditPatch("p.yaml", h, next(map[string]any{"y": "2"}))).To(Succeed())
	g.Expect(text(t, w, "p.yaml")).To(ContainSubstring("data:\n  y: \"2\"\n"))
	h.Name = "b"
	err := w.EditPatch("p.yaml", h, next(nil))
	g.Expect(err).To(MatchError("the patch is gone from the file"))
	g.Expect(IsIO(err)).To(BeFalse())
}

// Case Y13: an edit that would leave nothing of a file is found before anything is written.
func TestCaseY13_NoFileIsEmptied(t *testing.T) {
	g := NewWithT(t)
	w := open(t, map[string]string{"a.yaml": "a: b\n", "b.yaml": "a: b\n", "c.yaml": "a: b\n"})
	g.Expect(w.Write("a.yaml", []byte(" \n"))).To(Succeed())
	g.Expect(w.Write("b.yaml", []byte("a: c\n"))).To(Succeed())
	g.Expect(w.Remove("c.yaml")).To(Succeed())
	g.Expect(w.Write("new.yaml", nil)).To(Succeed())
	g.Expect(w.Emptied()).To(Equal([]string{"a.yaml"}))
}

// After an edit of its file a document is found by what it says, not by its number.
func TestDocumentsMoveInTheirFile(t *testing.T) {
	g := NewWithT(t)
	const one, two = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"
	w := open(t, map[string]string{"f.yaml": one + "---\n" + two})
	docs := w.Folder.Find(change.ObjectID{Kind: "ConfigMap", Name: "b"}, inventory.View{})
	g.Expect(docs).To(HaveLen(1))
	_, i, err := w.Locate(docs[0])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(i).To(Equal(1))
	g.Expect(w.Write("f.yaml", []byte(two))).To(Succeed())
	_, i, err = w.Locate(docs[0])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(i).To(Equal(0))
	g.Expect(w.Remove("f.yaml")).To(Succeed())
	_, i, err = w.Locate(docs[0])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(i).To(Equal(-1))
	g.Expect(w.Touched("f.yaml")).To(BeTrue())
}
