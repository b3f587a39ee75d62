// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

// Branch names that URLs, shells and file systems could misread, over both transports: made, found again, pushed to.
func TestBranchNamesThatMayBeMisread(t *testing.T) {
	k := key(t, "ed25519")
	w, x := sshWorld(t, gitserver.SSHOptions{AuthorizedKey: k.PublicKey()})
	ways := map[string]func(*gitstore.Options){"http": func(*gitstore.Options) {}, "ssh": w.overSSH(x, k)}
	for way, reach := range ways {
		for i, name := range []string{
			"feature/ä#1", "100%25+20%", "it's", "$(touch)", "a;b&&c", "☃/snow", "UPPER/lower", "v1.0.x", "a@b", "--", "{x}", `"q"`,
		} {
			branch := name + "-" + way
			if strings.HasPrefix(branch, "-") {
				branch = "x" + branch
			}
			s := w.store(reach, func(o *gitstore.Options) { o.Branch = branch })
			w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed(), branch)
			tip := w.commit(s, s.Base(), "first", put(fmt.Sprintf("n/%s-%d", way, i), "1"))
			w.push(s, gitstore.Hash{}, tip, gitstore.Accepted)
			w.Expect(w.repo.Tip(branch)).To(Equal(tip.String()))
			next := w.commit(s, tip, "second", put(fmt.Sprintf("n/%s-%d", way, i), "2"))
			w.push(s, tip, next, gitstore.Accepted)
			r, err := s.Look(t.Context())
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(r.Tip).To(Equal(next), branch)
		}
	}
	w.Expect(w.repo.Fsck()).To(Succeed())
}

// A branch cannot live below another one. The server says so; it is no lock that goes away by itself.
func TestBranchBelowAnotherBranchIsRejectedInTheServersWords(t *testing.T) {
	w := newWorld(t, many(3, ""))
	s := w.store(func(o *gitstore.Options) { o.Branch = "main/sub" })
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	res := w.push(s, gitstore.Hash{}, w.commit(s, s.Base(), "x", put("x", "1")), gitstore.Rejected)
	w.Expect(res.Text).To(ContainSubstring("refs/heads/main"))
	w.Expect(w.repo.Tip("main/sub")).To(Equal(gitserver.Zero))
	above := w.store(func(o *gitstore.Options) { o.Branch = "team" })
	_, err := w.repo.Git("branch", "team/a", "main")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(above.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	res = w.push(above, gitstore.Hash{}, w.commit(above, above.Base(), "x", put("x", "1")), gitstore.Rejected)
	w.Expect(res.Text).To(ContainSubstring("refs/heads/team/a"))
}

// However much of the report arrives, the outcome is never wrong: accepted only when the branch moved, refused never.
func TestEveryCutOfAReportIsTruthful(t *testing.T) {
	w := newWorld(t, many(3, ""))
	w.Expect(w.repo.SetHook("post-receive", "echo a word to the client")).To(Succeed())
	s := w.fetched()
	for cut := 1; ; cut += 3 {
		base := s.Base()
		tip := w.commit(s, base, "x", put("x", fmt.Sprint(cut)))
		w.server.SetFault(gitserver.Fault{Service: "git-receive-pack", Method: "POST", CloseAfter: int64(cut), Times: 1})
		w.server.Reset()
		res, err := s.Push(t.Context(), base, tip)
		w.server.ClearFaults()
		moved := w.tip() == tip
		switch {
		case res.Outcome == gitstore.Accepted:
			w.Expect(moved).To(BeTrue())
		default:
			w.Expect(res.Outcome).To(Equal(gitstore.Unknown), "cut after %d bytes", cut)
			var e *gitstore.TransportError
			w.Expect(errors.As(err, &e)).To(BeTrue())
			w.Expect(e.MayHaveLanded()).To(BeTrue(), "cut after %d bytes: %v", cut, err)
		}
		r, err := s.Look(t.Context())
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(r.Tip).To(Equal(w.tip()))
		if !moved {
			w.push(s, base, tip, gitstore.Accepted)
		}
		w.Expect(s.Base()).To(Equal(tip))
		if out := w.server.Requests()[0].Out; cut > 200 || out < int64(cut) {
			break
		}
	}
	w.sound(s)
}

// Servers that offer nothing but what they must.
func TestServersThatLackCapabilities(t *testing.T) {
	for name, capabilities := range map[string][]string{
		"no sideband":           {"report-status", "ofs-delta", "delete-refs"},
		"no report-status":      {"side-band-64k", "ofs-delta"},
		"nothing but no-thin":   {"no-thin"},
		"an unknown capability": {"report-status", "side-band-64k", "shiny-new-thing=2"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, many(300, "apps/"))
			s := w.fetched(func(o *gitstore.Options) { o.Capabilities = capabilities })
			w.Expect(land(t, s, "apps/one")).To(Succeed())
			w.Expect(w.repo.SetHook("pre-receive", "echo no way; exit 1")).To(Succeed())
			res := w.push(s, s.Base(), w.commit(s, s.Base(), "x", put("apps/two", "1")), gitstore.Rejected)
			w.Expect(res.Text).To(ContainSubstring("hook declined"))
			w.remove(filepath.Join(w.repo.Dir, "hooks", "pre-receive"))
			w.Expect(land(t, s, "apps/three")).To(Succeed())
			w.sound(s)
		})
	}
}

// A repository that is itself a shallow clone, with the server's default of refusing new shallow roots.
func TestShallowRepositoryOnTheServer(t *testing.T) {
	w := newWorld(t, many(300, "apps/"))
	for i := range 5 {
		_, err := w.repo.Commit("main", "history", map[string]string{"h": fmt.Sprint(i)})
		w.Expect(err).NotTo(HaveOccurred())
	}
	dir := w.server.RepoDir("shallow")
	cmd := exec.Command("git", "clone", "--quiet", "--bare", "--depth", "2", "file://"+w.repo.Dir, dir)
	cmd.Env = gitserver.Env(w.server.Dir())
	out, err := cmd.CombinedOutput()
	w.Expect(err).NotTo(HaveOccurred(), string(out))
	shallow := w.server.Repo("shallow")
	for _, c := range [][]string{{"config", "http.receivepack", "true"}, {"config", "receive.shallowUpdate", "false"}} {
		_, err := shallow.Git(c...)
		w.Expect(err).NotTo(HaveOccurred())
	}
	w.repo = shallow
	s := w.fetched()
	w.Expect(land(t, s, "apps/ours")).To(Succeed())
	foreign, err := w.repo.Commit("main", "foreign", map[string]string{"apps/f": "1"})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(land(t, s, "apps/more")).To(Succeed(), "after a lost race")
	parent, err := w.repo.Git("rev-parse", "main~1")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(strings.TrimSpace(parent)).To(Equal(foreign))
	w.sound(s)
}

// Others turn files into directories, links and submodules under our feet: what cannot be written any more is an error
// of that path, everything else goes on, and nothing of theirs is replaced.
func TestForeignPushesThatSwapWhatAPathIs(t *testing.T) {
	gitlink := strings.Repeat("12", 20)
	for name, c := range map[string]struct {
		before map[string]string
		after  map[string]*gitserver.File
		gone   []string
		edit   gitstore.Edit
		want   string
	}{
		"a file becomes a directory": {map[string]string{"apps/x": "1"},
			map[string]*gitserver.File{"apps/x/y": {Content: "2"}}, []string{"apps/x"}, put("apps/x", "ours"), "it is a directory"},
		"a directory becomes a file": {map[string]string{"apps/x/y": "1"},
			map[string]*gitserver.File{"apps/x": {Content: "2"}}, []string{"apps/x/y"}, put("apps/x/y", "ours"), "it is a file"},
		"a file becomes a link": {map[string]string{"apps/x": "1"},
			map[string]*gitserver.File{"apps/x": {Mode: "120000", Content: "/etc/passwd"}}, nil, put("apps/x", "ours"), "symbolic link"},
		"a directory becomes a link": {map[string]string{"apps/x/y": "1"},
			map[string]*gitserver.File{"apps/x": {Mode: "120000", Content: ".."}}, []string{"apps/x/y"}, put("apps/x/y", "ours"), "symbolic link"},
		"a directory becomes a submodule": {map[string]string{"apps/x/y": "1"},
			map[string]*gitserver.File{"apps/x": {Mode: "160000", Content: gitlink}}, []string{"apps/x/y"}, put("apps/x/y", "ours"), "submodule"},
		"a file we delete is a directory": {map[string]string{"apps/x": "1"},
			map[string]*gitserver.File{"apps/x/y": {Content: "2"}}, []string{"apps/x"}, del("apps/x"), "it is a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.before)
			s := w.fetched()
			files := c.after
			for _, p := range c.gone {
				files[p] = nil
			}
			_, err := w.repo.CommitFiles("main", "swap", files)
			w.Expect(err).NotTo(HaveOccurred())
			base := s.Base()
			w.push(s, base, w.commit(s, base, "ours", c.edit), gitstore.Moved)
			w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
			before, err := w.repo.Files("main")
			w.Expect(err).NotTo(HaveOccurred())
			_, _, err = s.Commit(t.Context(), s.Base(), []gitstore.Edit{c.edit}, message("replay"))
			var path *gitstore.PathError
			w.Expect(errors.As(err, &path)).To(BeTrue(), "%v", err)
			w.Expect(err).To(MatchError(ContainSubstring(c.want)))
			w.Expect(land(t, s, "apps/other")).To(Succeed())
			after, err := w.repo.Files("main")
			w.Expect(err).NotTo(HaveOccurred())
			for p, v := range before {
				w.Expect(after).To(HaveKeyWithValue(p, v))
			}
			w.sound(s)
		})
	}
}

// Names that differ in case only are different files in Git, whatever the file system of a checkout does with them.
func TestNamesThatDifferInCaseStayApart(t *testing.T) {
	w := newWorld(t, map[string]string{"apps/Web.yaml": "a", "APPS/web.yaml": "b"})
	s := w.fetched()
	tip := w.commit(s, s.Base(), "x", put("apps/web.yaml", "c"), del("APPS/web.yaml"))
	w.push(s, s.Base(), tip, gitstore.Accepted)
	files, err := w.repo.Files("main")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(files).To(HaveLen(2))
	w.Expect(w.repo.ReadFile("main", "apps/Web.yaml")).To(Equal([]byte("a")))
	w.Expect(w.repo.ReadFile("main", "apps/web.yaml")).To(Equal([]byte("c")))
	w.sound(s)
}

// A store whose folder another process emptied still serves what it has or fetches anew; it never answers wrongly.
func TestFolderOfTheStoreIsEmptied(t *testing.T) {
	for _, what := range []string{"*.idx", "*.pack", "*"} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, many(300, "apps/"))
			var dir string
			s := w.fetched(storeDir(&dir))
			found, err := filepath.Glob(filepath.Join(dir, "*", "objects", "pack", what))
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(found).NotTo(BeEmpty())
			for _, f := range found {
				w.remove(f)
			}
			for i := range 3 {
				if _, err := s.Tree(s.Base()); err != nil {
					w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
				}
				w.Expect(land(t, s, fmt.Sprintf("apps/after-%d", i))).To(Succeed())
				_, err := w.repo.Commit("main", "foreign", map[string]string{"apps/cm-00001.yaml": fmt.Sprint(i)})
				w.Expect(err).NotTo(HaveOccurred())
			}
			w.Expect(land(t, s, "apps/last")).To(Succeed())
			w.sound(s)
		})
	}
}
