// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

// sshWorld serves the world's repository over SSH too.
func sshWorld(t *testing.T, o gitserver.SSHOptions) (*world, *gitserver.SSHServer) {
	w := newWorld(t, many(300, "apps/"))
	x, err := w.server.ServeSSH(o)
	w.Expect(err).NotTo(HaveOccurred())
	return w, x
}

// overSSH makes a store use SSH with a key; known are the types of host keys its known_hosts file lists.
func (w *world) overSSH(x *gitserver.SSHServer, key ssh.Signer, known ...string) func(*gitstore.Options) {
	file := filepath.Join(w.t.TempDir(), "known_hosts")
	w.Expect(os.WriteFile(file, []byte(x.KnownHosts(known...)), 0o600)).To(Succeed())
	check, err := knownhosts.New(file)
	w.Expect(err).NotTo(HaveOccurred())
	return func(o *gitstore.Options) {
		o.URL = x.URL("repo")
		o.Credentials = func(context.Context) (gitstore.Credentials, error) {
			return gitstore.Credentials{SSHSigner: key, HostKeyCallback: check, HostKeyAlgorithms: algorithms(known)}, nil
		}
	}
}

func algorithms(known []string) []string {
	var out []string
	for _, k := range known {
		out = append(out, map[string][]string{
			"ed25519": {ssh.KeyAlgoED25519}, "ecdsa": {ssh.KeyAlgoECDSA256}, "rsa": {ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256},
		}[k]...)
	}
	return out
}

func key(t *testing.T, kind string) ssh.Signer {
	k, err := gitserver.NewSSHKey(kind)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return k
}

func TestSSHRoundTrip(t *testing.T) {
	k := key(t, "ed25519")
	w, x := sshWorld(t, gitserver.SSHOptions{AuthorizedKey: k.PublicKey()})
	s := w.store(w.overSSH(x, k))
	w.roundTrip(s)
	// A session per call; the push needs no session before it.
	before := len(x.Commands())
	w.push(s, s.Base(), w.commit(s, s.Base(), "x", put("x", "1")), gitstore.Accepted)
	w.Expect(x.Commands()[before:]).To(Equal([]string{"git-receive-pack '/repo.git'"}))
	foreign, err := w.repo.Commit("main", "foreign", map[string]string{"f": "1"})
	w.Expect(err).NotTo(HaveOccurred())
	res := w.push(s, s.Base(), w.commit(s, s.Base(), "y", put("y", "1")), gitstore.Moved)
	w.Expect(res.Tip).To(Equal(hash(foreign)))
	w.Expect(land(t, s, "z")).To(Succeed())
	p, err := gitstore.Probe(t.Context(), func() (o gitstore.Options) { w.overSSH(x, k)(&o); return o }())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(p.Refs).To(HaveKeyWithValue("refs/heads/main", w.tip()))
	w.sound(s)
}

// TestScenario72_LedgerLookOverSSHIsSmallWhateverTheRefs: version 2 is asked for as git does, and version 0 understood.
func TestScenario72_LedgerLookOverSSHIsSmallWhateverTheRefs(t *testing.T) {
	for name, c := range map[string]struct {
		v0 bool
		at func(int) gomegatypes.GomegaMatcher
	}{
		"version 2": {false, func(n int) gomegatypes.GomegaMatcher { return BeNumerically("<=", n) }},
		"version 0": {true, func(n int) gomegatypes.GomegaMatcher { return BeNumerically(">", n) }},
	} {
		t.Run(name, func(t *testing.T) {
			k := key(t, "ed25519")
			w, x := sshWorld(t, gitserver.SSHOptions{AuthorizedKey: k.PublicKey(), V0Only: c.v0})
			var refs strings.Builder
			for i := range 2000 {
				fmt.Fprintf(&refs, "create refs/heads/other-%04d %s\n", i, w.tip())
			}
			cmd := exec.Command("git", "-C", w.repo.Dir, "update-ref", "--stdin")
			cmd.Stdin, cmd.Env = strings.NewReader(refs.String()), gitserver.Env(w.server.Dir())
			out, err := cmd.CombinedOutput()
			w.Expect(err).NotTo(HaveOccurred(), string(out))
			s := w.store(w.overSSH(x, k))
			w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
			before := s.Stats()
			r, err := s.Look(t.Context())
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(r.Tip).To(Equal(w.tip()))
			w.Expect(r.HeadBranch).To(Equal("main"))
			after := s.Stats()
			w.Expect(after.Requests-before.Requests).To(Equal(1), "one session")
			w.Expect(after.Received - before.Received).To(c.at(1024))
			foreign, err := w.repo.Commit("main", "foreign", map[string]string{"apps/foreign.yaml": "1"})
			w.Expect(err).NotTo(HaveOccurred())
			before = s.Stats()
			w.Expect(s.Fetch(t.Context(), hash(foreign))).To(Succeed())
			after = s.Stats()
			w.Expect(after.Received-before.Received).To(c.at(2048), "a thin pack")
			w.Expect(after.FreshFetches).To(Equal(1))
			w.Expect(land(t, s, "apps/ours.yaml")).To(Succeed())
			w.sound(s)
		})
	}
}

func TestSSHBranchCreationAndEmptyRepository(t *testing.T) {
	w, x := sshWorld(t, gitserver.SSHOptions{})
	w.repo, _ = w.server.CreateRepo("empty", gitserver.RepoOptions{})
	s := w.store(w.overSSH(x, key(t, "ecdsa")), func(o *gitstore.Options) { o.URL = x.URL("empty") })
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	w.Expect(s.Remote().Empty).To(BeTrue())
	w.push(s, gitstore.Hash{}, w.commit(s, gitstore.Hash{}, "root", put("a", "b")), gitstore.Accepted)
	w.sound(s)
}

func TestCaseG10_TheListedHostKeyTypeIsUsed(t *testing.T) {
	types := []string{"ed25519", "ecdsa", "rsa"}
	w, x := sshWorld(t, gitserver.SSHOptions{HostKeys: types})
	for _, known := range types {
		_, err := w.store(w.overSSH(x, key(t, "ed25519"), known)).Look(t.Context())
		w.Expect(err).NotTo(HaveOccurred(), known)
	}
}

func TestCaseG10_OtherHostKeysAreRefusedByName(t *testing.T) {
	w, x := sshWorld(t, gitserver.SSHOptions{HostKeys: []string{"ed25519"}})
	_, other := sshWorld(t, gitserver.SSHOptions{HostKeys: []string{"ed25519"}})
	// The type is not offered.
	_, err := w.store(w.overSSH(x, key(t, "ed25519")), func(o *gitstore.Options) {
		c := o.Credentials
		o.Credentials = func(ctx context.Context) (gitstore.Credentials, error) {
			k, err := c(ctx)
			k.HostKeyAlgorithms = algorithms([]string{"ecdsa"})
			return k, err
		}
	}).Look(t.Context())
	e := w.expectKind(err, gitstore.HostKey)
	w.Expect(e.Text).To(And(ContainSubstring("offered ssh-ed25519"), ContainSubstring("known ecdsa-sha2-nistp256")))
	w.Expect(err.Error()).To(ContainSubstring(x.Addr()), "the host is named")
	// The key is another one.
	_, err = w.store(w.overSSH(other, key(t, "ed25519")), func(o *gitstore.Options) { o.URL = x.URL("repo") }).Look(t.Context())
	w.expectKind(err, gitstore.HostKey)
	// Nothing is known.
	_, err = w.store(func(o *gitstore.Options) { o.URL = x.URL("repo") }).Look(t.Context())
	w.expectKind(err, gitstore.HostKey)
	w.Expect(x.Commands()).To(BeEmpty())
}

func TestSSHFailuresAreTyped(t *testing.T) {
	k := key(t, "ed25519")
	w, x := sshWorld(t, gitserver.SSHOptions{AuthorizedKey: k.PublicKey()})
	_, err := w.store(w.overSSH(x, key(t, "rsa"))).Look(t.Context())
	w.expectKind(err, gitstore.Auth)
	_, err = w.store(w.overSSH(x, k), func(o *gitstore.Options) { o.URL = x.URL("nowhere") }).Look(t.Context())
	e := w.expectKind(err, gitstore.NotFound)
	w.Expect(e.Text).To(ContainSubstring("nowhere.git"))
}

func TestScenario84_StalledSSHEndsAtTheDeadline(t *testing.T) {
	for _, at := range []gitserver.SSHStall{gitserver.StallAccept, gitserver.StallExec, gitserver.StallReply} {
		t.Run(string(at), func(t *testing.T) {
			w, x := sshWorld(t, gitserver.SSHOptions{})
			s := w.store(w.overSSH(x, key(t, "ed25519")), deadline(400*time.Millisecond))
			w.eventually(func() error { return s.Fetch(t.Context(), gitstore.Hash{}) })
			for op, call := range w.calls(s) {
				if at == gitserver.StallReply && op != "push" {
					continue
				}
				x.SetStall(at)
				e := w.expectKind(call(), gitstore.Timeout)
				w.Expect(e.Op).To(Equal(op))
			}
			x.SetStall(gitserver.NoStall)
			w.eventually(func() error { _, err := s.Look(t.Context()); return err })
			w.eventually(func() error { return land(t, s, "after") })
			w.sound(s)
		})
	}
}

func TestScenario79_LostReplyOverSSHLandsOnce(t *testing.T) {
	w, x := sshWorld(t, gitserver.SSHOptions{})
	s := w.store(w.overSSH(x, key(t, "ed25519")))
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	tip := w.commit(s, s.Base(), "ours", put("x", "1"))
	x.SetStall(gitserver.LoseReply)
	res, err := s.Push(t.Context(), s.Base(), tip)
	w.Expect(err).To(HaveOccurred())
	w.Expect(res.Outcome).To(Equal(gitstore.Unknown))
	x.SetStall(gitserver.NoStall)
	w.Eventually(w.tip).Should(Equal(tip))
	r, err := s.Look(t.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(r.Tip).To(Equal(tip))
	w.Expect(s.Base()).To(Equal(tip))
}

func TestSSHThroughAnHTTPProxy(t *testing.T) {
	w, x := sshWorld(t, gitserver.SSHOptions{})
	var asked string
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.Host
		up, err := net.Dial("tcp", x.Addr())
		if err != nil {
			return
		}
		defer up.Close()
		c, buf, err := rw.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(up, buf) }()
		_, _ = io.Copy(c, up)
	}))
	t.Cleanup(proxy.Close)
	u, err := url.Parse(proxy.URL)
	w.Expect(err).NotTo(HaveOccurred())
	_, err = w.store(w.overSSH(x, key(t, "ed25519")), func(o *gitstore.Options) {
		c := o.Credentials
		o.Credentials = func(ctx context.Context) (gitstore.Credentials, error) {
			k, err := c(ctx)
			k.Proxy = u
			return k, err
		}
	}).Look(t.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(asked).To(Equal("CONNECT " + x.Addr()))
}

// The key exchange is the one that was asked for; without a common one the error says what each side has.
func TestSSHKeyExchange(t *testing.T) {
	k := key(t, "ed25519")
	w, x := sshWorld(t, gitserver.SSHOptions{AuthorizedKey: k.PublicKey()})
	look := func(kex ...string) error {
		_, err := w.store(w.overSSH(x, k), func(o *gitstore.Options) {
			c := o.Credentials
			o.Credentials = func(ctx context.Context) (gitstore.Credentials, error) {
				cred, err := c(ctx)
				cred.KexAlgorithms = kex
				return cred, err
			}
		}).Look(t.Context())
		return err
	}
	w.Expect(look(ssh.KeyExchangeCurve25519)).To(Succeed())
	e := w.expectKind(look(ssh.InsecureKeyExchangeDH1SHA1), gitstore.Connection)
	w.Expect(e.Text).To(And(ContainSubstring("curve25519-sha256"), ContainSubstring(ssh.InsecureKeyExchangeDH1SHA1),
		ContainSubstring("--ssh-kex-algos")))
}
