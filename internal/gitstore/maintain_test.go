// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore_test

import (
	"crypto/sha512"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

func sha512Sum(b []byte) []byte {
	s := sha512.Sum512(b)
	return s[:]
}

func overlay(limit int64) func(*gitstore.Options) {
	return func(o *gitstore.Options) { o.OverlayLimit = limit }
}

// storeDir remembers the folder of a store.
func storeDir(dir *string) func(*gitstore.Options) {
	return func(o *gitstore.Options) { *dir = o.Dir }
}

func TestNewWipesItsFolder(t *testing.T) {
	w := newWorld(t, nil)
	dir := filepath.Join(t.TempDir(), "s")
	w.Expect(os.MkdirAll(filepath.Join(dir, "objects"), 0o755)).To(Succeed())
	w.Expect(os.WriteFile(filepath.Join(dir, "objects", "half.idx"), []byte("x"), 0o600)).To(Succeed())
	w.store(func(o *gitstore.Options) { o.Dir = dir })
	w.Expect(os.ReadDir(dir)).To(BeEmpty())
	for _, bad := range []string{"", ".", "/"} {
		_, err := gitstore.New(gitstore.Options{Dir: bad, URL: w.repo.URL, Branch: "main"})
		w.Expect(err).To(HaveOccurred())
	}
}

func TestCommitsWriteNothingToDisk(t *testing.T) {
	w := newWorld(t, many(50, "apps/"))
	var dir string
	s := w.fetched(storeDir(&dir))
	before := listing(w, dir)
	for i := range 20 {
		w.push(s, s.Base(), w.commit(s, s.Base(), "x", put("apps/new.yaml", fmt.Sprint(i))), gitstore.Accepted)
	}
	w.Expect(listing(w, dir)).To(Equal(before))
	w.Expect(before).NotTo(ContainElement(ContainSubstring("refs/")))
	w.Expect(before).NotTo(ContainElement(HaveSuffix("HEAD")))
	w.sound(s)
	w.Expect(s.Close()).To(Succeed())
	w.Expect(dir).NotTo(BeADirectory())
}

func listing(w *world, dir string) []string {
	var out []string
	w.Expect(filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			i, err := d.Info()
			if err != nil {
				return err
			}
			out = append(out, fmt.Sprintf("%s %d", p, i.Size()))
		}
		return err
	})).To(Succeed())
	return out
}

func TestMaintenanceReplacesAnOutgrownOverlay(t *testing.T) {
	w := newWorld(t, many(3, "apps/"))
	s := w.fetched(overlay(64 << 10))
	w.Expect(s.Maintain(t.Context())).To(BeFalse())
	for i := range 20 {
		w.push(s, s.Base(), w.commit(s, s.Base(), "x", put(fmt.Sprintf("apps/%d.txt", i), noise(8<<10)+fmt.Sprint(i))), gitstore.Accepted)
	}
	w.Expect(s.Stats().OverlayBytes).To(BeNumerically(">", 64<<10))
	next := w.commit(s, s.Base(), "not yet published", put("apps/1.txt", "short"))
	w.count()
	w.Expect(s.Maintain(t.Context())).To(BeTrue())
	w.Expect(w.count()).To(Equal(1))
	w.Expect(s.Stats().OverlayBytes).To(BeNumerically("<", 16<<10))
	w.Expect(s.Stats().FreshFetches).To(Equal(2))
	w.Expect(s.Check(next)).To(Succeed(), "unpublished commits stay")
	w.push(s, s.Base(), next, gitstore.Accepted)
	w.Expect(s.Maintain(t.Context())).To(BeFalse())
	w.sound(s)
}

func TestLargeForeignPushGoesToDisk(t *testing.T) {
	w := newWorld(t, many(3, "apps/"))
	s := w.fetched(overlay(64 << 10))
	_, err := w.repo.Commit("main", "large", map[string]string{"large.txt": noise(300 << 10)})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	w.Expect(s.Stats().FreshFetches).To(Equal(2))
	w.Expect(s.Stats().OverlayBytes).To(BeZero())
	w.Expect(land(t, s, "after")).To(Succeed())
	w.sound(s)
}

func TestOverlayKeepsOnlyWhatTheTipReaches(t *testing.T) {
	w := newWorld(t, many(500, "apps/"))
	s := w.fetched()
	for i := range 120 {
		w.push(s, s.Base(), w.commit(s, s.Base(), "x", put("apps/cm-00001.yaml", noise(64<<10)+fmt.Sprint(i))), gitstore.Accepted)
	}
	w.Expect(s.Stats().OverlayBytes).To(BeNumerically("<", 4<<20), "120 versions of 64 KiB were published")
	w.Expect(s.Stats().FreshFetches).To(Equal(1))
	w.sound(s)
	_, err := w.repo.Commit("main", "foreign", map[string]string{"apps/cm-00002.yaml": "theirs"})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(land(t, s, "after")).To(Succeed())
	w.sound(s)
}

func TestDamagedObjectsAreNeverTrustedAgain(t *testing.T) {
	for name, damage := range map[string]func(w *world, pack string){
		"flipped byte": func(w *world, pack string) {
			b, err := os.ReadFile(pack)
			w.Expect(err).NotTo(HaveOccurred())
			b[len(b)/2] ^= 0xff
			w.Expect(os.Chmod(pack, 0o600)).To(Succeed())
			w.Expect(os.WriteFile(pack, b, 0o600)).To(Succeed())
		},
		"cut": func(w *world, pack string) {
			w.Expect(os.Chmod(pack, 0o600)).To(Succeed())
			w.Expect(os.Truncate(pack, 100)).To(Succeed())
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.txt": noise(64 << 10), "b.txt": "b"})
			var dir string
			s := w.fetched(storeDir(&dir))
			packs, err := filepath.Glob(filepath.Join(dir, "*", "objects", "pack", "*.pack"))
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(packs).To(HaveLen(1))
			damage(w, packs[0])
			err = s.Check(s.Base())
			var corrupt *gitstore.CorruptError
			w.Expect(errors.As(err, &corrupt)).To(BeTrue(), "%v", err)
			_, err = s.Tree(s.Base())
			w.Expect(err).To(MatchError(gitstore.ErrNoBase))
			_, _, err = s.Commit(t.Context(), s.Base(), []gitstore.Edit{put("x", "y")}, message("x"))
			w.Expect(err).To(MatchError(gitstore.ErrNoBase))
			w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
			w.Expect(s.Stats().Repairs).To(Equal(1))
			w.Expect(s.Stats().FreshFetches).To(Equal(2))
			w.Expect(land(t, s, "after")).To(Succeed())
			w.sound(s)
			left, err := filepath.Glob(filepath.Join(dir, "*", "objects", "pack", "*.pack"))
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(left).To(HaveLen(1), "the damaged folder is gone")
		})
	}
}

func TestViewsOfThePastSayThatTheyAreStale(t *testing.T) {
	w := newWorld(t, many(3, "apps/"))
	s := w.fetched()
	v, err := s.Tree(s.Base())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(v.Dir(v.Root())).To(HaveLen(1))
	_, err = w.repo.Commit("main", "foreign", map[string]string{"f": "1"})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	_, err = v.Dir(v.Root())
	w.Expect(err).To(MatchError(gitstore.ErrStale))
	w.Expect(s.Check(s.Base())).To(Succeed(), "a stale view is no damage")
}

func TestDropForgetsCommitsAboveAnother(t *testing.T) {
	w := newWorld(t, many(3, "apps/"))
	s := w.fetched()
	one := w.commit(s, s.Base(), "one", put("a", "1"))
	two := w.commit(s, one, "two", put("b", "2"))
	s.Drop(one)
	_, err := s.Tree(two)
	w.Expect(err).To(MatchError(gitstore.ErrStale))
	three := w.commit(s, one, "three", put("b", "2"), put("c", "3"))
	w.Expect(s.Check(three)).To(Succeed())
	w.push(s, s.Base(), three, gitstore.Accepted)
	w.sound(s)
	s.Drop(s.Base())
	four := w.commit(s, s.Base(), "four", put("d", "4"))
	s.Drop(s.Base())
	_, err = s.Push(t.Context(), s.Base(), four)
	w.Expect(err).To(HaveOccurred())
	w.Expect(s.Stats().OverlayObjects).To(BeNumerically(">", 0))
}

// Commits made beside each other: what one brought must not be missing from the pack of the other.
func TestCommitsBesideEachOtherStandAlone(t *testing.T) {
	w := newWorld(t, many(300, "apps/"))
	s := w.fetched()
	base := s.Base()
	a := w.commit(s, base, "a", put("apps/shared.yaml", "same"), put("apps/cm-00001.yaml", "a"))
	a = w.commit(s, a, "a2", put("apps/cm-00001.yaml", "b"))
	b := w.commit(s, base, "b", put("apps/shared.yaml", "same"))
	b = w.commit(s, b, "b2", put("apps/cm-00001.yaml", "b"))
	w.push(s, base, b, gitstore.Accepted)
	w.sound(s)
	_, err := s.Tree(a)
	w.Expect(err).To(MatchError(gitstore.ErrStale))
}

func TestChainsThatGoBackAndForthAreSound(t *testing.T) {
	w := newWorld(t, many(300, "apps/"))
	s := w.fetched()
	base := s.Base()
	tip := base
	for i := range 200 {
		tip = w.commit(s, tip, "x", put("apps/cm-00001.yaml", fmt.Sprint(i%3)))
	}
	w.Expect(s.Check(tip)).To(Succeed())
	w.push(s, base, tip, gitstore.Accepted)
	w.Expect(w.count()).To(Equal(1))
	w.sound(s)
	log, err := w.repo.Log("main")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(log).To(HaveLen(201))
}

func TestServerWithoutThinPacksGetsWholeOnes(t *testing.T) {
	w := newWorld(t, many(300, "apps/"))
	var s *gitstore.Store
	s = w.fetched(func(o *gitstore.Options) { o.Capabilities = append(o.Capabilities, "no-thin") })
	w.Expect(w.repo.SetHook("pre-receive", "exit 0")).To(Succeed())
	base := s.Base()
	tip := base
	for i := range 3 {
		tip = w.commit(s, tip, "x", put("apps/cm-00001.yaml", fmt.Sprint(i)))
	}
	var body []byte
	w.server.SetFault(gitserver.Fault{Service: "git-receive-pack", Method: "POST", Refuse: record(&body)})
	w.push(s, base, tip, gitstore.Accepted)
	w.sound(s)
	dir := t.TempDir()
	w.Expect(os.WriteFile(filepath.Join(dir, "p.pack"), body[strings.Index(string(body), "PACK"):], 0o600)).To(Succeed())
	_, err := w.repo.Git("index-pack", filepath.Join(dir, "p.pack")) // refuses thin packs
	w.Expect(err).NotTo(HaveOccurred())
}

// A server that lost the trees our deltas refer to gets whole ones at the second try.
func TestServerThatCannotUseDeltasGetsWholeObjects(t *testing.T) {
	w := newWorld(t, many(300, "apps/"))
	s := w.fetched()
	w.server.SetFault(gitserver.Fault{Service: "git-receive-pack", Method: "POST", Times: 1, Handler: reportUnpack("unresolved deltas left after unpacking")})
	base := s.Base()
	w.push(s, base, w.commit(s, base, "x", put("apps/cm-00001.yaml", "1")), gitstore.Accepted)
	w.Expect(w.count()).To(Equal(3), "push, look, push")
	w.sound(s)
}

func TestCaseG08_ShallowBaseAndAForeignMerge(t *testing.T) {
	w := newWorld(t, many(300, "apps/"))
	for i := range 5 {
		_, err := w.repo.Commit("main", "history", map[string]string{"h": fmt.Sprint(i)})
		w.Expect(err).NotTo(HaveOccurred())
	}
	s := w.fetched()
	_, err := w.repo.Git("update-ref", "refs/heads/side", "main~2")
	w.Expect(err).NotTo(HaveOccurred())
	side, err := w.repo.Commit("side", "side", map[string]string{"apps/side.yaml": "s"})
	w.Expect(err).NotTo(HaveOccurred())
	first, err := w.repo.Commit("main", "first", map[string]string{"apps/first.yaml": "f"})
	w.Expect(err).NotTo(HaveOccurred())
	tree, err := w.repo.Git("merge-tree", "--write-tree", first, side)
	w.Expect(err).NotTo(HaveOccurred())
	merge, err := w.repo.Git("commit-tree", "-p", first, "-p", side, "-m", "merge", strings.TrimSpace(tree))
	w.Expect(err).NotTo(HaveOccurred())
	_, err = w.repo.Git("update-ref", "refs/heads/main", strings.TrimSpace(merge))
	w.Expect(err).NotTo(HaveOccurred())
	_, err = w.repo.Commit("main", "last", map[string]string{"apps/last.yaml": "l"})
	w.Expect(err).NotTo(HaveOccurred())

	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	w.Expect(s.Stats().FreshFetches).To(Equal(1), "incremental")
	for p, c := range map[string]string{"apps/side.yaml": "s", "apps/first.yaml": "f", "apps/last.yaml": "l"} {
		w.Expect(w.read(s, s.Base(), p)).To(Equal(c))
	}
	last := w.repo.Tip("main")
	w.count()
	w.Expect(land(t, s, "apps/ours.yaml")).To(Succeed())
	w.Expect(w.count()).To(Equal(1), "at the first attempt")
	log, err := w.repo.Log("main")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(log[0].Parents).To(Equal([]string{last}), "on their tip")
	w.Expect(w.repo.IsAncestor(side, "main")).To(BeTrue(), "the merged side is still there")
	w.sound(s)
}

func TestForceMovedBranchIsFollowed(t *testing.T) {
	w := newWorld(t, many(300, "apps/"))
	s := w.fetched()
	w.push(s, s.Base(), w.commit(s, s.Base(), "x", put("apps/x", "1")), gitstore.Accepted)
	// Rewritten history, and the server forgets what it held.
	_, err := w.repo.Git("update-ref", "refs/heads/main", "main~1")
	w.Expect(err).NotTo(HaveOccurred())
	other, err := w.repo.Commit("main", "other history", map[string]string{"apps/y": "2"})
	w.Expect(err).NotTo(HaveOccurred())
	_, err = w.repo.Git("gc", "--quiet", "--prune=now")
	w.Expect(err).NotTo(HaveOccurred())
	gone := s.Base()
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	w.Expect(s.Base()).To(Equal(hash(other)))
	w.Expect(land(t, s, "apps/z")).To(Succeed())
	w.sound(s)
	// A commit the remote does not have any more is replaced by the tip.
	s2 := w.fetched()
	w.Expect(s2.Fetch(t.Context(), gone)).To(Succeed())
	w.Expect(s2.Base()).To(Equal(w.tip()))
}

func TestCaseG12_FiveThousandNewFilesInOneCommit(t *testing.T) {
	w := newWorld(t, many(3, ""))
	s := w.fetched()
	var edits []gitstore.Edit
	for p, c := range many(5000, "wave/") {
		edits = append(edits, put(p, c))
	}
	before := s.Stats()
	tip := w.commit(s, s.Base(), "wave", edits...)
	after := s.Stats()
	w.Expect(after.TreesRead - before.TreesRead).To(Equal(1))
	w.Expect(after.BlobsRead - before.BlobsRead).To(Equal(0))
	w.push(s, s.Base(), tip, gitstore.Accepted)
	w.Expect(s.Stats().Packed).To(Equal(5000 + 3))
	w.Expect(w.count()).To(Equal(1))
	w.Expect(w.repo.Files("main")).To(HaveLen(5003))
	w.sound(s)
}
