// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/testshared"
)

// corpus returns the repositories of the corpus as trees.
func corpus(t *testing.T) map[string]*manifest.MemTree {
	t.Helper()
	root := filepath.Join(testshared.Dir(t), "corpus")
	repos, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*manifest.MemTree{}
	for _, r := range repos {
		if !r.IsDir() {
			continue
		}
		files := map[string]manifest.File{}
		err := filepath.WalkDir(filepath.Join(root, r.Name()), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(p)
			rel, _ := filepath.Rel(filepath.Join(root, r.Name()), p)
			files[filepath.ToSlash(rel)] = manifest.File{Content: b}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		out[r.Name()] = manifest.NewMemTree(files)
	}
	return out
}

// kustomizations returns the folders of a tree that hold a kustomization file.
func kustomizations(tree *manifest.MemTree) []string {
	var out []string
	for name := range tree.Files() {
		if slices.Contains(konfig.RecognizedKustomizationFileNames(), path.Base(name)) {
			out = append(out, parent(name))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestCorpusRendersAsKustomizeDoes compares every kustomization this package builds with an untouched build of the same
// library (decision 92): the same objects with the same content, and an origin for each.
func TestCorpusRendersAsKustomizeDoes(t *testing.T) {
	g := NewWithT(t)
	built, refused, broken, objects := 0, map[string]int{}, 0, 0
	for name, tree := range corpus(t) {
		disk := filepath.Join(testshared.Dir(t), "corpus", name)
		for _, dir := range kustomizations(tree) {
			b, err := NewMemo().Build(dir, NewOverlay(tree))
			var refusal *Refusal
			var failed *BuildError
			switch {
			case errors.As(err, &refusal):
				refused[refusal.Construct]++
				continue
			case errors.As(err, &failed):
				broken++
				_, plain := plainBuild(filepath.Join(disk, dir))
				g.Expect(plain).To(HaveOccurred(), "%s/%s: %v", name, dir, err)
				continue
			}
			g.Expect(err).NotTo(HaveOccurred())
			want, err := plainBuild(filepath.Join(disk, dir))
			g.Expect(err).NotTo(HaveOccurred())
			var got []string
			for _, o := range b.Objects {
				got = append(got, string(o.JSON))
				g.Expect(o.Origin).NotTo(BeEmpty(), "%s/%s %s", name, dir, o.Name)
				_, _, err := NewOverlay(tree).File(o.Origin)
				g.Expect(err).NotTo(HaveOccurred())
			}
			g.Expect(got).To(Equal(want), "%s/%s", name, dir)
			built++
			objects += len(got)
		}
	}
	t.Logf("%d kustomizations render as kustomize does (%d objects), %d are refused by both, refused by name: %v",
		built, objects, broken, refused)
	g.Expect(built).To(BeNumerically(">", 300))
}

func plainBuild(dir string) ([]string, error) {
	o := krusty.MakeDefaultOptions()
	o.LoadRestrictions = types.LoadRestrictionsNone
	m, err := krusty.MakeKustomizer(o).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range m.Resources() {
		v, err := value(r.YNode())
		if err != nil {
			return nil, err
		}
		out = append(out, string(compare.Canonical(v)))
	}
	return out, nil
}

// TestCorpusOverlayReads proves that an overlay without changes is the tree, and that a change shows in the next build
// only.
func TestMemoKeyedByBlobs(t *testing.T) {
	g := NewWithT(t)
	tree := manifest.NewMemTree(map[string]manifest.File{
		"kustomization.yaml": {Content: []byte("resources: [a.yaml]\n")},
		"a.yaml":             {Content: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")},
		"other.yaml":         {Content: []byte("x: 1\n")},
	})
	m := NewMemo()
	w := NewOverlay(tree)
	first, err := m.Build("", w)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(w.Set("other.yaml", []byte("x: 2\n"))).To(Succeed())
	same, err := m.Build("", w)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(same).To(BeIdenticalTo(first))
	g.Expect(m.Stats()).To(Equal(Stats{Builds: 1, Hits: 1}))
	g.Expect(w.Set("a.yaml", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"))).To(Succeed())
	next, err := m.Build("", w)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(next.Find("", "ConfigMap", "", "b")).NotTo(BeNil())
	w.Undo("a.yaml")
	back, err := m.Build("", w)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(back).To(BeIdenticalTo(first))
	g.Expect(m.Stats()).To(Equal(Stats{Builds: 2, Hits: 2}))
	// A kustomization file that appears under another of its names changes the build.
	g.Expect(w.Set("kustomization.yml", []byte("resources: []\n"))).To(Succeed())
	_, err = m.Build("", w)
	g.Expect(err).To(MatchError(ContainSubstring("more than one kustomization file")))
}

// TestCorpusRemoteSpellings keeps everything kustomize would take for a remote repository away from it.
func TestScenario56_RemoteIsNeverFetched(t *testing.T) {
	g := NewWithT(t)
	for _, entry := range []string{
		"https://example.test/x.yaml", "http://example.test/x", "github.com/org/repo", "git@example.test:org/repo.git",
		"ssh://git@example.test/org/repo", "git::https://example.test/org/repo", "org/repo?ref=v1", "file:///etc",
		"user@host:path/repo", "missing", "../outside", "/etc/passwd", "sub/../..",
	} {
		tree := manifest.NewMemTree(map[string]manifest.File{
			"a/kustomization.yaml": {Content: []byte("resources: ['" + entry + "']\n")},
		})
		m := NewMemo()
		_, err := m.Build("a", NewOverlay(tree))
		var r *Refusal
		g.Expect(errors.As(err, &r)).To(BeTrue(), "%s: %v", entry, err)
		g.Expect(m.Stats().Builds).To(BeZero(), entry)
	}
}

// TestScenario94 and case K12: a hostile or malformed file is a refusal, never the end of the process.
func TestScenario94_HostileFilesAreRefusals(t *testing.T) {
	g := NewWithT(t)
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 8 {
		p, n := string(rune('a'+i)), string(rune('b'+i))
		bomb += n + ": &" + n + " [" + strings.TrimSuffix(strings.Repeat("*"+p+",", 10), ",") + "]\n"
	}
	for what, files := range map[string]map[string]string{
		"alias cycle":  {"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": "kind: X\napiVersion: v1\nmetadata: {name: a}\nx: &x {y: *x}\n"},
		"alias bomb":   {"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": bomb},
		"bomb itself":  {"kustomization.yaml": bomb},
		"pattern":      {"kustomization.yaml": "resources: [a.yaml]\nimages: [{name: 'ngin[', newTag: '1'}]\n", "a.yaml": "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n"},
		"openapi":      {"kustomization.yaml": "resources: [a.yaml]\nopenapi: {path: a.yaml}\n", "a.yaml": "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n"},
		"inline patch": {"kustomization.yaml": "resources: [a.yaml]\npatches: [{patch: 'x: 1'}]\n", "a.yaml": "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n"},
		"no yaml":      {"kustomization.yaml": "\x00\x01: [\n"},
		"list":         {"kustomization.yaml": "- a\n"},
	} {
		in := map[string]manifest.File{}
		for n, c := range files {
			in[n] = manifest.File{Content: []byte(c)}
		}
		_, err := NewMemo().Build("", NewOverlay(manifest.NewMemTree(in)))
		g.Expect(err).To(HaveOccurred(), what)
		g.Expect(errors.As(err, new(*Refusal)) || errors.As(err, new(*BuildError))).To(BeTrue(), "%s: %v", what, err)
	}
}

// TestCaseK13_CyclesDiamondsMissing gives three distinct, named errors.
func TestCaseK13_CyclesDiamondsMissing(t *testing.T) {
	g := NewWithT(t)
	cm := "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n"
	tree := manifest.NewMemTree(map[string]manifest.File{
		"a/kustomization.yaml":      {Content: []byte("resources: [../b]\n")},
		"b/kustomization.yaml":      {Content: []byte("resources: [../a]\n")},
		"common/kustomization.yaml": {Content: []byte("resources: [a.yaml]\n")},
		"common/a.yaml":             {Content: []byte(cm)},
		"x/kustomization.yaml":      {Content: []byte("resources: [../common]\n")},
		"y/kustomization.yaml":      {Content: []byte("resources: [../common]\n")},
		"d/kustomization.yaml":      {Content: []byte("resources: [../x, ../y]\n")},
		"m/kustomization.yaml":      {Content: []byte("resources: [nope.yaml]\n")},
	})
	m := NewMemo()
	_, err := m.Build("a", NewOverlay(tree))
	g.Expect(err).To(MatchError(ContainSubstring("cycle: a -> b -> a")))
	_, err = m.Build("d", NewOverlay(tree))
	g.Expect(err).To(BeAssignableToTypeOf(&BuildError{}))
	_, err = m.Build("m", NewOverlay(tree))
	g.Expect(err).To(MatchError(ContainSubstring("nope.yaml does not exist")))
}
