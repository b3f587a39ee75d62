// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore_test

import (
	"context"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/crypto/ssh"

	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

func TestOtherPathsKeepTheirBytesAndModes(t *testing.T) {
	w := newWorld(t, nil)
	gitlink := strings.Repeat("12", 20)
	_, err := w.repo.CommitFiles("main", "everything a repository can hold", map[string]*gitserver.File{
		".gitattributes":       {Content: "*.yaml text eol=crlf\n*.bin filter=lfs diff=lfs merge=lfs -text\n"},
		".gitmodules":          {Content: "[submodule \"sub\"]\n\tpath = apps/sub\n\turl = ../sub\n"},
		"apps/sub":             {Mode: "160000", Content: gitlink},
		"apps/link":            {Mode: "120000", Content: "../elsewhere"},
		"apps/run.sh":          {Mode: "100755", Content: "#!/bin/sh\n"},
		"apps/big.bin":         {Content: "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"},
		"apps/crlf.yaml":       {Content: "a: b\r\nc: d\r\n"},
		"apps/lf.yaml":         {Content: "a: b\n"},
		"apps/Ünïcode ☃.yaml":  {Content: "x"},
		"apps/a.yaml":          {Content: "a"},
		"apps/a/b.yaml":        {Content: "b"},
		"apps/a-b.yaml":        {Content: "c"},
		"apps.txt":             {Content: "beside"},
		"apps-old/x":           {Content: "beside too"},
		"empty-file":           {Content: ""},
		"deep/er/and/deeper/y": {Content: "y"},
		"deep/er/and/deeper/z": {Content: "z"},
		"deep/only/one/file":   {Content: "1"},
	})
	w.Expect(err).NotTo(HaveOccurred())
	s := w.fetched()
	before, err := w.repo.Files("main")
	w.Expect(err).NotTo(HaveOccurred())

	tip := w.commit(s, s.Base(), "edit",
		put("apps/lf.yaml", "a: c\n"), put("apps/run.sh", "#!/bin/bash\n"), put("apps/new.yaml", "new"),
		put("apps/a/c.yaml", "c"), put("apps/aa/d.yaml", "d"), del("deep/only/one/file"), del("apps/not-there"), del("nowhere/at/all"))
	w.push(s, s.Base(), tip, gitstore.Accepted)
	after, err := w.repo.Files("main")
	w.Expect(err).NotTo(HaveOccurred())
	changed := map[string]string{}
	for p, v := range after {
		if before[p] != v {
			changed[p] = v[:6]
		}
		delete(before, p)
	}
	w.Expect(changed).To(Equal(map[string]string{"apps/lf.yaml": "100644", "apps/run.sh": "100755", "apps/new.yaml": "100644",
		"apps/a/c.yaml": "100644", "apps/aa/d.yaml": "100644"}))
	w.Expect(before).To(HaveLen(1))
	w.Expect(before).To(HaveKey("deep/only/one/file"))
	tree, err := w.repo.Git("ls-tree", "--name-only", "main", "deep/")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(tree).To(Equal("deep/er\n"), "directories left empty are gone")
	w.Expect(w.repo.ReadFile("main", "apps/crlf.yaml")).To(Equal([]byte("a: b\r\nc: d\r\n")), "G04: no conversion")
	w.sound(s)
}

func TestOddModesOfOldRepositoriesStay(t *testing.T) {
	w := newWorld(t, map[string]string{"b": "b"})
	blob, err := w.repo.Git("rev-parse", "main:b")
	w.Expect(err).NotTo(HaveOccurred())
	raw := "100664 a\x00" + string(unhex(blob)) + "100644 b\x00" + string(unhex(blob))
	file := filepath.Join(t.TempDir(), "tree")
	w.Expect(os.WriteFile(file, []byte(raw), 0o600)).To(Succeed())
	tree, err := w.repo.Git("hash-object", "-t", "tree", "-w", "--literally", file)
	w.Expect(err).NotTo(HaveOccurred())
	id, err := w.repo.Git("commit-tree", "-m", "odd", strings.TrimSpace(tree))
	w.Expect(err).NotTo(HaveOccurred())
	_, err = w.repo.Git("update-ref", "refs/heads/main", strings.TrimSpace(id))
	w.Expect(err).NotTo(HaveOccurred())
	s := w.fetched()
	w.push(s, s.Base(), w.commit(s, s.Base(), "edit", put("b", "B"), put("c", "c")), gitstore.Accepted)
	out, err := w.repo.Git("cat-file", "tree", "main^{tree}")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(out).To(HavePrefix(raw[:29]), "the entry keeps its bytes")
}

func unhex(s string) []byte {
	h := hash(strings.TrimSpace(s))
	return h[:]
}

func TestFilesAndDirectoriesOfOneName(t *testing.T) {
	w := newWorld(t, map[string]string{"x": "file", "y/a": "1", "y/b": "2", "z": "z"})
	s := w.fetched()
	// A file gives way to a directory and a directory to a file, in one commit.
	tip := w.commit(s, s.Base(), "swap", del("x"), put("x/in.yaml", "in"), del("y/a"), del("y/b"), put("y", "file"))
	w.push(s, s.Base(), tip, gitstore.Accepted)
	files, err := w.repo.Files("main")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(files).To(And(HaveLen(3), HaveKey("x/in.yaml"), HaveKey("y"), HaveKey("z")))
	w.sound(s)
}

func TestDeletingTheLastFileLeavesTheEmptyTree(t *testing.T) {
	w := newWorld(t, map[string]string{"a/b": "1"})
	s := w.fetched()
	tip := w.commit(s, s.Base(), "empty", del("a/b"))
	w.push(s, s.Base(), tip, gitstore.Accepted)
	w.Expect(w.repo.Files("main")).To(BeEmpty())
	w.sound(s)
	w.push(s, s.Base(), w.commit(s, s.Base(), "again", put("a/b", "1")), gitstore.Accepted)
	w.sound(s)
	s = w.fetched()
	w.push(s, s.Base(), w.commit(s, s.Base(), "empty", del("a/b")), gitstore.Accepted)
	s = w.fetched()
	w.push(s, s.Base(), w.commit(s, s.Base(), "on an empty tree", put("c", "1")), gitstore.Accepted)
	w.sound(s)
}

func TestImpossibleEditsAreRefusedByPath(t *testing.T) {
	w := newWorld(t, map[string]string{"file": "f", "dir/a": "a"})
	_, err := w.repo.CommitFiles("main", "specials", map[string]*gitserver.File{
		"link": {Mode: "120000", Content: "dir"}, "sub": {Mode: "160000", Content: strings.Repeat("ab", 20)},
	})
	w.Expect(err).NotTo(HaveOccurred())
	s := w.fetched()
	for path, edit := range map[string]gitstore.Edit{
		"":             put("", "x"),
		"/abs":         put("/abs", "x"),
		"a//b":         put("a//b", "x"),
		"../up":        put("../up", "x"),
		"a/./b":        put("a/./b", "x"),
		".git/config":  put(".git/config", "x"),
		"a/.GIT/hooks": put("a/.GIT/hooks", "x"),
		"git~1":        put("git~1", "x"),
		".git ":        put(".git ", "x"),
		".g\u200cit":   put(".g\u200cit", "x"),
		"nul\x00":      put("nul\x00", "x"),
		"link":         put("link", "x"),
		"link/x":       put("link/x", "x"),
		"sub":          del("sub"),
		"sub/x":        put("sub/x", "x"),
		"file/x":       put("file/x", "x"),
		"dir":          put("dir", "x"),
		"dir ":         {Path: "dir", Delete: true},
		"mode":         {Path: "mode", Mode: 0o120000, Content: []byte("x")},
	} {
		_, _, err := s.Commit(t.Context(), s.Base(), []gitstore.Edit{put("fine", "x"), edit}, message("no"))
		var pe *gitstore.PathError
		w.Expect(errors.As(err, &pe)).To(BeTrue(), "%q: %v", path, err)
	}
	_, _, err = s.Commit(t.Context(), s.Base(), []gitstore.Edit{put("twice", "1"), put("twice", "2")}, message("no"))
	w.Expect(err).To(MatchError(ContainSubstring("twice")))
	w.Expect(s.Stats().OverlayObjects).To(BeZero(), "failures leave nothing behind")
}

func TestCaseG06_NothingChangedIsNoCommit(t *testing.T) {
	w := newWorld(t, map[string]string{"a/b": "1", "c": "2"})
	s := w.fetched()
	for range 3 {
		id, changed, err := s.Commit(t.Context(), s.Base(), []gitstore.Edit{put("a/b", "1"), put("c", "2"), del("d/e")}, message("no"))
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(changed).To(BeFalse())
		w.Expect(id).To(Equal(s.Base()))
	}
	c := message("save")
	c.AllowEmpty = true
	id, changed, err := s.Commit(t.Context(), s.Base(), nil, c)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(changed).To(BeTrue())
	w.push(s, s.Base(), id, gitstore.Accepted)
	log, err := w.repo.Log("main")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(log).To(HaveLen(2))
	w.Expect(log[0].Tree).To(Equal(log[1].Tree))
	w.sound(s)

	// Back and forth is two commits, and the store is not confused by its own past.
	for i := range 60 {
		w.push(s, s.Base(), w.commit(s, s.Base(), "flip", put("a/b", fmt.Sprint(i%2+5))), gitstore.Accepted)
	}
	w.sound(s)
}

// The change is on the work branch and not on main: it is compared with the branch that is written, also after a restart
// and whatever main does meanwhile.
func TestCaseG06_TheWorkBranchIsWhatCounts(t *testing.T) {
	w := newWorld(t, map[string]string{"a/b": "1"})
	live := func() *gitstore.Store {
		s := w.store(func(o *gitstore.Options) { o.Branch, o.ParentBranch = "live", "main" })
		w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
		return s
	}
	s := live()
	w.push(s, gitstore.Hash{}, w.commit(s, s.Base(), "ours", put("a/b", "2")), gitstore.Accepted)
	tip := w.repo.Tip("live")
	for range 3 {
		_, err := w.repo.Commit("main", "foreign", map[string]string{"f": w.repo.Tip("main")})
		w.Expect(err).NotTo(HaveOccurred())
		for _, s := range []*gitstore.Store{s, live()} {
			id, changed, err := s.Commit(t.Context(), s.Base(), []gitstore.Edit{put("a/b", "2")}, message("again"))
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(changed).To(BeFalse(), "main still says 1, the work branch does not")
			w.Expect(id.String()).To(Equal(tip))
		}
	}
	w.Expect(w.repo.ReadFile("main", "a/b")).To(Equal([]byte("1")))
}

func TestMessagesAndIdentities(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "1"})
	s := w.fetched()
	zone := time.FixedZone("", -(3*3600 + 30*60))
	for i, c := range []struct {
		message, name, email string
		wantName, wantEmail  string
	}{
		{"plain", "Ada Lovelace", "ada@example.com", "Ada Lovelace", "ada@example.com"},
		{"subject\n\nbody\n\n  indented\n# no comment\n{{.Author}}\n", "Grüße ☃", "g@example.com", "Grüße ☃", "g@example.com"},
		{"trailing space \n\n\n", "a <b> c\n", "<x@y>\r", "a b c", "x@y"},
		{"", "", "only@example.com", "only@example.com", "only@example.com"},
		{"no newline at end", strings.Repeat("long ", 400), "l@example.com", strings.TrimSpace(strings.Repeat("long ", 400)), "l@example.com"},
	} {
		sig := gitstore.Signature{Name: c.name, Email: c.email, When: time.Date(2026, 2, 3, 4, 5, 6, 7, zone)}
		id, _, err := s.Commit(t.Context(), s.Base(), []gitstore.Edit{put("a", fmt.Sprint("v", i))}, gitstore.Commit{Author: sig, Committer: sig, Message: c.message})
		w.Expect(err).NotTo(HaveOccurred())
		w.push(s, s.Base(), id, gitstore.Accepted)
		raw, err := w.repo.Git("cat-file", "commit", id.String())
		w.Expect(err).NotTo(HaveOccurred())
		head, msg, _ := strings.Cut(raw, "\n\n")
		w.Expect(msg).To(Equal(c.message))
		w.Expect(head).To(ContainSubstring(fmt.Sprintf("author %s <%s> 1770104106 -0330\ncommitter ", c.wantName, c.wantEmail)))
		w.Expect(w.repo.Fsck()).To(Succeed())
	}
	for _, bad := range []gitstore.Commit{
		{Author: gitstore.Signature{When: when}, Committer: message("").Committer},
		{Author: gitstore.Signature{Name: "x"}, Committer: message("").Committer},
		{Author: message("").Author, Committer: message("").Committer, Message: "nul\x00"},
	} {
		_, _, err := s.Commit(t.Context(), s.Base(), []gitstore.Edit{put("a", "bad")}, bad)
		w.Expect(err).To(HaveOccurred())
	}
}

// sshSigner signs as git's gpg.format=ssh does.
type sshSigner struct{ key ssh.Signer }

func (s sshSigner) Sign(commit []byte) ([]byte, error) {
	sum := sha512Sum(commit)
	signed := struct{ Namespace, Reserved, Hash, Digest string }{"git", "", "sha512", string(sum)}
	sig, err := s.key.Sign(rand.Reader, append([]byte("SSHSIG"), ssh.Marshal(signed)...))
	if err != nil {
		return nil, err
	}
	blob := ssh.Marshal(struct {
		Version                              uint32
		Key, Namespace, Reserved, Hash, Sign string
	}{1, string(s.key.PublicKey().Marshal()), "git", "", "sha512", string(ssh.Marshal(sig))})
	return pem.EncodeToMemory(&pem.Block{Type: "SSH SIGNATURE", Bytes: append([]byte("SSHSIG"), blob...)}), nil
}

func TestScenario105_OnlyTheConfiguredSignatureIsPresent(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "1"})
	s := w.fetched()
	// The host's commit.gpgSign has no effect (every test runs with it).
	tip := w.commit(s, s.Base(), "unsigned", put("a", "2"))
	raw, err := rawCommit(w, s, tip)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(raw).NotTo(ContainSubstring("gpgsig"))

	k := key(t, "ed25519")
	c := message("signed\n\nwith a body\n")
	c.Signer = sshSigner{k}
	tip, _, err = s.Commit(t.Context(), s.Base(), []gitstore.Edit{put("a", "3")}, c)
	w.Expect(err).NotTo(HaveOccurred())
	raw, err = rawCommit(w, s, tip)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(strings.Count(raw, "gpgsig")).To(Equal(1))
	w.sound(s)
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		w.Expect(os.Getenv("CI")).To(BeEmpty(), "ssh-keygen is required with CI=true (decisions 86)")
		return // Git's own verification needs it; the form was checked above
	}
	allowed := filepath.Join(t.TempDir(), "allowed")
	w.Expect(os.WriteFile(allowed, append([]byte("ada@example.com "), ssh.MarshalAuthorizedKey(k.PublicKey())...), 0o600)).To(Succeed())
	out, err := w.repo.Git("-c", "gpg.ssh.allowedSignersFile="+allowed, "verify-commit", "--raw", tip.String())
	w.Expect(err).NotTo(HaveOccurred(), out)
}

// rawCommit publishes and reads a commit.
func rawCommit(w *world, s *gitstore.Store, tip gitstore.Hash) (string, error) {
	w.push(s, s.Base(), tip, gitstore.Accepted)
	return w.repo.Git("cat-file", "commit", tip.String())
}

func TestFailingSignerMakesNoCommit(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "1"})
	s := w.fetched()
	failed := errors.New("wrong passphrase")
	for _, signer := range []gitstore.Signer{signFunc(func([]byte) ([]byte, error) { return nil, failed }), signFunc(func([]byte) ([]byte, error) { return []byte("\n"), nil })} {
		c := message("x")
		c.Signer = signer
		_, changed, err := s.Commit(t.Context(), s.Base(), []gitstore.Edit{put("a", "2")}, c)
		w.Expect(err).To(HaveOccurred())
		w.Expect(changed).To(BeFalse())
	}
	w.Expect(s.Stats().OverlayObjects).To(BeZero())
}

type signFunc func([]byte) ([]byte, error)

func (f signFunc) Sign(b []byte) ([]byte, error) { return f(b) }

func TestCommitEndsWithItsContext(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "1"})
	s := w.fetched()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := s.Commit(ctx, s.Base(), []gitstore.Edit{put("a", "2")}, message("x"))
	w.Expect(err).To(MatchError(context.Canceled))
}

func TestCaseG18_AmbientConfigurationHasNoEffect(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "1\n"})
	w.Expect(os.Getenv("GIT_CONFIG_GLOBAL")).NotTo(BeEmpty(), "see TestMain")
	w.server.SetFault(gitserver.Fault{Refuse: func(r *http.Request, _ []byte) (int, string) {
		if r.Header.Get("X-Ambient") != "" {
			return http.StatusBadRequest, "a header of the host's configuration"
		}
		return 0, ""
	}})
	s := w.fetched()
	tip := w.commit(s, s.Base(), "x", put("a", "1\r\n2\n"))
	w.push(s, s.Base(), tip, gitstore.Accepted)
	w.Expect(w.repo.ReadFile("main", "a")).To(Equal([]byte("1\r\n2\n")))
	log, err := w.repo.Log("main")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(log[0].AuthorName).To(Equal("Ada"))
	w.Expect(log[0].CommitterEmail).To(Equal("ada@example.com"))
	raw, err := w.repo.Git("cat-file", "commit", tip.String())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(raw).NotTo(ContainSubstring("gpgsig"))
}
