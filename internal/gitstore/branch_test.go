// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

// Branch creation (git-writer 10.8).

func branch(name string) func(*gitstore.Options) {
	return func(o *gitstore.Options) { o.Branch = name }
}

func parent(name string) func(*gitstore.Options) {
	return func(o *gitstore.Options) { o.ParentBranch = name }
}

func TestScenario81_EmptyRepositoryGetsARootCommitOnTheBranch(t *testing.T) {
	w := newWorld(t, nil)
	s := w.store(branch("live"))
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	w.Expect(s.Remote()).To(Equal(gitstore.Remote{Empty: true, ParentState: gitstore.ParentUnborn, Verified: true}))
	w.Expect(s.Base().IsZero()).To(BeTrue())
	tip := w.commit(s, gitstore.Hash{}, "first", put("apps/a.yaml", "a"))
	tip = w.commit(s, tip, "second", put("apps/b.yaml", "b"))
	w.count()
	w.push(s, gitstore.Hash{}, tip, gitstore.Accepted)
	w.Expect(w.count()).To(Equal(2), "a branch is created in two steps (decisions 57)")
	w.Expect(w.repo.Branches()).To(Equal(map[string]string{"live": tip.String()}))
	w.sound(s)
	tip = w.commit(s, tip, "third", put("apps/c.yaml", "c"))
	w.push(s, s.Base(), tip, gitstore.Accepted)
	w.sound(s)
}

// The remote's HEAD names another branch that does not exist either: that name comes out nowhere.
func TestCaseG07_HeadOfAnEmptyRepositoryDoesNotLeak(t *testing.T) {
	w := newWorld(t, nil)
	repo, err := w.server.CreateRepo("bare", gitserver.RepoOptions{Branch: "master"})
	w.Expect(err).NotTo(HaveOccurred())
	w.repo = repo
	s := w.store()
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	w.Expect(s.Remote().Empty).To(BeTrue())
	tip := w.commit(s, gitstore.Hash{}, "first", put("a", "a"))
	w.push(s, gitstore.Hash{}, tip, gitstore.Accepted)
	w.Expect(w.repo.Branches()).To(Equal(map[string]string{"main": tip.String()}))
	log, err := w.repo.Log("main")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(log).To(HaveLen(1))
	w.Expect(log[0].Parents).To(BeEmpty(), "our commit is the root")
	w.sound(s)
}

// TestCaseU05: main is protected and the branch beside it is what is written. It is the same branch until it is merged
// and deleted, and then a new one from where main is; main's own changes in between are in nobody's way.
func TestCaseU05_BranchBesideAProtectedOne(t *testing.T) {
	w := newWorld(t, many(3, ""))
	w.Expect(w.repo.SetHook("update", `[ "$1" = refs/heads/main ] && { echo "main is protected" >&2; exit 1; }; exit 0`)).To(Succeed())
	protected := w.fetched()
	res := w.push(protected, protected.Base(), w.commit(protected, protected.Base(), "no", put("x", "1")), gitstore.Rejected)
	w.Expect(res.Text).To(ContainSubstring("main is protected"))

	s := w.store(branch("bot/dock/live"), parent("main"))
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	first := w.commit(s, s.Base(), "one", put("x.yaml", "1"))
	w.push(s, gitstore.Hash{}, first, gitstore.Accepted)
	base, err := w.repo.Commit("main", "the base moves", map[string]string{"theirs": "1"})
	w.Expect(err).NotTo(HaveOccurred())
	second := w.commit(s, first, "two", put("x.yaml", "2"))
	w.push(s, first, second, gitstore.Accepted)
	w.Expect(w.repo.Branches()).To(Equal(map[string]string{"main": base, "bot/dock/live": second.String()}), "one branch, updated")
	w.Expect(w.repo.IsAncestor(first.String(), second.String())).To(BeTrue())

	// Merged and deleted by the host.
	tree, err := w.repo.Git("merge-tree", "--write-tree", base, second.String())
	w.Expect(err).NotTo(HaveOccurred())
	merged, err := w.repo.Git("commit-tree", "-p", base, "-p", second.String(), "-m", "merge", strings.TrimSpace(tree))
	w.Expect(err).NotTo(HaveOccurred())
	for _, args := range [][]string{{"refs/heads/main", strings.TrimSpace(merged)}, {"-d", "refs/heads/bot/dock/live"}} {
		_, err = w.repo.Git(append([]string{"update-ref"}, args...)...)
		w.Expect(err).NotTo(HaveOccurred())
	}
	third := put("x.yaml", "3")
	w.push(s, second, w.commit(s, second, "three", third), gitstore.Moved)
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	w.Expect(s.Base()).To(Equal(w.tip()), "a new branch from the merged main")
	w.push(s, gitstore.Hash{}, w.commit(s, s.Base(), "three", third), gitstore.Accepted)
	w.Expect(w.repo.ReadFile("bot/dock/live", "x.yaml")).To(Equal([]byte("3")))
	w.Expect(w.repo.ReadFile("bot/dock/live", "theirs")).To(Equal([]byte("1")))
	w.Expect(w.repo.Tip("main")).To(Equal(strings.TrimSpace(merged)), "main is never written")
	w.sound(s)
}

func TestCaseG07_TwoWritersRaceOnAnEmptyRepository(t *testing.T) {
	w := newWorld(t, nil)
	a, b := w.store(), w.store()
	for _, s := range []*gitstore.Store{a, b} {
		w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	}
	ta := w.commit(a, gitstore.Hash{}, "a", put("a", "a"))
	tb := w.commit(b, gitstore.Hash{}, "b", put("b", "b"))
	w.push(a, gitstore.Hash{}, ta, gitstore.Accepted)
	res := w.push(b, gitstore.Hash{}, tb, gitstore.Moved)
	w.Expect(res.Tip).To(Equal(ta))
	w.Expect(b.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	w.Expect(b.Base()).To(Equal(ta))
	w.push(b, ta, w.commit(b, ta, "b", put("b", "b")), gitstore.Accepted)
	w.Expect(w.repo.Files("main")).To(HaveLen(2))
	w.sound(b)
}

func TestScenario80_BranchDeletedOnTheRemoteIsMadeAgainFromItsParent(t *testing.T) {
	w := newWorld(t, many(3, ""))
	s := w.store(branch("live"))
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	w.Expect(s.Remote()).To(Equal(gitstore.Remote{HeadBranch: "main", Parent: w.tip(), ParentState: gitstore.ParentFound, Verified: true}))
	tip := w.commit(s, s.Base(), "one", put("x.yaml", "1"))
	w.push(s, gitstore.Hash{}, tip, gitstore.Accepted)
	w.Expect(w.repo.IsAncestor(w.repo.Tip("main"), tip.String())).To(BeTrue())

	_, err := w.repo.Git("update-ref", "-d", "refs/heads/live")
	w.Expect(err).NotTo(HaveOccurred())
	tip2 := w.commit(s, tip, "two", put("x.yaml", "2"))
	res := w.push(s, tip, tip2, gitstore.Moved)
	w.Expect(res.TipKnown).To(BeTrue())
	w.Expect(res.Tip.IsZero()).To(BeTrue(), "absent, not the old id (scenario 103)")
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	w.Expect(s.Base()).To(Equal(w.tip()))
	w.push(s, gitstore.Hash{}, w.commit(s, s.Base(), "two", put("x.yaml", "2")), gitstore.Accepted)
	w.Expect(w.repo.ReadFile("live", "x.yaml")).To(Equal([]byte("2")))
	w.sound(s)
}

func TestScenario103_AbsentIsReportedAfterAFailedPush(t *testing.T) {
	w := newWorld(t, many(3, ""))
	s := w.fetched()
	tip := w.commit(s, s.Base(), "one", put("x", "1"))
	w.server.SetFault(gitserver.Fault{Service: "git-receive-pack", Close: true, Times: 1, Before: func() {
		_, _ = w.repo.Git("update-ref", "-d", "refs/heads/main")
	}})
	res, err := s.Push(t.Context(), s.Base(), tip)
	w.expectKind(err, gitstore.Connection)
	w.Expect(res.Outcome).To(Equal(gitstore.Unknown))
	r, err := s.Look(t.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(r.Exists).To(BeFalse())
	w.Expect(r.Tip.IsZero()).To(BeTrue())
}

func TestScenario82_MissingParentWritesNothing(t *testing.T) {
	for _, files := range []map[string]string{nil, many(3, "")} {
		w := newWorld(t, files)
		s := w.store(branch("live"), parent("develop"))
		err := s.Fetch(t.Context(), gitstore.Hash{})
		w.Expect(err).To(MatchError(gitstore.ErrParentMissing))
		w.Expect(s.Remote().ParentState).To(Equal(gitstore.ParentMissing))
		_, _, err = s.Commit(t.Context(), gitstore.Hash{}, []gitstore.Edit{put("a", "b")}, message("orphan"))
		w.Expect(err).To(MatchError(gitstore.ErrNoBase), "no orphan")
		_, err = w.repo.Commit("develop", "the parent appears", map[string]string{"p": "q"})
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
		w.push(s, gitstore.Hash{}, w.commit(s, s.Base(), "one", put("a", "b")), gitstore.Accepted)
		w.Expect(w.repo.IsAncestor("develop", "live")).To(BeTrue())
		w.sound(s)
	}
}

func TestScenario83_ParentThatMovedIsFoundInTheAdvertisement(t *testing.T) {
	for _, named := range []string{"", "main"} {
		t.Run(fmt.Sprintf("parent %q", named), func(t *testing.T) {
			w := newWorld(t, many(3, ""))
			s := w.store(branch("live"), parent(named))
			w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
			_, err := w.repo.Commit("main", "a week ago", map[string]string{"new": "1"})
			w.Expect(err).NotTo(HaveOccurred())
			tip := w.commit(s, s.Base(), "first edit", put("x", "1"))
			w.push(s, gitstore.Hash{}, tip, gitstore.Moved)
			w.Expect(w.repo.Tip("live")).To(Equal(gitserver.Zero))
			w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
			w.Expect(s.Base()).To(Equal(w.tip()))
			w.push(s, gitstore.Hash{}, w.commit(s, s.Base(), "first edit", put("x", "1")), gitstore.Accepted)
			w.Expect(w.repo.Files("live")).To(HaveKey("new"))
			w.sound(s)
		})
	}
}

func TestBranchCreatedMeanwhileIsFound(t *testing.T) {
	w := newWorld(t, many(3, ""))
	s := w.store(branch("live"))
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	tip := w.commit(s, s.Base(), "ours", put("x", "1"))
	other, err := w.repo.Commit("live", "theirs", map[string]string{"y": "2"})
	w.Expect(err).NotTo(HaveOccurred())
	res := w.push(s, gitstore.Hash{}, tip, gitstore.Moved)
	w.Expect(res.Tip).To(Equal(hash(other)))
	w.count()
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	w.Expect(w.count()).To(Equal(1), "the tip is known")
	w.push(s, s.Base(), w.commit(s, s.Base(), "ours", put("x", "1")), gitstore.Accepted)
	w.sound(s)
}

func TestDanglingHeadAndWipedRepositoryAreEmpty(t *testing.T) {
	w := newWorld(t, many(3, ""))
	s := w.fetched()
	_, err := w.server.Wipe("repo", gitserver.RepoOptions{Branch: "elsewhere"})
	w.Expect(err).NotTo(HaveOccurred())
	w.push(s, s.Base(), w.commit(s, s.Base(), "lost", put("x", "1")), gitstore.Moved)
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	w.Expect(s.Base().IsZero()).To(BeTrue())
	v, err := s.Tree(s.Base())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(v.Dir(v.Root())).To(BeEmpty())
	w.push(s, gitstore.Hash{}, w.commit(s, gitstore.Hash{}, "root", put("x", "1")), gitstore.Accepted)
	log, err := w.repo.Log("main")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(log).To(HaveLen(1))
	w.sound(s)
}

func TestNoOpWhileAbsentCreatesNothing(t *testing.T) {
	w := newWorld(t, many(3, ""))
	s := w.store(branch("live"))
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	id, changed, err := s.Commit(t.Context(), s.Base(), nil, message("nothing"))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(changed).To(BeFalse())
	w.Expect(id).To(Equal(s.Base()))
	_, err = s.Push(t.Context(), gitstore.Hash{}, id)
	w.Expect(err).To(HaveOccurred())
	w.Expect(w.repo.Branches()).To(HaveLen(1))
}
