// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore_test

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/gitstore"
)

// The request ledger of design/performance.md, against the real git http-backend.

func TestScenario72_LedgerHealthyPublicationIsOneRequest(t *testing.T) {
	for _, commits := range []int{1, 3, 200} {
		t.Run(fmt.Sprint(commits), func(t *testing.T) {
			w := newWorld(t, many(50, "apps/"))
			s := w.fetched()
			base := s.Base()
			tip := base
			for i := range commits {
				tip = w.commit(s, tip, fmt.Sprint("change ", i), put(fmt.Sprintf("apps/cm-%05d.yaml", i%50), manifest(i, fmt.Sprint(i))))
			}
			w.push(s, base, tip, gitstore.Accepted)
			w.Expect(w.count()).To(Equal(1))
			w.Expect(w.tip()).To(Equal(tip))
			w.Expect(w.repo.IsAncestor(base.String(), tip.String())).To(BeTrue())
			w.sound(s)
		})
	}
}

func TestScenario72_LedgerFirstBase(t *testing.T) {
	w := newWorld(t, nil)
	s := w.store()
	w.Expect(w.count()).To(Equal(0), "starting opens no connection")
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	w.Expect(w.count()).To(Equal(1), "empty remote")
	w.Expect(s.Remote().ParentState).To(Equal(gitstore.ParentUnborn))

	w = newWorld(t, many(3, ""))
	s = w.store()
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	w.Expect(w.count()).To(Equal(2), "populated remote")
	w.Expect(s.Base()).To(Equal(w.tip()))
	w.sound(s)
}

func TestScenario72_LedgerLookIsSmallWhateverTheRefs(t *testing.T) {
	w := newWorld(t, many(3, ""))
	tip := w.repo.Tip("main")
	for i := range 2000 {
		kind := []string{"heads/feature", "tags/v"}[i%2]
		writeRef(w, fmt.Sprintf("refs/%s-%d", kind, i), tip)
	}
	s := w.fetched()
	r, err := s.Look(t.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(r).To(Equal(gitstore.Remote{Tip: w.tip(), Exists: true, HeadBranch: "main", Verified: true}))
	reqs := w.server.Requests()
	w.Expect(reqs).To(HaveLen(1))
	w.Expect(reqs[0].In + reqs[0].Out).To(BeNumerically("<=", 1024))
}

func TestScenario73_LedgerRejectedOnceIsThreeRequestsTwiceIsFive(t *testing.T) {
	for rejections, requests := range map[int]int{1: 3, 2: 5} {
		t.Run(fmt.Sprint(rejections), func(t *testing.T) {
			w := newWorld(t, many(20, "apps/"))
			s := w.fetched()
			for i := range rejections {
				foreign, err := w.repo.Commit("main", "foreign", map[string]string{fmt.Sprintf("apps/foreign-%d.yaml", i): "x"})
				w.Expect(err).NotTo(HaveOccurred())
				tip := w.commit(s, s.Base(), "ours", put("apps/cm-00001.yaml", "ours"))
				res := w.push(s, s.Base(), tip, gitstore.Moved)
				w.Expect(res.TipKnown).To(BeTrue())
				w.Expect(res.Tip).To(Equal(hash(foreign)))
				w.Expect(s.Fetch(t.Context(), res.Tip)).To(Succeed())
				w.Expect(s.Base()).To(Equal(res.Tip))
			}
			tip := w.commit(s, s.Base(), "ours", put("apps/cm-00001.yaml", "ours"))
			w.push(s, s.Base(), tip, gitstore.Accepted)
			w.Expect(w.count()).To(Equal(requests))
			log, err := w.repo.Log("main")
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(log).To(HaveLen(2+rejections), "both histories are kept")
			w.sound(s)
		})
	}
}

func TestScenario72_LedgerSnapshotWithACommitIsTwoRequests(t *testing.T) {
	w := newWorld(t, many(20, "apps/"))
	s := w.fetched()
	// A snapshot looks first; unmoved, that is all it asks before the push.
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	w.push(s, s.Base(), w.commit(s, s.Base(), "snapshot", put("apps/cm-00001.yaml", "new")), gitstore.Accepted)
	w.Expect(w.count()).To(Equal(2))
	// A forced recheck of an unmoved remote is one.
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	w.Expect(w.count()).To(Equal(1))
	w.sound(s)
}

func TestScenario72_LedgerOneObjectCommitIsSmallInAnyFolder(t *testing.T) {
	for _, n := range []int{200, 20000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			w := newWorld(t, many(n, "apps/"))
			s := w.fetched()
			before := s.Stats()
			tip := w.commit(s, s.Base(), "one", put("apps/cm-00123.yaml", manifest(123, "two")))
			read := s.Stats()
			w.push(s, s.Base(), tip, gitstore.Accepted)
			reqs := w.server.Requests()
			w.Expect(reqs).To(HaveLen(1))
			w.Expect(reqs[0].In).To(BeNumerically("<=", 2048))
			w.Expect(read.TreesRead-before.TreesRead).To(Equal(2), "root and folder")
			w.Expect(read.BlobsRead - before.BlobsRead).To(Equal(0))
			w.Expect(read.CommitsRead - before.CommitsRead).To(Equal(1))
			w.Expect(s.Stats().Packed).To(Equal(4), "commit, two trees, one blob")
			t.Logf("%d files: %d bytes sent", n, reqs[0].In)
			w.Expect(w.repo.Fsck()).To(Succeed())
		})
	}
}

func TestScenario72_LedgerForeignPushCostsWhatItChanged(t *testing.T) {
	w := newWorld(t, many(20000, "apps/"))
	s := w.fetched()
	_, err := w.repo.Commit("main", "foreign", map[string]string{"apps/cm-00500.yaml": manifest(500, "foreign")})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	reqs := w.server.Requests()
	w.Expect(reqs).To(HaveLen(2), "look and fetch")
	w.Expect(reqs[1].Out).To(BeNumerically("<=", 50<<10))
	t.Logf("one of 20000 files: %d bytes received", reqs[1].Out)
	w.Expect(w.read(s, s.Base(), "apps/cm-00500.yaml")).To(Equal(manifest(500, "foreign")))
	w.sound(s)
}

// Case G11 in small: what a base costs depends on the tip's files, not on the history; one folder serves every edit.
func TestCaseG11_HistoryCostsNothing(t *testing.T) {
	received := map[int]int64{}
	for _, commits := range []int{10, 3000} {
		w := newWorld(t, many(100, "apps/"))
		w.Expect(w.repo.History("main", commits)).To(Succeed())
		s := w.fetched()
		received[commits] = s.Stats().Received
		before := s.Stats()
		for i := range 100 {
			w.push(s, s.Base(), w.commit(s, s.Base(), "x", put("apps/cm-00001.yaml", fmt.Sprint(i))), gitstore.Accepted)
		}
		w.Expect(w.count()).To(Equal(100))
		after := s.Stats()
		w.Expect(after.FreshFetches).To(Equal(1))
		w.Expect(after.Packed-before.Packed).To(Equal(100*4), "a commit, two trees and a blob each")
		w.Expect(after.TreesRead-before.TreesRead).To(BeNumerically("<=", 100*2), "the trees on the path and no other")
		w.Expect(after.OverlayBytes).To(BeNumerically("<", 8<<20), "what is held in memory is bounded")
		// Somebody else's commit costs what it changed.
		_, err := w.repo.Commit("main", "foreign", map[string]string{"apps/cm-00002.yaml": "theirs"})
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
		w.Expect(s.Stats().FreshFetches).To(Equal(1), "incremental")
		w.Expect(s.Stats().Received - after.Received).To(BeNumerically("<", 16<<10))
	}
	w := NewWithT(t)
	w.Expect(received[3000]).To(BeNumerically("<", received[10]+1000))
}

func TestScenario72_NoOpSaveIsOneRequest(t *testing.T) {
	w := newWorld(t, many(3, ""))
	s := w.fetched()
	w.push(s, s.Base(), s.Base(), gitstore.Accepted)
	w.Expect(w.count()).To(Equal(1))
	_, err := w.repo.Commit("main", "foreign", map[string]string{"x": "y"})
	w.Expect(err).NotTo(HaveOccurred())
	res := w.push(s, s.Base(), s.Base(), gitstore.Moved)
	w.Expect(res.Tip).To(Equal(w.tip()))
}
