// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

func basic(user, password string) func(*gitstore.Options) {
	return func(o *gitstore.Options) {
		o.Credentials = func(context.Context) (gitstore.Credentials, error) {
			return gitstore.Credentials{Username: user, Password: password}, nil
		}
	}
}

func deadline(d time.Duration) func(*gitstore.Options) {
	return func(o *gitstore.Options) { o.Deadline = d }
}

// each call of the network, on a store with a base and one unpublished commit.
func (w *world) calls(s *gitstore.Store) map[string]func() error {
	tip := w.commit(s, s.Base(), "ours", put("x", "1"))
	base := s.Base()
	foreign, err := w.repo.Commit("side", "foreign", map[string]string{"y": "2"})
	w.Expect(err).NotTo(HaveOccurred())
	return map[string]func() error{
		"look":  func() error { _, err := s.Look(w.t.Context()); return err },
		"fetch": func() error { return s.Fetch(w.t.Context(), hash(foreign)) },
		"push":  func() error { _, err := s.Push(w.t.Context(), base, tip); return err },
	}
}

func TestStatusCodesAreTyped(t *testing.T) {
	for _, c := range []struct {
		status int
		header map[string]string
		body   string
		kind   gitstore.Kind
		text   string
		after  time.Duration
	}{
		{status: 401, body: "token expired", kind: gitstore.Auth, text: "token expired"},
		{status: 403, body: "You are not allowed to push", kind: gitstore.Auth, text: "You are not allowed to push"},
		{status: 403, header: map[string]string{"Retry-After": "60"}, kind: gitstore.RateLimited, after: time.Minute},
		{status: 404, body: "<html><head><title>Not here</title></head><body><p>No such repository</p></body></html>",
			header: map[string]string{"Content-Type": "text/html"}, kind: gitstore.NotFound, text: "Not here\nNo such repository"},
		{status: 429, header: map[string]string{"Retry-After": "7"}, body: "slow down", kind: gitstore.RateLimited, text: "slow down", after: 7 * time.Second},
		{status: 500, body: "oops", kind: gitstore.Server, text: "oops"},
		{status: 502, kind: gitstore.Server},
		{status: 503, header: map[string]string{"Retry-After": "5"}, kind: gitstore.RateLimited, after: 5 * time.Second},
		{status: 200, header: map[string]string{"Content-Type": "text/html; charset=utf-8"}, body: "<h1>Please sign in</h1>", kind: gitstore.Protocol, text: "Please sign in"},
	} {
		t.Run(http.StatusText(c.status)+string(c.kind), func(t *testing.T) {
			w := newWorld(t, many(3, ""))
			s := w.fetched()
			for name, call := range w.calls(s) {
				w.server.SetFault(gitserver.Fault{Method: "POST", Status: c.status, Header: c.header, Body: c.body})
				e := w.expectKind(call(), c.kind)
				if c.status != 200 {
					w.Expect(e.Status).To(Equal(c.status))
				}
				w.Expect(e.Text).To(ContainSubstring(c.text), name)
				w.Expect(e.RetryAfter).To(Equal(c.after))
				w.Expect(e.Host).NotTo(BeEmpty())
			}
			w.server.ClearFaults()
			w.Expect(land(t, s, "after")).To(Succeed(), "and it goes on afterwards")
			w.sound(s)
		})
	}
}

// TestDecision59_APauseAHostAskedForIsKeptByAll: the branches of a host share its patience.
func TestDecision59_APauseAHostAskedForIsKeptByAll(t *testing.T) {
	for status, shared := range map[int]bool{429: true, 403: true, 503: false} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			w := newWorld(t, many(3, ""))
			now, hosts := time.Now(), gitstore.NewHosts()
			with := func(o *gitstore.Options) { o.Hosts, o.Now = hosts, func() time.Time { return now } }
			first, second := w.fetched(with), w.fetched(with)
			w.server.SetFault(gitserver.Fault{Status: status, Header: map[string]string{"Retry-After": "60"}, Body: "slow down"})
			_, err := first.Look(t.Context())
			w.expectKind(err, gitstore.RateLimited)
			w.Expect(w.count()).To(Equal(1))
			w.server.ClearFaults()
			now = now.Add(20 * time.Second)
			_, err = second.Look(t.Context())
			if !shared {
				w.Expect(err).NotTo(HaveOccurred())
				return
			}
			e := w.expectKind(err, gitstore.RateLimited)
			w.Expect(e.RetryAfter).To(Equal(40 * time.Second))
			w.Expect(e.Text).To(ContainSubstring("slow down"))
			w.Expect(e.MayHaveLanded()).To(BeFalse())
			_, err = gitstore.Probe(t.Context(), gitstore.Options{URL: w.repo.URL, Hosts: hosts, Now: func() time.Time { return now }})
			w.expectKind(err, gitstore.RateLimited)
			w.Expect(w.count()).To(BeZero(), "nothing is sent")
			w.Expect(second.Stats().Requests).To(Equal(2), "nor counted: those of the first base")
			other := newWorld(t, many(3, ""))
			other.Expect(other.store(with).Fetch(t.Context(), gitstore.Hash{})).To(Succeed(), "another host")
			now = now.Add(40 * time.Second)
			for _, s := range []*gitstore.Store{first, second} {
				_, err := s.Look(t.Context())
				w.Expect(err).NotTo(HaveOccurred())
			}
		})
	}
}

func TestCaseG19_BodyTooLargeIsRejectedAndOthersGoOn(t *testing.T) {
	w := newWorld(t, many(3, ""))
	s := w.fetched()
	w.server.SetFault(gitserver.Fault{Service: "git-receive-pack", Method: "POST", Refuse: func(_ *http.Request, body []byte) (int, string) {
		if len(body) > 4000 {
			return http.StatusRequestEntityTooLarge, "client intended to send too large body"
		}
		return 0, ""
	}})
	tip := w.commit(s, s.Base(), "large", put("large", noise(20000)))
	res := w.push(s, s.Base(), tip, gitstore.Rejected)
	w.Expect(res.Text).To(Equal("HTTP status 413: client intended to send too large body"))
	w.Expect(w.count()).To(Equal(2), "the look proves that the tip has not moved (decisions 58)")
	s.Drop(s.Base())
	w.push(s, s.Base(), w.commit(s, s.Base(), "small", put("small", "1")), gitstore.Accepted)

	_, err := w.repo.Commit("main", "foreign", map[string]string{"f": "1"})
	w.Expect(err).NotTo(HaveOccurred())
	w.push(s, s.Base(), w.commit(s, s.Base(), "large", put("large", noise(20000))), gitstore.Moved)
}

// A proxy that refuses a large body at once and hangs up must give its status, not a broken pipe.
func TestCaseG19_EarlyRefusalOfALargeBodyIsRead(t *testing.T) {
	w := newWorld(t, many(3, ""))
	for _, refuseExpect := range []bool{false, true} {
		var attempts int
		front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
				attempts++
				if refuseExpect && r.Header.Get("Expect") != "" {
					rw.WriteHeader(http.StatusExpectationFailed)
					return
				}
				if !refuseExpect {
					rw.Header().Set("Connection", "close")
					http.Error(rw, "too large", http.StatusRequestEntityTooLarge)
					return
				}
			}
			u, err := url.Parse(w.server.BaseURL())
			if err != nil {
				panic(err)
			}
			httputil.NewSingleHostReverseProxy(u).ServeHTTP(rw, r)
		}))
		t.Cleanup(front.Close)
		s := w.fetched(func(o *gitstore.Options) { o.URL = front.URL + "/repo.git" })
		tip := w.commit(s, s.Base(), "large", put("large", noise(8<<20)))
		if refuseExpect {
			w.push(s, s.Base(), tip, gitstore.Accepted)
			w.Expect(attempts).To(Equal(2))
			continue
		}
		res := w.push(s, s.Base(), tip, gitstore.Rejected)
		w.Expect(res.Text).To(Equal("HTTP status 413: too large"))
		w.Expect(s.Stats().Sent).To(BeNumerically("<", 1<<20))
	}
}

func TestCaseG19_PushProtectionIsShownInTheServersWords(t *testing.T) {
	w := newWorld(t, many(3, ""))
	s := w.fetched()
	w.Expect(w.repo.SetHook("pre-receive", `cat <<'END' >&2
error: GH013: Repository rule violations found for refs/heads/main.
- Push cannot contain secrets
  commit: 0123abc
  path: apps/secret.yaml:3
see https://bot:hunter22@example.com/settings and Authorization: Bearer abcdef
END
exit 1`)).To(Succeed())
	res := w.push(s, s.Base(), w.commit(s, s.Base(), "secret", put("apps/secret.yaml", "x")), gitstore.Rejected)
	w.Expect(res.Text).To(ContainSubstring("path: apps/secret.yaml:3"))
	w.Expect(res.Text).To(ContainSubstring("pre-receive hook declined"))
	w.Expect(res.Text).NotTo(ContainSubstring("hunter22"))
	w.Expect(res.Text).NotTo(ContainSubstring("abcdef"))
	s.Drop(s.Base())
	w.Expect(w.repo.SetHook("pre-receive", "")).To(Succeed())
	w.Expect(land(t, s, "unrelated")).To(Succeed())
}

func TestServersWordsAreBounded(t *testing.T) {
	w := newWorld(t, many(3, ""))
	s := w.fetched()
	w.Expect(w.repo.SetHook("pre-receive", `yes 'no way' | head -100000 >&2; printf '\033[31mred\033[0m\r' >&2; exit 1`)).To(Succeed())
	res := w.push(s, s.Base(), w.commit(s, s.Base(), "x", put("x", "x")), gitstore.Rejected)
	w.Expect(len(res.Text)).To(BeNumerically("<=", 1024))
	w.Expect(res.Text).NotTo(ContainSubstring("\x1b"))
}

func TestDiskFullOnTheServerIsNotTheCommitsFault(t *testing.T) {
	w := newWorld(t, many(3, ""))
	s := w.fetched()
	w.server.SetFault(gitserver.Fault{Service: "git-receive-pack", Method: "POST", Times: 2, Handler: func(rw http.ResponseWriter, _ *http.Request, _ []byte) {
		rw.Header().Set("Content-Type", "application/x-git-receive-pack-result")
		report := pkt("unpack index-pack abnormal exit\n") + pkt("ng refs/heads/main unpacker error\n") + "0000"
		_, _ = rw.Write([]byte(pkt("\x02fatal: write error: No space left on device\n") + pkt("\x01"+report) + "0000"))
	}})
	tip := w.commit(s, s.Base(), "x", put("x", "x"))
	res := w.push(s, s.Base(), tip, gitstore.Unknown)
	w.Expect(res.Text).To(ContainSubstring("No space left on device"))
	w.Expect(res.Tip).To(Equal(s.Base()))
	w.push(s, s.Base(), tip, gitstore.Accepted)
	w.sound(s)
}

func TestScenario84_StalledHTTPEndsAtTheDeadline(t *testing.T) {
	for name, f := range map[string]gitserver.Fault{
		"no answer":     {Hang: true},
		"half answered": {HangAfter: 6},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, many(3, ""))
			s := w.store(deadline(200 * time.Millisecond))
			w.eventually(func() error { return s.Fetch(t.Context(), gitstore.Hash{}) })
			for op, call := range w.calls(s) {
				w.server.SetFault(f)
				e := w.expectKind(call(), gitstore.Timeout)
				w.Expect(e.Op).To(Equal(op))
				w.Expect(e.Text).To(ContainSubstring("200ms"))
			}
			w.server.ClearFaults()
			w.eventually(func() error { return land(t, s, "after") })
		})
	}
}

// eventually repeats what a short deadline may cut on a busy machine.
func (w *world) eventually(do func() error) {
	w.t.Helper()
	w.Eventually(do).WithTimeout(time.Minute).Should(Succeed())
}

func TestCanceledCallEndsAtOnce(t *testing.T) {
	w := newWorld(t, many(3, ""))
	s := w.fetched()
	ctx, cancel := context.WithCancel(t.Context())
	w.server.SetFault(gitserver.Fault{Hang: true, Before: cancel})
	_, err := s.Look(ctx)
	w.expectKind(err, gitstore.Canceled)
	w.Expect(err).To(MatchError(context.Canceled))
}

func TestUnreachableServerIsAConnectionError(t *testing.T) {
	w := newWorld(t, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	w.Expect(err).NotTo(HaveOccurred())
	_ = l.Close()
	for _, u := range []string{"http://" + l.Addr().String() + "/r.git", "ssh://" + l.Addr().String() + "/r.git"} {
		s := w.store(func(o *gitstore.Options) { o.URL = u })
		_, err = s.Look(t.Context())
		e := w.expectKind(err, gitstore.Connection)
		w.Expect(e.Sent).To(BeFalse())
	}
}

func TestClosedConnectionsAreConnectionErrors(t *testing.T) {
	for name, f := range map[string]gitserver.Fault{"at once": {Close: true}, "after some bytes": {CloseAfter: 6}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, many(3, ""))
			s := w.fetched()
			for _, call := range w.calls(s) {
				w.server.SetFault(f)
				w.expectKind(call(), gitstore.Connection)
			}
			w.server.ClearFaults()
			w.Expect(land(t, s, "after")).To(Succeed())
			w.sound(s)
		})
	}
}

func TestCaseG15_ShortLivedCredentialsAreReadForEachCall(t *testing.T) {
	w := newWorld(t, many(3, ""), gitserver.Options{Username: "app", Password: "token-a"})
	token := "token-a"
	s := w.store(func(o *gitstore.Options) {
		o.Credentials = func(context.Context) (gitstore.Credentials, error) {
			return gitstore.Credentials{Username: "app", Password: token}, nil
		}
	})
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	w.Expect(land(t, s, "one")).To(Succeed())
	w.server.SetAuth("app", "token-b")
	tip := w.commit(s, s.Base(), "two", put("two", "2"))
	_, err := s.Push(t.Context(), s.Base(), tip)
	e := w.expectKind(err, gitstore.Auth)
	w.Expect(e.Status).To(Equal(401))
	w.Expect(err.Error()).To(ContainSubstring("401"))
	w.Expect(strings.ToLower(err.Error())).NotTo(Or(ContainSubstring("token-a"), ContainSubstring("not found"), ContainSubstring("username")))
	token = "token-b"
	w.push(s, s.Base(), tip, gitstore.Accepted)
}

func TestBearerToken(t *testing.T) {
	w := newWorld(t, many(3, ""), gitserver.Options{BearerToken: "secret-token"})
	s := w.store(func(o *gitstore.Options) {
		o.Credentials = func(context.Context) (gitstore.Credentials, error) {
			return gitstore.Credentials{BearerToken: "secret-token"}, nil
		}
	})
	w.roundTrip(s)
	_, err := w.store(basic("u", "p")).Look(t.Context())
	w.expectKind(err, gitstore.Auth)
}

func TestCredentialsThatCannotBeReadAreAnError(t *testing.T) {
	w := newWorld(t, nil)
	failed := errors.New("no such Secret")
	s := w.store(func(o *gitstore.Options) {
		o.Credentials = func(context.Context) (gitstore.Credentials, error) { return gitstore.Credentials{}, failed }
	})
	_, err := s.Look(t.Context())
	w.Expect(err).To(MatchError(failed))
	w.Expect(w.count()).To(Equal(0))
}

func TestTLSWithACustomCA(t *testing.T) {
	w := newWorld(t, many(3, "apps/"), gitserver.Options{TLS: true})
	_, err := w.store().Look(t.Context())
	e := w.expectKind(err, gitstore.Connection)
	w.Expect(e.Text).To(ContainSubstring("certificate"))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(w.server.CACert())
	s := w.store(func(o *gitstore.Options) {
		o.Credentials = func(context.Context) (gitstore.Credentials, error) {
			return gitstore.Credentials{TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, Revision: "1"}, nil
		}
	})
	w.roundTrip(s)
}

func TestProxyOfTheCredentialsIsUsed(t *testing.T) {
	w := newWorld(t, many(3, "apps/"))
	var seen int
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		seen++
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		for k := range resp.Header {
			rw.Header().Set(k, resp.Header.Get(k))
		}
		rw.WriteHeader(resp.StatusCode)
		var b bytes.Buffer
		_, _ = b.ReadFrom(resp.Body)
		_, _ = rw.Write(b.Bytes())
	}))
	t.Cleanup(proxy.Close)
	u, err := url.Parse(proxy.URL)
	w.Expect(err).NotTo(HaveOccurred())
	s := w.store(func(o *gitstore.Options) {
		o.URL = strings.Replace(o.URL, "127.0.0.1", "localhost", 1)
		o.Credentials = func(context.Context) (gitstore.Credentials, error) { return gitstore.Credentials{Proxy: u}, nil }
	})
	w.roundTrip(s)
	w.Expect(seen).To(Equal(len(w.server.Requests())))
}

func TestRedirects(t *testing.T) {
	w := newWorld(t, many(3, "apps/"))
	moved := func(to string) gitserver.Fault {
		return gitserver.Fault{Handler: func(rw http.ResponseWriter, r *http.Request, _ []byte) {
			http.Redirect(rw, r, to+strings.TrimPrefix(r.URL.RequestURI(), "/old.git"), http.StatusMovedPermanently)
		}}
	}
	old := func(o *gitstore.Options) { o.URL = w.server.URL("old") }
	t.Run("of the same host is followed and remembered", func(t *testing.T) {
		w := &world{WithT: NewWithT(t), t: t, server: w.server, repo: w.repo}
		f := moved(w.server.URL("repo"))
		f.Times = 1
		w.server.SetFault(f)
		w.server.Reset()
		s := w.store(old, basic("u", "secret-word"))
		w.roundTrip(s)
		for _, r := range w.server.Requests()[1:] {
			w.Expect(r.Path).To(HavePrefix("/repo.git/"))
			w.Expect(r.Authorization).NotTo(BeEmpty())
		}
	})
	other := gitserver.Start(t, gitserver.Options{})
	_, err := other.CreateRepo("repo", gitserver.RepoOptions{Files: map[string]string{"a": "b"}})
	w.Expect(err).NotTo(HaveOccurred())
	t.Run("to another host is refused with credentials", func(t *testing.T) {
		w := &world{WithT: NewWithT(t), t: t, server: w.server, repo: w.repo}
		w.server.SetFault(moved(other.URL("repo")))
		_, err := w.store(old, basic("u", "secret-word")).Look(t.Context())
		e := w.expectKind(err, gitstore.Refused)
		w.Expect(e.Text).To(ContainSubstring(other.URL("repo")))
		w.Expect(other.Requests()).To(BeEmpty())
	})
	t.Run("to another host is followed without credentials", func(t *testing.T) {
		w := &world{WithT: NewWithT(t), t: t, server: w.server, repo: w.repo}
		r, err := w.store(old).Look(t.Context())
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(r.Exists).To(BeTrue())
	})
	t.Run("to a login page is an authentication problem", func(t *testing.T) {
		w := &world{WithT: NewWithT(t), t: t, server: w.server, repo: w.repo}
		w.server.SetFault(gitserver.Fault{Status: 302, Header: map[string]string{"Location": "/users/sign_in"}})
		_, err := w.store(basic("u", "secret-word")).Look(t.Context())
		w.expectKind(err, gitstore.Auth)
	})
	t.Run("in a circle ends", func(t *testing.T) {
		w := &world{WithT: NewWithT(t), t: t, server: w.server, repo: w.repo}
		w.server.SetFault(moved(w.server.URL("old")))
		_, err := w.store(old).Look(t.Context())
		w.expectKind(err, gitstore.Protocol)
	})
	w.server.ClearFaults()
}

// noise is text that does not compress.
func noise(n int) string {
	var b strings.Builder
	x := uint32(1)
	for b.Len() < n {
		x = x*1664525 + 1013904223
		b.WriteByte(byte(33 + x>>24%90))
	}
	return b.String()
}

func TestFullDiskOfTheStoreIsNoConnectionProblem(t *testing.T) {
	w := newWorld(t, many(3, ""))
	var dir string
	s := w.store(storeDir(&dir))
	w.Expect(os.RemoveAll(dir)).To(Succeed())
	w.Expect(os.WriteFile(dir, nil, 0o600)).To(Succeed()) // nothing can be written below it
	err := s.Fetch(t.Context(), gitstore.Hash{})
	w.Expect(err).To(HaveOccurred())
	var e *gitstore.TransportError
	w.Expect(errors.As(err, &e)).To(BeFalse(), "%v", err)
	w.Expect(os.Remove(dir)).To(Succeed())
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
}

func TestBrokenPackOfTheServerIsAProtocolError(t *testing.T) {
	w := newWorld(t, many(3, ""))
	w.server.SetFault(gitserver.Fault{Service: "git-upload-pack", Skip: 1, Times: 1, Handler: func(rw http.ResponseWriter, _ *http.Request, _ []byte) {
		rw.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		_, _ = rw.Write([]byte(pkt("packfile\n") + pkt("\x01PACK\x00\x00\x00\x02\x00\x00\x00\x05nonsense") + "0000"))
	}})
	s := w.store()
	err := s.Fetch(t.Context(), gitstore.Hash{})
	w.expectKind(err, gitstore.Protocol)
	_, err = s.Tree(gitstore.Hash{})
	w.Expect(err).To(MatchError(gitstore.ErrNoBase))
	w.Expect(s.Fetch(t.Context(), gitstore.Hash{})).To(Succeed())
	w.sound(s)
}
