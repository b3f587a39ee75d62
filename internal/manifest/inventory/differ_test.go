// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

// memory is a store that remembers the directories of all its trees, as a branch's object store does.
type memory map[manifest.ID][]manifest.DirEntry

// tree returns a tree of the store that compares by itself.
func (m memory) tree(fs files) *indexedTree {
	t := &indexedTree{countingTree: fs.tree(), store: m}
	var learn func(id manifest.ID)
	learn = func(id manifest.ID) {
		list, err := t.MemTree.Dir(id)
		if err != nil {
			panic(err)
		}
		m[id] = list
		for _, e := range list {
			if isDir(e.Mode) {
				learn(e.ID)
			}
		}
	}
	learn(t.Root())
	return t
}

// indexedTree is a manifest.Indexed that counts.
type indexedTree struct {
	*countingTree
	store memory
	diffs int
}

var _ manifest.Indexed = (*indexedTree)(nil)

func (t *indexedTree) Child(dir manifest.ID, name string) (manifest.DirEntry, bool, error) {
	i := slices.IndexFunc(t.store[dir], func(e manifest.DirEntry) bool { return e.Name == name })
	if i < 0 {
		return manifest.DirEntry{}, false, nil
	}
	return t.store[dir][i], true, nil
}

func (t *indexedTree) Diff(old, next manifest.ID) (gone, here []manifest.DirEntry, ok bool, err error) {
	before, ok := t.store[old]
	if !ok {
		return nil, nil, false, nil
	}
	t.diffs++
	without := func(list, other []manifest.DirEntry) []manifest.DirEntry {
		return slices.DeleteFunc(slices.Clone(list), func(e manifest.DirEntry) bool { return slices.Contains(other, e) })
	}
	return without(before, t.store[next]), without(t.store[next], before), true, nil
}

func TestScanOfAnIndexedTreeListsNothingItKnows(t *testing.T) {
	g := NewWithT(t)
	store, fs := memory{}, files{}
	for i := range 3000 {
		fs[fmt.Sprintf("clusters/prod/cm-%05d.yaml", i)] = configMap(fmt.Sprintf("cm-%05d", i), "a")
	}
	f, _ := scan(t, store.tree(fs), "clusters/prod", nil)
	tree := store.tree(fs.with("clusters/prod/cm-02000.yaml", configMap("cm-02000", "b"), "clusters/prod/cm-02001.yaml", ""))
	next, st := scan(t, tree, "clusters/prod", f)
	g.Expect(st).To(Equal(Stats{TreesRead: 3, BlobsRead: 1, DocumentsParsed: 1}))
	g.Expect(tree.dirs).To(Equal(2), "only the way to the folder is listed")
	g.Expect(tree.diffs).To(Equal(1))
	fresh, _ := scan(t, tree, "clusters/prod", nil)
	g.Expect(dump(next)).To(Equal(dump(fresh)))

	// A store that has forgotten the tree before is listed.
	clear(store)
	tree = store.tree(fs)
	back, _ := scan(t, tree, "clusters/prod", next)
	g.Expect(tree.diffs).To(Equal(0))
	g.Expect(tree.dirs).To(Equal(3))
	g.Expect(dump(back)).To(Equal(dump(f)))
}

// TestScanOfAnIndexedTreeAgreesWithAFreshScan plays random histories in which ignored files come and go, files become
// directories and the ignore rules change.
func TestScanOfAnIndexedTreeAgreesWithAFreshScan(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := NewWithT(t)
			r := rand.New(rand.NewPCG(seed, 2))
			store := memory{}
			fs := files{"env/prod/keep.yaml": configMap("keep", "a")}
			f, _ := scan(t, store.tree(fs), "env/prod", nil)
			for range 30 {
				for range 1 + r.IntN(25) {
					p := "env/prod/" + []string{"", "a/", "a/b/", "tmp/", "x.yaml/"}[r.IntN(5)] +
						[]string{"x.yaml", "y.yaml", "z.yml", "notes.log", "more.log", "a", "foreign.txt"}[r.IntN(7)]
					content := configMap(fmt.Sprint("n", r.IntN(6)), []string{"", "a"}[r.IntN(2)], fmt.Sprint(r.IntN(3)))
					if r.IntN(3) == 0 {
						content = ""
					}
					fs = fs.with(p, content)
				}
				if r.IntN(5) == 0 {
					fs = fs.with("env/prod/.gittargetignore", []string{"", "*.log\n", "tmp/\n*.log\n"}[r.IntN(3)])
				}
				fs = consistent(fs)
				tree := store.tree(fs)
				f, _ = scan(t, tree, "env/prod", f)
				fresh, _ := scan(t, fs.tree(), "env/prod", nil)
				g.Expect(dump(f)).To(Equal(dump(fresh)))
			}
		})
	}
}

// consistent drops files that stand where another file needs a directory.
func consistent(fs files) files {
	out := files{}
	for p, c := range fs {
		out[p] = c
	}
	for p := range fs {
		for i, c := range p {
			if c == '/' {
				delete(out, p[:i])
			}
		}
	}
	return out
}
