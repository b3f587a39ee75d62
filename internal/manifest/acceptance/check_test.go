// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package acceptance

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/tools/txtar"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
)

// folder scans an archive; content that starts with "->" is a symlink, "gitlink" a submodule.
func folder(t testing.TB, path string, a *txtar.Archive) *inventory.Folder {
	t.Helper()
	files := map[string]manifest.File{}
	for _, f := range a.Files {
		if f.Name == "want" {
			continue
		}
		file := manifest.File{Content: f.Data}
		switch text := string(f.Data); {
		case strings.HasPrefix(text, "->"):
			file = manifest.File{Mode: manifest.ModeSymlink, Content: []byte(strings.TrimSpace(text[2:]))}
		case text == "gitlink\n":
			file.Mode = manifest.ModeSubmodule
		}
		files[f.Name] = file
	}
	f, _, err := inventory.Scan(context.Background(), manifest.NewMemTree(files), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func issuesOf(t testing.TB, path, text string) []Issue {
	t.Helper()
	return Check(Input{Folder: folder(t, path, txtar.Parse([]byte(text)))})
}

const boat = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: boat, namespace: dock}\n"

// TestStories reads testdata/*.txtar: a tree, the folder in the comment's "path:" line, and every issue with the
// condition it makes.
func TestStories(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			g := NewWithT(t)
			a, err := txtar.ParseFile(name)
			g.Expect(err).NotTo(HaveOccurred())
			path, want := ".", ""
			for line := range strings.SplitSeq(string(a.Comment), "\n") {
				if p, ok := strings.CutPrefix(line, "path: "); ok {
					path = p
				}
			}
			for _, f := range a.Files {
				if f.Name == "want" {
					want = string(f.Data)
				}
			}
			var got strings.Builder
			issues := Check(Input{Folder: folder(t, path, a)})
			for _, i := range issues {
				got.WriteString(i.String() + "\n")
			}
			reason, message := Condition(issues)
			fmt.Fprintf(&got, "%s: %s\n", reason, message)
			g.Expect(got.String()).To(Equal(want))
			g.Expect(len(message)).To(BeNumerically("<=", MaxMessage))
		})
	}
}

func TestScenario09_AForeignFileRefusesTheFolder(t *testing.T) {
	g := NewWithT(t)
	issues := issuesOf(t, "apps", "-- apps/boat.yaml --\n"+boat+"-- apps/foo.tgz --\nxx\n")
	g.Expect(issues).To(HaveExactElements(And(HaveField("Kind", ForeignFile), HaveField("Path", "foo.tgz"), HaveField("Document", NoDocument),
		HaveField("Solvable", true), HaveField("Actor", RepositoryAuthor), HaveField("Ignore", "/foo.tgz"),
		HaveField("Cure", "move it away, or add this line to .gittargetignore: /foo.tgz"))))
}

func TestScenario10_PassengersAreAccepted(t *testing.T) {
	g := NewWithT(t)
	g.Expect(issuesOf(t, "apps", "-- apps/README.md --\n-- apps/LICENSE --\n-- apps/.gitkeep --\n-- apps/boat.yaml --\n"+boat)).To(BeEmpty())
	g.Expect(issuesOf(t, "nowhere", "-- apps/foo.tgz --\n")).To(BeEmpty(), "a missing folder is empty")
}

func TestScenario11_DuplicateIdentityNamesBothPlaces(t *testing.T) {
	g := NewWithT(t)
	issues := issuesOf(t, "", "-- a.yaml --\n"+boat+"-- b.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: dock}\n---\n"+boat)
	g.Expect(issues).To(HaveExactElements(And(HaveField("Kind", DuplicateIdentity), HaveField("Path", "b.yaml"), HaveField("Document", 1),
		HaveField("Line", 5), HaveField("Message", "ConfigMap dock/boat is in a.yaml line 1 already"))))
	// One root's namespace can make two of different spelling.
	issues = issuesOf(t, "", "-- kustomization.yaml --\nnamespace: dock\nresources: [a.yaml]\n-- a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: boat}\n-- b.yaml --\n"+boat)
	g.Expect(issues).To(HaveExactElements(HaveField("Kind", DuplicateIdentity)))
}

func TestScenario12_ATrailingSeparator(t *testing.T) {
	g := NewWithT(t)
	issues := issuesOf(t, "", "-- a.yaml --\n"+boat+"---\n")
	g.Expect(issues).To(HaveExactElements(And(HaveField("Kind", ImpureManagedFile), HaveField("Document", 1), HaveField("Line", 5))))
	g.Expect(issuesOf(t, "", "-- a.yaml --\n---\n"+boat)).To(BeEmpty(), "a leading one is fine")
	g.Expect(issuesOf(t, "", "-- a.yaml --\n# licence\n---\n"+boat)).To(BeEmpty(), "and so is a comment before it")
}

func TestScenario13_SeparatorInALiteralBlock(t *testing.T) {
	g := NewWithT(t)
	g.Expect(issuesOf(t, "", "-- a.yaml --\n"+boat+"data:\n  k: |\n    a\n    ---\n    b\n")).To(BeEmpty())
}

func TestScenario14_ACatastrophicPatternAndRecovery(t *testing.T) {
	g := NewWithT(t)
	text := "-- a.yaml --\n" + boat + "-- .gittargetignore --\n# all\n*.yaml\n"
	issues := issuesOf(t, "", text)
	g.Expect(issues).To(HaveExactElements(And(HaveField("Kind", IgnoreShadowsManaged), HaveField("Path", ".gittargetignore"), HaveField("Line", 2))))
	g.Expect(Reason(issues)).To(Equal("IgnoreShadowsManagedPath"))
	g.Expect(issuesOf(t, "", strings.Replace(text, "*.yaml", "*.bak.yaml", 1))).To(BeEmpty())
}

func TestScenario15_OnlyThePlannedPathIsIgnored(t *testing.T) {
	g := NewWithT(t)
	f := folder(t, "apps", txtar.Parse([]byte("-- apps/.gittargetignore --\n/dock/\n-- apps/boat.yaml --\n"+boat)))
	in := Input{Folder: f}
	g.Expect(Check(in)).To(BeEmpty())
	g.Expect(CheckWrites(in, Flush{Writes: []Write{{Path: "apps/boat.yaml", Source: true}}})).To(BeEmpty())
	issues := CheckWrites(in, Flush{Writes: []Write{{Path: "apps/dock/configmaps/new.yaml", New: true, Source: true}}})
	g.Expect(issues).To(HaveExactElements(And(HaveField("Kind", IgnoreShadowsManaged), HaveField("Path", "dock/configmaps/new.yaml"))))
	g.Expect(Reason(issues)).To(Equal("IgnoreShadowsManagedPath"))
}

func TestScenario16_ANestedIgnoreFileIsForeign(t *testing.T) {
	g := NewWithT(t)
	g.Expect(issuesOf(t, "", "-- sub/.gittargetignore --\nx\n-- sub/boat.yaml --\n"+boat)).To(HaveExactElements(
		And(HaveField("Kind", ForeignFile), HaveField("Path", "sub/.gittargetignore"))))
}

func TestScenario17AndCaseP05_Symlinks(t *testing.T) {
	g := NewWithT(t)
	issues := issuesOf(t, "env", `
-- env/base --
->../../../etc
-- env/prod --
->stage
-- env/a --
->b
-- env/b --
->a
-- env/cm.yaml --
->../shared/cm.yaml
-- env/mod --
gitlink
`)
	var got []string
	for _, i := range issues {
		got = append(got, string(i.Kind)+" "+i.Path)
	}
	g.Expect(got).To(Equal([]string{"foreign-symlink a", "foreign-symlink b", "foreign-symlink base", "foreign-symlink cm.yaml",
		"foreign-submodule mod", "foreign-symlink prod"}))
	// The folder's own path may lead through one.
	issues = issuesOf(t, "out/stage", "-- out --\n->env\n-- env/stage/boat.yaml --\n"+boat)
	g.Expect(issues).To(HaveExactElements(And(HaveField("Kind", ForeignSymlink), HaveField("Path", ".."), HaveField("Ignore", ""))))
}

func TestScenario18_AnAliasBombStandingAloneIsTolerated(t *testing.T) {
	g := NewWithT(t)
	bomb := boat + "x: &x {y: *x}\n"
	g.Expect(issuesOf(t, "", "-- bomb.yaml --\n"+bomb)).To(BeEmpty())
	// Part of a build it must never reach the library.
	g.Expect(issuesOf(t, "", "-- bomb.yaml --\n"+bomb+"-- kustomization.yaml --\nresources: [bomb.yaml]\n")).To(HaveExactElements(
		And(HaveField("Kind", UnsupportedKustomize), HaveField("Path", "bomb.yaml"), HaveField("Token", "aliases"))))
}

func TestScenario38_AmbiguousLayout(t *testing.T) {
	g := NewWithT(t)
	f := folder(t, "apps", txtar.Parse([]byte("-- apps/a/kustomization.yaml --\nresources: [boat.yaml]\n-- apps/a/boat.yaml --\n"+boat+
		"-- apps/b/kustomization.yaml --\nnamespace: x\nresources: []\n")))
	in := Input{Folder: f}
	g.Expect(Check(in)).To(BeEmpty())
	g.Expect(CheckWrites(in, Flush{Writes: []Write{{Path: "apps/a/boat.yaml", Source: true}}})).To(BeEmpty(), "an edit still lands")
	issues := CheckWrites(in, Flush{Places: true, NewPaths: []string{"apps/new.yaml"}, Writes: []Write{{Path: "apps/new.yaml", New: true}}})
	g.Expect(issues).To(HaveExactElements(And(HaveField("Kind", AmbiguousLayout), HaveField("Path", "."), HaveField("Actor", PlatformOperator),
		HaveField("Message", ContainSubstring("render roots a, b")))))
	g.Expect(Reason(issues)).To(Equal("AmbiguousLayout"))
}

func TestScenario45_SeveralSourceNamespaces(t *testing.T) {
	yes, no := true, false
	for _, row := range []struct {
		serialize  *bool
		namespaces []string
		refused    bool
	}{
		{&no, []string{"a", "b"}, true}, {&no, []string{"*"}, true}, {&no, []string{"a"}, false}, {&no, nil, false},
		{&yes, []string{"a", "b"}, false}, {nil, []string{"*"}, false},
	} {
		g := NewWithT(t)
		issues := Check(Input{Folder: folder(t, "", &txtar.Archive{}), SerializeNamespace: row.serialize, SourceNamespaces: row.namespaces})
		if !row.refused {
			g.Expect(issues).To(BeEmpty())
			continue
		}
		g.Expect(issues).To(HaveLen(1))
		g.Expect(Reason(issues)).To(Equal("MultipleSourceNamespaces"))
	}
}

func TestScenario53_FanIn(t *testing.T) {
	g := NewWithT(t)
	f := folder(t, "", txtar.Parse([]byte(`
-- base/kustomization.yaml --
resources: [cm.yaml]
-- base/cm.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: cm}
-- a/kustomization.yaml --
namespace: a
resources: [../base]
patches: [{path: ../patch.yaml}]
-- b/kustomization.yaml --
namespace: b
resources: [../base]
patches: [{path: ../patch.yaml}]
-- patch.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: cm}
data: {x: y}
`)))
	in := Input{Folder: f}
	g.Expect(Check(in)).To(BeEmpty())
	for path, refused := range map[string]bool{"base/cm.yaml": true, "patch.yaml": true, "base/kustomization.yaml": true,
		"a/kustomization.yaml": false, "loose.yaml": false} {
		issues := CheckWrites(in, Flush{Writes: []Write{{Path: path, Source: !strings.HasSuffix(path, "kustomization.yaml")}}})
		if !refused {
			g.Expect(issues).To(BeEmpty(), path)
			continue
		}
		g.Expect(issues).To(HaveExactElements(And(HaveField("Kind", WriteFanIn), HaveField("Solvable", false), HaveField("Actor", Nobody),
			HaveField("Message", ContainSubstring("a and b build it")))), path)
		g.Expect(Reason(issues)).To(Equal("WriteBoundaryRefused"))
	}
}

func TestWritesOutsideTheFolderAndUnrendered(t *testing.T) {
	g := NewWithT(t)
	f := folder(t, "env/prod", txtar.Parse([]byte("-- env/prod/k/kustomization.yaml --\nresources: [../../../base]\n-- base/kustomization.yaml --\nresources: [cm.yaml]\n-- base/cm.yaml --\n"+boat)))
	in := Input{Folder: f}
	issues := CheckWrites(in, Flush{Writes: []Write{{Path: "base/cm.yaml", Source: true}, {Path: "env/prodx/y.yaml", Source: true}}})
	g.Expect(issues).To(HaveExactElements(
		And(HaveField("Kind", WriteEscapesScope), HaveField("Path", "../../base/cm.yaml"), HaveField("Actor", PlatformOperator)),
		And(HaveField("Kind", WriteEscapesScope), HaveField("Path", "../prodx/y.yaml"))))
	g.Expect(Reason(issues)).To(Equal("WriteBoundaryRefused"))
	place := Flush{Places: true, NewPaths: []string{"env/prod/loose.yaml", "env/prod/k/in.yaml"}}
	g.Expect(CheckWrites(in, place)).To(BeEmpty(), "without useKustomize it is reported, not refused")
	place.UseKustomize = true
	issues = CheckWrites(in, place)
	g.Expect(issues).To(HaveExactElements(And(HaveField("Kind", UnrenderedPlacement), HaveField("Path", "loose.yaml"))))
	g.Expect(Reason(issues)).To(Equal("UnrenderedPlacement"))
}

func TestDecision54_AClearSensitiveDocumentIsNoRefusal(t *testing.T) {
	g := NewWithT(t)
	secret := "-- key.sops.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: dock}\n"
	g.Expect(issuesOf(t, "", secret)).To(BeEmpty(), "it is about to be encrypted in place")
	plain := "-- key.sops.yaml --\n" + boat
	g.Expect(issuesOf(t, "", plain)).To(HaveExactElements(And(HaveField("Kind", InvalidYAML), HaveField("Message", ContainSubstring("no sops key")))))
	in := Input{Folder: folder(t, "", txtar.Parse([]byte(plain))), Sensitive: func(_, kind string) bool { return kind == "ConfigMap" }}
	g.Expect(Check(in)).To(BeEmpty())
}

func TestCaseP03_ForeignYAMLIsNeitherParsedNorOwned(t *testing.T) {
	g := NewWithT(t)
	text := "-- .sops.yaml --\ncreation_rules:\n  - path_regex: .*\n-- README.md --\n-- boat.yaml --\n" + boat + "-- values.yaml --\nreplicas: 2\n"
	g.Expect(issuesOf(t, "", text)).To(HaveExactElements(And(HaveField("Kind", NonKRMYAML), HaveField("Path", "values.yaml"), HaveField("Ignore", "/values.yaml"))))
	g.Expect(issuesOf(t, "", text+"-- .gittargetignore --\n/values.yaml\n")).To(BeEmpty())
	g.Expect(issuesOf(t, "", text+"-- app.yaml --\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: app, namespace: argocd}\nspec: {source: {helm: {valueFiles: [values.yaml]}}}\n")).To(BeEmpty())
}

func TestDecision37_ADocumentThatIsNotEditableIsNoRefusal(t *testing.T) {
	g := NewWithT(t)
	g.Expect(issuesOf(t, "", "-- y12.yaml --\n"+boat+"data:\n  level: info\n  level: warn\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: dock}\na: &a b\nc: *a\nd: !x e\nf: !!binary aGk=\n")).To(BeEmpty())
	// The same object elsewhere would be a second copy.
	g.Expect(issuesOf(t, "", "-- a.yaml --\n"+boat+"data:\n  level: info\n  level: warn\n-- b.yaml --\n"+boat)).To(HaveExactElements(HaveField("Kind", DuplicateIdentity)))
}

func TestDecision49_AtTheRepositoryRoot(t *testing.T) {
	g := NewWithT(t)
	text := `
-- .github/workflows/ci.yml --
on: push
-- .gitlab-ci.yml --
build: {script: make}
-- CODEOWNERS --
-- .editorconfig --
-- Makefile --
-- k8s/boat.yaml --
` + boat
	g.Expect(issuesOf(t, ".", text)).To(BeEmpty())
	issues := issuesOf(t, ".", text+"-- main.go --\n-- cmd/a/main.go --\n-- cmd/b/main.go --\n-- k8s/notes.txt --\n-- docs/values.yaml --\na: b\n-- docs/x.png --\n")
	g.Expect(IgnoreLines(issues)).To(Equal([]string{"/cmd/", "/docs/", "/k8s/notes.txt", "/main.go"}))
	_, message := Condition(issues)
	g.Expect(message).To(HaveSuffix("; lines for .gittargetignore: /cmd/ /docs/ /k8s/notes.txt /main.go; and 5 more"))
	// The lines are the cure.
	lines := strings.Join(IgnoreLines(issues), "\n")
	g.Expect(issuesOf(t, ".", text+"-- main.go --\n-- cmd/a/main.go --\n-- cmd/b/main.go --\n-- k8s/notes.txt --\n-- docs/values.yaml --\na: b\n-- docs/x.png --\n-- .gittargetignore --\n"+lines+"\n")).To(BeEmpty())
}

func TestIgnoreLinesAreTakenLiterally(t *testing.T) {
	g := NewWithT(t)
	names := []string{"a b.txt", "[x].txt", "what?.txt", "st*r.txt", `back\slash.txt`, "#hash.txt", "!bang.txt", "trail ", "ünï.txt"}
	files := map[string]manifest.File{"boat.yaml": {Content: []byte(boat)}}
	for _, n := range names {
		files[n] = manifest.File{}
	}
	scan := func() []Issue {
		f, _, err := inventory.Scan(context.Background(), manifest.NewMemTree(files), "", nil)
		g.Expect(err).NotTo(HaveOccurred())
		return Check(Input{Folder: f})
	}
	issues := scan()
	g.Expect(issues).To(HaveLen(len(names)))
	files[".gittargetignore"] = manifest.File{Content: []byte(strings.Join(IgnoreLines(issues), "\n") + "\n")}
	g.Expect(scan()).To(BeEmpty())
	// A name with a line break cannot be written as a rule, nor shown as it is.
	files["new\nline"] = manifest.File{}
	g.Expect(scan()).To(HaveExactElements(And(HaveField("Ignore", ""), WithTransform(Issue.String, ContainSubstring(`"new\nline"`)))))
}

func TestConditionIsBoundedAndFamiliesAreWhole(t *testing.T) {
	g := NewWithT(t)
	reason, message := Condition(nil)
	g.Expect(reason).To(Equal("Succeeded"))
	g.Expect(message).NotTo(BeEmpty())
	for kind, want := range map[Kind]string{
		IgnoreShadowsManaged: "IgnoreShadowsManagedPath", AmbiguousLayout: "AmbiguousLayout", MultipleSourceNamespaces: "MultipleSourceNamespaces",
		UnrenderedPlacement: "UnrenderedPlacement", WriteEscapesScope: "WriteBoundaryRefused", WriteFanIn: "WriteBoundaryRefused",
		KustomizeRenderRefused: "WriteBoundaryRefused", UnplaceableEdit: "WriteBoundaryRefused", UnownedDeletePatch: "WriteBoundaryRefused",
		ForeignFile: Unsupported, DuplicateIdentity: Unsupported, RenderDoesNotMatchLive: Unsupported,
	} {
		g.Expect(Reason([]Issue{New(kind, "x", "m"), New(kind, "y", "m")})).To(Equal(want))
		g.Expect(Reason([]Issue{New(kind, "x", "m"), New(ForeignSymlink, "y", "m")})).To(Equal(Unsupported))
	}
	g.Expect(Reason([]Issue{New(WriteFanIn, "x", ""), New(UnplaceableEdit, "x", "")})).To(Equal("WriteBoundaryRefused"))
	g.Expect(Reason([]Issue{New(WriteFanIn, "x", ""), New(AmbiguousLayout, "x", "")})).To(Equal(Unsupported))
	for _, long := range []string{strings.Repeat("ü", 600), strings.Repeat("x/", 300), "short"} {
		for n := range 3 {
			var issues []Issue
			for range n + 1 {
				i := New(ForeignFile, long, long).WithCure(long)
				i.Ignore = "/" + long
				issues = append(issues, i)
			}
			_, message := Condition(issues)
			g.Expect(len(message)).To(BeNumerically("<=", MaxMessage))
			g.Expect(strings.ToValidUTF8(message, "?")).To(Equal(message))
			if n > 0 {
				g.Expect(message).To(HaveSuffix(fmt.Sprintf("; and %d more", n)))
			}
		}
	}
}

func TestSolvableOnlyWhenEveryConstructIs(t *testing.T) {
	g := NewWithT(t)
	issues := issuesOf(t, "", "-- kustomization.yaml --\nimages: [{newTag: a}]\nresources: [gone.yaml]\n")
	g.Expect(issues).To(HaveExactElements(And(HaveField("Kind", UnsupportedKustomize), HaveField("Solvable", true), HaveField("Actor", RepositoryAuthor))))
	issues = issuesOf(t, "", "-- kustomization.yaml --\nimages: [{newTag: a}]\nnamePrefix: x-\n")
	g.Expect(issues).To(HaveExactElements(And(HaveField("Solvable", false), HaveField("Actor", Nobody), HaveField("Line", 1),
		HaveField("Message", HavePrefix("malformed images (line 1), namePrefix (line 2): an entry has no name")))))

	// A cure for one construct is none for the file when another has none.
	issues = issuesOf(t, "", "-- kustomization.yaml --\nresources: [a.yaml]\nnamePrefix: x-\npatches:\n- patch: 'x: 1'\n-- a.yaml --\n"+boat)
	g.Expect(issues).To(HaveLen(1))
	g.Expect(issues[0].Solvable).To(BeFalse())
	g.Expect(issues[0].Cure).To(Equal("give the GitTarget a path that this kustomization does not reach"))
}

type knownKinds []string

func (k knownKinds) Kind(group, kind string) (change.Type, bool) {
	return change.Type{Group: group, Kind: kind, Namespaced: true}, slices.Contains(k, kind)
}

func TestDecision47_WhatOnlyAPersonIsTold(t *testing.T) {
	g := NewWithT(t)
	f := folder(t, "", txtar.Parse([]byte("-- kustomization.yaml --\nresources: [a.yaml]\npatches: [{path: p.yaml}]\n-- a.yaml --\n"+boat+
		"-- p.yaml --\n"+boat+"-- loose.yaml --\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: dock}\n")))
	in := Input{Folder: f, View: inventory.View{Kinds: knownKinds{"ConfigMap"}}}
	g.Expect(Check(in)).To(BeEmpty())
	g.Expect(Offline(in)).To(HaveExactElements(
		And(HaveField("Kind", OutOfScope), HaveField("Path", "loose.yaml")),
		And(HaveField("Kind", UnresolvedKRM), HaveField("Path", "loose.yaml"), HaveField("Actor", PlatformOperator))))
}
