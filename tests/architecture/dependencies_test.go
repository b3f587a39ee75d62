// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package architecture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/testshared"
)

// TestDirectDependenciesAreExplained: every direct requirement of go.mod is named in docs/dependencies.md, and nothing
// else is.
func TestDirectDependenciesAreExplained(t *testing.T) {
	g := NewWithT(t)
	root := testshared.ModuleRoot(t)
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	g.Expect(err).NotTo(HaveOccurred())
	page, err := os.ReadFile(filepath.Join(root, "docs", "dependencies.md"))
	g.Expect(err).NotTo(HaveOccurred())
	direct := map[string]bool{}
	for line := range strings.Lines(string(mod)) {
		f := strings.Fields(line)
		if len(f) == 2 && strings.Contains(f[0], ".") && strings.HasPrefix(f[1], "v") {
			direct[f[0]] = true
			g.Expect(string(page)).To(ContainSubstring("`"+f[0]+"`"), "docs/dependencies.md does not say why %s is here", f[0])
		}
	}
	g.Expect(direct).NotTo(BeEmpty())
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), "|")
		for _, name := range strings.Split(cell, ",") {
			name = strings.Trim(strings.TrimSpace(name), "`")
			g.Expect(direct).To(HaveKey(name), "docs/dependencies.md explains %s, which go.mod does not require directly", name)
		}
	}
}
