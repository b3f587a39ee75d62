// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// userAgent begins with git/ because some servers tell Git clients from browsers by it.
const userAgent = "git/2.0 (gitops-reverser)"

// maxRedirects bounds the redirects of one exchange.
const maxRedirects = 5

// expectFrom is the body size from which a server is asked before the body is sent, so that a refusal (401, 413) is
// read instead of a broken pipe, in bytes.
const expectFrom = 1 << 20

// maxErrorBody bounds what is read of an error's body, in bytes.
const maxErrorBody = 64 << 10

// Body is a request body that can be sent again after a redirect.
type Body struct {
	Len  int64
	Open func() io.Reader
}

// rtKey is what a RoundTripper depends on.
type rtKey struct {
	tls      *tls.Config
	revision string
	proxy    string
}

// roundTripper returns the transport for these credentials; it is kept while they do not change, so that connections
// are used again.
func (c *Client) roundTripper(cred Credentials) http.RoundTripper {
	if c.o.RoundTripper != nil {
		return c.o.RoundTripper
	}
	key := rtKey{tls: cred.TLS, revision: cred.Revision}
	if cred.Revision != "" {
		key.tls = nil
	}
	if cred.Proxy != nil {
		key.proxy = cred.Proxy.String()
	}
	if c.rt != nil && c.rtOf == key {
		return c.rt
	}
	c.Close()
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   30 * time.Second,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   1,
		IdleConnTimeout:       60 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
	if cred.Proxy != nil {
		t.Proxy = http.ProxyURL(cred.Proxy)
	}
	if cred.TLS != nil {
		t.TLSClientConfig = cred.TLS.Clone()
	}
	c.rt, c.rtOf = t, key
	return t
}

// call is one request to a service of the repository.
type call struct {
	method, suffix, service string
	// protocol is the Git-Protocol header.
	protocol string
	body     Body
}

// Advertisement reads info/refs of a service; read gets the body.
func (s *Session) Advertisement(ctx context.Context, service, protocol string, read func(io.Reader) error) error {
	return s.run(ctx, func(ctx context.Context, x *traffic) error {
		return s.exchange(ctx, x, call{http.MethodGet, "/info/refs?service=" + service, service, protocol, Body{}}, read)
	})
}

// Post sends one request to a service; read gets the answer's body.
func (s *Session) Post(ctx context.Context, service, protocol string, body Body, read func(io.Reader) error) error {
	return s.run(ctx, func(ctx context.Context, x *traffic) error {
		return s.exchange(ctx, x, call{http.MethodPost, "/" + service, service, protocol, body}, read)
	})
}

func (s *Session) exchange(ctx context.Context, x *traffic, c call, read func(io.Reader) error) error {
	for range maxRedirects + 1 {
		resp, err := s.send(ctx, x, c)
		if err != nil {
			return err
		}
		if resp.StatusCode == http.StatusExpectationFailed && !s.c.noExpect {
			_ = resp.Body.Close()
			s.c.noExpect = true
			continue
		}
		location := resp.Header.Get("Location")
		if resp.StatusCode/100 == 3 && location != "" {
			_ = resp.Body.Close()
			if err := s.redirect(resp.Request.URL, location, c.suffix); err != nil {
				return err
			}
			x.whole.Store(false)
			continue
		}
		defer resp.Body.Close()
		r := &countReader{r: resp.Body, n: &x.received}
		if err := s.status(resp, r); err != nil {
			return err
		}
		if err := read(r); err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, io.LimitReader(r, 1<<20)) // to its end, so that the connection can be used again
		return err
	}
	return &Error{Kind: Protocol, Text: fmt.Sprintf("more than %d redirects", maxRedirects)}
}

func (s *Session) send(ctx context.Context, x *traffic, c call) (*http.Response, error) {
	u := s.c.base.JoinPath()
	path, query, _ := strings.Cut(c.suffix, "?")
	if u.RawPath != "" {
		u.RawPath += path
	}
	u.Path += path
	u.RawQuery = query
	trace := &httptrace.ClientTrace{WroteRequest: func(i httptrace.WroteRequestInfo) { x.whole.Store(i.Err == nil) }}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), c.method, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if c.method == http.MethodPost {
		open := func() (io.ReadCloser, error) { return io.NopCloser(&sentReader{r: c.body.Open(), n: &x.sent}), nil }
		req.ContentLength, req.GetBody = c.body.Len, open
		req.Body, _ = open()
		if c.body.Len >= expectFrom && !s.c.noExpect {
			req.Header.Set("Expect", "100-continue")
		}
		req.Header.Set("Content-Type", "application/x-"+c.service+"-request")
		req.Header.Set("Accept", "application/x-"+c.service+"-result")
	} else {
		req.Header.Set("Accept", "application/x-"+c.service+"-advertisement")
	}
	req.Header.Set("User-Agent", userAgent)
	if c.protocol != "" {
		req.Header.Set("Git-Protocol", c.protocol)
	}
	switch {
	case s.cred.BearerToken != "":
		req.Header.Set("Authorization", "Bearer "+s.cred.BearerToken)
	case s.cred.Password != "":
		req.SetBasicAuth(s.cred.Username, s.cred.Password)
	}
	x.trips++
	resp, err := s.c.roundTripper(s.cred).RoundTrip(req)
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// redirect follows a redirect of the repository as a whole, for this and later requests. It stays on the host: the
// credentials are for that host only. Without credentials another host is followed too. https never becomes http.
func (s *Session) redirect(from *url.URL, location, suffix string) error {
	to, err := from.Parse(location)
	if err != nil {
		return &Error{Kind: Protocol, Text: "redirect to an address that cannot be read"}
	}
	shown := (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).String()
	path, query, _ := strings.Cut(suffix, "?")
	if !strings.HasSuffix(to.Path, path) || query != "" && to.RawQuery != query {
		return &Error{Kind: Auth, Text: "the server redirects to " + shown +
			", which is no Git service: the credentials are missing or refused, or the URL is wrong"}
	}
	if to.Scheme != "https" && (from.Scheme == "https" || to.Scheme != "http") {
		return &Error{Kind: Refused, Text: "the server redirects to " + shown + ", which is not encrypted: not followed"}
	}
	if !strings.EqualFold(to.Host, from.Host) && !s.anonymous() {
		return &Error{Kind: Refused, Text: "the repository has moved to " + strings.TrimSuffix(shown, path) +
			": credentials are not sent to another host, change the URL"}
	}
	base := *to
	base.RawQuery, base.Fragment, base.User = "", "", nil
	base.Path = strings.TrimSuffix(to.Path, path)
	base.RawPath = strings.TrimSuffix(to.RawPath, path)
	s.c.base = &base
	return nil
}

func (s *Session) anonymous() bool {
	return s.cred.BearerToken == "" && s.cred.Password == "" && (s.cred.TLS == nil || len(s.cred.TLS.Certificates) == 0)
}

// status turns everything but a Git answer into an error.
func (s *Session) status(resp *http.Response, body io.Reader) error {
	ct := resp.Header.Get("Content-Type")
	if resp.StatusCode == http.StatusOK && !strings.Contains(ct, "html") {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(body, maxErrorBody))
	e := &Error{Status: resp.StatusCode, Text: cleanBody(string(text), ct, s.cred.Secrets()...),
		RetryAfter: retryAfter(resp.Header.Get("Retry-After"), s.c.o.Now())}
	switch code := resp.StatusCode; {
	case code == http.StatusOK:
		e.Kind, e.Status = Protocol, 0
		e.Text = bound("the server answered with a web page, not with Git's protocol: " + e.Text)
	case code == http.StatusTooManyRequests,
		e.RetryAfter > 0 && (code == http.StatusForbidden || code == http.StatusServiceUnavailable):
		e.Kind = RateLimited
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusProxyAuthRequired:
		e.Kind = Auth
	case code == http.StatusNotFound, code == http.StatusGone:
		e.Kind = NotFound
	case code == http.StatusRequestEntityTooLarge:
		e.Kind = TooLarge
	case code >= 500:
		e.Kind = Server
	case code/100 == 4:
		e.Kind = Refused
	default:
		e.Kind = Protocol
	}
	return e
}

func retryAfter(v string, now time.Time) time.Duration {
	if v == "" {
		return 0
	}
	if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil && n >= 0 {
		return min(time.Duration(n)*time.Second, 24*time.Hour)
	}
	if t, err := http.ParseTime(v); err == nil {
		return min(max(0, t.Sub(now)), 24*time.Hour)
	}
	return 0
}
