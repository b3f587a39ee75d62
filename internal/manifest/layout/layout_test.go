// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/tools/txtar"

	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// source reads a tree; it counts blobs. Like the inventory it knows the aliases of files in the folder.
type source struct {
	*manifest.MemTree
	jail  string
	blobs int
}

func (s *source) Entry(p string) (manifest.DirEntry, error) { return manifest.Lookup(s.MemTree, p) }
func (s *source) Ignored(p string) bool                     { return strings.HasSuffix(p, ".ignored.yaml") }
func (s *source) Blob(id manifest.ID) ([]byte, error) {
	s.blobs++
	return s.MemTree.Blob(id)
}

func (s *source) Aliases(p string, id manifest.ID) (string, bool) {
	if s.jail != "" && !strings.HasPrefix(p, s.jail+"/") {
		return "", false
	}
	b, err := s.MemTree.Blob(id)
	if err != nil {
		return "", false
	}
	if err := yamldoc.CheckAliases(b); err != nil {
		return err.Error(), true
	}
	return "", true
}

// tree builds a tree of an archive; content that starts with "->" is a symlink.
func tree(a *txtar.Archive) *manifest.MemTree {
	files := map[string]manifest.File{}
	for _, f := range a.Files {
		if f.Name == "want" {
			continue
		}
		file := manifest.File{Content: f.Data}
		if link, ok := strings.CutPrefix(string(f.Data), "->"); ok {
			file = manifest.File{Mode: manifest.ModeSymlink, Content: []byte(strings.TrimSpace(link))}
		}
		files[f.Name] = file
	}
	return manifest.NewMemTree(files)
}

// kustomizations returns the kustomization files of a folder.
func kustomizations(t *manifest.MemTree, jail string) []string {
	var out []string
	for p, f := range t.Files() {
		name := filepath.Base(p)
		if (jail == "" || strings.HasPrefix(p, jail+"/")) && f.Mode == manifest.ModeFile &&
			(name == "kustomization.yaml" || name == "kustomization.yml") {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

func resolve(t testing.TB, tr *manifest.MemTree, jail string, prev *layout.Layout) (*layout.Layout, *source) {
	t.Helper()
	s := &source{MemTree: tr, jail: jail}
	l, err := layout.Resolve(context.Background(), s, jail, kustomizations(tr, jail), prev)
	if err != nil {
		t.Fatal(err)
	}
	return l, s
}

func archive(t testing.TB, jail, text string) *layout.Layout {
	t.Helper()
	l, _ := resolve(t, tree(txtar.Parse([]byte(text))), jail, nil)
	return l
}

func constructs(l *layout.Layout) []string {
	out := []string{}
	for _, p := range l.Problems() {
		out = append(out, fmt.Sprintf("%s:%d %s", p.Path, p.Line, p.Construct))
	}
	return out
}

// describe says all a layout knows.
func describe(l *layout.Layout, files []string) string {
	var b strings.Builder
	s := l.Summary()
	fmt.Fprintf(&b, "mode %q root %q roots %q bases %q ambiguous %v\n", s.Mode, s.Root, s.Roots, s.ReadOnlyBases, s.Ambiguous)
	for _, f := range files {
		if r := l.Readers(f); r != nil {
			fmt.Fprintf(&b, "%s:", f)
			for _, e := range r {
				fmt.Fprintf(&b, " %s", strings.Join(e.Chain, ">"))
				if e.Namespace != "" {
					fmt.Fprintf(&b, "@%s", e.Namespace)
				}
			}
			if l.IsPatch(f) {
				b.WriteString(" patch")
			}
			b.WriteString("\n")
		}
	}
	for _, p := range l.Problems() {
		solvable := ""
		if p.Solvable {
			solvable = " (solvable)"
		}
		fmt.Fprintf(&b, "refused %s:%d %s%s: %s\n", p.Path, p.Line, p.Construct, solvable, p.Message)
	}
	return b.String()
}

// TestStories reads testdata/*.txtar: a tree, the folder in the comment's "path:" line, and what the layout says.
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
			jail, want := "", ""
			for line := range strings.SplitSeq(string(a.Comment), "\n") {
				if p, ok := strings.CutPrefix(line, "path: "); ok {
					jail = strings.TrimPrefix(p, ".")
				}
			}
			var files []string
			for _, f := range a.Files {
				if files = append(files, f.Name); f.Name == "want" {
					want = string(f.Data)
				}
			}
			l, _ := resolve(t, tree(a), jail, nil)
			g.Expect(describe(l, files)).To(Equal(want))
		})
	}
}

func TestSupportedFieldsAreTolerated(t *testing.T) {
	g := NewWithT(t)
	l := archive(t, "", `
-- kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
metadata:
  name: any
namespace: dock
resources: [cm.yaml]
images:
  - name: reg.example.com/app
    newName: other
    newTag: "1.0"
  - name: x
    digest: sha256:0
replicas: [{name: boat, count: 3}]
patches:
  - path: patch.yaml
    target: {kind: ConfigMap}
commonLabels: {a: b}
commonAnnotations: {a: b}
labels: [{pairs: {a: b}, includeSelectors: true}]
buildMetadata: [originAnnotations]
generatorOptions: {disableNameSuffixHash: true}
sortOptions: {order: fifo}
components: []
vars: null
-- cm.yaml --
-- patch.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: x}
$patch: delete
`)
	g.Expect(constructs(l)).To(BeEmpty())
	k := l.Roots()[0]
	g.Expect(k.Namespace).To(Equal("dock"))
	g.Expect(k.Images).To(Equal([]layout.Image{
		{Field: "images", Index: 0, Line: 8, Name: "reg.example.com/app", NewName: "other", NewTag: "1.0"},
		{Field: "images", Index: 1, Line: 11, Name: "x", Digest: "sha256:0"},
	}))
	g.Expect(k.Replicas).To(Equal([]layout.Replica{{Index: 0, Line: 13, Name: "boat", Count: 3}}))
	g.Expect(k.Transforms).To(Equal([]string{"commonAnnotations", "commonLabels", "labels", "patches"}))
	g.Expect(l.Reads("")).To(Equal([]string{"cm.yaml", "kustomization.yaml", "patch.yaml"}))
}

func TestFieldFixUps(t *testing.T) {
	g := NewWithT(t)
	l := archive(t, "", `
-- kustomization.yaml --
resources: [cm.yaml]
bases:
  - base
imageTags:
  - name: x
    newTag: "2"
-- cm.yaml --
-- base/kustomization.yaml --
resources: []
`)
	g.Expect(constructs(l)).To(BeEmpty())
	k := l.Roots()[0]
	g.Expect(k.Kind).To(Equal("Kustomization"))
	g.Expect(k.Resources).To(HaveExactElements(
		layout.Ref{Field: "resources", Value: "cm.yaml", Line: 1, Target: "cm.yaml", Kind: layout.RefFile},
		layout.Ref{Field: "bases", Value: "base", Line: 3, Target: "base", Kind: layout.RefDir}))
	g.Expect(k.Images[0]).To(And(HaveField("Field", "imageTags"), HaveField("NewTag", "2")))
}

func TestScenario56AndSection62_EveryRefusedConstructIsNamed(t *testing.T) {
	for _, row := range []struct {
		body, construct string
		line            int
		solvable        bool
	}{
		{"resources: [https://example.com/x.yaml]", "remote base", 1, false},
		{"resources:\n  - git@example.com:a/b", "remote base", 2, false},
		{"resources:\n  - github.com/a/b//c?ref=v1", "remote base", 2, false},
		{"resources: [gitlab.com/a/b]", "remote base", 1, false},
		{"bases: [bitbucket.org/a/b]", "remote base", 1, false},
		{"resources: []\ncomponents: [../c]", "components", 2, false},
		{"configMapGenerator: [{name: a}]", "configMapGenerator", 1, false},
		{"secretGenerator: [{name: a}]", "secretGenerator", 1, false},
		{"generators: [a]", "generators", 1, false},
		{"transformers: [a]", "transformers", 1, false},
		{"replacements: [{path: a}]", "replacements", 1, false},
		{"vars: [{name: A}]", "vars", 1, false},
		{"validators: [a]", "validators", 1, false},
		{"namePrefix: a-", "namePrefix", 1, false},
		{"nameSuffix: -a", "nameSuffix", 1, false},
		{"patchesStrategicMerge: [p.yaml]", "patchesStrategicMerge", 1, false},
		{"patchesJson6902: [{path: p.yaml}]", "patchesJson6902", 1, false},
		{"patches: [{patch: '{}'}]", "inline patch", 1, false},
		{"patches: [{path: json.yaml, target: {kind: x}}]", "JSON 6902 patch", 1, false},
		{"patches: [{path: ../../p.yaml}]", "path outside the repository", 1, true},
		{"patches: [{path: cm.yaml, options: {allowNameChange: true}}]", "patches options", 1, false},
		{"helmCharts: [{name: a}]", "helmCharts", 1, false},
		{"helmGlobals: {chartHome: a}", "helmGlobals", 1, false},
		{"helmChartInflationGenerator: [{chartName: a}]", "helmChartInflationGenerator", 1, false},
		{"configurations: [a]", "configurations", 1, false},
		{"crds: [a]", "crds", 1, false},
		{"openapi: {path: a}", "openapi", 1, false},
		{"images: [{name: x, tagSuffix: -a}]", "malformed images", 1, true},
		{"images: [{newTag: a}]", "malformed images", 1, true},
		{"images: [{name: x, tag: a}]", "malformed images", 1, true},
		{"images: [{name: x, newTag: 1.0}]", "unparseable field", 1, true},
		{"images: [{name: x, newTag: yes}]", "unparseable field", 1, true},
		{"images: {name: x}", "unparseable field", 1, true},
		{"replicas: [{name: x, count: -1}]", "malformed replicas", 1, true},
		{"replicas: [{name: x, count: \"1\"}]", "malformed replicas", 1, true},
		{"replicas: [{count: 1}]", "malformed replicas", 1, true},
		{"resources: [1]", "unparseable field", 1, true},
		{"resources: cm.yaml", "unparseable field", 1, true},
		{"namespace: {a: b}", "unparseable field", 1, true},
		{"commonLabels: {enabled: on}", "unparseable field", 1, true},
		{"commonLabels: {port: 80}", "unparseable field", 1, true},
		{"resources: []\nx-team: a", "unknown field", 2, true},
		{"Resources: [cm.yaml]", "unparseable field", 1, true},
		{"resources: [cm.yaml]\nresources: [cm.yaml]", "duplicate key", 2, true},
		{"resources: [", "invalid YAML", 1, true},
		{"- a", "invalid YAML", 1, true},
		{"", "empty kustomization", 1, true},
		{"# nothing\n", "empty kustomization", 1, true},
		{"kind: Kustomization\napiVersion: kustomize.config.k8s.io/v1beta1", "empty kustomization", 1, true},
		{"apiVersion: kustomize.config.k8s.io/v1\nkind: Kustomization\nresources: []", "unparseable field", 1, true},
		{"resources: []\n---\nresources: []", "several documents", 3, true},
		{"x: &x [*x]", "aliases", 0, true},
		{"resources: [missing.yaml]", "missing file", 1, true},
		{"resources: ['*.yaml']", "glob", 1, true},
		{"resources: [dir]", "missing kustomization", 1, true},
		{"resources: [link.yaml]", "symlink", 1, true},
		{"resources: [linkdir/x.yaml]", "symlink", 1, true},
		{"resources: [/etc/passwd]", "path outside the repository", 1, false},
		{"resources: [../../..]", "path outside the repository", 1, false},
		{"resources: [cm.yaml, ./cm.yaml]", "listed twice", 1, true},
		{"resources: [kustomization.yaml]", "kustomization as a resource", 1, true},
		{"resources: [.]", "cycle", 1, true},
		{"kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nresources: []", "Component", 1, false},
		{"patches: [{path: values.yaml}]", "patch without identity", 1, true},
		{"patches: [{path: broken.yaml}]", "invalid YAML", 1, true},
		{"patches: [{path: dir}]", "missing file", 1, true},
		{"resources: [x.ignored.yaml]", "ignored resource", 1, true},
	} {
		t.Run(row.construct+" "+row.body, func(t *testing.T) {
			g := NewWithT(t)
			l := archive(t, "app", "-- app/kustomization.yaml --\n"+row.body+`
-- app/cm.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: x}
-- app/p.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: x}
-- app/json.yaml --
- op: remove
  path: /data
-- app/values.yaml --
a: 1
-- app/broken.yaml --
a: [
-- app/dir/x.yaml --
-- app/link.yaml --
->cm.yaml
-- app/linkdir --
->dir
-- app/x.ignored.yaml --
`)
			var found *layout.Problem
			for i, p := range l.Problems() {
				if p.Construct == row.construct {
					found = &l.Problems()[i]
				}
			}
			g.Expect(found).NotTo(BeNil(), "%+v", l.Problems())
			g.Expect(found.Solvable).To(Equal(row.solvable))
			g.Expect(found.Line).To(Equal(row.line))
			g.Expect(found.Message).NotTo(BeEmpty())
			if row.solvable {
				g.Expect(found.Cure).NotTo(BeEmpty())
			}
		})
	}
}

func TestCaseK10_UnknownFieldsAreNamed(t *testing.T) {
	g := NewWithT(t)
	l := archive(t, "", "-- kustomization.yaml --\n# header\nopenapi: {path: s.json}\ngenerators: [g.yaml]\nbuildMetadata: [originAnnotations]\nx-team: harbor\nimages: [{name: x, newTag: \"1\"}]\n")
	g.Expect(constructs(l)).To(Equal([]string{"kustomization.yaml:2 openapi", "kustomization.yaml:3 generators", "kustomization.yaml:5 unknown field"}))
}

func TestCaseK12_AMalformedImageNameDoesNotReachTheBuild(t *testing.T) {
	g := NewWithT(t)
	l := archive(t, "", "-- bad/kustomization.yaml --\nimages: [{name: \"ngin[\", newTag: \"1\"}]\n-- good/kustomization.yaml --\nimages: [{name: \"ngin.\", newTag: \"1\"}]\n")
	g.Expect(constructs(l)).To(Equal([]string{"bad/kustomization.yaml:1 malformed images"}))
	g.Expect(l.Problems()[0].Message).To(ContainSubstring(`"ngin[" is no pattern`))
}

func TestUnchangedKustomizationsAreParsedOnce(t *testing.T) {
	g := NewWithT(t)
	text := "-- a/kustomization.yaml --\nresources: [../b, cm.yaml]\npatches: [{path: p.yaml}]\n-- a/cm.yaml --\na: b\n-- a/p.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n-- b/kustomization.yaml --\nresources: [cm.yaml]\n-- b/cm.yaml --\na: b\n"
	l, s := resolve(t, tree(txtar.Parse([]byte(text))), "a", nil)
	g.Expect(s.blobs).To(Equal(4), "two kustomizations, a patch, and the base file whose aliases nobody knows")
	next, s := resolve(t, tree(txtar.Parse([]byte(text+"-- a/new.yaml --\n"))), "a", l)
	g.Expect(s.blobs).To(BeZero())
	g.Expect(next.Problems()).To(BeEmpty())
	_, s = resolve(t, tree(txtar.Parse([]byte(strings.Replace(text, "patches", "namespace: x\npatches", 1)))), "a", next)
	g.Expect(s.blobs).To(Equal(1))
}

func TestHostileGraphs(t *testing.T) {
	g := NewWithT(t)
	// A chain of 300 levels, a ladder with 2^40 ways, a circle of 300.
	var chain, ladder, circle strings.Builder
	for i := range 300 {
		fmt.Fprintf(&chain, "-- c%03d/kustomization.yaml --\nresources: [../c%03d]\n", i, i+1)
		fmt.Fprintf(&circle, "-- c%03d/kustomization.yaml --\nresources: [../c%03d]\n", i, (i+1)%300)
	}
	chain.WriteString("-- c300/kustomization.yaml --\nresources: []\n")
	for i := range 40 {
		fmt.Fprintf(&ladder, "-- a%02d/kustomization.yaml --\nnamespace: a%02d\nresources: [../a%02d, ../b%02d]\n", i, i, i+1, i+1)
		fmt.Fprintf(&ladder, "-- b%02d/kustomization.yaml --\nnamespace: b%02d\nresources: [../a%02d, ../b%02d]\n", i, i, i+1, i+1)
	}
	ladder.WriteString("-- a40/kustomization.yaml --\nresources: []\n-- b40/kustomization.yaml --\nresources: []\n")
	l := archive(t, "", chain.String())
	g.Expect(constructs(l)).To(ConsistOf(HaveSuffix(" depth")))
	l = archive(t, "", ladder.String())
	g.Expect(constructs(l)).To(ContainElement(HaveSuffix(" diamond")))
	l = archive(t, "", circle.String())
	g.Expect(constructs(l)).To(ConsistOf(HaveSuffix(" cycle")))
	g.Expect(l.Roots()).To(BeEmpty())
	g.Expect(len(l.Problems()[0].Message)).To(BeNumerically("<", 200))
}

func TestAliasesAreCheckedBeforeABuild(t *testing.T) {
	g := NewWithT(t)
	l := archive(t, "app", `
-- app/kustomization.yaml --
resources: [cm.yaml, ../base, ../loose.yaml]
patches: [{path: p.yaml}]
-- app/cm.yaml --
x: &x {y: *x}
-- app/p.yaml --
x: &x {y: *x}
-- base/kustomization.yaml --
resources: [cm.yaml]
-- base/cm.yaml --
x: &x {y: *x}
-- loose.yaml --
a: &a [x, x, x, x, x, x, x, x, x, x]
b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]
e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]
`)
	g.Expect(constructs(l)).To(Equal([]string{"app/cm.yaml:0 aliases", "app/p.yaml:0 aliases", "base/cm.yaml:0 aliases", "loose.yaml:0 aliases"}))
}
