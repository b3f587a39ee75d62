// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/manifest/render"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// anyKind serves every kind, namespaced when a document says so.
type anyKind map[[2]string]bool

func (a anyKind) Kind(group, kind string) (change.Type, bool) {
	namespaced, ok := a[[2]string{group, kind}]
	return change.Type{Group: group, Kind: kind, Resource: "things", Version: "v1", Namespaced: namespaced}, ok
}

// TestCorpusDocumentsAreNoChange takes every manifest file of the corpus as a folder of its own: the sanitized content
// of its documents as live state is no change, and the bytes stay.
func TestCorpusDocumentsAreNoChange(t *testing.T) {
	g := NewWithT(t)
	z, err := sanitize.New(sanitize.Config{})
	g.Expect(err).NotTo(HaveOccurred())
	files, documents, refusedFiles, refusedDocuments, protected, ambiguous := 0, 0, 0, map[string]int{}, 0, 0
	for repo, all := range corpus(t) {
		for name, f := range all {
			if !bytes.HasSuffix([]byte(name), []byte(".yaml")) && !bytes.HasSuffix([]byte(name), []byte(".yml")) {
				continue
			}
			live, kinds := liveOf(f.Content, z)
			if len(live) == 0 {
				continue
			}
			r := plan.Request{
				Tree: manifest.NewMemTree(map[string]manifest.File{"m.yaml": f}), Path: ".", Kinds: kinds, Schemas: schemas{},
				Sealer: fakeSealer{},
			}
			for _, it := range live {
				if it.Protected != "" || it.Type.Kind == "Secret" {
					protected++
					continue
				}
				r.Batch.Changes = append(r.Batch.Changes, change.Change{Operation: change.Update, Item: it})
			}
			res := mustPlan(t, r)
			if len(res.Issues) > 0 {
				refusedFiles++
				continue
			}
			files++
			if len(res.Edits) > 0 && sameMeaning(f.Content, applyEdits(map[string]manifest.File{}, res.Edits)["m.yaml"].Content) {
				// Words that YAML 1.1 and 1.2 readers take differently are quoted (editing.md I7).
				ambiguous++
				continue
			}
			for _, o := range res.Report.Objects {
				if o.Outcome == plan.Refused {
					refusedDocuments[o.Reason]++
					continue
				}
				g.Expect(o.Outcome).To(Equal(plan.Unchanged), "%s/%s: %v", repo, name, o)
				documents++
			}
			g.Expect(res.Edits).To(BeEmpty(), "%s/%s", repo, name)
		}
	}
	t.Logf("%d documents of %d files are no change, %d refused %v, %d sensitive or protected; %d files are refused as a folder, %d only get quotes",
		documents, files, sum(refusedDocuments), refusedDocuments, protected, refusedFiles, ambiguous)
	g.Expect(ambiguous).To(BeNumerically("<", 5))
	g.Expect(documents).To(BeNumerically(">", 4000))
}

func sameMeaning(a, b []byte) bool {
	x, y := yamldoc.Split(a), yamldoc.Split(b)
	if len(x.Docs) != len(y.Docs) {
		return false
	}
	for i := range x.Docs {
		m, err1 := yamldoc.Parse(x.Body(a, i))
		n, err2 := yamldoc.Parse(y.Body(b, i))
		if err1 != nil || err2 != nil || m == nil || n == nil {
			return false
		}
		v, err1 := m.JSON()
		w, err2 := n.JSON()
		if err1 != nil || err2 != nil || !bytes.Equal(compare.Canonical(v), compare.Canonical(w)) {
			return false
		}
	}
	return true
}

// liveOf sanitizes the readable objects of a file.
func liveOf(b []byte, z *sanitize.Sanitizer) ([]change.Item, anyKind) {
	kinds := anyKind{}
	var raws [][]byte
	var heads []yamldoc.Head
	f := yamldoc.Split(b)
	for i := range f.Docs {
		n, err := yamldoc.Parse(f.Body(b, i))
		if err != nil || n == nil {
			continue
		}
		h := yamldoc.ReadHead(n)
		v, err := n.JSON()
		if err != nil || h.Kind == "" || h.Name == "" || h.APIVersion == "" || h.Encrypted {
			continue
		}
		k := [2]string{h.Group, h.Kind}
		kinds[k] = kinds[k] || h.Namespace != ""
		raws, heads = append(raws, compare.Canonical(v)), append(heads, h)
	}
	var out []change.Item
	for i, raw := range raws {
		t, _ := kinds.Kind(heads[i].Group, heads[i].Kind)
		t.Version = heads[i].Version
		if t.Namespaced && heads[i].Namespace == "" {
			continue
		}
		o, err := z.Object(raw, t)
		if err == nil && !o.Terminating {
			out = append(out, o.Item)
		}
	}
	return out, kinds
}

// TestCorpusIsReadTheSameTwice takes every repository and every kustomization folder of the corpus as a target: nothing
// crashes, and a second look, which reads only what changed, gives the same answer.
func TestCorpusIsReadTheSameTwice(t *testing.T) {
	g := NewWithT(t)
	folders, accepted := 0, 0
	for repo, files := range corpus(t) {
		tree := manifest.NewMemTree(files)
		for _, dir := range append(kustomizationDirs(files), ".") {
			if dir == "" {
				dir = "."
			}
			r := plan.Request{Tree: tree, Path: dir, Kinds: anyKind{}, Schemas: schemas{}}
			r.Memo = render.NewMemo()
			first := mustPlan(t, r)
			r.Folder = first.Folder
			second := mustPlan(t, r)
			g.Expect(second.Issues).To(Equal(first.Issues), "%s/%s", repo, dir)
			g.Expect(second.Layout).To(Equal(first.Layout))
			g.Expect(first.Edits).To(BeEmpty())
			folders++
			if len(first.Issues) == 0 {
				accepted++
			}
		}
	}
	t.Logf("%d folders, %d accepted", folders, accepted)
}
