// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/branch/message"
	"github.com/configbutler/gitops-reverser/internal/claims"
	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/internal/manifest/placement"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
)

// TestExamplesMakeSense asks what the controllers ask beyond the schema: templates, paths, ignore rules and addresses.
func TestExamplesMakeSense(t *testing.T) {
	g := NewWithT(t)
	templates := 0
	for _, e := range examples(t) {
		switch e.kind {
		case v1alpha3.GitTargetKind:
			obj := &v1alpha3.GitTarget{}
			g.Expect(yaml.Unmarshal(e.text, obj)).To(Succeed(), e.where)
			_, err := claims.CleanPath(obj.Spec.Path)
			g.Expect(err).NotTo(HaveOccurred(), e.where)
			m := obj.GetMessageTemplates()
			_, err = message.Parse(m.LiveTemplate, m.ReconcileTemplate)
			g.Expect(err).NotTo(HaveOccurred(), e.where)
			if p := obj.Spec.Placement; p != nil {
				policy := placement.Policy{Default: string(p.Default), ByType: map[string]string{}}
				for k, v := range p.ByType {
					templates++
					policy.ByType[k] = string(v)
				}
				g.Expect(policy.Validate(nil)).To(BeEmpty(), e.where)
			}
			if i := obj.Spec.Ignore; i != nil {
				c := sanitize.Config{}
				for _, d := range i.DisableDefaults {
					c.DisableDefaults = append(c.DisableDefaults, string(d))
				}
				for _, r := range i.Rules {
					c.Rules = append(c.Rules, sanitize.Rule{
						Name: r.Name, Names: r.Names, FieldPaths: r.FieldPaths, FieldManagers: r.FieldManagers,
					})
				}
				_, err := sanitize.New(c)
				g.Expect(err).NotTo(HaveOccurred(), e.where)
			}
		case v1alpha3.GitProviderKind:
			obj := &v1alpha3.GitProvider{}
			g.Expect(yaml.Unmarshal(e.text, obj)).To(Succeed(), e.where)
			_, err := gitstore.NormalizeURL(obj.Spec.URL)
			g.Expect(err).NotTo(HaveOccurred(), e.where)
		}
	}
	g.Expect(templates).To(BeNumerically(">", 0))
}

var makeTarget = regexp.MustCompile("(?m)(?:^|`|=[^ \n]* )make (?:-s )?([a-z][a-z-]*)")

// TestMakeTargetsExist: every `make` command that a page tells a reader to run is a target of the Makefile.
func TestMakeTargetsExist(t *testing.T) {
	g := NewWithT(t)
	have := read(t, "Makefile") + read(t, "hack/tools/tools.mk")
	n := 0
	for _, page := range pages(t) {
		for _, m := range makeTarget.FindAllStringSubmatch(read(t, page), -1) {
			n++
			if !strings.Contains(have, "\n"+m[1]+":") {
				t.Errorf("%s: there is no target %q", page, m[1])
			}
		}
	}
	g.Expect(n).To(BeNumerically(">", 5))
}
