// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/gitstore"
)

// Random histories of edits, foreign commits, drops and fetches agree with a plain map of files.
func TestRandomHistoriesAgreeWithAModel(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t, map[string]string{"start": "s"})
			rnd := rand.New(rand.NewPCG(seed, 1))
			s := w.fetched(overlay(40 << 10))
			published := map[string]string{"start": "s"}
			local, tip := maps.Clone(published), s.Base()
			for step := range 100 {
				switch n := rnd.IntN(20); {
				case n < 12:
					next := maps.Clone(local)
					id, _, err := s.Commit(t.Context(), tip, randomEdits(rnd, next), message(fmt.Sprint(step)))
					w.Expect(err).NotTo(HaveOccurred())
					tip, local = id, next
				case n < 14 && tip != s.Base():
					s.Drop(s.Base())
					tip, local = s.Base(), maps.Clone(published)
				case n < 16:
					path := randomPath(rnd, published)
					_, err := w.repo.Commit("main", "foreign", map[string]string{path: fmt.Sprint("foreign ", step)})
					w.Expect(err).NotTo(HaveOccurred())
					published = w.contents()
					w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
					tip, local = s.Base(), maps.Clone(published)
				case tip != s.Base():
					w.push(s, s.Base(), tip, gitstore.Accepted)
					published = maps.Clone(local)
					w.Expect(w.contents()).To(Equal(published), "step %d", step)
				}
				_, err := s.Maintain(t.Context())
				w.Expect(err).NotTo(HaveOccurred())
				w.Expect(s.Check(tip)).To(Succeed(), "step %d", step)
				w.Expect(walk(w, s, tip)).To(Equal(local), "step %d", step)
			}
			w.Expect(w.repo.Fsck()).To(Succeed())
		})
	}
}

// names are chosen so that files and directories sort around each other in Git's order.
var names = []string{"a", "a-b", "a.b", "a0", "b", "ab", "z", "é"}

// randomPath is free of conflicts with the files of a model.
func randomPath(rnd *rand.Rand, files map[string]string) string {
	for {
		var parts []string
		for range 1 + rnd.IntN(4) {
			parts = append(parts, names[rnd.IntN(len(names))])
		}
		p := strings.Join(parts, "/")
		ok := true
		for f := range files {
			if strings.HasPrefix(f, p+"/") || strings.HasPrefix(p, f+"/") {
				ok = false
			}
		}
		if ok {
			return p
		}
	}
}

// randomEdits changes the model and returns the edits that do the same.
func randomEdits(rnd *rand.Rand, files map[string]string) []gitstore.Edit {
	edits := map[string]gitstore.Edit{}
	for range 1 + rnd.IntN(8) {
		if existing := slices.Sorted(maps.Keys(files)); len(existing) > 0 && rnd.IntN(3) == 0 {
			p := existing[rnd.IntN(len(existing))]
			delete(files, p)
			edits[p] = del(p)
			continue
		}
		p := randomPath(rnd, files)
		c := strings.Repeat(fmt.Sprint(rnd.IntN(5), " "), 1+rnd.IntN(3000))
		files[p] = c
		edits[p] = put(p, c)
	}
	return slices.Collect(maps.Values(edits))
}

// contents reads every file of main with git.
func (w *world) contents() map[string]string {
	out, err := w.repo.Contents("main")
	w.Expect(err).NotTo(HaveOccurred())
	return out
}

// walk reads every file of a commit with the store.
func walk(w *world, s *gitstore.Store, commit gitstore.Hash) map[string]string {
	v, err := s.Tree(commit)
	w.Expect(err).NotTo(HaveOccurred())
	out := map[string]string{}
	var dir func(id [20]byte, at string)
	dir = func(id [20]byte, at string) {
		entries, err := v.Dir(id)
		w.Expect(err).NotTo(HaveOccurred())
		for _, e := range entries {
			if e.Mode == 0o040000 {
				dir(e.ID, at+e.Name+"/")
				continue
			}
			b, err := v.Blob(e.ID)
			w.Expect(err).NotTo(HaveOccurred())
			out[at+e.Name] = string(b)
		}
	}
	dir(v.Root(), "")
	return out
}
