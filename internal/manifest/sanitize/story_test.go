// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sanitize

import (
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
)

// A story is a folder of files in testdata/*.txtar:
//
//	<story>/object.yaml   the live object
//	<story>/type          "group/version Kind plural"; optional, guessed from the object
//	<story>/config.yaml   the noise rules of the GitTarget; optional
//	<story>/new.yaml      the document of a new file
//	<story>/mask          lines "keep /pointer", "if-present /pointer" and "unsure /pointer"; absent means an empty mask
//	<story>/rules         the noise rules that took part, one a line
//	<story>/protected     the rule that skips the object; instead of new.yaml
//	<story>/owners        appliers, as "Kind namespace/name"
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(files).NotTo(BeEmpty())
	for _, f := range files {
		archive, err := txtar.ParseFile(f)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		var order []string
		stories := map[string]map[string]string{}
		for _, file := range archive.Files {
			story, part, ok := strings.Cut(file.Name, "/")
			NewWithT(t).Expect(ok).To(BeTrue(), file.Name)
			if stories[story] == nil {
				stories[story] = map[string]string{}
				order = append(order, story)
			}
			stories[story][part] = string(file.Data)
		}
		for _, name := range order {
			t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar")+"/"+name, func(t *testing.T) { play(t, stories[name]) })
		}
	}
}

func play(t *testing.T, story map[string]string) {
	g := NewWithT(t)
	for part := range story {
		g.Expect(part).To(BeElementOf("object.yaml", "type", "config.yaml", "new.yaml", "mask", "rules", "protected", "owners"))
	}
	var config Config
	g.Expect(yaml.UnmarshalStrict([]byte(story["config.yaml"]), &config)).To(Succeed())
	s, err := New(config)
	g.Expect(err).NotTo(HaveOccurred())

	raw := toJSON(g, story["object.yaml"])
	before := string(raw)
	o, err := s.Object(raw, typeOf(g, story["type"], raw))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(raw)).To(Equal(before), "the input must not change")

	g.Expect(lines(strings.Join(o.Rules, "\n"))).To(Equal(lines(story["rules"]+story["protected"])), "rules")
	g.Expect(ownerText(o)).To(Equal(lines(story["owners"])), "owners")
	g.Expect(maskText(o.Mask)).To(Equal(lines(story["mask"])), "mask")
	if rule, ok := story["protected"]; ok {
		g.Expect(o.Protected).To(Equal(strings.TrimSpace(rule)))
		g.Expect(o.Desired).To(BeNil())
		return
	}
	g.Expect(o.Protected).To(BeEmpty())
	live, err := compare.Decode(o.Desired)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(o.Desired)).To(Equal(string(compare.Canonical(live))), "compact, with sorted keys")
	written := compare.Normalize(live, nil, compare.Options{Mask: o.Mask})
	want, err := compare.Decode(toJSON(g, story["new.yaml"]))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(toYAML(g, written)).To(Equal(toYAML(g, want)))

	again, err := s.Object(o.Desired, o.Type)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(again.Desired)).To(Equal(string(o.Desired)), "sanitizing twice is sanitizing once")
	if len(config.Rules) == 0 && story["type"] == "" {
		neat, err := s.Neat(raw)
		g.Expect(err).NotTo(HaveOccurred())
		decoded, err := compare.Decode(neat)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(toYAML(g, decoded)).To(Equal(toYAML(g, want)), "neat shows the new document")
	}
}

func maskText(m change.Mask) []string {
	var out []string
	for _, p := range m.Keep {
		if !strings.HasPrefix(p, "/spec/template/metadata/annotations/") {
			out = append(out, "keep "+p)
		}
	}
	for _, p := range m.IfPresent {
		out = append(out, "if-present "+p)
	}
	for _, p := range m.Unsure {
		out = append(out, "unsure "+p)
	}
	return out
}

func ownerText(o Object) []string {
	var out []string
	for _, a := range o.Owners {
		out = append(out, string(a.Kind)+" "+a.Namespace+"/"+a.Name)
	}
	return out
}

func lines(s string) []string {
	var out []string
	for l := range strings.Lines(s) {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

func toJSON(g Gomega, text string) []byte {
	b, err := yaml.YAMLToJSONStrict([]byte(text))
	g.Expect(err).NotTo(HaveOccurred())
	return b
}

func toYAML(g Gomega, v any) string {
	b, err := yaml.JSONToYAML(compare.Canonical(v))
	g.Expect(err).NotTo(HaveOccurred())
	return string(b)
}

// typeOf reads "group/version Kind plural", or guesses the type from the object.
func typeOf(g Gomega, text string, raw []byte) change.Type {
	apiVersion, kind, resource := "", "", ""
	if f := strings.Fields(text); len(f) == 3 {
		apiVersion, kind, resource = f[0], f[1], f[2]
	} else {
		v, err := compare.Decode(raw)
		g.Expect(err).NotTo(HaveOccurred())
		m := v.(map[string]any)
		apiVersion, kind = m["apiVersion"].(string), m["kind"].(string)
		resource = strings.ToLower(kind) + "s"
	}
	t := change.Type{Version: apiVersion, Kind: kind, Resource: resource, Namespaced: true}
	if group, version, ok := strings.Cut(apiVersion, "/"); ok {
		t.Group, t.Version = group, version
	}
	return t
}
