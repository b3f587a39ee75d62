// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package acceptance

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
	"github.com/configbutler/gitops-reverser/internal/testshared"
)

// loadCorpus returns the files of every repository of the corpus.
func loadCorpus(t *testing.T) map[string]map[string]manifest.File {
	t.Helper()
	root := filepath.Join(testshared.Dir(t), "corpus")
	repos := map[string]map[string]manifest.File{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		repo, name, ok := strings.Cut(filepath.ToSlash(rel), "/")
		if !ok {
			return nil
		}
		b, err := os.ReadFile(p)
		if repos[repo] == nil {
			repos[repo] = map[string]manifest.File{}
		}
		repos[repo][name] = manifest.File{Content: b}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return repos
}

// TestCorpus scans every repository, and every folder with a kustomization as a GitTarget's folder of its own: nothing
// crashes, every verdict is reached twice alike, and it does not matter what was scanned before.
func TestCorpus(t *testing.T) {
	g := NewWithT(t)
	folders, accepted, documents := 0, 0, 0
	kinds := map[Kind]int{}
	for repo, files := range loadCorpus(t) {
		tree := manifest.NewMemTree(files)
		paths := []string{""}
		for p := range files {
			if base := path.Base(p); base == "kustomization.yaml" || base == "kustomization.yml" {
				paths = append(paths, strings.TrimPrefix(path.Dir(p), "."))
			}
		}
		// A tree that differs in one file is scanned in between.
		other := map[string]manifest.File{"zz/extra.yaml": {Content: []byte("a: [\n")}}
		for p, f := range files {
			other[p] = f
		}
		changed := manifest.NewMemTree(other)
		slices.Sort(paths)
		for _, p := range slices.Compact(paths) {
			first, st := verdict(t, tree, p, nil)
			second, _ := verdict(t, tree, p, nil)
			g.Expect(second).To(Equal(first), "%s %s", repo, p)
			prev, _, err := inventory.Scan(context.Background(), changed, p, nil)
			g.Expect(err).NotTo(HaveOccurred())
			third, again := verdict(t, tree, p, prev)
			g.Expect(third).To(Equal(first), "%s %s", repo, p)
			g.Expect(again.DocumentsParsed).To(BeZero(), "%s %s", repo, p)
			folders++
			if p == "" {
				documents += st.DocumentsParsed
			}
			f, _, err := inventory.Scan(context.Background(), tree, p, nil)
			g.Expect(err).NotTo(HaveOccurred())
			issues := Check(Input{Folder: f})
			if len(issues) == 0 {
				accepted++
			}
			for _, i := range issues {
				kinds[i.Kind]++
				g.Expect(i.Message).NotTo(BeEmpty())
				g.Expect(len(i.Message)).To(BeNumerically("<", 400), i.Message)
				if i.Solvable {
					g.Expect(i.Cure).NotTo(BeEmpty(), i.String())
				}
			}
		}
	}
	t.Logf("%d folders, %d accepted, %d documents parsed, issues %v", folders, accepted, documents, kinds)
	g.Expect(folders).To(BeNumerically(">", 900))
	g.Expect(documents).To(BeNumerically(">", 6500))
	g.Expect(accepted).To(BeNumerically(">", 300))
}

// verdict says everything a person could see of a folder.
func verdict(t *testing.T, tree manifest.Tree, p string, prev *inventory.Folder) (string, inventory.Stats) {
	t.Helper()
	f, st, err := inventory.Scan(context.Background(), tree, p, prev)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	issues := Check(Input{Folder: f})
	reason, message := Condition(issues)
	fmt.Fprintf(&b, "%s %s %+v %+v\n", reason, message, f.Counts(), f.Layout().Summary())
	for _, i := range issues {
		fmt.Fprintln(&b, i)
	}
	for d := range f.Documents() {
		e := f.Effective(d, inventory.View{})
		fmt.Fprintln(&b, d.Path, d.Index, d.Start, d.End, d.Line, e.ID, e.Source, e.Others, d.Digest)
	}
	for _, d := range f.Diagnose(inventory.View{}) {
		fmt.Fprintln(&b, d)
	}
	return b.String(), st
}
