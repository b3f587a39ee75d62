// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

// world is one server with one repository and the stores that write to it.
type world struct {
	*WithT
	t      *testing.T
	server *gitserver.Server
	repo   *gitserver.Repo
	n      int
}

func newWorld(t *testing.T, files map[string]string, o ...gitserver.Options) *world {
	t.Helper()
	w := &world{WithT: NewWithT(t), t: t}
	var so gitserver.Options
	if len(o) > 0 {
		so = o[0]
	}
	w.server = gitserver.Start(t, so)
	r, err := w.server.CreateRepo("repo", gitserver.RepoOptions{Files: files})
	w.Expect(err).NotTo(HaveOccurred())
	w.repo = r
	return w
}

// store makes a store of branch main; change adjusts its options.
func (w *world) store(change ...func(*gitstore.Options)) *gitstore.Store {
	w.t.Helper()
	o := gitstore.Options{Dir: filepath.Join(w.t.TempDir(), "store"), URL: w.repo.URL, Branch: "main", Deadline: 30 * time.Second}
	for _, c := range change {
		c(&o)
	}
	s, err := gitstore.New(o)
	w.Expect(err).NotTo(HaveOccurred())
	w.t.Cleanup(func() { _ = s.Close() })
	return s
}

// fetched is a store with a base, whose server capabilities are learnt.
func (w *world) fetched(change ...func(*gitstore.Options)) *gitstore.Store {
	w.t.Helper()
	p, err := gitstore.Probe(w.t.Context(), gitstore.Options{URL: w.repo.URL})
	w.Expect(err).NotTo(HaveOccurred())
	s := w.store(append([]func(*gitstore.Options){func(o *gitstore.Options) { o.Capabilities = p.Capabilities }}, change...)...)
	w.Expect(s.Fetch(w.t.Context(), gitstore.Hash{})).To(Succeed())
	w.server.Reset()
	return s
}

func put(path, content string) gitstore.Edit {
	return gitstore.Edit{Path: path, Content: []byte(content)}
}
func del(path string) gitstore.Edit { return gitstore.Edit{Path: path, Delete: true} }

var when = time.Date(2026, 5, 1, 12, 0, 0, 0, time.FixedZone("", 2*3600))

func message(text string) gitstore.Commit {
	sig := gitstore.Signature{Name: "Ada", Email: "ada@example.com", When: when}
	return gitstore.Commit{Author: sig, Committer: sig, Message: text}
}

// commit builds a commit that must change something.
func (w *world) commit(s *gitstore.Store, onto gitstore.Hash, text string, edits ...gitstore.Edit) gitstore.Hash {
	w.t.Helper()
	id, changed, err := s.Commit(w.t.Context(), onto, edits, message(text))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(changed).To(BeTrue())
	return id
}

// push publishes and expects an outcome.
func (w *world) push(s *gitstore.Store, expected, tip gitstore.Hash, want gitstore.Outcome) gitstore.PushResult {
	w.t.Helper()
	res, err := s.Push(w.t.Context(), expected, tip)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(res.Outcome).To(Equal(want), res.Text)
	return res
}

// sound checks the remote with git and the store with itself.
func (w *world) sound(s *gitstore.Store) {
	w.t.Helper()
	w.Expect(w.repo.Fsck()).To(Succeed())
	w.Expect(s.Check(s.Base())).To(Succeed())
}

// count returns the number of requests since the last count.
func (w *world) count() int {
	n := len(w.server.Requests())
	w.server.Reset()
	return n
}

// tip is the remote's branch main.
func (w *world) tip() gitstore.Hash { return hash(w.repo.Tip("main")) }

func hash(s string) gitstore.Hash { return plumbing.NewHash(s) }

// read returns a file of a commit the store holds.
func (w *world) read(s *gitstore.Store, commit gitstore.Hash, path string) string {
	w.t.Helper()
	v, err := s.Tree(commit)
	w.Expect(err).NotTo(HaveOccurred())
	id := v.Root()
	for dir, rest := "", path; ; {
		entries, err := v.Dir(id)
		w.Expect(err).NotTo(HaveOccurred())
		dir, rest = cut(rest)
		found := false
		for _, e := range entries {
			if e.Name == dir {
				id, found = e.ID, true
			}
		}
		w.Expect(found).To(BeTrue(), "%s in %s", dir, path)
		if rest == "" {
			b, err := v.Blob(id)
			w.Expect(err).NotTo(HaveOccurred())
			return string(b)
		}
	}
}

func cut(p string) (string, string) {
	for i := range len(p) {
		if p[i] == '/' {
			return p[:i], p[i+1:]
		}
	}
	return p, ""
}

// many makes n small manifests in one folder.
func many(n int, folder string) map[string]string {
	m := make(map[string]string, n)
	for i := range n {
		m[fmt.Sprintf("%scm-%05d.yaml", folder, i)] = manifest(i, "one")
	}
	return m
}

func manifest(i int, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm-%05d\n  namespace: dock\ndata:\n  level: %s\n  number: \"%d\"\n", i, value, i*7919)
}

func TestMain(m *testing.M) {
	// The host's Git configuration must not matter: every test runs with a hostile one (case G18).
	os.Exit(hostile(m))
}

func (w *world) remove(file string) {
	w.t.Helper()
	w.Expect(os.RemoveAll(file)).To(Succeed())
}
