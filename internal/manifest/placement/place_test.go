// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/placement"
)

const oneRoot = `
-- apps/kustomization.yaml --
resources:
  - zoo.yaml
-- apps/zoo.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: zoo, namespace: dock}
`

func place(t *testing.T, path, archive string, p placement.Policy, objects ...placement.Object) placement.Batch {
	t.Helper()
	return placement.Place(placement.Input{Folder: folder(t, path, archive), Policy: p, Objects: objects})
}

func TestScenario34_ByTypeWinsOverDefault(t *testing.T) {
	g := NewWithT(t)
	p := placement.Policy{
		ByType:  map[string]string{"apps/v1/deployments": "workloads/{name}.yaml"},
		Default: "{namespace}/{groupPath}/{resource}/{name}.yaml",
	}
	b := place(t, "", "", p, deployment("dock", "boat"), configMap("dock", "boat"))
	g.Expect(b.Objects).To(HaveExactElements(
		And(HaveField("Path", "dock/configmaps/boat.yaml"), HaveField("Source", placement.Default)),
		And(HaveField("Path", "workloads/boat.yaml"), HaveField("Source", placement.ByType)),
	))
	// The key is exact: another version is another route.
	other := deployment("dock", "boat")
	other.Type.Version = "v2"
	g.Expect(place(t, "", "", p, other).Objects[0].Source).To(Equal(placement.Default))
}

func TestScenario35_OneRootTakesTheFileBesideIt(t *testing.T) {
	g := NewWithT(t)
	b := place(t, "apps", oneRoot, placement.Policy{}, configMap("dock", "boat"), secret("dock", "key"))
	g.Expect(b.Root).To(BeNil())
	g.Expect(b.Objects).To(HaveLen(2))
	g.Expect(b.Objects[0]).To(And(HaveField("Path", "apps/boat.yaml"), HaveField("Source", placement.KustomizeRoot),
		HaveField("Disposition", placement.NewFile), HaveField("Kustomization", "apps/kustomization.yaml"), HaveField("Entry", "boat.yaml"),
		HaveField("OmitNamespace", false), HaveField("Refusal", BeNil())))
	g.Expect(b.Objects[1]).To(And(HaveField("Path", "apps/key.sops.yaml"), HaveField("Entry", "key.sops.yaml")))
	// The root may lie below the folder.
	b = place(t, "", oneRoot, placement.Policy{}, configMap("dock", "boat"))
	g.Expect(b.Objects[0].Path).To(Equal("apps/boat.yaml"))
}

func TestScenario36_CanonicalPathOfAClusterScopedObject(t *testing.T) {
	g := NewWithT(t)
	b := place(t, "env/prod", "", placement.Policy{}, clusterRole("view-all"), configMap("dock", "boat"))
	g.Expect(b.Objects[0]).To(And(HaveField("Path", "env/prod/_cluster/rbac.authorization.k8s.io/clusterroles/view-all.yaml"),
		HaveField("Source", placement.Canonical), HaveField("Kustomization", "")))
	g.Expect(b.Objects[1].Path).To(Equal("env/prod/dock/configmaps/boat.yaml"))
}

func TestScenario37_NearestAncestorKustomizationListsTheFile(t *testing.T) {
	g := NewWithT(t)
	p := placement.Policy{Default: "{namespace}/{groupPath}/{resource}/{name}.yaml"}
	b := place(t, "apps", oneRoot, p, configMap("dock", "boat"))
	g.Expect(b.Objects[0]).To(And(HaveField("Path", "apps/dock/configmaps/boat.yaml"),
		HaveField("Kustomization", "apps/kustomization.yaml"), HaveField("Entry", "dock/configmaps/boat.yaml")))
	// A nearer one wins.
	nearer := oneRoot + "-- apps/dock/kustomization.yaml --\nresources: [a.yaml]\n-- apps/dock/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: dock}\n"
	b = place(t, "apps", nearer, p, configMap("dock", "boat"))
	g.Expect(b.Objects[0]).To(And(HaveField("Kustomization", "apps/dock/kustomization.yaml"), HaveField("Entry", "configmaps/boat.yaml")))
	// One above the folder is never used.
	b = place(t, "apps/env", oneRoot, p, configMap("dock", "boat"))
	g.Expect(b.Objects[0]).To(And(HaveField("Path", "apps/env/dock/configmaps/boat.yaml"), HaveField("Kustomization", "")))
}

func TestScenario40_ArrivalOrderDoesNotMatter(t *testing.T) {
	g := NewWithT(t)
	p := placement.Policy{Default: "all.yaml", ByType: map[string]string{"v1/secrets": "{namespace}/{name}.sops.yaml"}}
	objects := []placement.Object{configMap("dock", "b"), deployment("dock", "a"), configMap("dock", "a"), configMap("pier", "a"), secret("dock", "s")}
	want := place(t, "", "", p, objects...)
	var ids []string
	for _, o := range want.Objects {
		ids = append(ids, o.Path+" "+o.Object.ID.String())
	}
	g.Expect(ids).To(Equal([]string{"all.yaml ConfigMap dock/a", "all.yaml ConfigMap dock/b", "all.yaml ConfigMap pier/a",
		"all.yaml apps/Deployment dock/a", "dock/s.sops.yaml Secret dock/s"}))
	for range 5 {
		slices.Reverse(objects)
		g.Expect(place(t, "", "", p, objects...)).To(Equal(want))
		objects = append(objects[1:], objects[0])
	}
}

func TestScenario41_MixedSensitivityAtOneNewPath(t *testing.T) {
	g := NewWithT(t)
	p := placement.Policy{Default: "{name}.yaml"}
	b := place(t, "", "", p, secret("dock", "boat"), configMap("dock", "boat"), configMap("dock", "other"))
	g.Expect(b.Objects[0].Refusal).To(HaveField("Reason", placement.MixedSensitivityNewFile))
	g.Expect(b.Objects[1].Refusal).To(HaveField("Reason", placement.MixedSensitivityNewFile))
	g.Expect(b.Objects[0].Kustomization).To(BeEmpty())
	g.Expect(b.Objects[2]).To(And(HaveField("Path", "other.yaml"), HaveField("Refusal", BeNil())))
	// Two encrypted objects never share either.
	b = place(t, "", "", p, secret("dock", "boat"), secret("pier", "boat"))
	g.Expect(b.Objects[0].Refusal).To(HaveField("Reason", placement.SensitiveAppend))
	g.Expect(b.Objects[1].Refusal).To(HaveField("Reason", placement.SensitiveAppend))
}

func TestScenario42_APathOutsideIsRefusedAndNotRegistered(t *testing.T) {
	g := NewWithT(t)
	for _, template := range []string{"../x.yaml", ".{label:none|}./x.yaml", "{unknown}.yaml"} {
		b := place(t, "apps", oneRoot, placement.Policy{Default: template}, configMap("dock", "boat"))
		g.Expect(b.Objects[0].Refusal).To(HaveField("Reason", placement.InvalidPath), template)
		g.Expect(b.Objects[0].Kustomization).To(BeEmpty())
		g.Expect(b.Objects[0].Entry).To(BeEmpty())
		g.Expect(b.Objects[0].Source).To(Equal(placement.Default), "a declared template never falls through")
	}
}

func TestScenario43_MissingLabel(t *testing.T) {
	g := NewWithT(t)
	b := place(t, "", "", placement.Policy{Default: "{label:team}/{namespace}/{group}/{resource}/{name}.yaml"}, configMap("dock", "boat"))
	g.Expect(b.Objects[0].Path).To(Equal("_unlabeled/dock/configmaps/boat.yaml"))
}

func TestScenario44_UseKustomizeCreatesARootThatListsAll(t *testing.T) {
	g := NewWithT(t)
	loose := `
-- env/b.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: dock}
-- env/sub/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: dock}
-- env/c.yml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: dock}
-- env/README.md --
-- env/.sops.yaml --
creation_rules: []
-- env/comment.yaml --
# nothing yet
`
	b := place(t, "env", loose, placement.Policy{UseKustomize: true}, configMap("dock", "boat"), secret("dock", "key"))
	g.Expect(b.Root).To(Equal(&placement.NewRoot{Path: "env/kustomization.yaml",
		Resources: []string{"b.yaml", "boat.yaml", "c.yml", "key.sops.yaml", "sub/a.yaml"}}))
	g.Expect(b.Objects[0]).To(And(HaveField("Path", "env/boat.yaml"), HaveField("Source", placement.KustomizeRoot),
		HaveField("Kustomization", "env/kustomization.yaml"), HaveField("OmitNamespace", false)))
	// A template decides the path; the root lists it all the same.
	b = place(t, "env", loose, placement.Policy{UseKustomize: true, Default: "{namespace}/{group}/{resource}/{name}.yaml"}, configMap("dock", "boat"))
	g.Expect(b.Root.Resources).To(ContainElement("dock/configmaps/boat.yaml"))
	// Nothing placed, nothing created; a root that exists stays.
	g.Expect(place(t, "env", loose, placement.Policy{UseKustomize: true, Default: "../x.yaml"}, configMap("dock", "boat")).Root).To(BeNil())
	g.Expect(place(t, "apps", oneRoot, placement.Policy{UseKustomize: true}, configMap("dock", "boat")).Root).To(BeNil())
}

func TestSharingAnExistingFile(t *testing.T) {
	archive := `
-- plain.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: dock}
-- sealed.yaml --
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: dock}
data: {k: "ENC[AES256_GCM,data:x]"}
sops: {version: 3.13.3}
-- mixed.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: m, namespace: dock}
---
just: values
-- comment.yaml --
# kept for later
-- patch.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
-- values.yaml --
replicas: 1
-- app.yaml --
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: app, namespace: argocd}
spec: {source: {helm: {valueFiles: [values.yaml]}}}
-- kustomization.yaml --
resources: [plain.yaml]
patches: [{path: patch.yaml}]
`
	for _, row := range []struct {
		file        string
		object      placement.Object
		disposition placement.Disposition
		reason      placement.Reason
	}{
		{"plain.yaml", configMap("dock", "new"), placement.Appended, ""},
		{"comment.yaml", configMap("dock", "new"), placement.Appended, ""},
		{"plain.yaml", secret("dock", "new"), "", placement.SensitiveAppend},
		{"comment.yaml", secret("dock", "new"), "", placement.SensitiveAppend},
		{"sealed.yaml", configMap("dock", "new"), "", placement.PlaintextOntoEncrypted},
		{"mixed.yaml", configMap("dock", "new"), "", placement.MultiDocumentTarget},
		{"patch.yaml", configMap("dock", "new"), "", placement.MultiDocumentTarget},
		{"values.yaml", configMap("dock", "new"), "", placement.MultiDocumentTarget},
	} {
		t.Run(row.file+" "+row.object.ID.Kind, func(t *testing.T) {
			g := NewWithT(t)
			b := place(t, "", archive, placement.Policy{Default: row.file}, row.object)
			if row.reason != "" {
				g.Expect(b.Objects[0].Refusal).To(HaveField("Reason", row.reason))
				g.Expect(b.Objects[0].Kustomization).To(BeEmpty())
				return
			}
			g.Expect(b.Objects[0].Refusal).To(BeNil())
			g.Expect(b.Objects[0].Disposition).To(Equal(row.disposition))
		})
	}
	// A file that the build reads already is not listed again; one it does not read is.
	g := NewWithT(t)
	g.Expect(place(t, "", archive, placement.Policy{Default: "plain.yaml"}, configMap("dock", "new")).Objects[0].Entry).To(BeEmpty())
	g.Expect(place(t, "", archive, placement.Policy{Default: "comment.yaml"}, configMap("dock", "new")).Objects[0].Entry).To(Equal("comment.yaml"))
	// At an existing file each object is judged by itself.
	b := place(t, "", archive, placement.Policy{Default: "plain.yaml"}, configMap("dock", "new"), secret("dock", "new"))
	g.Expect(b.Objects[0].Refusal).To(BeNil())
	g.Expect(b.Objects[1].Refusal).To(HaveField("Reason", placement.SensitiveAppend))
}

func TestDecision27_NamesThatDifferByCase(t *testing.T) {
	archive := `
-- Dock/ConfigMaps/Boat.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: other, namespace: dock}
-- file.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: file, namespace: dock}
-- dir.yaml/x.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: x, namespace: dock}
`
	g := NewWithT(t)
	refused := func(template string, objects ...placement.Object) {
		b := place(t, "", archive, placement.Policy{Default: template}, objects...)
		g.ExpectWithOffset(1, b.Objects[0].Refusal).To(HaveField("Reason", placement.InvalidPath), template)
	}
	refused("dock/configmaps/boat.yaml", configMap("dock", "boat"))
	refused("FILE.yaml", configMap("dock", "boat"))
	refused("file.yaml/{name}.yaml", configMap("dock", "boat"))
	refused("dir.yaml", configMap("dock", "boat"))
	refused("DIR.yaml/X.yaml", configMap("dock", "boat"))
	// A directory of another case is no conflict as long as the files differ.
	b := place(t, "", archive, placement.Policy{Default: "dock/configmaps/{name}.yaml"}, configMap("dock", "ferry"))
	g.Expect(b.Objects[0].Refusal).To(BeNil())
	// Within a batch, whatever its size.
	lots := []placement.Object{}
	for _, n := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		lots = append(lots, configMap("dock", n))
	}
	lower := object("example.com", "v1", "widget", "widgets", "dock", "x")
	upper := object("example.com", "v1", "Widget", "gadgets", "dock", "x")
	b = place(t, "", archive, placement.Policy{Default: "{kind}/{name}.yaml"}, append(lots, lower, upper)...)
	n := 0
	for _, o := range b.Objects {
		if o.Refusal != nil {
			n++
			g.Expect(o.Object.ID).To(Equal(lower.ID))
		}
	}
	g.Expect(n).To(Equal(1))
	nested := place(t, "", "", placement.Policy{ByType: map[string]string{"v1/configmaps": "x.yaml", "apps/v1/deployments": "x.yaml/{name}.yaml"}},
		configMap("dock", "a"), deployment("dock", "b"))
	g.Expect(nested.Objects[0].Refusal).To(BeNil())
	g.Expect(nested.Objects[1].Refusal).To(HaveField("Reason", placement.InvalidPath))
}

func TestPlacesWithoutManifests(t *testing.T) {
	g := NewWithT(t)
	b := place(t, "", "", placement.Policy{Default: ".github/{name}.yaml"}, configMap("dock", "boat"))
	// CheckWrites refuses the flush: no scan would see the file.
	g.Expect(b.Objects[0].Path).To(Equal(".github/boat.yaml"))
	b = place(t, "", "-- .gitlab-ci.yml --\nx: y\n", placement.Policy{Default: ".gitlab-ci.yml"}, configMap("dock", "boat"))
	g.Expect(b.Objects[0].Refusal).To(HaveField("Reason", placement.InvalidPath))
}

func TestNamespaceOfANewDocument(t *testing.T) {
	root := func(ns string) string { return "-- k/kustomization.yaml --\nnamespace: " + ns + "\nresources: []\n" }
	yes, no := true, false
	for _, row := range []struct {
		name      string
		archive   string
		serialize *bool
		object    placement.Object
		want      bool
	}{
		{"the build sets the object's own", root("dock"), nil, configMap("dock", "boat"), true},
		{"the build sets another one", root("pier"), nil, configMap("dock", "boat"), false},
		{"the build sets none", oneRoot, nil, configMap("dock", "boat"), false},
		{"no build", "", nil, configMap("dock", "boat"), false},
		{"always", root("dock"), &yes, configMap("dock", "boat"), false},
		{"never", "", &no, configMap("dock", "boat"), true},
		{"cluster-scoped", root("dock"), &no, clusterRole("boat"), false},
		{"the outer root wins", root("dock") + "-- kustomization.yaml --\nnamespace: pier\nresources: [k]\n", nil, configMap("pier", "boat"), true},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := NewWithT(t)
			b := placement.Place(placement.Input{Folder: folder(t, "", row.archive), SerializeNamespace: row.serialize,
				Objects: []placement.Object{row.object}})
			g.Expect(b.Objects[0].Refusal).To(BeNil())
			g.Expect(b.Objects[0].OmitNamespace).To(Equal(row.want))
		})
	}
}

func TestCaseP08_ANewNeighbourIsWrittenWithoutNamespace(t *testing.T) {
	g := NewWithT(t)
	b := place(t, "", "-- kustomization.yaml --\nnamespace: dock\nresources: [boat.yaml]\n-- boat.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: boat}\n",
		placement.Policy{}, configMap("dock", "ferry"))
	g.Expect(b.Objects[0].OmitNamespace).To(BeTrue())
	g.Expect(b.Objects[0].Entry).To(Equal("ferry.yaml"))
}

func TestCaseP01_NoNeighbourIsGuessed(t *testing.T) {
	g := NewWithT(t)
	b := place(t, "", "-- team/one.yaml --\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: one}\n",
		placement.Policy{}, deployment("two", "b"))
	g.Expect(b.Objects[0].Path).To(Equal("two/apps/deployments/b.yaml"))
	// A refused object is not registered.
	b = place(t, "apps", oneRoot+"-- apps/boat.sops.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: old, namespace: dock}\nsops: {version: 3.13.3}\n",
		placement.Policy{}, secret("dock", "boat"))
	g.Expect(b.Objects[0].Refusal).To(HaveField("Reason", placement.SensitiveAppend))
	g.Expect(b.Objects[0].Kustomization + b.Objects[0].Entry).To(BeEmpty())
}

func TestCaseK16_OneEntryInOrderNeverItself(t *testing.T) {
	g := NewWithT(t)
	insert := placement.InsertResource
	g.Expect(insert([]string{"a.yaml", "c.yaml"}, "b.yaml")).To(Equal([]string{"a.yaml", "b.yaml", "c.yaml"}))
	g.Expect(insert([]string{"c.yaml", "a.yaml"}, "b.yaml")).To(Equal([]string{"c.yaml", "a.yaml", "b.yaml"}))
	g.Expect(insert(nil, "b.yaml")).To(Equal([]string{"b.yaml"}))
	g.Expect(insert([]string{"./b.yaml"}, "b.yaml")).To(Equal([]string{"./b.yaml"}))
	g.Expect(insert([]string{"./a.yaml"}, "b.yaml")).To(Equal([]string{"./a.yaml", "./b.yaml"}))
	g.Expect(placement.RemoveResource([]string{"./a.yaml", "b.yaml"}, "a.yaml")).To(Equal([]string{"b.yaml"}))

	for name, entry := range map[string]string{
		"kustomization": "%6Bustomization.yaml", "readme.md": "readme.md.yaml", "boat": "boat.yaml",
	} {
		b := place(t, "apps", oneRoot, placement.Policy{}, configMap("dock", name))
		g.Expect(b.Objects[0].Entry).To(Equal(entry))
		g.Expect(b.Objects[0].Path).NotTo(Equal("apps/kustomization.yaml"))
	}
	b := place(t, "apps", oneRoot, placement.Policy{}, configMap("dock", ".sops"))
	g.Expect(b.Objects[0].Entry).To(Equal("%2Esops.yaml"))
}

func TestCaseK17_RegisteredWithTheNearestAncestor(t *testing.T) {
	g := NewWithT(t)
	archive := `
-- apps/kustomization.yaml --
resources:
  - boat/
-- apps/boat/kustomization.yaml --
resources: [boat.yaml]
-- apps/boat/boat.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: boat, namespace: dock}
`
	b := place(t, "apps", archive, placement.Policy{Default: "new/{namespace}/{group}/{resource}/{name}.yaml"}, configMap("dock", "ferry"))
	g.Expect(b.Objects[0]).To(And(HaveField("Kustomization", "apps/kustomization.yaml"), HaveField("Entry", "new/dock/configmaps/ferry.yaml")))
}

func TestCaseP06AndP03_BootstrapFiles(t *testing.T) {
	g := NewWithT(t)
	files := placement.Bootstrap()
	g.Expect(files).To(HaveExactElements(HaveField("Name", "README.md"), HaveField("Name", ".gittargetignore")))
	for _, f := range files {
		g.Expect(f.Name).NotTo(MatchRegexp(`\.ya?ml$`), "a build that takes every YAML file must not see it")
	}
	archive := "-- README.md --\n" + string(files[0].Content) + "-- .gittargetignore --\n" + string(files[1].Content) +
		"-- x.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: dock}\n"
	f := folder(t, "", archive)
	g.Expect(f.Counts().Ignored).To(Equal(0))
	g.Expect(f.Find(change.ObjectID{Kind: "ConfigMap", Namespace: "dock", Name: "x"}, viewNone)).To(HaveLen(1))
}
