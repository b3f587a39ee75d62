// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

// TestCaseG04_LineEndAttributes: the repository asks for CRLF in checkouts. Blobs are what is compared and written, so
// an unchanged object is no commit, and a changed one changes its line of the blob and no line end.
func TestCaseG04_LineEndAttributes(t *testing.T) {
	g := NewWithT(t)
	const manifestText = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: boat\n  namespace: dock\ndata:\n  level: info\n"
	server := gitserver.Start(t, gitserver.Options{})
	repo, err := server.CreateRepo("repo", gitserver.RepoOptions{Files: map[string]string{
		".gitattributes": "*.yaml text eol=crlf\n", "apps/cm.yaml": manifestText, "apps/README.md": "ours\n",
		"apps/.gittargetignore": "# nothing\n",
	}})
	g.Expect(err).NotTo(HaveOccurred())
	store, err := gitstore.New(gitstore.Options{
		Dir: filepath.Join(t.TempDir(), "store"), URL: repo.URL, Branch: "main", Deadline: 30 * time.Second,
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = store.Close() })
	g.Expect(store.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())

	write := func(level string) []plan.Edit {
		v, err := store.Tree(store.Base())
		g.Expect(err).NotTo(HaveOccurred())
		files := map[string]manifest.File{}
		for _, name := range []string{".gitattributes", "apps/cm.yaml", "apps/README.md", "apps/.gittargetignore"} {
			content, err := repo.ReadFile(store.Base().String(), name)
			g.Expect(err).NotTo(HaveOccurred())
			files[name] = manifest.File{Mode: manifest.ModeFile, Content: content}
		}
		tree := manifest.NewMemTree(files)
		root, err := v.Dir(v.Root())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(root).To(HaveLen(2), "the store sees the same tree")
		res, err := plan.Plan(t.Context(), plan.Request{Tree: tree, Path: "apps", Kinds: configMaps{}, Batch: plan.Batch{
			Changes: []change.Change{{Operation: change.Update, Item: change.Item{
				Object: change.ObjectID{Kind: "ConfigMap", Namespace: "dock", Name: "boat"}, Type: configMaps{}.t(),
				Desired: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"boat","namespace":"dock"},"data":{"level":"` + level + `"}}`),
			}}},
		}})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(res.Issues).To(BeEmpty())
		return res.Edits
	}
	g.Expect(write("info")).To(BeEmpty(), "nothing changed")

	edits := write("debug")
	g.Expect(edits).To(HaveLen(1))
	sig := gitstore.Signature{Name: "Ada", Email: "ada@example.com", When: time.Unix(1, 0)}
	id, changed, err := store.Commit(t.Context(), store.Base(), []gitstore.Edit{
		{Path: edits[0].Path, Mode: uint32(edits[0].Mode), Content: edits[0].Content},
	}, gitstore.Commit{Author: sig, Committer: sig, Message: "level"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(changed).To(BeTrue())
	pushed, err := store.Push(t.Context(), store.Base(), id)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pushed.Outcome).To(Equal(gitstore.Accepted))
	out, err := repo.Git("diff", "--numstat", "HEAD~1", "HEAD")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(Equal("1\t1\tapps/cm.yaml\n"))
}

// configMaps is a source cluster that serves one type.
type configMaps struct{}

func (configMaps) t() change.Type {
	return change.Type{Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespaced: true}
}

func (c configMaps) Kind(group, kind string) (change.Type, bool) {
	return c.t(), group == "" && kind == "ConfigMap"
}
