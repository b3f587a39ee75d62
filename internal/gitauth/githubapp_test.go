// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth_test

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/cache"
	"github.com/golang-jwt/jwt/v4"
	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/gitauth"
)

// github plays the part of GitHub's API that issues installation tokens.
type github struct {
	*httptest.Server
	issued int
	status int
	life   time.Duration
	wait   bool
	paths  []string
}

func newGitHub(t *testing.T) *github {
	t.Helper()
	h := &github{life: time.Hour}
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.Close)
	return h
}

func (h *github) serve(w http.ResponseWriter, r *http.Request) {
	h.paths = append(h.paths, r.Method+" "+r.URL.Path)
	if h.wait {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the client has gone
		<-r.Context().Done()
		return
	}
	claims := &jwt.RegisteredClaims{}
	_, err := jwt.ParseWithClaims(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), claims, func(*jwt.Token) (any, error) {
		return rsaKey().Public(), nil
	})
	if err != nil || claims.Issuer != "4711" || h.status == http.StatusUnauthorized {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"message":"Bad credentials"}`))
		return
	}
	if h.status != 0 {
		w.WriteHeader(h.status)
		_, _ = w.Write([]byte(`{"message":"no"}`))
		return
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/orgs/acme/installation"):
		_ = json.NewEncoder(w).Encode(map[string]any{"id": 99})
	case strings.HasSuffix(r.URL.Path, "/app/installations/99/access_tokens"):
		h.issued++
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{"token": fmt.Sprintf("ghs_token%d", h.issued), "expires_at": time.Now().Add(h.life)})
	default:
		http.NotFound(w, r)
	}
}

func appKey() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(rsaKey().(*rsa.PrivateKey))}))
}

func TestGitHubApp(t *testing.T) {
	for _, c := range []struct {
		name   string
		secret func(url string) gitauth.Secret
		path   string
	}{
		{"Flux", func(u string) gitauth.Secret {
			return secret("githubAppID", "4711\n", "githubAppInstallationID", "99", "githubAppPrivateKey", appKey(), "githubAppBaseURL", u)
		}, "POST /app/installations/99/access_tokens"},
		{"by owner", func(u string) gitauth.Secret {
			return secret("githubAppID", "4711", "githubAppInstallationOwner", "acme", "githubAppPrivateKey", appKey(), "githubAppBaseURL", u)
		}, "GET /orgs/acme/installation"},
		{"Argo CD", func(u string) gitauth.Secret {
			return secret("githubAppID", "4711", "githubAppInstallationID", "99", "githubAppPrivateKey", appKey(), "githubAppEnterpriseBaseUrl", u+"/api/v3")
		}, "POST /api/v3/app/installations/99/access_tokens"},
		{"before bearer and basic", func(u string) gitauth.Secret {
			return secret("githubAppID", "4711", "githubAppInstallationID", "99", "githubAppPrivateKey", appKey(), "githubAppBaseURL", u, "bearerToken", "b-token", "username", "u", "password", "hunter2!")
		}, "POST /app/installations/99/access_tokens"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			h := newGitHub(t)
			got, err := gitauth.Resolve(context.Background(), gitauth.Input{URL: anyURL, Secret: c.secret(h.URL)})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect([]string{got.Username, got.Password, got.BearerToken}).To(Equal([]string{"x-access-token", "ghs_token1", ""}))
			g.Expect(h.paths[0]).To(Equal(c.path))
		})
	}
}

// G15: a token is used again while it lives and replaced before it ends, with no change of the Secret.
func TestCaseG15_GitHubAppToken(t *testing.T) {
	g := NewWithT(t)
	h := newGitHub(t)
	tokens, err := cache.NewTokenCache(10)
	g.Expect(err).NotTo(HaveOccurred())
	in := gitauth.Input{URL: anyURL, Tokens: tokens, Object: gitauth.Object{Kind: "GitProvider", Namespace: "ns", Name: "p", Operation: "reconcile"},
		Secret: secret("githubAppID", "4711", "githubAppInstallationID", "99", "githubAppPrivateKey", appKey(), "githubAppBaseURL", h.URL)}
	resolve := func() gitauth.Credentials {
		c, err := gitauth.Resolve(context.Background(), in)
		g.Expect(err).NotTo(HaveOccurred())
		return c
	}
	first := resolve()
	g.Expect(resolve()).To(HaveField("Revision", first.Revision))
	g.Expect(h.issued).To(Equal(1))

	h.life = -time.Minute // GitHub's next answers are already over
	in.Secret["githubAppBaseURL"] = []byte(h.URL + "/")
	g.Expect(resolve().Password).To(Equal("ghs_token2"))
	g.Expect(resolve().Password).To(Equal("ghs_token3"), "an expired token is not handed out")
	g.Expect(resolve().Revision).NotTo(Equal(first.Revision))
}

func TestGitHubAppErrors(t *testing.T) {
	base := func() gitauth.Secret {
		return secret("githubAppID", "4711", "githubAppInstallationID", "99", "githubAppPrivateKey", appKey())
	}
	with := func(kv ...string) gitauth.Secret {
		s := base()
		for i := 0; i < len(kv); i += 2 {
			s[kv[i]] = []byte(kv[i+1])
		}
		return s
	}
	for _, c := range []struct {
		name   string
		secret gitauth.Secret
		status int
		fails  gitauth.Reason
		says   string
	}{
		{"unknown app", with("githubAppID", "12"), 0, gitauth.AuthenticationFailed, "refused the app's key"},
		{"unknown installation", with("githubAppInstallationID", "98"), 0, gitauth.AuthenticationFailed, "no such installation"},
		{"suspended", base(), 403, gitauth.AuthenticationFailed, "suspended"},
		{"rate limit", base(), 429, gitauth.RateLimited, "asks to wait"},
		{"outage", base(), 502, gitauth.ConnectionFailed, "no token"},
		{"no number", with("githubAppID", "app"), 0, gitauth.SecretMalformed, "must be a number"},
		{"no key", with("githubAppPrivateKey", ""), 0, gitauth.SecretMalformed, `no "githubAppPrivateKey"`},
		{"broken key", with("githubAppPrivateKey", "hunter2!"), 0, gitauth.SecretMalformed, "as PEM"},
		{"no app", with("githubAppID", ""), 0, gitauth.SecretMalformed, `no "githubAppID"`},
		{"client ID", with("githubAppID", "", "githubAppClientID", "Iv1.x"), 0, gitauth.SecretMalformed, "not supported yet"},
		{"no installation", with("githubAppInstallationID", ""), 0, gitauth.SecretMalformed, "exactly one of"},
		{"two installations", with("githubAppInstallationOwner", "acme"), 0, gitauth.SecretMalformed, "exactly one of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			h := newGitHub(t)
			h.status = c.status
			c.secret["githubAppBaseURL"] = []byte(h.URL)
			_, err := gitauth.Resolve(context.Background(), gitauth.Input{URL: anyURL, Secret: c.secret})
			g.Expect(reason(err)).To(Equal(c.fails), "%v", err)
			g.Expect(err.Error()).To(ContainSubstring(c.says))
			for _, line := range strings.Split(appKey(), "\n") {
				if len(line) > 20 && !strings.HasPrefix(line, "-----") {
					g.Expect(err.Error()).NotTo(ContainSubstring(line))
				}
			}
		})
	}
	t.Run("no answer", func(t *testing.T) {
		g := NewWithT(t)
		h := newGitHub(t)
		h.wait = true
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		_, err := gitauth.Resolve(ctx, gitauth.Input{URL: anyURL, Secret: with("githubAppBaseURL", h.URL)})
		g.Expect(reason(err)).To(Equal(gitauth.ConnectionFailed))
		g.Expect(err).To(MatchError(context.DeadlineExceeded))
	})
	t.Run("not for clear text", func(t *testing.T) {
		g := NewWithT(t)
		h := newGitHub(t)
		_, err := gitauth.Resolve(context.Background(), gitauth.Input{URL: "http://git.example.com/r", Secret: with("githubAppBaseURL", h.URL)})
		g.Expect(reason(err)).To(Equal(gitauth.InvalidConfig))
		g.Expect(h.paths).To(BeEmpty())
	})
}
