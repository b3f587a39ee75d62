// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

// FuzzKustomization holds our reading of a kustomization against kustomize's own: what kustomize cannot decode must be
// refused, and nothing may panic.
func FuzzKustomization(f *testing.F) {
	for _, s := range []string{
		"resources: [a.yaml]\nnamespace: dock\n", "images: [{name: x, newTag: 1.0}]\n", "commonLabels: {a: on}\n", "resources: []\nresources: []\n",
		"bases: [x]\nimageTags: [{name: x}]\n", "a: &a [*a]\n", "replicas: [{name: x, count: 0x10}]\n", "<<: {namespace: x}\n", "---\n---\n", "? [a]\n: b\n",
		"patches: [{path: p.yaml, target: {kind: x}}]\nlabels: [{pairs: {a: b}, fields: [{path: x}]}]\n", "metadata: {name: x}\nkind: Component\n",
		"sortOptions: {order: fifo}\nbuildMetadata: [x]\ngeneratorOptions: {labels: {a: b}}\n", "namespace: !!str 1\n", "namespace: ~\nresources:\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		tr := manifest.NewMemTree(map[string]manifest.File{"kustomization.yaml": {Content: []byte(src)}})
		l, _ := resolve(t, tr, "", nil)
		if len(l.Problems()) > 0 || l.Kustomization("") == nil {
			return
		}
		var k types.Kustomization
		if err := k.Unmarshal([]byte(src)); err != nil {
			t.Fatalf("no fault found in %q, but kustomize says %v", src, err)
		}
		k.FixKustomization()
		if err := k.CheckEmpty(); err != nil {
			t.Fatalf("no fault found in %q, but kustomize says %v", src, err)
		}
		if errs := k.EnforceFields(); len(errs) > 0 {
			t.Fatalf("no fault found in %q, but kustomize says %s", src, strings.Join(errs, ", "))
		}
	})
}
