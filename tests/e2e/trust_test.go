// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

// keySecret creates or replaces a Secret of the mirror's namespace that holds keys.
func (m *mirror) keySecret(ctx SpecContext, name string, values map[string]string) {
	GinkgoHelper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: name}, StringData: values}
	if err := kube.Create(ctx, s); err != nil {
		Expect(client.IgnoreAlreadyExists(err)).To(Succeed())
		Expect(kube.Delete(ctx, &corev1.Secret{ObjectMeta: s.ObjectMeta})).To(Succeed())
		s.ResourceVersion = ""
		Expect(kube.Create(ctx, s)).To(Succeed())
	}
}

// provider reads the GitProvider.
func (m *mirror) provider(ctx SpecContext, g Gomega) *v1alpha3.GitProvider {
	p := &v1alpha3.GitProvider{}
	g.Expect(kube.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: "infra"}, p)).To(Succeed())
	return p
}

// providerFails waits until the GitProvider has stalled for a reason, and returns its message.
func (m *mirror) providerFails(ctx SpecContext, reason string) string {
	GinkgoHelper()
	var text string
	Eventually(func(g Gomega) {
		p := m.provider(ctx, g)
		g.Expect(conditions.IsFalse(p, meta.ReadyCondition)).To(BeTrue())
		g.Expect(conditions.IsStalled(p)).To(BeTrue(), "a person must act")
		g.Expect(conditions.GetReason(p, meta.ReadyCondition)).To(Equal(reason))
		text = conditions.GetMessage(p, meta.ReadyCondition)
	}).Should(Succeed())
	return text
}

// checkAgain asks the GitProvider to read its Secrets now instead of at its interval.
func (m *mirror) checkAgain(ctx SpecContext) {
	GinkgoHelper()
	annotate(ctx, &v1alpha3.GitProvider{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "infra"}})
}

// keepsTip proves that a branch is left alone: when another mirror of the same operator has committed, this one would
// have, too.
func (m *mirror) keepsTip(ctx SpecContext, tip string) {
	GinkgoHelper()
	other := newMirror(ctx, mirrorOptions{})
	other.apply(ctx, "marker", data(0))
	other.settled(ctx)
	Expect(m.repo.Tip("main")).To(Equal(tip))
}

// signed asks for signed commits with the key of the Secret "signing".
func signed(p *v1alpha3.GitProvider) {
	p.Spec.Commit = &v1alpha3.GitProviderCommit{Signing: &v1alpha3.CommitSigning{SecretRef: meta.LocalObjectReference{Name: "signing"}}}
}

// verifier is what `git verify-commit` believes: a GnuPG home, or a file of allowed signers.
type verifier struct{ gnupg, allowed string }

// verify runs git verify-commit.
func (m *mirror) verify(ctx SpecContext, v verifier, commit string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", "-c", "gpg.ssh.allowedSignersFile="+v.allowed, "verify-commit", "-v", commit)
	cmd.Dir, cmd.Env = m.repo.Dir, append(gitserver.Env(dir), "GNUPGHOME="+v.gnupg)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// allVerify checks every commit of the operator, and that nobody else's passes; it returns how many are ours.
func (m *mirror) allVerify(ctx SpecContext, v verifier) int {
	GinkgoHelper()
	ours := 0
	for _, c := range m.log() {
		out, err := m.verify(ctx, v, c.Hash)
		if c.CommitterEmail != v1alpha3.DefaultCommitterEmail {
			Expect(err).To(HaveOccurred(), "an unsigned commit does not pass: %s", out)
			continue
		}
		ours++
		Expect(err).NotTo(HaveOccurred(), "%s: %s", c.Message, out)
	}
	return ours
}

// allowedSigners trusts the GitProvider's public key, as a person copies it from the status.
func (m *mirror) allowedSigners(ctx SpecContext) verifier {
	GinkgoHelper()
	v := verifier{allowed: filepath.Join(dir, unique("allowed-signers"))}
	Expect(writeFile(v.allowed, v1alpha3.DefaultCommitterEmail+" "+m.provider(ctx, Default).Status.SigningPublicKey+"\n")).To(Succeed())
	return v
}

// sshKey makes a private key in OpenSSH form, encrypted when a passphrase is given, and its public key.
func sshKey(passphrase string) (string, ssh.PublicKey) {
	GinkgoHelper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	var block *pem.Block
	if passphrase == "" {
		block, err = ssh.MarshalPrivateKey(private, "")
	} else {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte(passphrase))
	}
	Expect(err).NotTo(HaveOccurred())
	return string(pem.EncodeToMemory(block)), must(ssh.NewPublicKey(public))
}

// keyring is the home of a GnuPG of its own.
type keyring string

// newKeyring makes an empty keyring; its agent ends with the spec.
func newKeyring() keyring {
	GinkgoHelper()
	if _, err := exec.LookPath("gpg"); err != nil {
		if os.Getenv("CI") == "true" {
			Fail("gpg is required in CI")
		}
		Skip("gpg is not installed")
	}
	k := keyring(filepath.Join(dir, unique("gpg")))
	Expect(os.MkdirAll(string(k), 0o700)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		cmd := exec.CommandContext(ctx, "gpgconf", "--homedir", string(k), "--kill", "all")
		Expect(cmd.Run()).To(Succeed())
	})
	return k
}

func (k keyring) run(ctx SpecContext, stdin string, args ...string) string {
	GinkgoHelper()
	cmd := exec.CommandContext(ctx, "gpg", append([]string{"--homedir", string(k), "--batch", "--quiet", "--pinentry-mode", "loopback"}, args...)...)
	cmd.Env, cmd.Stdin = gitserver.Env(dir), strings.NewReader(stdin)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	Expect(cmd.Run()).To(Succeed(), "gpg %v: %s", args, &said)
	return out.String()
}

// key makes a signing key and returns it armoured, as Flux's git.asc holds it.
func (k keyring) key(ctx SpecContext, algorithm, passphrase string) string {
	GinkgoHelper()
	k.run(ctx, "", "--passphrase", passphrase, "--quick-generate-key", "GitOps Reverser <"+v1alpha3.DefaultCommitterEmail+">", algorithm, "sign", "never")
	return k.run(ctx, "", "--passphrase", passphrase, "--armor", "--export-secret-keys")
}

var _ = Describe("A signed mirror", func() {
	DescribeTable("with an OpenPGP key makes commits that git verify-commit accepts from the key of the status",
		func(ctx SpecContext, algorithm, passphrase string) {
			key := newKeyring().key(ctx, algorithm, passphrase)
			m := newMirror(ctx, mirrorOptions{
				provider: signed,
				before: func(m *mirror) {
					m.keySecret(ctx, "signing", map[string]string{"git.asc": key, "passphrase": passphrase})
				},
				adjust: func(t *v1alpha3.GitTarget) {
					t.Spec.Commit.Window = &v1alpha3.CommitWindow{IdleTimeout: &metav1.Duration{}, MaxDuration: &metav1.Duration{}}
				},
			})
			for i := range 3 {
				m.apply(ctx, "signed", data(i))
			}
			m.settled(ctx)
			reader := newKeyring()
			reader.run(ctx, m.provider(ctx, Default).Status.SigningPublicKey, "--import")
			Expect(m.allVerify(ctx, verifier{gnupg: string(reader)})).To(BeNumerically(">=", 3))
			Expect(must(m.verify(ctx, verifier{gnupg: string(reader)}, "main"))).To(ContainSubstring("Good signature from"))
			_, err := m.verify(ctx, verifier{gnupg: string(newKeyring())}, "main")
			Expect(err).To(HaveOccurred(), "an empty keyring accepts nothing")
		},
		Entry("ed25519 with a passphrase", "ed25519", "planted-passphrase"),
		Entry("rsa without one", "rsa2048", ""),
	)

	DescribeTable("whose passphrase is wrong makes no commit, says so, and goes on when it is right",
		func(ctx SpecContext, entry string, key func(SpecContext) string) {
			values := map[string]string{entry: key(ctx), "passphrase": "planted-wrong-one"}
			m := newMirror(ctx, mirrorOptions{provider: signed, unready: true, before: func(m *mirror) { m.keySecret(ctx, "signing", values) }})
			tip := m.repo.Tip("main")
			m.apply(ctx, "waits", data(0))
			text := m.providerFails(ctx, v1alpha3.CommitConfigInvalidReason)
			Expect(text).To(And(ContainSubstring(m.namespace+"/signing"), ContainSubstring(`"passphrase"`), ContainSubstring("no commit is made")))
			Expect(text).NotTo(ContainSubstring("planted"))
			m.keepsTip(ctx, tip)
			Expect(conditions.IsReady(m.get(ctx, Default))).To(BeFalse())

			values["passphrase"] = "planted-right-one"
			m.keySecret(ctx, "signing", values)
			m.checkAgain(ctx)
			m.settled(ctx)
			m.waitReady(ctx)
			v := verifier{}
			if entry == "git.asc" {
				reader := newKeyring()
				reader.run(ctx, m.provider(ctx, Default).Status.SigningPublicKey, "--import")
				v.gnupg = string(reader)
			} else {
				v = m.allowedSigners(ctx)
			}
			Expect(m.allVerify(ctx, v)).To(BeNumerically(">=", 1))
		},
		Entry("of an SSH key", "signing.key", func(SpecContext) string { k, _ := sshKey("planted-right-one"); return k }),
		Entry("of an OpenPGP key", "git.asc", func(ctx SpecContext) string { return newKeyring().key(ctx, "ed25519", "planted-right-one") }),
	)

	It("whose key is spoilt while it runs writes nothing unsigned", func(ctx SpecContext) {
		key, _ := sshKey("planted-right-one")
		m := newMirror(ctx, mirrorOptions{provider: signed, before: func(m *mirror) {
			m.keySecret(ctx, "signing", map[string]string{"signing.key": key, "passphrase": "planted-right-one"})
		}})
		m.apply(ctx, "first", data(0))
		m.settled(ctx)
		v := m.allowedSigners(ctx)
		tip := m.repo.Tip("main")
		m.keySecret(ctx, "signing", map[string]string{"signing.key": key, "passphrase": "planted-wrong-one"})
		m.apply(ctx, "second", data(1))
		m.condition(ctx, meta.ReadyCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Status).To(Equal(metav1.ConditionFalse))
			g.Expect(c.Message).To(And(ContainSubstring(v1alpha3.CommitConfigInvalidReason), ContainSubstring(m.namespace+"/signing")))
			g.Expect(c.Message).NotTo(ContainSubstring("planted"))
		})
		m.keepsTip(ctx, tip)
		m.keySecret(ctx, "signing", map[string]string{"signing.key": key, "passphrase": "planted-right-one"})
		m.checkAgain(ctx)
		poke(ctx, m)
		m.settled(ctx)
		m.waitReady(ctx)
		Expect(m.allVerify(ctx, v)).To(BeNumerically(">=", 2))
	})

	It("signs again the commits that a moved remote replaces", func(ctx SpecContext) {
		key, _ := sshKey("")
		m := newMirror(ctx, mirrorOptions{provider: signed, before: func(m *mirror) {
			m.keySecret(ctx, "signing", map[string]string{"signing.key": key})
		}})
		m.apply(ctx, "first", data(0))
		m.settled(ctx)
		v := m.allowedSigners(ctx)
		git.SetFault(gitserver.Fault{Status: http.StatusInternalServerError, Body: "disk on fire"})
		DeferCleanup(git.ClearFaults)
		for i := range 3 {
			m.apply(ctx, fmt.Sprintf("waits-%d", i), data(i))
			Eventually(func() float64 { return metric(ctx, "git_retained_writes", m.namespace) }).Should(BeNumerically(">=", i+1))
		}
		byHand := must(m.repo.Commit("main", "By hand", map[string]string{"notes.txt": "moved"}))
		// Once more while the replacement is on its way.
		second := ""
		git.SetFault(gitserver.Fault{Service: "git-receive-pack", Method: http.MethodPost, Times: 1, Before: func() {
			second, _ = m.repo.Commit("main", "By hand again", map[string]string{"notes.txt": "moved again"})
		}})
		poke(ctx, m)
		m.settled(ctx)
		Expect(second).NotTo(BeEmpty())
		Expect(m.repo.IsAncestor(byHand, second)).To(BeTrue())
		Expect(m.repo.IsAncestor(second, "main")).To(BeTrue())
		Expect(must(m.repo.Git("rev-list", "--count", second+"..main"))).To(Equal("3\n"))
		Expect(m.allVerify(ctx, v)).To(BeNumerically(">=", 4))
	})
})

var _ = Describe("A repository over SSH", func() {
	// remote is an SSH server with one client key; the mirror's Secret "login" holds that key and host keys.
	remote := func() (*gitserver.SSHServer, string) {
		GinkgoHelper()
		key, public := sshKey("")
		return must(git.ServeSSH(gitserver.SSHOptions{AuthorizedKey: public})), key
	}
	over := func(ctx SpecContext, server *gitserver.SSHServer, key, knownHosts string, unready bool) *mirror {
		GinkgoHelper()
		return newMirror(ctx, mirrorOptions{
			unready: unready,
			before: func(m *mirror) {
				m.keySecret(ctx, "login", map[string]string{"identity": key, "known_hosts": knownHosts})
			},
			provider: func(p *v1alpha3.GitProvider) {
				p.Spec.URL, p.Spec.SecretRef = server.URL(p.Namespace), &meta.LocalObjectReference{Name: "login"}
			},
		})
	}
	line := func(server *gitserver.SSHServer, host string, key ssh.PublicKey) string {
		_, port, _ := strings.Cut(server.Addr(), ":")
		return fmt.Sprintf("[%s]:%s %s", host, port, ssh.MarshalAuthorizedKey(key))
	}

	It("is written when its host key is known", func(ctx SpecContext) {
		server, key := remote()
		m := over(ctx, server, key, server.KnownHosts(), false)
		m.apply(ctx, "over-ssh", data(0))
		m.settled(ctx)
		m.apply(ctx, "over-ssh", data(1))
		m.settled(ctx)
		Expect(server.Commands()).To(ContainElement(HavePrefix("git-receive-pack ")))
	})

	DescribeTable("that cannot prove who it is gets nothing, and is written when known_hosts is right",
		func(ctx SpecContext, knownHosts func(*gitserver.SSHServer) string, cure ...string) {
			server, key := remote()
			m := over(ctx, server, key, knownHosts(server), true)
			m.apply(ctx, "waits", data(0))
			tip := m.repo.Tip("main")
			text := m.providerFails(ctx, v1alpha3.HostKeyUnavailableReason)
			for _, c := range cure {
				Expect(text).To(ContainSubstring(c))
			}
			m.keepsTip(ctx, tip)
			Expect(server.Commands()).To(BeEmpty(), "nothing was asked of an unproven host")
			m.keySecret(ctx, "login", map[string]string{"identity": key, "known_hosts": server.KnownHosts()})
			m.checkAgain(ctx)
			m.settled(ctx)
			m.waitReady(ctx)
		},
		Entry("an unknown host", func(s *gitserver.SSHServer) string { return line(s, "git.example.org", s.HostKeys()[0]) },
			"no usable entry", "ssh-keyscan -p", "127.0.0.1"),
		Entry("a changed host key", func(s *gitserver.SSHServer) string {
			return line(s, "127.0.0.1", must(gitserver.NewSSHKey("ed25519")).PublicKey())
		}, "is not the known one", "SHA256:", "update known_hosts"),
		Entry("no host key at all", func(*gitserver.SSHServer) string { return "" }, "known_hosts"),
	)

	It("whose host key changes while it runs stops, and goes on when that is confirmed", func(ctx SpecContext) {
		server, key := remote()
		m := over(ctx, server, key, server.KnownHosts(), false)
		m.apply(ctx, "before", data(0))
		m.settled(ctx)
		tip := m.repo.Tip("main")
		other := must(gitserver.NewSSHKey("ed25519")).PublicKey()
		m.keySecret(ctx, "login", map[string]string{"identity": key, "known_hosts": line(server, "127.0.0.1", other)})
		m.apply(ctx, "during", data(1))
		m.condition(ctx, meta.ReadyCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Status).To(Equal(metav1.ConditionFalse))
			g.Expect(c.Message).To(And(ContainSubstring(v1alpha3.HostKeyUnavailableReason), ContainSubstring(ssh.FingerprintSHA256(other)), ContainSubstring("update known_hosts")))
		})
		m.keepsTip(ctx, tip)
		m.keySecret(ctx, "login", map[string]string{"identity": key, "known_hosts": server.KnownHosts()})
		m.checkAgain(ctx)
		poke(ctx, m)
		m.settled(ctx)
		m.waitReady(ctx)
	})
})
