// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"io"
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

// The library warns of deprecated fields on the standard error of the process. The builds of an operator are no place
// for that: nothing may be printed, and the result must be that of the fields as they stand.
func TestBuildsOfDeprecatedFieldsPrintNothing(t *testing.T) {
	g := NewWithT(t)
	tree := manifest.NewMemTree(map[string]manifest.File{
		"app/kustomization.yaml": {Content: []byte("bases: [../base]\nresources: [cm.yaml]\n" +
			"commonLabels: {tier: web, port: \"80\"}\nlabels: [{pairs: {team: dock, tier: x}}]\n")},
		"app/cm.yaml":             {Content: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")},
		"base/kustomization.yaml": {Content: []byte("resources: [d.yaml]\nimageTags: [{name: x/web, newTag: \"2\"}]\n")},
		"base/d.yaml": {Content: []byte("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n" +
			"  selector: {matchLabels: {app: d}}\n  template:\n    metadata: {labels: {app: d}}\n    spec: {containers: [{name: c, image: x/web}]}\n")},
	})
	r, w, err := os.Pipe()
	g.Expect(err).NotTo(HaveOccurred())
	stderr := os.Stderr
	os.Stderr = w
	m := NewMemo()
	b, err := m.Build("app", NewOverlay(tree))
	var slots map[string]Slot
	if err == nil {
		o := b.Find("apps", "Deployment", "", "d")
		slots = m.Trace(b, []*Object{o}).Slots(o)
	}
	os.Stderr = stderr
	g.Expect(w.Close()).To(Succeed())
	printed, _ := io.ReadAll(r)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(printed)).To(BeEmpty())

	g.Expect(string(b.Find("apps", "Deployment", "", "d").JSON)).To(Equal(
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"labels":{"port":"80","team":"dock","tier":"web"},"name":"d"},` +
			`"spec":{"selector":{"matchLabels":{"app":"d","port":"80","tier":"web"}},"template":{"metadata":{"labels":` +
			`{"app":"d","port":"80","tier":"web"}},"spec":{"containers":[{"image":"x/web:2","name":"c"}]}}}}`))
	g.Expect(b.Find("", "ConfigMap", "", "c")).NotTo(BeNil())
	g.Expect(slots).To(HaveKeyWithValue("/spec/template/spec/containers/0/image", Slot{Tag: &Entry{Dir: "base"}}))
}
