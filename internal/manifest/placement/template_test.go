// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/placement"
)

func object(group, version, kind, resource, namespace, name string) placement.Object {
	return placement.Object{
		ID:   change.ObjectID{Group: group, Kind: kind, Namespace: namespace, Name: name},
		Type: change.Type{Group: group, Version: version, Kind: kind, Resource: resource, Namespaced: namespace != ""},
	}
}

func configMap(namespace, name string) placement.Object {
	return object("", "v1", "ConfigMap", "configmaps", namespace, name)
}

func secret(namespace, name string) placement.Object {
	o := object("", "v1", "Secret", "secrets", namespace, name)
	o.Sensitive = true
	return o
}

func deployment(namespace, name string) placement.Object {
	return object("apps", "v1", "Deployment", "deployments", namespace, name)
}

func clusterRole(name string) placement.Object {
	return object("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", "", name)
}

func TestTemplateRenders(t *testing.T) {
	labelled := deployment("dock", "boat")
	labelled.Labels = map[string]string{"team": "Harbor", "app.kubernetes.io/name": "boat", "empty": ""}
	for _, row := range []struct {
		template string
		object   placement.Object
		want     string
	}{
		{"{namespace}/{groupPath}/{resource}/{name}{sensitiveSuffix}", deployment("dock", "boat"), "dock/apps/deployments/boat.yaml"},
		{"{namespace}/{groupPath}/{resource}/{name}{sensitiveSuffix}", configMap("dock", "boat"), "dock/configmaps/boat.yaml"},
		{"{namespace}/{groupPath}/{resource}/{name}{sensitiveSuffix}", secret("dock", "key"), "dock/secrets/key.sops.yaml"},
		{"{namespace}/{groupPath}/{resource}/{name}{sensitiveSuffix}", clusterRole("admin"), "_cluster/rbac.authorization.k8s.io/clusterroles/admin.yaml"},
		{"{namespace|global}/{name}.yml", clusterRole("admin"), "global/admin.yml"},
		{"{namespace|}/{name}.yaml", clusterRole("admin"), "admin.yaml"},
		{"{scope}/{kind}/{version}/{name}.yaml", clusterRole("admin"), "cluster/ClusterRole/v1/admin.yaml"},
		{"{scope}/{apiVersion}/{name}.yaml", deployment("dock", "boat"), "namespaced/apps%2Fv1/boat.yaml"},
		{"{group}-{name}.yaml", configMap("dock", "boat"), "-boat.yaml"},
		{"{label:team}/{name}.yaml", labelled, "%48arbor/boat.yaml"},
		{"{label:team}/{name}.yaml", deployment("dock", "boat"), "_unlabeled/boat.yaml"},
		{"{label:empty}/{name}.yaml", labelled, "_unlabeled/boat.yaml"},
		{"{label:team|none}/{name}.yaml", deployment("dock", "boat"), "none/boat.yaml"},
		{"{label:team|}/{name}.yaml", deployment("dock", "boat"), "boat.yaml"},
		{"{label:app.kubernetes.io/name}/{name}.yaml", labelled, "boat/boat.yaml"},
		{"a//b/{name}.yaml", configMap("dock", "boat"), "a/b/boat.yaml"},
		{"{name}.yaml", configMap("dock", "system:node-proxier"), "system%3Anode-proxier.yaml"},
		{"{name}.yaml", configMap("dock", "kustomization"), "%6Bustomization.yaml"},
		{"{name}.yaml", configMap("dock", "x.sops"), "x%2Esops.yaml"},
		{"{name}.yaml", configMap("dock", "aux"), "%61ux.yaml"},
		{"{name}.yaml", configMap("dock", "COM1.x"), "%43%4F%4D1.x.yaml"},
		{"{name}/{kind}.yaml", configMap("dock", "x."), "x%2E/ConfigMap.yaml"},
		{"{name}/{kind}.yaml", configMap("dock", "nul"), "%6Eul/ConfigMap.yaml"},
		{"{name}.yaml", clusterRole("Grüße/100% \\x"), "%47r%C3%BC%C3%9Fe%2F100%25 %5Cx.yaml"},
	} {
		t.Run(row.template+" "+row.object.ID.Name, func(t *testing.T) {
			g := NewWithT(t)
			tpl, err := placement.Parse(row.template)
			g.Expect(err).NotTo(HaveOccurred())
			got, err := tpl.Render(row.object)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(row.want))
		})
	}
}

func TestTemplateIsRefused(t *testing.T) {
	for template, why := range map[string]string{
		"":                            "empty",
		"/x/{name}.yaml":              "starts with a slash",
		"../{name}.yaml":              `segment ".."`,
		"a/../{name}.yaml":            `segment ".."`,
		"./{name}.yaml":               `segment "."`,
		`a\{name}.yaml`:               "cannot be part of a path",
		"a:b/{name}.yaml":             "cannot be part of a path",
		"a\nb/{name}.yaml":            "cannot be part of a path",
		"{name}":                      "must end in",
		"{name}.yaml/":                "must end in",
		"{name}.json":                 "must end in",
		"{name.yaml":                  "brace",
		"name}.yaml":                  "brace",
		"{{name}}.yaml":               "brace",
		"{na{me}.yaml":                "brace",
		"{}.yaml":                     "no variable",
		"{owner}.yaml":                "no variable",
		"{Name}.yaml":                 "no variable",
		"{namespaceOrCluster}/x.yaml": "{namespace}",
		"{name|x}.yaml":               "only {namespace} and {label:<key>}",
		"{namespace|..}/x.yaml":       "fallback",
		"{namespace|a/b}/x.yaml":      "fallback",
		"{namespace|" + strings.Repeat("x", 64) + "}/x.yaml": "fallback",
		"{label:}/x.yaml":      "names no label",
		"{label:a/b/c}/x.yaml": "names no label",
		"{label:kustomize.toolkit.fluxcd.io/name}/x.yaml": "never written",
		"{label:helm.toolkit.fluxcd.io/name}/x.yaml":      "never written",
		"{annotation:x}/x.yaml":                           "no variable",
		".git/{name}.yaml":                                "holds no objects",
		"{namespace}/kustomization.yaml":                  "holds no objects",
	} {
		t.Run(template, func(t *testing.T) {
			g := NewWithT(t)
			_, err := placement.Parse(template)
			g.Expect(err).To(MatchError(ContainSubstring(why)))
		})
	}
}

func TestRuntimePathCheck(t *testing.T) {
	g := NewWithT(t)
	for template, why := range map[string]string{
		".{label:x|}./x.yaml":    `segment ".."`,
		"{label:x|}./{name}.yml": `segment "."`,
	} {
		tpl, err := placement.Parse(template)
		g.Expect(err).NotTo(HaveOccurred(), template)
		_, err = tpl.Render(configMap("dock", "boat"))
		g.Expect(err).To(MatchError(ContainSubstring(why)))
		g.Expect(err).To(HaveField("Reason", placement.InvalidPath))
	}
}

func TestDecision44_LongSegments(t *testing.T) {
	g := NewWithT(t)
	long := strings.Repeat("a", 195) + ":" + strings.Repeat("b", 50)
	got, err := placement.CanonicalPath.Render(clusterRole(long))
	g.Expect(err).NotTo(HaveOccurred())
	whole := strings.ReplaceAll(long, ":", "%3A") + ".yaml"
	sum := sha256.Sum256([]byte(whole))
	segment := path.Base(got)
	g.Expect(len(segment)).To(BeNumerically("<=", 200))
	g.Expect(segment).To(Equal(whole[:200-len("-01234567.yaml")] + "-" + hex.EncodeToString(sum[:4]) + ".yaml"))

	// A cut never breaks a percent code.
	for n := range 6 {
		got, err := placement.CanonicalPath.Render(clusterRole(strings.Repeat("x", 180+n) + strings.Repeat(":", 40)))
		g.Expect(err).NotTo(HaveOccurred())
		stem, _, _ := strings.Cut(path.Base(got), "-")
		g.Expect(strings.TrimPrefix(stem, strings.Repeat("x", 180+n))).To(MatchRegexp(`^(%3A)*$`))
	}
	long = strings.Repeat("s", 253)
	got, err = placement.CanonicalPath.Render(secret("dock", long))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(path.Base(got)).To(HaveSuffix(".sops.yaml"))
	g.Expect(len(path.Base(got))).To(BeNumerically("<=", 200))
}

// TestDecision27_IdentitiesNeverShareAPath draws names that differ by case, by encoding and by ending.
func TestDecision27_IdentitiesNeverShareAPath(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	atoms := []string{"a", "A", "b", "K", "\u212a", "é", "e\u0301", "%", "%41", "%25", ":", ".", "..", " ", "-", "con", "CON", "aux", ".yaml",
		".sops", ".sops.yaml", "kustomization", "ſ", "s", "/", "\\", strings.Repeat("z", 150)}
	draw := func() string {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			b.WriteString(atoms[r.IntN(len(atoms))])
		}
		return b.String()
	}
	seen := map[string]placement.Object{}
	for range 60_000 {
		o := object([]string{"", "apps", "rbac.authorization.k8s.io"}[r.IntN(3)], "v1", "Thing", []string{"things", "others"}[r.IntN(2)],
			[]string{"", "a", "b"}[r.IntN(3)], draw())
		o.Sensitive = r.IntN(3) == 0
		o.ID.Kind = o.Type.Resource
		p, err := placement.CanonicalPath.Render(o)
		if err != nil {
			t.Fatalf("%v: %v", o.ID, err)
		}
		checkName(t, p)
		key := placement.Fold(p)
		if other, ok := seen[key]; ok && (other.ID != o.ID || other.Sensitive != o.Sensitive) {
			t.Fatalf("%+v and %+v share %s", other, o, p)
		}
		seen[key] = o
	}
}

// checkName fails for a path that some file system cannot hold or that the inventory does not take as a manifest.
func checkName(t *testing.T, p string) {
	t.Helper()
	for s := range strings.SplitSeq(p, "/") {
		bad := s == "" || s == "." || s == ".." || len(s) > 200 || strings.HasSuffix(s, ".") || strings.HasSuffix(s, " ") ||
			placement.IsDevice(s) || placement.IsReserved(s) || strings.ContainsAny(s, `<>:"|?*\`)
		for _, c := range s {
			bad = bad || c < ' ' || c > '~'
		}
		if bad {
			t.Fatalf("segment %q of %q is no safe name", s, p)
		}
	}
}

func TestScenario39_DefaultWithoutASecretRoute(t *testing.T) {
	g := NewWithT(t)
	errs := placement.Policy{Default: "all.yaml"}.Validate(nil)
	g.Expect(errs).To(HaveLen(1))
	g.Expect(errs[0]).To(MatchError(ContainSubstring(`spec.placement.default: "all.yaml" can give two encrypted objects one file; add a byType route for v1/secrets`)))
	route := map[string]string{"v1/secrets": "{namespace}/{name}.sops.yaml"}
	g.Expect(placement.Policy{Default: "all.yaml", ByType: route}.Validate(nil)).To(BeEmpty())
	g.Expect(placement.Policy{Default: "{namespace}/{groupPath}/{resource}/{name}.yaml"}.Validate([]string{"example.com/vaults"})).To(BeEmpty())
	g.Expect(placement.Policy{Default: "{namespace}/{group}/{resource}/{name}.yaml"}.Validate(nil)).To(BeEmpty())
	// The version is not needed, labels never count.
	g.Expect(placement.Policy{Default: "{label:team}/{namespace}/{resource}/{name}.yaml", ByType: route}.Validate(nil)).To(BeEmpty())
	g.Expect(placement.Policy{Default: "{label:team}/{namespace}/{resource}/{name}.yaml"}.Validate(nil)).To(HaveLen(1))
	// Additional sensitive types are checked alike.
	errs = placement.Policy{Default: "all.yaml", ByType: route}.Validate([]string{"example.com/vaults"})
	g.Expect(errs).To(ConsistOf(MatchError(ContainSubstring("example.com/<version>/vaults"))))
	route["example.com/v1/vaults"] = "{namespace}/{name}.yaml"
	g.Expect(placement.Policy{Default: "all.yaml", ByType: route}.Validate([]string{"example.com/vaults"})).To(BeEmpty())
	route["example.com/v1/vaults"] = "{name}.yaml"
	g.Expect(placement.Policy{ByType: route}.Validate([]string{"example.com/vaults"})).To(ConsistOf(MatchError(ContainSubstring("must hold {namespace} and {name}"))))
}

func TestPolicyValidatesKeys(t *testing.T) {
	for _, key := range []string{"", "secrets", "v1/", "/v1/secrets", "a/b/c/d", " v1/secrets", "v1/secrets ", "apps//deployments"} {
		t.Run(key, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(placement.Policy{ByType: map[string]string{key: "{namespace}/{name}.yaml"}}.Validate(nil)).
				To(ConsistOf(MatchError(ContainSubstring("a key is version/resource"))))
		})
	}
	g := NewWithT(t)
	g.Expect(placement.Policy{ByType: map[string]string{"v1/secrets": "{name}.sops.yaml"}}.Validate(nil)).To(HaveLen(1))
	g.Expect(placement.Policy{ByType: map[string]string{"apps/v1/deployments": "x"}}.Validate(nil)).To(HaveLen(1))
	g.Expect(placement.Policy{ByType: map[string]string{"v1/b": "", "v1/a": ""}}.Validate(nil)).To(HaveExactElements(
		MatchError(ContainSubstring(`"v1/a"`)), MatchError(ContainSubstring(`"v1/b"`))))
	g.Expect(placement.Policy{}.Validate([]string{"example.com/vaults"})).To(BeEmpty())
}

// FuzzTemplate looks for panics, and for paths that leave the folder or are no manifests.
func FuzzTemplate(f *testing.F) {
	f.Add("{namespace}/{groupPath}/{resource}/{name}{sensitiveSuffix}", "boat", "dock", "team")
	f.Add("{label:team|x}/{name}.yaml", "..", "", "../..")
	f.Add(".{label:team|}./{name}.yml", "con", "nul", "")
	f.Add("{name}{name}{name}.sops.yaml", strings.Repeat("%", 300), ".", " ")
	f.Add("{{", "}", "{name", "\x00")
	f.Fuzz(func(t *testing.T, template, name, namespace, label string) {
		tpl, err := placement.Parse(template)
		if err != nil {
			return
		}
		o := configMap(namespace, name)
		o.Labels = map[string]string{"team": label}
		for _, o.Sensitive = range []bool{false, true} {
			p, err := tpl.Render(o)
			if err != nil {
				continue
			}
			if p != path.Clean(p) || path.IsAbs(p) || strings.HasPrefix(p+"/", "../") {
				t.Fatalf("%q renders %q", template, p)
			}
			for s := range strings.SplitSeq(p, "/") {
				if len(s) > 200 || placement.IsDevice(s) || placement.IsReserved(s) || strings.HasSuffix(s, ".") {
					t.Fatalf("%q renders the segment %q", template, s)
				}
			}
			if !o.Sensitive && strings.HasSuffix(p, ".sops.yaml") {
				t.Fatalf("%q renders %q for a plain object", template, p)
			}
			if again, _ := tpl.Render(o); again != p {
				t.Fatal(fmt.Sprint("not deterministic: ", p, again))
			}
		}
	})
}
