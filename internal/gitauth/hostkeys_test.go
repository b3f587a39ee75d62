// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth_test

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/crypto/ssh"

	"github.com/configbutler/gitops-reverser/internal/gitauth"
)

// sshServer is a real SSH server with the given host keys. It lets everybody in.
func sshServer(t *testing.T, keys ...ssh.Signer) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	config := &ssh.ServerConfig{NoClientAuth: true}
	for _, k := range keys {
		config.AddHostKey(k)
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				if c, _, _, err := ssh.NewServerConn(conn, config); err == nil {
					_ = c.Close()
				}
				_ = conn.Close()
			}()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

// connect goes through the whole of it: known_hosts text, credentials, handshake.
func connect(port, known string, algorithms ...string) error {
	c, err := gitauth.Resolve(context.Background(), gitauth.Input{
		URL: "ssh://git@127.0.0.1:" + port + "/r", KnownHosts: []gitauth.Secret{secret("known_hosts", known)}, HostKeyAlgorithms: algorithms})
	if err != nil {
		return err
	}
	client, err := ssh.Dial("tcp", "127.0.0.1:"+port, &ssh.ClientConfig{User: c.SSHUser, HostKeyCallback: c.HostKeyCallback, HostKeyAlgorithms: c.HostKeyAlgorithms})
	if err != nil {
		return err
	}
	_ = client.Close()
	return nil
}

func hashed(name string) string {
	salt := make([]byte, 20)
	_, _ = rand.Read(salt)
	h := hmac.New(sha1.New, salt)
	h.Write([]byte(name))
	return "|1|" + base64.StdEncoding.EncodeToString(salt) + "|" + base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// hostCert signs a host key.
func hostCert(t *testing.T, ca, host ssh.Signer, principals []string, from, to time.Time) ssh.Signer {
	t.Helper()
	cert := &ssh.Certificate{Key: host.PublicKey(), CertType: ssh.HostCert, ValidPrincipals: principals,
		ValidAfter: uint64(from.Unix()), ValidBefore: uint64(to.Unix()), KeyId: "host"}
	if err := cert.SignCert(rand.Reader, ca); err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewCertSigner(cert, host)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// G10: the server has three keys and known_hosts lists one of them; each is found, in every spelling.
func TestCaseG10_HostKeyAlgorithm(t *testing.T) {
	kinds := []string{ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoRSA}
	var keys []ssh.Signer
	for _, k := range kinds {
		keys = append(keys, newSigner(k))
	}
	port := sshServer(t, keys...)
	name := "[127.0.0.1]:" + port
	for i, kind := range kinds {
		pub := keys[i].PublicKey()
		for spelling, known := range map[string]string{
			"host and port":      knownLine(name, pub),
			"hashed":             knownLine(hashed(name), pub),
			"among others":       "# hosts\r\n\r\n" + knownLine("other.example.com,"+name, pub),
			"wildcard":           knownLine("[127.*]:*,!secret.example.com", pub),
			"with a comment":     strings.TrimSpace(knownLine(name, pub)) + " key of the git host, 2026\r\n",
			"byte order mark":    "\xef\xbb\xbf" + knownLine(name, pub),
			"old key beside":     knownLine(name, newSigner(kind).PublicKey()) + knownLine(name, pub),
			"other host revoked": "@revoked other.example.com " + strings.SplitN(knownLine("x", pub), " ", 2)[1] + knownLine(name, pub),
		} {
			t.Run(kind+" "+spelling, func(t *testing.T) {
				NewWithT(t).Expect(connect(port, known)).To(Succeed())
			})
		}
		t.Run(kind+" changed", func(t *testing.T) {
			g := NewWithT(t)
			other := newSigner(kind)
			if kind == ssh.KeyAlgoRSA {
				return // there is one RSA key in these tests
			}
			err := connect(port, knownLine(name, other.PublicKey()))
			g.Expect(reason(err)).To(Equal(gitauth.HostKeyUnavailable))
			g.Expect(err.Error()).To(And(ContainSubstring(name), ContainSubstring("offered "+kind+" "+ssh.FingerprintSHA256(pub)),
				ContainSubstring("known "+kind+" "+ssh.FingerprintSHA256(other.PublicKey()))))
		})
		t.Run(kind+" revoked", func(t *testing.T) {
			g := NewWithT(t)
			err := connect(port, knownLine(name, pub)+"@revoked * "+strings.SplitN(knownLine("x", pub), " ", 2)[1])
			g.Expect(reason(err)).To(Equal(gitauth.HostKeyUnavailable))
		})
	}
	t.Run("limited by flag", func(t *testing.T) {
		g := NewWithT(t)
		known := knownLine(name, keys[2].PublicKey())
		g.Expect(connect(port, known, ssh.KeyAlgoRSASHA256)).To(Succeed())
		err := connect(port, known, ssh.KeyAlgoED25519)
		g.Expect(reason(err)).To(Equal(gitauth.HostKeyUnavailable))
		g.Expect(err.Error()).To(And(ContainSubstring("rsa-sha2-512"), ContainSubstring("allows only ssh-ed25519")))
	})
	t.Run("port forgotten", func(t *testing.T) {
		g := NewWithT(t)
		err := connect(port, knownLine("127.0.0.1", keys[0].PublicKey()))
		g.Expect(reason(err)).To(Equal(gitauth.HostKeyUnavailable))
		g.Expect(err.Error()).To(And(ContainSubstring("another port is written [host]:port"), ContainSubstring("ssh-keyscan -p "+port+" 127.0.0.1")))
	})
	t.Run("excluded", func(t *testing.T) {
		NewWithT(t).Expect(reason(connect(port, knownLine("*,!"+name, keys[0].PublicKey())))).To(Equal(gitauth.HostKeyUnavailable))
	})
}

// G10: an authority in known_hosts.
func TestCaseG10_CertificateAuthority(t *testing.T) {
	ca, host, other := newSigner(""), newSigner(""), newSigner("")
	now := time.Now()
	good := hostCert(t, ca, host, []string{"127.0.0.1"}, now.Add(-time.Hour), now.Add(time.Hour))
	authority := "@cert-authority " + strings.TrimSpace(knownLine("[127.0.0.1]:*", ca.PublicKey())) + "\n"
	for _, c := range []struct {
		name  string
		keys  []ssh.Signer
		known func(port string) string
		says  string
	}{
		{name: "trusted", keys: []ssh.Signer{good}, known: func(string) string { return authority }},
		{name: "trusted, a plain key of another type beside", keys: []ssh.Signer{newSigner(ssh.KeyAlgoECDSA256), good}, known: func(string) string { return authority }},
		{name: "another authority", keys: []ssh.Signer{hostCert(t, other, host, []string{"127.0.0.1"}, now.Add(-time.Hour), now.Add(time.Hour))},
			known: func(string) string { return authority }, says: "is not accepted"},
		{name: "another authority, but the plain key is known", keys: []ssh.Signer{hostCert(t, other, host, []string{"127.0.0.1"}, now.Add(-time.Hour), now.Add(time.Hour))},
			known: func(port string) string { return authority + knownLine("[127.0.0.1]:"+port, host.PublicKey()) }},
		{name: "expired", keys: []ssh.Signer{hostCert(t, ca, host, []string{"127.0.0.1"}, now.Add(-2*time.Hour), now.Add(-time.Hour))},
			known: func(string) string { return authority }, says: "expired"},
		{name: "another name", keys: []ssh.Signer{hostCert(t, ca, host, []string{"git.example.com"}, now.Add(-time.Hour), now.Add(time.Hour))},
			known: func(string) string { return authority }, says: "is not accepted"},
		{name: "the authority is revoked", keys: []ssh.Signer{good},
			known: func(string) string {
				return authority + "@revoked * " + strings.SplitN(knownLine("x", ca.PublicKey()), " ", 2)[1]
			}, says: "no usable entry"},
		{name: "the certified key is revoked", keys: []ssh.Signer{good},
			known: func(string) string {
				return authority + "@revoked * " + strings.SplitN(knownLine("x", host.PublicKey()), " ", 2)[1]
			}, says: "revoked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			port := sshServer(t, c.keys...)
			err := connect(port, c.known(port))
			if c.says == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(reason(err)).To(Equal(gitauth.HostKeyUnavailable), "%v", err)
			g.Expect(err.Error()).To(ContainSubstring(c.says))
		})
	}
}

func TestKnownHostsSources(t *testing.T) {
	key := newSigner("")
	good := knownLine("git.example.com", key.PublicKey())
	clear := string(keyPEM(""))
	for _, c := range []struct {
		name    string
		secret  gitauth.Secret
		sources []gitauth.Secret
		insec   bool
		says    string
	}{
		{name: "in the Secret", secret: secret("identity", clear, "known_hosts", good)},
		{name: "the Secret comes first", secret: secret("identity", clear, "known_hosts", good), sources: []gitauth.Secret{secret("known_hosts", "broken")}},
		{name: "Argo CD's ConfigMap", sources: []gitauth.Secret{secret("ssh_known_hosts", good)}},
		{name: "an empty source is passed over", sources: []gitauth.Secret{nil, secret("known_hosts", " \n"), secret("known_hosts", good)}},
		{name: "the first source counts", sources: []gitauth.Secret{secret("known_hosts", knownLine("other", key.PublicKey())), secret("known_hosts", good)}, says: "no usable entry for git.example.com"},
		{name: "none", says: "spec.knownHostsRef"},
		{name: "none, allowed", insec: true},
		{name: "broken, allowed", insec: true, sources: []gitauth.Secret{secret("known_hosts", good+"git.example.com ssh-ed25519 AAAA\n")}, says: "line 2 cannot be read"},
		{name: "unknown host, allowed", insec: true, sources: []gitauth.Secret{secret("known_hosts", knownLine("other", key.PublicKey()))}, says: "no usable entry"},
		{name: "two fields", sources: []gitauth.Secret{secret("known_hosts", "\n# c\ngit.example.com x\n")}, says: "line 3 cannot be read: it has fewer than three fields"},
		{name: "marker", sources: []gitauth.Secret{secret("known_hosts", "@trusted "+good)}, says: "@trusted is unknown"},
		{name: "type and key differ", sources: []gitauth.Secret{secret("known_hosts", strings.Replace(good, "ssh-ed25519", "ssh-rsa", 1))}, says: "mismatch"},
		{name: "hash", sources: []gitauth.Secret{secret("known_hosts", knownLine("|2|a|b", key.PublicKey()))}, says: "unknown form"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := gitauth.Resolve(context.Background(), gitauth.Input{URL: "git@git.example.com:r", Secret: c.secret, KnownHosts: c.sources, AllowMissingKnownHosts: c.insec})
			if c.says == "" {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(got.HostKeyCallback).NotTo(BeNil())
				g.Expect(got.HostKeyCallback("git.example.com:22", nil, key.PublicKey())).To(Succeed())
				return
			}
			g.Expect(reason(err)).To(Equal(gitauth.HostKeyUnavailable))
			g.Expect(err.Error()).To(ContainSubstring(c.says))
		})
	}
}

// Host keys are no business of an https URL.
func TestKnownHostsAreNotReadForHTTPS(t *testing.T) {
	_, err := gitauth.Resolve(context.Background(), gitauth.Input{URL: anyURL, Secret: secret("password", "hunter2!", "known_hosts", "broken")})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}

// A key as `openssl pkcs8` encrypts it.
func TestEncryptedPKCS8(t *testing.T) {
	tool(t, "openssl")
	run := func(in []byte, args ...string) []byte {
		cmd := exec.Command("openssl", args...)
		cmd.Stdin = strings.NewReader(string(in))
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("openssl %v: %v", args, err)
		}
		return out
	}
	known := []gitauth.Secret{secret("known_hosts", knownLine("git.example.com", newSigner("").PublicKey()))}
	for _, kind := range [][]string{{"ed25519"}, {"EC", "-pkeyopt", "ec_paramgen_curve:P-384"}, {"RSA", "-pkeyopt", "rsa_keygen_bits:2048"}} {
		open := run(nil, append([]string{"genpkey", "-algorithm"}, kind...)...)
		for _, how := range [][]string{{"-v2", "aes-256-cbc"}, {"-v2", "aes128", "-v2prf", "hmacWithSHA512"}, {"-scrypt"}} {
			t.Run(fmt.Sprint(kind[0], how), func(t *testing.T) {
				g := NewWithT(t)
				locked := run(open, append([]string{"pkcs8", "-topk8", "-passout", "pass:open sesame"}, how...)...)
				in := gitauth.Input{URL: "git@git.example.com:r", KnownHosts: known, Secret: gitauth.Secret{"ssh-privatekey": locked, "ssh-password": []byte("open sesame")}}
				c, err := gitauth.Resolve(context.Background(), in)
				g.Expect(err).NotTo(HaveOccurred())
				plain, err := ssh.ParsePrivateKey(open)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(c.SSHSigner.PublicKey().Marshal()).To(Equal(plain.PublicKey().Marshal()))
				in.Secret["ssh-password"] = []byte("hunter2!")
				_, err = gitauth.Resolve(context.Background(), in)
				g.Expect(reason(err)).To(Equal(gitauth.SecretMalformed))
				g.Expect(err.Error()).To(ContainSubstring("does not open"))
				delete(in.Secret, "ssh-password")
				_, err = gitauth.Resolve(context.Background(), in)
				g.Expect(err).To(MatchError(ContainSubstring("has a passphrase")))
			})
		}
	}
}

// A flag that names what does not exist is refused at the start; what is weak may be asked for by name.
func TestCheckAlgorithms(t *testing.T) {
	g := NewWithT(t)
	g.Expect(gitauth.CheckAlgorithms(nil, nil)).To(Succeed())
	g.Expect(gitauth.CheckAlgorithms([]string{"ssh-ed25519", "ssh-rsa"}, []string{"curve25519-sha256", "diffie-hellman-group14-sha1"})).To(Succeed())
	g.Expect(gitauth.CheckAlgorithms([]string{"ed25519"}, nil)).To(MatchError(And(ContainSubstring("--ssh-hostkey-algos"), ContainSubstring(`"ed25519"`), ContainSubstring("ssh-ed25519"))))
	g.Expect(gitauth.CheckAlgorithms(nil, []string{"ssh-ed25519"})).To(MatchError(ContainSubstring("--ssh-kex-algos")))
}
