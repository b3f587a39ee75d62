// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestSourceNamespaces(t *testing.T) {
	g := NewWithT(t)
	item := func(ns string) Item { return Item{Resources: []string{"configmaps"}, SourceNamespace: ns} }
	g.Expect(SourceNamespaces(nil)).To(BeEmpty())
	g.Expect(SourceNamespaces(compiled(t, rule("a", 0, item(""))))).To(HaveLen(1))
	g.Expect(SourceNamespaces(compiled(t, rule("a", 0, item("x"), item("y")), rule("b", 1, item("x"))))).To(Equal([]string{"x", "y"}))
	g.Expect(SourceNamespaces(compiled(t, rule("a", 0, item("x"), item("*"))))).To(Equal([]string{"*"}))
}
