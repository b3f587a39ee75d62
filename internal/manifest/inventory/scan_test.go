// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

// big is a folder of n ConfigMaps in directories of 1000.
func big(n int) files {
	fs := files{}
	for i := range n {
		ns := fmt.Sprintf("ns-%03d", i/1000)
		fs[fmt.Sprintf("clusters/prod/%s/configmaps/cm-%05d.yaml", ns, i)] = configMap(fmt.Sprintf("cm-%05d", i), ns, "v")
	}
	return fs
}

func TestScanReadsOnlyWhatChanged(t *testing.T) {
	g := NewWithT(t)
	fs := big(20_000)
	tree := fs.tree()
	f, st := scan(t, tree, "clusters/prod", nil)
	g.Expect(st).To(Equal(Stats{TreesRead: 2 + 1 + 2*20, BlobsRead: 20_000, DocumentsParsed: 20_000}))
	g.Expect(f.Counts()).To(Equal(Counts{Files: 20_000, Documents: 20_000, Managed: 20_000}))

	// Nothing changed: not even the folder's own tree is read.
	same, st := scan(t, fs.tree(), "clusters/prod", f)
	g.Expect(st).To(Equal(Stats{}))
	g.Expect(same.root).To(BeIdenticalTo(f.root))

	// One file of 20 000: one blob, and the trees on its path.
	changed := fs.with("clusters/prod/ns-007/configmaps/cm-07123.yaml", configMap("cm-07123", "ns-007", "other")).tree()
	next, st := scan(t, changed, "clusters/prod", f)
	g.Expect(st).To(Equal(Stats{TreesRead: 5, BlobsRead: 1, DocumentsParsed: 1}))
	g.Expect(changed.blobs).To(Equal(1))
	g.Expect(changed.dirs).To(Equal(5))
	g.Expect(shared(f, next)).To(BeNumerically(">", 0.98))
	fresh, _ := scan(t, changed, "clusters/prod", nil)
	g.Expect(dump(next)).To(Equal(dump(fresh)))

	// A moved directory is not read again, and a moved file neither.
	moved := fs.with("clusters/prod/ns-007/configmaps/cm-07123.yaml", "",
		"clusters/prod/ns-008/moved.yaml", fs["clusters/prod/ns-007/configmaps/cm-07123.yaml"]).tree()
	after, st := scan(t, moved, "clusters/prod", f)
	g.Expect(st.BlobsRead).To(Equal(0))
	g.Expect(after.Find(cm("cm-07123", "ns-007"), View{})[0].Path).To(Equal("clusters/prod/ns-008/moved.yaml"))

	// A change elsewhere in the repository costs the path to the folder only.
	_, st = scan(t, fs.with("README.md", "x").tree(), "clusters/prod", f)
	g.Expect(st).To(Equal(Stats{TreesRead: 1}))
}

// shared returns the share of the chunks of a that b holds too.
func shared(a, b *Folder) float64 {
	in := map[*chunk]bool{}
	var collect func(d *dirNode, each func(c *chunk))
	collect = func(d *dirNode, each func(c *chunk)) {
		for _, c := range d.chunks {
			each(c)
			for _, e := range c.entries {
				if e.dir != nil {
					collect(e.dir, each)
				}
			}
		}
	}
	collect(b.root, func(c *chunk) { in[c] = true })
	n, hit := 0, 0
	collect(a.root, func(c *chunk) {
		n += len(c.entries)
		if in[c] {
			hit += len(c.entries)
		}
	})
	return float64(hit) / float64(n)
}

func TestScanOfAFlatDirectorySharesChunks(t *testing.T) {
	g := NewWithT(t)
	fs := files{}
	for i := range 5000 {
		fs[fmt.Sprintf("cm-%05d.yaml", i)] = configMap(fmt.Sprintf("cm-%05d", i), "a")
	}
	f, _ := scan(t, fs.tree(), ".", nil)
	next, st := scan(t, fs.with("cm-02000.yaml", configMap("cm-02000", "b"), "cm-02001.yaml", "", "new.yaml", configMap("new", "a")).tree(), ".", f)
	g.Expect(st).To(Equal(Stats{TreesRead: 1, BlobsRead: 2, DocumentsParsed: 2}))
	g.Expect(shared(f, next)).To(BeNumerically(">", 0.8))
	g.Expect(next.Find(cm("cm-02000", "a"), View{})).To(BeEmpty())
	g.Expect(next.Find(cm("cm-02000", "b"), View{})).To(HaveLen(1))
	g.Expect(next.Find(cm("cm-02001", "a"), View{})).To(BeEmpty())
	g.Expect(next.File("cm-02001.yaml")).To(BeNil())
	// The value before is untouched.
	g.Expect(f.Find(cm("cm-02001", "a"), View{})).To(HaveLen(1))
}

// TestScanAndApplyAgreeWithAFreshScan plays random histories: every step is checked against a scan from nothing.
func TestScanAndApplyAgreeWithAFreshScan(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := NewWithT(t)
			r := rand.New(rand.NewPCG(seed, 1))
			fs := files{"env/prod/keep.yaml": configMap("keep", "a"), "base/kustomization.yaml": "resources: [cm.yaml]\n", "base/cm.yaml": configMap("base", "")}
			tree := fs.tree()
			scanned, _ := scan(t, tree, "env/prod", nil)
			applied := scanned
			for range 25 {
				edits := randomEdits(r, fs)
				next := fs
				for _, e := range edits {
					if e.Delete {
						next = next.with(e.Path, "")
					} else {
						next = next.with(e.Path, string(e.Content))
					}
				}
				var st Stats
				var err error
				applied, st, err = applied.Apply(context.Background(), tree, edits)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(st.BlobsRead).To(BeNumerically("<=", 2*len(edits)+2))
				fs, tree = next, next.tree()
				scanned, _ = scan(t, tree, "env/prod", scanned)
				fresh, _ := scan(t, tree, "env/prod", nil)
				g.Expect(dump(scanned)).To(Equal(dump(fresh)))
				g.Expect(dump(applied)).To(Equal(dump(fresh)))
				// A scan after Apply reads trees, and no blob.
				rescanned, st := scan(t, tree, "env/prod", applied)
				g.Expect(st.BlobsRead).To(Equal(0))
				g.Expect(dump(rescanned)).To(Equal(dump(fresh)))
				applied = rescanned
			}
		})
	}
}

func randomEdits(r *rand.Rand, fs files) []Edit {
	var out []Edit
	seen := map[string]bool{}
	for range 1 + r.IntN(4) {
		dir := []string{"", "a/", "a/b/", "c/"}[r.IntN(4)]
		name := []string{"x.yaml", "y.yaml", "kustomization.yaml", "z.yml", "README.md", "foreign.txt"}[r.IntN(6)]
		p := "env/prod/" + dir + name
		if seen[p] {
			continue
		}
		seen[p] = true
		if _, ok := fs[p]; ok && r.IntN(3) == 0 {
			out = append(out, Edit{Path: p, Delete: true})
			continue
		}
		content := configMap(fmt.Sprint("n", r.IntN(4)), []string{"", "a", "b"}[r.IntN(3)], fmt.Sprint(r.IntN(3)))
		switch {
		case name == "kustomization.yaml":
			content = []string{"resources: [x.yaml]\n", "namespace: k\nresources: [x.yaml, y.yaml]\n", "resources: [../../base]\n",
				"resources: [../../../base, x.yaml]\nnamespace: o\n", "patches: [{path: x.yaml}]\nresources: [z.yml]\n", "resources: [a]\n"}[r.IntN(6)]
		case r.IntN(6) == 0:
			content += "---\n" + configMap("second", "")
		case r.IntN(8) == 0:
			content = "not: krm\n"
		}
		out = append(out, Edit{Path: p, Content: []byte(content)})
	}
	return out
}

func TestApplyRefusesWhatAScanMustSee(t *testing.T) {
	g := NewWithT(t)
	fs := files{"a/x.yaml": configMap("x", "n"), "a/.gittargetignore": "tmp/\n"}
	f, _ := scan(t, fs.tree(), "a", nil)
	apply := func(e Edit) error {
		_, _, err := f.Apply(context.Background(), fs.tree(), []Edit{e})
		return err
	}
	g.Expect(apply(Edit{Path: "b/x.yaml"})).To(MatchError(ContainSubstring("outside the folder")))
	g.Expect(apply(Edit{Path: "a/../b/x.yaml"})).To(MatchError(ContainSubstring("outside the folder")))
	g.Expect(apply(Edit{Path: "a/tmp/x.yaml"})).To(MatchError(ContainSubstring("hides it")))
	g.Expect(apply(Edit{Path: "a/.gittargetignore", Content: []byte("other/\n")})).To(MatchError(ContainSubstring("scanned again")))
	g.Expect(apply(Edit{Path: "a/.gittargetignore", Delete: true})).To(MatchError(ContainSubstring("scanned again")))
	g.Expect(apply(Edit{Path: "a/.gittargetignore", Content: []byte("# why\ntmp/\n")})).To(Succeed())
}

func TestScanPassesReadErrorsOn(t *testing.T) {
	g := NewWithT(t)
	fs := files{"a/x.yaml": configMap("x", "n"), "a/b/y.yaml": configMap("y", "n")}
	for _, broken := range []string{"dir", "blob"} {
		_, _, err := Scan(context.Background(), brokenTree{fs.tree(), broken}, "a", nil)
		g.Expect(err).To(MatchError(errBroken), broken)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err := Scan(ctx, fs.tree(), "a", nil)
	g.Expect(err).To(MatchError(context.Canceled))
}

var errBroken = errors.New("broken object")

type brokenTree struct {
	*countingTree
	what string
}

func (t brokenTree) Dir(id manifest.ID) ([]manifest.DirEntry, error) {
	if t.what == "dir" && t.countingTree.dirs > 1 {
		return nil, errBroken
	}
	return t.countingTree.Dir(id)
}

func (t brokenTree) Blob(id manifest.ID) ([]byte, error) {
	if t.what == "blob" {
		return nil, errBroken
	}
	return t.countingTree.Blob(id)
}
