// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/testshared"
)

// corpus returns the repositories of the corpus by name.
func corpus(t *testing.T) map[string]*manifest.MemTree {
	t.Helper()
	root := filepath.Join(testshared.Dir(t), "corpus")
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*manifest.MemTree{}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		files := map[string]manifest.File{}
		dir := filepath.Join(root, e.Name())
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(p)
			rel, _ := filepath.Rel(dir, p)
			files[filepath.ToSlash(rel)] = manifest.File{Content: b}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = manifest.NewMemTree(files)
	}
	return out
}

// TestCorpusAgreesWithKustomize holds the layout against kustomize itself: what kustomize cannot decode is refused, and
// what the layout finds no fault with, kustomize builds, with the namespace the layout says.
func TestCorpusAgreesWithKustomize(t *testing.T) {
	g := NewWithT(t)
	files, refused, built := 0, 0, 0
	for name, tr := range corpus(t) {
		all := tr.Files()
		l, _ := resolve(t, tr, "", nil)
		bad := map[string]bool{}
		for _, p := range l.Problems() {
			bad[p.Path] = true
		}
		disk := filesys.MakeFsInMemory()
		for p, f := range all {
			if !strings.Contains(p, "+") { // the library's memory file system takes no such name
				g.Expect(disk.WriteFile("/"+p, f.Content)).To(Succeed())
			}
		}
		for _, p := range kustomizations(tr, "") {
			files++
			k := types.Kustomization{}
			err := k.Unmarshal(all[p].Content)
			if k.FixKustomization(); err == nil {
				err = k.CheckEmpty()
			}
			if err == nil && len(k.EnforceFields()) > 0 {
				err = os.ErrInvalid
			}
			if foreign := l.Kustomization(strings.TrimPrefix(filepath.Dir(p), ".")) == nil; err != nil && !bad[p] && !foreign {
				t.Errorf("%s %s: kustomize says %v, the layout nothing", name, p, err)
			}
			if bad[p] {
				refused++
			}
		}
		for _, root := range l.Roots() {
			ok := true
			for _, f := range l.Reads(root.Dir) {
				ok = ok && !bad[f] && !strings.Contains(f, "+")
			}
			if !ok {
				continue
			}
			opts := krusty.MakeDefaultOptions()
			opts.LoadRestrictions = types.LoadRestrictionsNone
			res, err := krusty.MakeKustomizer(opts).Run(disk, "/"+root.Dir)
			if err != nil {
				t.Errorf("%s %s: no fault found, but kustomize says %v", name, root.Dir, err)
				continue
			}
			built++
			if root.Namespace == "" {
				continue
			}
			for _, r := range res.Resources() {
				if ns := r.GetNamespace(); ns != "" {
					g.Expect(ns).To(Equal(root.Namespace), "%s %s %s", name, root.Dir, r.CurId())
				}
			}
		}
	}
	t.Logf("%d kustomizations, %d refused, %d roots built", files, refused, built)
	g.Expect(files).To(BeNumerically(">", 900))
	g.Expect(built).To(BeNumerically(">", 100))
}
