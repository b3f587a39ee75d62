// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

func memTree(files map[string]string) *manifest.MemTree {
	in := map[string]manifest.File{}
	for n, c := range files {
		in[n] = manifest.File{Content: []byte(c)}
	}
	return manifest.NewMemTree(in)
}

// TestTraceFindsOwners marks what governs one object of a root whose other objects, patches and entries take no part.
func TestTraceFindsOwners(t *testing.T) {
	g := NewWithT(t)
	tree := memTree(map[string]string{
		"base/kustomization.yaml": "resources: [all.yaml]\nimages: [{name: x/a, newTag: '1'}, {name: x/b, newName: m/b}]\n",
		"base/all.yaml": boat + "spec: {replicas: 3, template: {spec: {containers: [{name: a, image: x/a}, {name: b, image: 'x/b:7'}, {name: c, image: x/c}]}}}\n" +
			"---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: other}\nspec: {template: {spec: {containers: [{name: a, image: x/a}]}}}\n",
		"overlay/kustomization.yaml": "namespace: dock\nresources: [../base, extra.yaml]\nreplicas: [{name: boat, count: 3}, {name: other, count: 1}]\n" +
			"images: [{name: x/a, newTag: '1'}, {name: x/c, digest: 'sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}]\n" +
			"patches: [{path: other.yaml}, {path: sel.yaml, target: {kind: ConfigMap}}]\n",
		"overlay/other.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: other}\nspec: {paused: true}\n",
		"overlay/sel.yaml":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: any}\ndata: {a: b}\n",
		"overlay/extra.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\n",
	})
	m := NewMemo()
	b, err := m.Build("overlay", NewOverlay(tree))
	g.Expect(err).NotTo(HaveOccurred())
	o := b.Find("apps", "Deployment", "dock", "boat")
	g.Expect(o.Origin).To(Equal("base/all.yaml"))
	tr := m.Trace(b, []*Object{o})
	at := func(i string) Slot { return tr.Slots(o)["/spec/template/spec/containers/"+i+"/image"] }
	g.Expect(at("0")).To(Equal(Slot{Tag: &Entry{Dir: "overlay", Index: 0}}), "the last writer, although both pin one value (case K03)")
	g.Expect(at("1")).To(Equal(Slot{Name: &Entry{Dir: "base", Index: 1}}))
	g.Expect(at("2")).To(Equal(Slot{Digest: &Entry{Dir: "overlay", Index: 1}}))
	g.Expect(tr.Slots(o)["/spec/replicas"]).To(Equal(Slot{Count: &Entry{Dir: "overlay", Index: 0}}))
	g.Expect(m.Stats()).To(Equal(Stats{Builds: 2, Marked: 1}))
}

// TestTraceKeepsChainsOfRenames: a name that another entry matches is not marked, since that would break the chain.
func TestTraceKeepsChainsOfRenames(t *testing.T) {
	g := NewWithT(t)
	tree := memTree(map[string]string{
		"base/kustomization.yaml":    "resources: [d.yaml]\nimages: [{name: x/a, newName: mid/a}]\n",
		"base/d.yaml":                boat + "spec: {template: {spec: {containers: [{name: a, image: 'x/a:1'}]}}}\n",
		"overlay/kustomization.yaml": "resources: [../base]\nimages: [{name: mid/a, newName: last/a, newTag: '2'}]\n",
	})
	m := NewMemo()
	b, err := m.Build("overlay", NewOverlay(tree))
	g.Expect(err).NotTo(HaveOccurred())
	o := b.Find("apps", "Deployment", "", "boat")
	s := m.Trace(b, []*Object{o}).Slots(o)["/spec/template/spec/containers/0/image"]
	g.Expect(s).To(Equal(Slot{Name: &Entry{Dir: "overlay", Index: 0}, Tag: &Entry{Dir: "overlay", Index: 0}}))
}

func TestParseImage(t *testing.T) {
	g := NewWithT(t)
	for s, want := range map[string]Image{
		"a":                      {Name: "a"},
		"a:1":                    {Name: "a", Tag: "1"},
		"h:5000/a":               {Name: "h:5000/a"},
		"h:5000/a:1@sha256:abc":  {Name: "h:5000/a", Tag: "1", Digest: "sha256:abc"},
		"a@sha256:abc":           {Name: "a", Digest: "sha256:abc"},
		"ghcr.io/x/a@sha256:abc": {Name: "ghcr.io/x/a", Digest: "sha256:abc"},
	} {
		g.Expect(ParseImage(s)).To(Equal(want))
		g.Expect(want.String()).To(Equal(s))
	}
	g.Expect(Matches("nginx:1", "nginx")).To(BeTrue())
	g.Expect(Matches("my/nginx:1", "nginx")).To(BeFalse())
	g.Expect(Matches("nginx", "ngin[")).To(BeFalse())
}

// TestConcurrentBuilds renders and patches in parallel, as the branches of one process do; run it with -race.
func TestConcurrentBuilds(t *testing.T) {
	g := NewWithT(t)
	tree := memTree(map[string]string{
		"kustomization.yaml": "namespace: dock\nresources: [d.yaml]\npatches: [{path: p.yaml}]\n",
		"d.yaml":             boat + "spec: {template: {spec: {containers: [{name: a, image: 'x/a:1'}]}}}\n",
		"p.yaml":             boat + "spec: {template: {spec: {containers: [{name: a, env: [{name: A, value: a}]}]}}}\n",
	})
	errs := make(chan error, 4)
	for range cap(errs) {
		go func() {
			for range 10 {
				b, err := NewMemo().Build("", NewOverlay(tree))
				if err != nil {
					errs <- err
					return
				}
				v, err := b.Objects[0].Value()
				if err != nil {
					errs <- err
					return
				}
				r := v.(map[string]any)
				l, _ := SetAt(r, "/spec/template/spec/containers/0/image", "x/a:2").(map[string]any)
				if _, err := Extend(nil, nil, r, l); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range cap(errs) {
		g.Expect(<-errs).To(Succeed())
	}
}
