// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
	"github.com/configbutler/gitops-reverser/internal/testshared"
)

// corpus returns the repositories of the corpus by name.
func corpus(t *testing.T) map[string]map[string]manifest.File {
	t.Helper()
	root := filepath.Join(testshared.Dir(t), "corpus")
	repos, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]manifest.File{}
	for _, r := range repos {
		if !r.IsDir() {
			continue
		}
		files := map[string]manifest.File{}
		err := filepath.WalkDir(filepath.Join(root, r.Name()), func(p string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
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
		out[r.Name()] = files
	}
	return out
}

func kustomizationDirs(files map[string]manifest.File) []string {
	var out []string
	for name := range files {
		if b := path.Base(name); b == "kustomization.yaml" || b == "kustomization.yml" {
			out = append(out, strings.TrimPrefix(path.Dir(name), "."))
		}
	}
	slices.Sort(out)
	return out
}

// rendered is a cluster that runs exactly what a build gives.
type rendered struct {
	types map[[2]string]change.Type
	items []change.Item
}

func (r *rendered) Kind(group, kind string) (change.Type, bool) {
	t, ok := r.types[[2]string{group, kind}]
	return t, ok
}

func clusterOf(b *render.Build) *rendered {
	r := &rendered{types: map[[2]string]change.Type{}}
	for _, o := range b.Objects {
		k := [2]string{o.Group, o.Kind}
		t := r.types[k]
		t.Group, t.Kind, t.Resource = o.Group, o.Kind, strings.ToLower(o.Kind)+"s"
		t.Version = o.APIVersion[strings.Index(o.APIVersion, "/")+1:]
		t.Namespaced = t.Namespaced || o.Namespace != ""
		r.types[k] = t
	}
	for _, o := range b.Objects {
		r.items = append(r.items, change.Item{
			Object: change.ObjectID{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name},
			Type:   r.types[[2]string{o.Group, o.Kind}], Desired: o.JSON,
		})
	}
	return r
}

// corpusTarget is one kustomization of the corpus as the folder of a target.
type corpusTarget struct {
	repo, dir string
	files     map[string]manifest.File
	tree      *manifest.MemTree
	// sibling is another kustomization of the repository over the same base.
	sibling string
	memo    *render.Memo
	build   *render.Build
	cluster *rendered
	base    *plan.Result
}

func (c *corpusTarget) request(items ...change.Item) plan.Request {
	r := plan.Request{
		Tree: c.tree, Path: path.Join(".", c.dir), Kinds: c.cluster, Schemas: schemas{}, Memo: c.memo,
		Sealer: fakeSealer{},
	}
	r.Policy.Placement.UseKustomize = true
	if c.base != nil {
		r.Folder = c.base.Folder
	}
	for _, i := range items {
		r.Batch.Changes = append(r.Batch.Changes, change.Change{Operation: change.Update, Item: i})
	}
	return r
}

// mutation changes one value of a live object; false when there is none of its kind.
type mutation func(v map[string]any) bool

func podSpec(v map[string]any) map[string]any {
	spec, _ := v["spec"].(map[string]any)
	template, _ := spec["template"].(map[string]any)
	pod, _ := template["spec"].(map[string]any)
	return pod
}

func containers(v map[string]any) []map[string]any {
	list, _ := podSpec(v)["containers"].([]any)
	var out []map[string]any
	for _, c := range list {
		if m, ok := c.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

var mutations = map[string]mutation{
	"image tag": func(v map[string]any) bool {
		for _, c := range containers(v) {
			if s, ok := c["image"].(string); ok {
				im := render.ParseImage(s)
				im.Tag, im.Digest = "9.10", ""
				c["image"] = im.String()
				return true
			}
		}
		return false
	},
	"replica count": func(v map[string]any) bool {
		if k := v["kind"]; k != "Deployment" && k != "StatefulSet" {
			return false
		}
		spec, _ := v["spec"].(map[string]any)
		if spec == nil {
			return false
		}
		n, _ := spec["replicas"].(int64)
		spec["replicas"] = n + 3
		return true
	},
	"env value": func(v map[string]any) bool {
		for _, c := range containers(v) {
			env, _ := c["env"].([]any)
			for _, e := range env {
				m, _ := e.(map[string]any)
				if s, ok := m["value"].(string); ok && !strings.Contains(s, "${") {
					m["value"] = "changed-live"
					return true
				}
			}
		}
		return false
	},
}

// TestCorpusKustomizations takes every kustomization of the corpus as a target's folder. Where the folder is accepted,
// the build as live state is no change at all; and a changed image tag, replica count or env value lands in one place,
// the build then equals live, and builds beside it do not move.
func TestCorpusKustomizations(t *testing.T) {
	g := NewWithT(t)
	targets, unsupported, siblings, folders := 0, 0, 0, map[string]int{}
	type tally struct{ right, refused int }
	tallies := map[string]*tally{}
	why := map[string]int{}
	for repo, files := range corpus(t) {
		tree := manifest.NewMemTree(files)
		builds := map[string]*render.Build{}
		for _, dir := range kustomizationDirs(files) {
			if b, err := render.NewMemo().Build(dir, render.NewOverlay(tree)); err == nil {
				builds[dir] = b
			} else {
				unsupported++
			}
		}
		for _, dir := range slices.Sorted(maps.Keys(builds)) {
			c := &corpusTarget{repo: repo, dir: dir, files: files, tree: tree, memo: render.NewMemo(), build: builds[dir]}
			c.cluster, c.sibling = clusterOf(c.build), siblingOf(dir, builds)
			if c.sibling != "" {
				siblings++
			}
			c.base = mustPlan(t, c.request(plain(c.cluster.items)...))
			if len(c.base.Issues) > 0 {
				folders[string(c.base.Issues[0].Kind)]++
				continue
			}
			targets++
			g.Expect(c.base.Edits).To(BeEmpty(), "%s/%s: the build as live state is no change: %v", repo, dir, lines(c.base))
			for _, name := range slices.Sorted(maps.Keys(mutations)) {
				if tallies[name] == nil {
					tallies[name] = &tally{}
				}
				right, refused := c.mutate(t, mutations[name])
				tallies[name].right += right
				tallies[name].refused += len(refused)
				for _, r := range refused {
					why[name+": "+r]++
				}
			}
		}
	}
	t.Logf("%d folders (%d with a second overlay over the same base), and %d refused for their content %v; "+
		"%d kustomizations are not supported", targets, siblings, sum(folders), folders, unsupported)
	for _, name := range slices.Sorted(maps.Keys(tallies)) {
		n := tallies[name]
		share := 100 * float64(n.right) / float64(n.right+n.refused)
		t.Logf("%s: %d of %d edits right in one place (%.1f %%), the others refused", name, n.right, n.right+n.refused, share)
		g.Expect(share).To(BeNumerically(">", 90), name)
	}
	t.Logf("refusals: %v", why)
	g.Expect(targets).To(BeNumerically(">", 200))
}

// siblingOf returns another overlay over a base that a folder reads from outside; empty when there is none.
func siblingOf(dir string, builds map[string]*render.Build) string {
	inside := func(p, dir string) bool { return dir == "" || strings.HasPrefix(p, dir+"/") }
	for other, b := range builds {
		if other == dir || inside(other, dir) || inside(dir, other) {
			continue
		}
		shared, own := false, false
		for f := range b.Files() {
			if _, ok := builds[dir].Files()[f]; ok {
				shared = true
			}
			own = own || inside(f, dir)
		}
		if shared && !own {
			return other
		}
	}
	return ""
}

// plain leaves sensitive objects out: a stand-in sealer cannot tell what a Secret in the corpus holds.
func plain(items []change.Item) []change.Item {
	return slices.DeleteFunc(slices.Clone(items), func(i change.Item) bool { return i.Type.Kind == "Secret" && i.Type.Group == "" })
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

// mutate applies one mutation to every object that has room for it, each in a plan of its own.
func (c *corpusTarget) mutate(t *testing.T, m mutation) (right int, refused []string) {
	t.Helper()
	g := NewWithT(t)
	for _, it := range plain(c.cluster.items) {
		v, err := compare.Decode(it.Desired)
		g.Expect(err).NotTo(HaveOccurred())
		live, _ := v.(map[string]any)
		if live == nil || !m(live) {
			continue
		}
		was := it.Desired
		it.Desired = compare.Canonical(live)
		if string(was) == string(it.Desired) {
			continue
		}
		at := fmt.Sprintf("%s/%s %s", c.repo, c.dir, it.Object)
		res := mustPlan(t, c.request(it))
		if len(res.Issues) > 0 {
			refused = append(refused, string(res.Issues[0].Kind))
			continue
		}
		if r := res.Report.Refusals(); len(r) > 0 {
			refused = append(refused, r[0].Reason)
			continue
		}
		g.Expect(res.Report.Updated).To(Equal(1), at)
		after := applyEdits(c.files, res.Edits)
		c.lands(t, at, it, res, after)
		right++
	}
	return right, refused
}

// lands checks one accepted edit with a build of its own.
func (c *corpusTarget) lands(t *testing.T, at string, it change.Item, res *plan.Result, after map[string]manifest.File) {
	t.Helper()
	g := NewWithT(t)
	var written []string
	for _, e := range res.Edits {
		if b := path.Base(e.Path); b != "README.md" && b != ".gittargetignore" {
			g.Expect(e.Delete).To(BeFalse(), at)
			g.Expect(c.dir == "" || strings.HasPrefix(e.Path, c.dir+"/")).To(BeTrue(), "%s: wrote %s", at, e.Path)
			written = append(written, e.Path)
		}
	}
	patched := slices.ContainsFunc(written, func(p string) bool { return strings.HasSuffix(p, "-patch.yaml") })
	if !patched {
		g.Expect(written).To(HaveLen(1), "%s: %v", at, written)
	}
	tree := manifest.NewMemTree(after)
	if c.sibling != "" {
		before, err1 := render.NewMemo().Build(c.sibling, render.NewOverlay(c.tree))
		now, err2 := render.NewMemo().Build(c.sibling, render.NewOverlay(tree))
		g.Expect(errors.Join(err1, err2)).NotTo(HaveOccurred(), at)
		for i := range before.Objects {
			g.Expect(now.Objects[i].Equal(before.Objects[i])).To(BeTrue(), "%s: the build of %s moved", at, c.sibling)
		}
	}
	b, err := render.NewMemo().Build(c.dir, render.NewOverlay(tree))
	g.Expect(err).NotTo(HaveOccurred(), at)
	g.Expect(b.Objects).To(HaveLen(len(c.build.Objects)), at)
	for i, o := range b.Objects {
		if o.Kind == it.Object.Kind && o.Name == it.Object.Name && o.Namespace == it.Object.Namespace && o.Group == it.Object.Group {
			g.Expect(string(o.JSON)).To(Equal(string(it.Desired)), "%s: the build equals live", at)
			continue
		}
		g.Expect(string(o.JSON)).To(Equal(string(c.build.Objects[i].JSON)), "%s: %s moved", at, o.Name)
	}
}
