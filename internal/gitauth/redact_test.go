// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/gitauth"
)

func TestRedact(t *testing.T) {
	const password = "p@ss/w0rd+ü"
	key := string(keyPEM(""))
	keyJSON, _ := json.Marshal(key)
	keyLine := strings.Split(key, "\n")[1]
	s := secret("username", "ann", "password", password+"\n", "identity", key, "known_hosts", "git.example.com ssh-ed25519 AAAA", "githubAppID", "4711")
	for name, text := range map[string]string{
		"as it is":       "server said: " + password + "!",
		"in a URL":       "https://ann:" + password + "@git.example.com/r not found",
		"escaped":        "q=" + url.QueryEscape(password) + " and " + url.PathEscape(password),
		"header":         "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("ann:"+password)),
		"other user":     base64.StdEncoding.EncodeToString([]byte("x:" + password)),
		"other user 2":   base64.StdEncoding.EncodeToString([]byte("xy:" + password + "more")),
		"other user 3":   base64.URLEncoding.EncodeToString([]byte("xyz:" + password)),
		"base64 of file": base64.StdEncoding.EncodeToString([]byte(password + "\n")),
		"key":            "could not use " + key,
		"key as JSON":    string(keyJSON),
		"line of a key":  "at " + keyLine,
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got := s.Redact(text)
			for _, p := range []string{password, keyLine, url.QueryEscape(password), url.PathEscape(password),
				base64.RawStdEncoding.EncodeToString([]byte(password))[:12], base64.RawStdEncoding.EncodeToString([]byte(":" + password))[4:14],
				base64.RawStdEncoding.EncodeToString([]byte("::" + password))[4:14]} {
				g.Expect(got).NotTo(ContainSubstring(p))
			}
			g.Expect(got).To(ContainSubstring("***"))
		})
	}
	t.Run("keeps the rest", func(t *testing.T) {
		g := NewWithT(t)
		text := "git.example.com ssh-ed25519 AAAA: user ann of app 4711 got 404 at https://git.example.com/r"
		g.Expect(s.Redact(text)).To(Equal(text))
		g.Expect(gitauth.Redact(text)).To(Equal(text))
		g.Expect(gitauth.Redact("abc", "", "a", "abc")).To(Equal("abc"), "too short to hide")
	})
	t.Run("credentials", func(t *testing.T) {
		g := NewWithT(t)
		c, err := gitauth.Resolve(context.Background(), gitauth.Input{URL: anyURL, Secret: secret("password", password), ProxySecret: secret("address", "http://p:1", "username", "u", "password", "proxy-pw")})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(c.Redact("a " + password + " b proxy-pw c")).To(Equal("a *** b *** c"))
		b := gitauth.Credentials{BearerToken: "tok-123456"}
		g.Expect(b.Redact("Bearer tok-123456")).To(Equal("Bearer ***"))
	})
}

// FuzzRedact: whatever surrounds a secret, it is gone, also from base64 text.
func FuzzRedact(f *testing.F) {
	f.Add("hunter2hunter2", "before ", " after")
	f.Add("p@ss/w0rd", "https://u:", "@host/")
	f.Add("aaaa", "aaaaa", "aa")
	f.Fuzz(func(t *testing.T, password, before, after string) {
		trimmed := strings.TrimSpace(password)
		if len(trimmed) < 8 || strings.Contains("***", trimmed) || strings.Contains(trimmed, "*") {
			return
		}
		got := gitauth.Redact(before+password+after, password)
		if strings.Contains(got, trimmed) {
			t.Fatalf("%q shows %q", got, trimmed)
		}
		encoded := base64.StdEncoding.EncodeToString([]byte(before + password + after))
		if got := gitauth.Redact(encoded, password); got == encoded {
			t.Fatalf("%q shows %q", got, password)
		}
	})
}

// FuzzSecretDialects: no input makes Resolve panic, and no error shows a secret value.
func FuzzSecretDialects(f *testing.F) {
	f.Add("https://git.example.com/r", "username", "ann", "password", "hunter2hunter2")
	f.Add("git@git.example.com:r", "identity", string(keyPEM("")), "known_hosts", knownLine("git.example.com", newSigner("").PublicKey()))
	f.Add("ssh://git@[::1]:22/r", "ssh-privatekey", string(keyPEM("x")), "ssh-password", "x")
	f.Add("https://h/r", "githubAppID", "1", "githubAppPrivateKey", "hunter2hunter2")
	f.Add("https://h/r", "proxy", "http://u:hunter2hunter2@h", "noProxy", "*")
	f.Add("https://h/r", "tls.crt", "x", "tls.key", "hunter2hunter2")
	f.Add("git@h:r", "sshPrivateKey", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----", "password", "hunter2hunter2")
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // no network
	f.Fuzz(func(t *testing.T, u, k1, v1, k2, v2 string) {
		s := secret(k1, v1, k2, v2)
		c, err := gitauth.Resolve(ctx, gitauth.Input{URL: u, Secret: s, ProxySecret: nil, KnownHosts: []gitauth.Secret{secret("known_hosts", v2)}})
		if err == nil {
			if c.Revision == "" {
				t.Fatal("no revision")
			}
			return
		}
		if reason(err) == "" {
			t.Fatalf("untyped error %v", err)
		}
		for _, v := range s.Sensitive() {
			// Long enough not to be a word of our own messages.
			if v = strings.TrimSpace(v); len(v) >= 12 && strings.Contains(err.Error(), v) && !strings.Contains(u, v) && k1 != v && k2 != v {
				t.Fatalf("the error shows %q: %v", v, err)
			}
		}
	})
}

// FuzzKnownHosts: no text makes the host key check panic, and only a known key passes.
func FuzzKnownHosts(f *testing.F) {
	known, other := newSigner("").PublicKey(), newSigner("").PublicKey()
	f.Add(knownLine("git.example.com", known))
	f.Add(knownLine("*,!git.example.com", known))
	f.Add(knownLine(hashed("git.example.com"), known) + "# x\n@revoked * ssh-ed25519 AAAA")
	f.Add("@cert-authority " + knownLine("*.example.com", known))
	f.Fuzz(func(t *testing.T, text string) {
		c, err := gitauth.Resolve(context.Background(), gitauth.Input{URL: "git@git.example.com:r", KnownHosts: []gitauth.Secret{secret("known_hosts", text)}})
		if err != nil {
			return
		}
		if c.HostKeyCallback("git.example.com:22", nil, other) == nil {
			t.Fatalf("an unknown key is accepted with %q", text)
		}
		if len(c.HostKeyAlgorithms) == 0 {
			t.Fatal("no algorithm")
		}
	})
}
