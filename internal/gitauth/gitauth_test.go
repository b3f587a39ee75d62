// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/crypto/ssh"

	"github.com/configbutler/gitops-reverser/internal/gitauth"
)

const anyURL = "https://git.example.com/team/repo.git"

func newKey(kind string) crypto.Signer {
	var k crypto.Signer
	var err error
	switch kind {
	case ssh.KeyAlgoRSA:
		return rsaKey()
	case ssh.KeyAlgoECDSA256:
		k, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	default:
		_, k, err = ed25519.GenerateKey(rand.Reader)
	}
	if err != nil {
		panic(err)
	}
	return k
}

// rsaKey is made once, because making one is slow.
var rsaKey = sync.OnceValue(func() crypto.Signer {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

func newSigner(kind string) ssh.Signer {
	s, err := ssh.NewSignerFromSigner(newKey(kind))
	if err != nil {
		panic(err)
	}
	return s
}

func keyPEM(passphrase string) []byte {
	var b *pem.Block
	var err error
	if passphrase == "" {
		b, err = ssh.MarshalPrivateKey(newKey(""), "")
	} else {
		b, err = ssh.MarshalPrivateKeyWithPassphrase(newKey(""), "", []byte(passphrase))
	}
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(b)
}

// knownLine is a known_hosts line.
func knownLine(hosts string, k ssh.PublicKey) string {
	return hosts + " " + string(ssh.MarshalAuthorizedKey(k))
}

func reason(err error) gitauth.Reason {
	var e *gitauth.Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

func secret(kv ...string) gitauth.Secret {
	s := gitauth.Secret{}
	for i := 0; i < len(kv); i += 2 {
		s[kv[i]] = []byte(kv[i+1])
	}
	return s
}

func TestHTTPCredentials(t *testing.T) {
	for _, c := range []struct {
		name               string
		url                string
		secret             gitauth.Secret
		user, pass, bearer string
		fails              gitauth.Reason
		says               string
	}{
		{name: "no Secret is anonymous"},
		{name: "Kubernetes and Flux basic", secret: secret("username", "ann", "password", "hunter2!"), user: "ann", pass: "hunter2!"},
		{name: "a line break at the end is a file's, not the token's", secret: secret("username", "ann\n", "password", "hunter2!\r\n"), user: "ann", pass: "hunter2!"},
		{name: "password alone", secret: secret("password", "hunter2!"), user: "git", pass: "hunter2!"},
		{name: "password with the URL's user", url: "https://bob@git.example.com/r", secret: secret("password", "hunter2!"), user: "bob", pass: "hunter2!"},
		{name: "bearer", secret: secret("bearerToken", "tok-123456"), bearer: "tok-123456"},
		{name: "bearer before basic", secret: secret("bearerToken", "tok-123456", "username", "ann", "password", "hunter2!"), bearer: "tok-123456"},
		{name: "an empty value is absent", secret: secret("bearerToken", "", "username", "ann", "password", "hunter2!"), user: "ann", pass: "hunter2!"},
		{name: "an SSH key beside is left alone", secret: secret("identity", "x", "username", "ann", "password", "hunter2!"), user: "ann", pass: "hunter2!"},
		{name: "Argo CD repository Secret", secret: secret("type", "git", "url", anyURL, "project", "default", "username", "ann", "password", "hunter2!", "insecure", "false"), user: "ann", pass: "hunter2!"},
		{name: "user name alone", secret: secret("username", "ann"), fails: gitauth.SecretMalformed, says: `no "password"`},
		{name: "nothing at all", secret: secret(), fails: gitauth.SecretMalformed, says: "found nothing of that"},
		{name: "a typo is not anonymous", secret: secret("pasword", "hunter2!"), fails: gitauth.SecretMalformed, says: "holds no credential for https URLs"},
		{name: "only an SSH key", secret: secret("ssh-privatekey", "x"), fails: gitauth.SecretMalformed, says: "found an SSH key"},
		{name: "two lines", secret: secret("password", "hunter2!\nhunter3!"), fails: gitauth.SecretMalformed, says: "several lines"},
		{name: "the word Bearer", secret: secret("bearerToken", "Bearer tok-123456"), fails: gitauth.SecretMalformed, says: `without "Bearer"`},
		{name: "a colon in the user name", secret: secret("username", "a:b", "password", "hunter2!"), fails: gitauth.SecretMalformed, says: "colon"},
		{name: "clear text", url: "http://git.example.com/r", secret: secret("password", "hunter2!"), fails: gitauth.InvalidConfig, says: "--insecure-allow-git-http"},
		{name: "anonymous clear text", url: "http://git.example.com/r"},
		{name: "a password in the URL", url: "https://ann:hunter2!@git.example.com/r", fails: gitauth.InvalidConfig, says: "spec.url holds a password"},
		{name: "another scheme", url: "file:///srv/repo", fails: gitauth.InvalidConfig, says: "not supported"},
		{name: "no host", url: "https:///r", fails: gitauth.InvalidConfig, says: "no host"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			if c.url == "" {
				c.url = anyURL
			}
			got, err := gitauth.Resolve(context.Background(), gitauth.Input{URL: c.url, Secret: c.secret, SecretName: "ns/creds"})
			if c.fails != "" {
				g.Expect(reason(err)).To(Equal(c.fails))
				g.Expect(err.Error()).To(ContainSubstring(c.says))
				g.Expect(err.Error()).NotTo(ContainSubstring("hunter"))
				g.Expect(got).To(Equal(gitauth.Credentials{}))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect([]string{got.Username, got.Password, got.BearerToken}).To(Equal([]string{c.user, c.pass, c.bearer}))
			g.Expect(got.SSHSigner).To(BeNil())
			g.Expect(got.TLS).To(BeNil())
			g.Expect(got.Proxy).To(BeNil())
		})
	}
}

func TestPlainHTTPIsAllowedByFlag(t *testing.T) {
	g := NewWithT(t)
	got, err := gitauth.Resolve(context.Background(), gitauth.Input{URL: "http://git.example.com/r", Secret: secret("password", "hunter2!"), AllowInsecureHTTP: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Password).To(Equal("hunter2!"))
}

func TestSSHCredentials(t *testing.T) {
	host := newSigner("")
	known := knownLine("git.example.com", host.PublicKey())
	clear, locked := string(keyPEM("")), string(keyPEM("open sesame"))
	for _, c := range []struct {
		name   string
		url    string
		secret gitauth.Secret
		user   string
		says   string
	}{
		{name: "Kubernetes", secret: secret("ssh-privatekey", clear), user: "git"},
		{name: "Flux", secret: secret("identity", clear, "identity.pub", "x"), user: "git"},
		{name: "Argo CD", secret: secret("sshPrivateKey", clear, "type", "git"), user: "git"},
		{name: "the URL's user", url: "ssh://bot@git.example.com/r", secret: secret("identity", clear), user: "bot"},
		{name: "passphrase of Kubernetes", secret: secret("ssh-privatekey", locked, "ssh-password", "open sesame"), user: "git"},
		{name: "passphrase of Flux, with a line break", secret: secret("identity", locked, "password", "open sesame\n"), user: "git"},
		{name: "ssh-password before password", secret: secret("identity", locked, "ssh-password", "open sesame", "password", "the https one"), user: "git"},
		{name: "a password beside an open key", secret: secret("identity", clear, "username", "ann", "password", "hunter2!"), user: "git"},
		{name: "no passphrase", secret: secret("identity", locked), says: "has a passphrase"},
		{name: "wrong passphrase", secret: secret("identity", locked, "password", "hunter2!"), says: "does not open"},
		{name: "no key", secret: secret("username", "ann", "password", "hunter2!"), says: "found a password, a user name"},
		{name: "no PEM", secret: secret("identity", "hunter2!"), says: "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			if c.url == "" {
				c.url = "git@git.example.com:team/repo.git"
			}
			got, err := gitauth.Resolve(context.Background(), gitauth.Input{URL: c.url, Secret: c.secret, KnownHosts: []gitauth.Secret{secret("known_hosts", known)}})
			if c.says != "" {
				g.Expect(reason(err)).To(Equal(gitauth.SecretMalformed))
				g.Expect(err.Error()).To(ContainSubstring(c.says))
				g.Expect(err.Error()).NotTo(ContainSubstring("hunter"))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.SSHUser).To(Equal(c.user))
			g.Expect(got.SSHSigner).NotTo(BeNil())
			g.Expect(got.Password).To(BeEmpty())
			g.Expect(got.HostKeyAlgorithms).To(Equal([]string{ssh.KeyAlgoED25519}))
		})
	}
}

func TestURLForms(t *testing.T) {
	known := knownLine("git.example.com,[::1]:2222,::1,[git.example.com]:2222", newSigner("").PublicKey())
	for url, ok := range map[string]bool{
		"git@git.example.com:r":               true,
		"git.example.com:r":                   true,
		"ssh://git@git.example.com/r":         true,
		"ssh://git@git.example.com:22/r":      true,
		"ssh://git@GIT.example.com.:2222/r":   true,
		"git+ssh://git@git.example.com/r":     true,
		"ssh://git@[::1]:2222/r":              true,
		"git@[::1]:r":                         true,
		"ssh://git@git.example.com:2200/r":    false,
		"ssh://git@other.example.com/r":       false,
		"git@[::1":                            false,
		"/srv/repo":                           false,
		"":                                    false,
		"ssh://git@git.example.com:badport/r": false,
	} {
		t.Run(url, func(t *testing.T) {
			g := NewWithT(t)
			_, err := gitauth.Resolve(context.Background(), gitauth.Input{URL: url, KnownHosts: []gitauth.Secret{secret("known_hosts", known)}})
			g.Expect(err == nil).To(Equal(ok), "%v", err)
		})
	}
}

// G15: a token that was replaced in the Secret is used by the next call; nothing is remembered.
func TestCaseG15_ReplacedCredential(t *testing.T) {
	g := NewWithT(t)
	resolve := func(token string) gitauth.Credentials {
		c, err := gitauth.Resolve(context.Background(), gitauth.Input{URL: anyURL, Secret: secret("password", token)})
		g.Expect(err).NotTo(HaveOccurred())
		return c
	}
	a, b := resolve("token-A"), resolve("token-B")
	g.Expect(a.Password).To(Equal("token-A"))
	g.Expect(b.Password).To(Equal("token-B"))
	g.Expect(a.Revision).NotTo(Equal(b.Revision))
	g.Expect(resolve("token-A").Revision).To(Equal(a.Revision))
	g.Expect(a.Revision).NotTo(ContainSubstring("token"))
}

// An SSH key is opened once, and again when the Secret changes.
func TestSSHKeysAreRemembered(t *testing.T) {
	g := NewWithT(t)
	in := gitauth.Input{URL: "git@git.example.com:r", Secret: secret("identity", string(keyPEM("open sesame")), "password", "open sesame"),
		KnownHosts: []gitauth.Secret{secret("known_hosts", knownLine("git.example.com", newSigner("").PublicKey()))}, SSHKeys: &gitauth.Memo[ssh.Signer]{}}
	resolve := func() (ssh.Signer, error) {
		c, err := gitauth.Resolve(context.Background(), in)
		return c.SSHSigner, err
	}
	first, err := resolve()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(resolve()).To(BeIdenticalTo(first))
	in.Secret["password"] = []byte("hunter2!")
	_, err = resolve()
	g.Expect(reason(err)).To(Equal(gitauth.SecretMalformed))
	in.Secret["identity"] = keyPEM("")
	g.Expect(resolve()).NotTo(BeIdenticalTo(first))
}

// G18: nothing of the machine counts, not its known hosts, its agent, its netrc nor its Git configuration.
func TestCaseG18_AmbientConfiguration(t *testing.T) {
	g := NewWithT(t)
	home := t.TempDir()
	known := knownLine("git.example.com", newSigner("").PublicKey())
	for name, text := range map[string]string{".ssh/known_hosts": known, ".netrc": "machine git.example.com login ann password hunter2!\n",
		".gitconfig": "[url \"https://evil.example.com/\"]\n\tinsteadOf = https://git.example.com/\n[credential]\n\thelper = store\n", ".git-credentials": "https://ann:hunter2!@git.example.com\n", ".ssh/id_ed25519": string(keyPEM(""))} {
		g.Expect(os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(home, name), []byte(text), 0o600)).To(Succeed())
	}
	t.Setenv("HOME", home)
	t.Setenv("SSH_KNOWN_HOSTS", filepath.Join(home, ".ssh/known_hosts"))
	t.Setenv("SSH_AUTH_SOCK", filepath.Join(home, "agent"))
	_, err := gitauth.Resolve(context.Background(), gitauth.Input{URL: "git@git.example.com:r"})
	g.Expect(reason(err)).To(Equal(gitauth.HostKeyUnavailable))
	c, err := gitauth.Resolve(context.Background(), gitauth.Input{URL: "git@git.example.com:r", KnownHosts: []gitauth.Secret{secret("known_hosts", known)}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.SSHSigner).To(BeNil())
	c, err = gitauth.Resolve(context.Background(), gitauth.Input{URL: anyURL})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Username + c.Password).To(BeEmpty())
}

func TestRevisionFollowsEveryPart(t *testing.T) {
	g := NewWithT(t)
	ca := string(newCA(t).certPEM)
	seen := map[string]string{}
	for name, in := range map[string]gitauth.Input{
		"anonymous":   {URL: anyURL},
		"basic":       {URL: anyURL, Secret: secret("username", "ann", "password", "hunter2!")},
		"split other": {URL: anyURL, Secret: secret("username", "ann\x00", "password", "hunter2!")},
		"bearer":      {URL: anyURL, Secret: secret("bearerToken", "hunter2!")},
		"ca":          {URL: anyURL, Secret: secret("username", "ann", "password", "hunter2!", "ca.crt", ca)},
		"proxy":       {URL: anyURL, ProxySecret: secret("address", "http://p:1")},
		"proxy user":  {URL: anyURL, ProxySecret: secret("address", "http://p:1", "username", "u", "password", "hunter2!")},
	} {
		c, err := gitauth.Resolve(context.Background(), in)
		if strings.Contains(name, "other") {
			g.Expect(err).To(HaveOccurred())
			continue
		}
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(seen).NotTo(HaveKey(c.Revision), "%s and %s", name, seen[c.Revision])
		seen[c.Revision] = name
	}
}
