// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestReferenceIsUpToDate(t *testing.T) {
	g := NewWithT(t)
	crds, err := load(filepath.Join("..", "..", "config", "crd", "bases"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(crds).To(HaveLen(8))

	want, err := os.ReadFile(filepath.Join("..", "..", "docs", "api", "v1alpha3", "README.md"))
	g.Expect(err).NotTo(HaveOccurred())
	for range 5 {
		g.Expect(string(render(crds))).To(Equal(string(want)), "run: go run ./hack/apidocs")
	}
}

func TestEmptyFolderIsAnError(t *testing.T) {
	g := NewWithT(t)
	_, err := load(t.TempDir())
	g.Expect(err).To(MatchError(ContainSubstring("run make manifests")))
}
