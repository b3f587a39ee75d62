// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/net/proxy"
)

// dial opens the TCP connection of an SSH session, through the proxy when there is one.
func (s *Session) dial(ctx context.Context) (net.Conn, error) {
	d := &net.Dialer{Timeout: 30 * time.Second}
	addr := s.c.loc.address()
	p := s.cred.Proxy
	if p == nil {
		return d.DialContext(ctx, "tcp", addr)
	}
	switch p.Scheme {
	case "socks5", "socks5h":
		x, err := proxy.FromURL(p, d)
		if err != nil {
			return nil, fmt.Errorf("proxy %s: %w", p.Host, err)
		}
		return x.(proxy.ContextDialer).DialContext(ctx, "tcp", addr)
	case "http", "https":
		return connect(ctx, d, p, addr)
	}
	return nil, fmt.Errorf("proxy %s: the scheme %q is not supported", p.Host, p.Scheme)
}

// connect asks an HTTP proxy for a tunnel.
func connect(ctx context.Context, d *net.Dialer, p *url.URL, addr string) (net.Conn, error) {
	port := p.Port()
	if port == "" {
		port = ports[p.Scheme]
	}
	c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(p.Hostname(), port))
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	if p.Scheme == "https" {
		c = tls.Client(c, &tls.Config{ServerName: p.Hostname(), MinVersion: tls.VersionTLS12})
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: addr}, Host: addr, Header: http.Header{}}
	if u := p.User; u != nil {
		pw, _ := u.Password()
		req.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+pw)))
	}
	if err := req.Write(c); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("proxy: %w", err)
	}
	br := bufio.NewReader(c)
	resp, err := http.ReadResponse(br, req)
	if err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("proxy: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		_ = c.Close()
		return nil, fmt.Errorf("proxy %s refused the tunnel: %s", p.Host, resp.Status)
	}
	return &bufferedConn{Conn: c, r: br}, nil
}

// bufferedConn hands out what the proxy's answer left in the buffer (the SSH banner may follow at once).
type bufferedConn struct {
	net.Conn
	r *bufio.Reader
}

// Read implements net.Conn.
func (c *bufferedConn) Read(p []byte) (int, error) { return c.r.Read(p) }
