// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/configbutler/gitops-reverser/internal/gitstore/wire"
)

// The services of a Git server.
const (
	UploadPack  = "git-upload-pack"
	ReceivePack = "git-receive-pack"
)

// Options configure a Client.
type Options struct {
	URL string
	// Credentials is asked at the start of each Session; nil = anonymous.
	Credentials func(context.Context) (Credentials, error)
	// RoundTripper replaces the transport made from TLS and Proxy; for tests.
	RoundTripper http.RoundTripper
	// Deadline bounds each exchange; 0 = none.
	Deadline    time.Duration
	OnRoundTrip func(RoundTrip)
	// Hosts is shared by everybody who talks to the same hosts; may be nil.
	Hosts *Hosts
	Now   func() time.Time
}

// Client talks to one repository. It is not safe for concurrent use.
type Client struct {
	o   Options
	loc Location
	// base is the HTTP address in use: the configured one, or where a redirect of the same host led.
	base *url.URL
	rt   http.RoundTripper
	// rtOf is what rt was made from.
	rtOf rtKey
	// noExpect is set once something on the way refused Expect: 100-continue.
	noExpect bool
}

// New checks the address; it opens no connection.
func New(o Options) (*Client, error) {
	loc, err := ParseURL(o.URL)
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Client{o: o, loc: loc}
	c.base = loc.http()
	return c, nil
}

// SSH reports whether the repository is reached over SSH.
func (c *Client) SSH() bool { return c.loc.Scheme == "ssh" }

// Close closes idle connections.
func (c *Client) Close() {
	if t, ok := c.rt.(*http.Transport); ok && c.o.RoundTripper == nil {
		t.CloseIdleConnections()
	}
}

// Session is a series of exchanges with the same credentials: one look, fetch or push.
type Session struct {
	c    *Client
	op   string
	cred Credentials
}

// Begin reads the credentials for one operation.
func (c *Client) Begin(ctx context.Context, op string) (*Session, error) {
	s := &Session{c: c, op: op}
	if c.o.Credentials != nil {
		cred, err := c.o.Credentials(ctx)
		if err != nil {
			return nil, fmt.Errorf("credentials: %w", err)
		}
		s.cred = cred
	}
	if s.cred.Username == "" {
		s.cred.Username = c.loc.User
	}
	return s, nil
}

// Clean is Clean with the session's secrets.
func (s *Session) Clean(text string) string { return Clean(text, s.cred.Secrets()...) }

// run does one exchange under the deadline, counts it and turns its error into an *Error.
func (s *Session) run(ctx context.Context, exchange func(ctx context.Context, x *traffic) error) error {
	ctx, cancel := ctx, context.CancelFunc(func() {})
	if s.c.o.Deadline > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, s.c.o.Deadline, errDeadline{s.c.o.Deadline})
	}
	defer cancel()
	x := &traffic{}
	start := s.c.o.Now()
	if err := s.c.o.Hosts.waits(s.c.loc.Host, start); err != nil {
		return s.wrap(ctx, x, err) // nothing is sent and nothing counted
	}
	err := s.wrap(ctx, x, exchange(ctx, x))
	var told *Error
	if errors.As(err, &told) {
		s.c.o.Hosts.told(s.c.loc.Host, told, s.c.o.Now())
	}
	if err != nil {
		s.c.base = s.c.loc.http() // a redirect is trusted while it works
	}
	if s.c.o.OnRoundTrip != nil {
		trip := RoundTrip{Op: s.op, Sent: x.sent.Load(), Received: x.received, Duration: s.c.o.Now().Sub(start), Err: err}
		for range max(1, x.trips) {
			s.c.o.OnRoundTrip(trip)
			trip = RoundTrip{Op: s.op, Err: err} // redirects before it
		}
	}
	return err
}

// errDeadline is the cause of a timeout.
type errDeadline struct{ d time.Duration }

func (e errDeadline) Error() string { return fmt.Sprintf("no complete answer within %s", e.d) }

// traffic counts one exchange.
type traffic struct {
	trips    int
	received int64
	// The transport sends in a goroutine of its own, which may go on for a while.
	sent  atomic.Int64
	whole atomic.Bool // the request was sent to its end
}

// wrap gives an error its kind and removes secrets from its text.
func (s *Session) wrap(ctx context.Context, x *traffic, err error) error {
	if err == nil {
		return nil
	}
	var own local
	if errors.As(err, &own) {
		return own.err
	}
	e := &Error{Op: s.op, Host: s.c.loc.Host, Sent: x.whole.Load(), Err: err}
	var typed *Error
	var remote *wire.RemoteError
	var syntax *wire.SyntaxError
	var deadline errDeadline
	var netErr net.Error
	switch {
	case errors.As(context.Cause(ctx), &deadline):
		e.Kind, e.Text = Timeout, deadline.Error()
	case ctx.Err() != nil:
		e.Kind, e.Err = Canceled, ctx.Err()
	case errors.As(err, &typed):
		c := *typed
		c.Op, c.Host, c.Sent = s.op, s.c.loc.Host, x.whole.Load()
		e = &c
	case errors.Is(err, wire.ErrObjectFormat):
		e.Kind = UnsupportedFormat
	case errors.As(err, &remote):
		e.Kind, e.Text = kindOfText(remote.Text), remote.Text
	case errors.As(err, &syntax):
		e.Kind = Protocol
	case errors.As(err, &netErr) && netErr.Timeout(), errors.Is(err, os.ErrDeadlineExceeded):
		e.Kind = Timeout
	default:
		e.Kind = Connection
	}
	if e.Text == "" && e.Err != nil {
		e.Text = e.Err.Error()
	}
	e.Text = s.Clean(e.Text)
	return e
}

// kindOfText guesses the kind from what servers write where the protocol has no code for it.
func kindOfText(text string) Kind {
	t := strings.ToLower(text)
	for _, h := range []struct {
		words string
		kind  Kind
	}{
		{"mismatched object format", UnsupportedFormat},
		{"rate limit", RateLimited},
		{"not our ref", Refused},
		{"permission denied", Auth},
		{"permission to", Auth},
		{"access denied", Auth},
		{"authentication", Auth},
		{"unauthorized", Auth},
		{"not found", NotFound},
		{"does not exist", NotFound},
		{"does not appear to be a git repository", NotFound},
		{"not exported", NotFound},
		{"no such project", NotFound},
	} {
		if strings.Contains(t, h.words) {
			return h.kind
		}
	}
	return Refused
}

// countReader counts what is read.
type countReader struct {
	r io.Reader
	n *int64
}

// Read implements io.Reader.
func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	*c.n += int64(n)
	return n, err
}

// sentReader counts a request body while the transport reads it.
type sentReader struct {
	r io.Reader
	n *atomic.Int64
}

// Read implements io.Reader.
func (c *sentReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}
