// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package signing_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/ProtonMail/go-crypto/openpgp/s2k"
	. "github.com/onsi/gomega"
	"golang.org/x/crypto/ssh"

	"github.com/configbutler/gitops-reverser/internal/gitauth"
	"github.com/configbutler/gitops-reverser/internal/gitauth/signing"
)

const email = "noreply@configbutler.ai"

// tool looks for a command of the machine; without it the test is skipped, or fails with CI=true (decisions 86).
func tool(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%s is required in CI", name)
			}
			t.Skipf("%s not found", name)
		}
	}
}

// bench is a repository with its own configuration and none of the machine's.
type bench struct {
	t    *testing.T
	dir  string
	home string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	tool(t, "git")
	b := &bench{t: t, dir: t.TempDir(), home: shortDir(t)}
	b.git(nil, "init", "-q", ".")
	return b
}

// shortDir is a folder with a short name: the socket of gpg-agent lives in it.
func shortDir(t *testing.T) string {
	t.Helper()
	d, err := os.MkdirTemp("", "gr")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(d) })
	return d
}

func (b *bench) env() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.home, "GNUPGHOME=" + b.home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
}

func (b *bench) run(in []byte, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = b.dir, b.env(), bytes.NewReader(in)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (b *bench) git(in []byte, args ...string) string {
	b.t.Helper()
	out, err := b.run(in, "git", args...)
	if err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(out)
}

// commit stores a signed commit object, made the way the store makes it: the signature is a header, each further line
// of it indented by a space.
func (b *bench) commit(s *signing.Signer, message string) string {
	b.t.Helper()
	tree := b.git(nil, "hash-object", "-w", "-t", "tree", "/dev/null")
	head := "tree " + tree + "\nauthor Ann <ann@example.com> 1700000000 +0000\ncommitter GitOps Reverser <" + email + "> 1700000000 +0000\n"
	sig, err := s.Sign([]byte(head + "\n" + message))
	if err != nil {
		b.t.Fatal(err)
	}
	header := "gpgsig " + strings.ReplaceAll(strings.TrimRight(string(sig), "\n"), "\n", "\n ") + "\n"
	return b.git([]byte(head+header+"\n"+message), "hash-object", "-w", "-t", "commit", "--stdin")
}

// trustSSH makes Git accept signatures of a public key by the given person.
func (b *bench) trustSSH(who, public string) {
	b.t.Helper()
	file := filepath.Join(b.home, "allowed_signers")
	if err := os.WriteFile(file, []byte(who+" "+public+"\n"), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.git(nil, "config", "gpg.ssh.allowedSignersFile", file)
}

func pemOf(k crypto.PrivateKey, passphrase string) []byte {
	block, err := ssh.MarshalPrivateKey(k, "")
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(k, "", []byte(passphrase))
	}
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(block)
}

func pkcs8(k crypto.PrivateKey) []byte {
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func keys(t *testing.T) map[string]crypto.PrivateKey {
	t.Helper()
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ec, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]crypto.PrivateKey{"ed25519": ed, "ecdsa": ec, "rsa": r}
}

func reason(err error) gitauth.Reason {
	var e *gitauth.Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

// Scenario 68 and G16: every kind and form of key signs so that ssh-keygen and git accept it.
func TestScenario68_SSHSignatures(t *testing.T) {
	b := newBench(t)
	tool(t, "ssh-keygen")
	for kind, k := range keys(t) {
		for form, secret := range map[string]gitauth.Secret{
			"OpenSSH":                   {"signing.key": pemOf(k, "")},
			"OpenSSH with a passphrase": {"signing.key": pemOf(k, "open sesame"), "passphrase": []byte("open sesame\n")},
			"PKCS#8":                    {"signing.key": pkcs8(k)},
			"an unneeded passphrase":    {"signing.key": pkcs8(k), "passphrase": []byte("open sesame")},
		} {
			t.Run(kind+" "+form, func(t *testing.T) {
				g := NewWithT(t)
				s, err := signing.Load(secret, "ns/signing")
				g.Expect(err).NotTo(HaveOccurred())
				b.trustSSH(email, s.PublicKey())
				id := b.commit(s, "mirror: update\n\ncafé ☕\n")
				out, err := b.run(nil, "git", "verify-commit", id)
				g.Expect(err).NotTo(HaveOccurred(), out)
				g.Expect(out).To(And(ContainSubstring(`Good "git" signature for `+email), ContainSubstring(s.Fingerprint())))

				payload := []byte("any text")
				sig, err := s.Sign(payload)
				g.Expect(err).NotTo(HaveOccurred())
				file := filepath.Join(b.home, "sig")
				g.Expect(os.WriteFile(file, sig, 0o600)).To(Succeed())
				out, err = b.run(payload, "ssh-keygen", "-Y", "verify", "-f", filepath.Join(b.home, "allowed_signers"), "-I", email, "-n", "git", "-s", file)
				g.Expect(err).NotTo(HaveOccurred(), out)
				out, err = b.run([]byte("other text"), "ssh-keygen", "-Y", "verify", "-f", filepath.Join(b.home, "allowed_signers"), "-I", email, "-n", "git", "-s", file)
				g.Expect(err).To(HaveOccurred(), out)
			})
		}
	}
}

// G16: signing with an address that is not the key's gives a commit that git does not accept; the signature itself
// cannot tell.
func TestCaseG16_AnotherCommitter(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t)
	tool(t, "ssh-keygen")
	s, err := signing.Load(gitauth.Secret{"signing.key": pemOf(keys(t)["ed25519"], "")}, "ns/signing")
	g.Expect(err).NotTo(HaveOccurred())
	other, err := signing.Load(gitauth.Secret{"signing.key": pemOf(keys(t)["ed25519"], "")}, "ns/signing")
	g.Expect(err).NotTo(HaveOccurred())
	b.trustSSH(email, other.PublicKey())
	out, err := b.run(nil, "git", "verify-commit", b.commit(s, "m\n"))
	g.Expect(err).To(HaveOccurred())
	g.Expect(out).To(ContainSubstring("No principal matched"))
}

// G16: a commit that is made again is signed again; both verify.
func TestCaseG16_SignedAgain(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t)
	tool(t, "ssh-keygen")
	s, err := signing.Load(gitauth.Secret{"signing.key": pemOf(keys(t)["ed25519"], "")}, "ns/signing")
	g.Expect(err).NotTo(HaveOccurred())
	b.trustSSH(email, s.PublicKey())
	for _, message := range []string{"first\n", "first, planned again\n"} {
		out, err := b.run(nil, "git", "verify-commit", b.commit(s, message))
		g.Expect(err).NotTo(HaveOccurred(), out)
	}
}

// Scenario 105 and G18: the host's Git and GnuPG configuration has no say; there is one signature, ours.
func TestScenario105_AmbientConfiguration(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t)
	tool(t, "ssh-keygen")
	home := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[commit]\n\tgpgsign = true\n[gpg]\n\tformat = openpgp\n\tprogram = /bin/false\n[user]\n\tsigningkey = DEADBEEF\n[core]\n\tautocrlf = true\n\thooksPath = /x\n"), 0o600)).To(Succeed())
	t.Setenv("HOME", home)
	t.Setenv("GNUPGHOME", home)
	t.Setenv("SSH_AUTH_SOCK", "/nowhere")
	s, err := signing.Load(gitauth.Secret{"signing.key": pemOf(keys(t)["ed25519"], "")}, "ns/signing")
	g.Expect(err).NotTo(HaveOccurred())
	b.trustSSH(email, s.PublicKey())
	id := b.commit(s, "m\n")
	raw := b.git(nil, "cat-file", "commit", id)
	g.Expect(strings.Count(raw, "gpgsig")).To(Equal(1))
	g.Expect(strings.Count(raw, "-----BEGIN")).To(Equal(1))
	g.Expect(raw).To(ContainSubstring("-----BEGIN SSH SIGNATURE-----"))
	out, err := b.run(nil, "git", "verify-commit", id)
	g.Expect(err).NotTo(HaveOccurred(), out)
}

func TestGenerate(t *testing.T) {
	b := newBench(t)
	tool(t, "ssh-keygen")
	for _, passphrase := range []string{"", "open sesame"} {
		t.Run("passphrase "+passphrase, func(t *testing.T) {
			g := NewWithT(t)
			existing := gitauth.Secret{"other": []byte("x")}
			if passphrase != "" {
				existing["passphrase"] = []byte(passphrase)
			}
			added, err := signing.Generate(existing, "gitops-reverser ns/provider")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(added).To(HaveLen(2))
			s, err := signing.Load(gitauth.Secret{"signing.key": added["signing.key"], "passphrase": existing["passphrase"]}, "ns/signing")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(added["signing.pub"])).To(Equal(s.PublicKey() + " gitops-reverser ns/provider\n"))
			g.Expect(s.PublicKey()).To(HavePrefix("ssh-ed25519 "))
			b.trustSSH(email, s.PublicKey())
			out, err := b.run(nil, "git", "verify-commit", b.commit(s, "m\n"))
			g.Expect(err).NotTo(HaveOccurred(), out)

			file := filepath.Join(b.home, "key"+passphrase)
			g.Expect(os.WriteFile(file, added["signing.key"], 0o600)).To(Succeed())
			out, err = b.run(nil, "ssh-keygen", "-y", "-P", passphrase, "-f", file)
			g.Expect(err).NotTo(HaveOccurred(), out)
			g.Expect(out).To(HavePrefix(s.PublicKey()))
			if passphrase != "" {
				_, err = b.run(nil, "ssh-keygen", "-y", "-P", "", "-f", file)
				g.Expect(err).To(HaveOccurred(), "the key is not encrypted")
			}
		})
	}
	t.Run("never replaces", func(t *testing.T) {
		g := NewWithT(t)
		for _, key := range []string{"signing.key", "git.asc"} {
			existing := gitauth.Secret{key: []byte("broken")}
			g.Expect(signing.Missing(existing)).To(BeFalse())
			_, err := signing.Generate(existing, "")
			g.Expect(reason(err)).To(Equal(gitauth.CommitConfigInvalid))
		}
		g.Expect(signing.Missing(gitauth.Secret{"passphrase": []byte("x"), "signing.key": []byte("\n")})).To(BeTrue())
	})
}

// Scenario 68: no key, no commit.
func TestScenario68_UnusableKeys(t *testing.T) {
	k := keys(t)
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	public, err := ssh.NewPublicKey(k["ed25519"].(ed25519.PrivateKey).Public())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		secret gitauth.Secret
		fails  gitauth.Reason
		says   string
	}{
		{"none", nil, gitauth.SecretNotFound, "generateWhenMissing"},
		{"wrong passphrase", gitauth.Secret{"signing.key": pemOf(k["rsa"], "open sesame"), "passphrase": []byte("hunter2!")}, gitauth.CommitConfigInvalid, "does not open"},
		{"no passphrase", gitauth.Secret{"signing.key": pemOf(k["rsa"], "open sesame")}, gitauth.CommitConfigInvalid, `no "passphrase"`},
		{"small RSA", gitauth.Secret{"signing.key": pkcs8(small)}, gitauth.CommitConfigInvalid, "at least 2048"},
		{"public key", gitauth.Secret{"signing.key": ssh.MarshalAuthorizedKey(public)}, gitauth.CommitConfigInvalid, "no private key"},
		{"rubbish", gitauth.Secret{"signing.key": []byte("hunter2!")}, gitauth.CommitConfigInvalid, "no private key"},
		{"rubbish OpenPGP", gitauth.Secret{"git.asc": []byte("hunter2!")}, gitauth.CommitConfigInvalid, "no armoured OpenPGP"},
		{"broken SSH beside good OpenPGP", gitauth.Secret{"signing.key": []byte("hunter2!"), "git.asc": openPGP(t, "", nil)}, gitauth.CommitConfigInvalid, `"signing.key"`},
		{"locked OpenPGP", gitauth.Secret{"git.asc": openPGP(t, "open sesame", nil)}, gitauth.CommitConfigInvalid, `no "passphrase"`},
		{"wrong OpenPGP passphrase", gitauth.Secret{"git.asc": openPGP(t, "open sesame", nil), "passphrase": []byte("hunter2!")}, gitauth.CommitConfigInvalid, "does not open"},
		{"public OpenPGP", gitauth.Secret{"git.asc": publicOpenPGP(t)}, gitauth.CommitConfigInvalid, "only public keys"},
		{"OpenPGP that eats the memory", gitauth.Secret{"git.asc": greedy(t), "passphrase": []byte("open sesame")}, gitauth.CommitConfigInvalid, "too much memory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			s, err := signing.Load(c.secret, "ns/signing")
			g.Expect(s).To(BeNil())
			g.Expect(reason(err)).To(Equal(c.fails), "%v", err)
			g.Expect(err.Error()).To(And(ContainSubstring(c.says), ContainSubstring("ns/signing")))
			g.Expect(err.Error()).NotTo(ContainSubstring("hunter2"))
		})
	}
}

func TestLoadCached(t *testing.T) {
	g := NewWithT(t)
	cache := &gitauth.Memo[*signing.Signer]{}
	k := keys(t)
	secret := gitauth.Secret{"signing.key": pemOf(k["ed25519"], "open sesame"), "passphrase": []byte("open sesame")}
	first, err := signing.LoadCached(cache, secret, "ns/signing")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(signing.LoadCached(cache, secret, "ns/signing")).To(BeIdenticalTo(first))
	secret["passphrase"] = []byte("hunter2!")
	_, err = signing.LoadCached(cache, secret, "ns/signing")
	g.Expect(reason(err)).To(Equal(gitauth.CommitConfigInvalid), "another passphrase is tried")
	secret["signing.key"] = pemOf(k["ecdsa"], "")
	other, err := signing.LoadCached(cache, secret, "ns/signing")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(other.Fingerprint()).NotTo(Equal(first.Fingerprint()))
}

func entity(t testing.TB) *openpgp.Entity {
	t.Helper()
	e, err := openpgp.NewEntity("GitOps Reverser", "", email, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func openPGP(t testing.TB, passphrase string, config *packet.Config) []byte {
	t.Helper()
	e := entity(t)
	if passphrase != "" {
		if err := e.EncryptPrivateKeys([]byte(passphrase), config); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	w, err := armor.Encode(&b, openpgp.PrivateKeyType, nil)
	if err != nil {
		t.Fatal(err)
	}
	if passphrase != "" {
		err = e.SerializePrivateWithoutSigning(w, nil)
	} else {
		err = e.SerializePrivate(w, nil)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func publicOpenPGP(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := armor.Encode(&b, openpgp.PublicKeyType, nil)
	if err == nil {
		err = entity(t).Serialize(w)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func argon(memoryKiB uint32) *packet.Config {
	return &packet.Config{AEADConfig: &packet.AEADConfig{}, S2KConfig: &s2k.Config{S2KMode: s2k.Argon2S2K,
		Argon2Config: &s2k.Argon2Config{NumberOfPasses: 1, DegreeOfParallelism: 1, Memory: memoryKiB}}}
}

// greedy is a key whose Argon2 octet says 2 TiB.
func greedy(t *testing.T) []byte {
	t.Helper()
	block, err := armor.Decode(bytes.NewReader(openPGP(t, "open sesame", argon(1<<10))))
	if err != nil {
		t.Fatal(err)
	}
	var raw bytes.Buffer
	if _, err := raw.ReadFrom(block.Body); err != nil {
		t.Fatal(err)
	}
	b := raw.Bytes()
	n := 0
	for i := 0; i+20 < len(b); i++ { // usage 253, AES, AEAD mode, Argon2 ... passes 1, parallelism 1, memory 10
		if b[i] == 253 && b[i+3] == 4 && b[i+20] == 1 && b[i+21] == 1 && b[i+22] == 10 {
			b[i+22] = 31
			n++
		}
	}
	if n == 0 {
		t.Fatal("no Argon2 parameters found")
	}
	var out bytes.Buffer
	w, err := armor.Encode(&out, openpgp.PrivateKeyType, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

// OpenPGP keys made by this library and by GnuPG sign so that git accepts it with a real keyring.
func TestOpenPGPSignatures(t *testing.T) {
	b := newBench(t)
	tool(t, "gpg")
	t.Cleanup(func() { _, _ = b.run(nil, "gpgconf", "--kill", "gpg-agent") })
	gpg := func(args ...string) []byte {
		t.Helper()
		out, err := b.run(nil, "gpg", append([]string{"--batch", "--yes", "--pinentry-mode", "loopback", "--passphrase", "open sesame"}, args...)...)
		if err != nil {
			t.Fatalf("gpg %v: %v\n%s", args, err, out)
		}
		return []byte(out)
	}
	secrets := map[string]gitauth.Secret{
		"library":                   {"git.asc": openPGP(t, "", nil)},
		"library with a passphrase": {"git.asc": openPGP(t, "open sesame", nil), "passphrase": []byte("open sesame\n")},
		"modest Argon2":             {"git.asc": openPGP(t, "open sesame", argon(1<<10)), "passphrase": []byte("open sesame")},
	}
	for i, kind := range []string{"ed25519", "rsa2048", "nistp256"} {
		who := fmt.Sprintf("Bot %d <%s>", i, email)
		gpg("--quick-generate-key", who, kind, "sign", "never")
		secrets["GnuPG "+kind] = gitauth.Secret{"git.asc": gpg("--armor", "--export-secret-keys", "="+who), "passphrase": []byte("open sesame")}
	}
	for name, secret := range secrets {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, err := signing.Load(secret, "ns/signing")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(s.PublicKey()).To(HavePrefix("-----BEGIN PGP PUBLIC KEY BLOCK-----"))
			out, err := b.run([]byte(s.PublicKey()), "gpg", "--batch", "--import")
			g.Expect(err).NotTo(HaveOccurred(), out)
			id := b.commit(s, "mirror: update\n\ncafé ☕\n")
			out, err = b.run(nil, "git", "verify-commit", id)
			g.Expect(err).NotTo(HaveOccurred(), out)
			g.Expect(out).To(And(ContainSubstring("Good signature"), ContainSubstring(s.Fingerprint())))
		})
	}
}

// FuzzLoad: no Secret makes Load panic, and a signer that comes out of it signs.
func FuzzLoad(f *testing.F) {
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	f.Add(pemOf(ed, ""), []byte{}, true)
	f.Add(pkcs8(ed), []byte("x"), true)
	f.Add(openPGP(f, "", nil), []byte{}, false)
	f.Fuzz(func(t *testing.T, key, passphrase []byte, isSSH bool) {
		name := "git.asc"
		if isSSH {
			name = "signing.key"
		}
		s, err := signing.Load(gitauth.Secret{name: key, "passphrase": passphrase}, "ns/signing")
		if err != nil {
			if reason(err) == "" {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		if _, err := s.Sign([]byte("x")); err != nil {
			t.Fatal(err)
		}
	})
}
