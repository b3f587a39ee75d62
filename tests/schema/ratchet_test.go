// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// An object that was stored before a rule existed keeps working: what the change does not touch is not judged again.
func TestRulesRatchet(t *testing.T) {
	g := NewWithT(t)
	crds := server.dyn.Resource(crdResource)
	name := server.crds["GitTarget"].Name
	const path = `{path: a/../b, ignore: {rules: [{name: helm-owned, names: [a]}]}}`

	strict, err := crds.Get(t.Context(), name, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	lax := strict.DeepCopy()
	dropRules(lax.Object)
	_, err = crds.Update(t.Context(), lax, metav1.UpdateOptions{})
	g.Expect(err).NotTo(HaveOccurred())

	var stored *unstructured.Unstructured
	await(t, func() bool {
		u := server.object(t, "GitTarget", path)
		stored, err = server.client(u).Create(t.Context(), u, strictCreate)
		return err == nil
	})
	now, err := crds.Get(t.Context(), name, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	strict.SetResourceVersion(now.GetResourceVersion())
	_, err = crds.Update(t.Context(), strict, metav1.UpdateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	await(t, func() bool {
		u := server.object(t, "GitTarget", path)
		_, err := server.client(u).Create(t.Context(), u, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil
	})

	server.acceptChange(t, stored, `{suspend: true, commit: {window: {idleTimeout: 2s}}}`)
	server.refuseChange(t, stored, `{path: c/../d}`, "path must not hold .. segments")
	stored.Object["status"] = map[string]any{"observedGeneration": int64(1)}
	_, err = server.client(stored).UpdateStatus(t.Context(), stored, metav1.UpdateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
}

func await(t *testing.T, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	NewWithT(t).Expect(poll(ctx, func() (bool, error) { return done(), nil })).To(Succeed())
}

// dropRules removes every validation rule of a definition.
func dropRules(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "x-kubernetes-validations")
		for _, c := range v {
			dropRules(c)
		}
	case []any:
		for _, c := range v {
			dropRules(c)
		}
	}
}
