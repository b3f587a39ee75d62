// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

// Scenario 65: the library prints parts of files into its errors, and those become conditions. A Secret in clear must
// not get out that way.
func TestScenario65_BuildErrorsHoldNoSecrets(t *testing.T) {
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: dock}\n"
	for name, files := range map[string]map[string]string{
		"a label that is text": {"kustomization.yaml": "resources: [a.yaml]\nlabels: [{pairs: {a: b}}]\n",
			"a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: dock, labels: hunter3hunter3}\n"},
		"data that is text": {"kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml}]\n",
			"a.yaml": secret + "data: hunter3hunter3\n", "p.yaml": secret + "data: {k: hunter3hunter3}\nstringData: [hunter3hunter3]\n"},
		"several referrals": {"kustomization.yaml": "resources: [a.yaml]\nnamespace: x\n",
			"a.yaml": secret + "stringData: {k: hunter3hunter3}\n---\n" + strings.Replace(secret, "dock", "quay", 1) + "stringData: {k: hunter3hunter3}\n"},
		"an empty item": {"kustomization.yaml": "resources: [a.yaml]\n",
			"a.yaml": secret + "stringData: {k: hunter3hunter3}\nitems: [null]\nl: [hunter3hunter3, null]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			tree := map[string]manifest.File{}
			for n, c := range files {
				tree[n] = manifest.File{Content: []byte(c)}
			}
			_, err := NewMemo().Build("", NewOverlay(manifest.NewMemTree(tree)))
			if err != nil {
				g.Expect(err.Error()).NotTo(ContainSubstring("hunter3"))
				g.Expect(len(err.Error())).To(BeNumerically("<", longestError+100))
			}
		})
	}
}

func TestQuiet(t *testing.T) {
	g := NewWithT(t)
	files := map[string][]byte{"s.yaml": []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: boat, annotations: {a: swordfish}}\n" +
		"stringData:\n  k: |\n    first line\n    second line\n  pin: \"1\"\ntype: Opaque/x\n")}
	for in, want := range map[string]string{
		"no match for boat":                   "no match for boat",
		"x: node contents:\nswordfish":        "x",
		"cannot use swordfish in boat":        "cannot use (not shown) in boat",
		"bad first line\nsecond line":         "bad (not shown)",
		"empty item at 1 in object {v1 a b c": "empty item at 1",
		strings.Repeat("é", longestError):     strings.Repeat("é", longestError/2) + " ...",
	} {
		g.Expect(quiet(errors.New(in), files)).To(MatchError(want), in)
	}
	g.Expect(quiet(nil, files)).To(Succeed())
}
