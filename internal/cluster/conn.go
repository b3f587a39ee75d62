// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

const (
	dialTimeout      = 15 * time.Second
	keepAlive        = 30 * time.Second
	discoveryTimeout = 15 * time.Second
	// headerTimeout bounds the wait for an answer to begin. There is no overall timeout: it would cut watches.
	headerTimeout = time.Minute
	// streamBuffer is the HTTP/2 receive window of one stream. With Go's 4 MiB, fifty streams that nobody reads for a
	// while hold 206 MiB; with this, 10 MiB.
	streamBuffer = 128 << 10
	// maxReplays bounds the initial replays of one source that run at once.
	maxReplays = 8
)

// ErrNotConnected: the source has no usable configuration now (no credentials, suspended, refused).
var ErrNotConnected = errors.New("the source cluster has no usable credentials")

// conn is one set of clients for one revision of the credentials. It is immutable; another revision is another conn.
type conn struct {
	config    Config
	base      *url.URL
	http      *http.Client
	discovery *discovery.DiscoveryClient
	opens     *rate.Limiter
	replays   *semaphore.Weighted
	// ctx ends when the conn is dropped, and with it every stream.
	ctx    context.Context //nolint:containedctx // the lifetime of the streams, not of a call
	cancel context.CancelCauseFunc
	idle   func()
}

// errDropped is the cause of streams that end because their credentials were replaced or taken away.
var errDropped = errors.New("the credentials of the source cluster changed")

func newConn(c Config, o Options) (*conn, error) {
	if c.REST == nil {
		return nil, errors.New("no client configuration")
	}
	cfg := rest.CopyConfig(c.REST)
	if cfg.UserAgent = o.UserAgent; cfg.UserAgent == "" {
		cfg.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	// The limiter below is the only one: client-go's would delay discovery behind streams.
	cfg.QPS, cfg.RateLimiter, cfg.Timeout = -1, nil, discoveryTimeout
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("address of the API server: %w", err)
	}
	rt, idle, err := newTransport(cfg)
	if err != nil {
		return nil, err
	}
	dc, err := discovery.NewDiscoveryClientForConfigAndClient(cfg, &http.Client{Transport: rt, Timeout: discoveryTimeout})
	if err != nil {
		return nil, err
	}
	qps, burst := c.QPS, c.Burst
	if qps <= 0 {
		qps = o.QPS
	}
	if burst <= 0 {
		burst = o.Burst
	}
	if qps <= 0 {
		qps = DefaultQPS
	}
	if burst <= 0 {
		burst = DefaultBurst
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	return &conn{
		config: c, base: base, http: &http.Client{Transport: rt}, discovery: dc,
		opens: rate.NewLimiter(rate.Limit(qps), burst), replays: semaphore.NewWeighted(maxReplays),
		ctx: ctx, cancel: cancel, idle: idle,
	}, nil
}

// drop ends every stream of the connection and closes its sockets.
func (c *conn) drop() {
	c.cancel(errDropped)
	c.idle()
}

// newTransport builds the source's own HTTP transport: client-go shares transports between configurations, and then one
// source's streams would fill another's connection.
func newTransport(cfg *rest.Config) (http.RoundTripper, func(), error) {
	tc, err := cfg.TransportConfig()
	if err != nil {
		return nil, nil, fmt.Errorf("client configuration: %w", err)
	}
	if tc.Transport != nil {
		rt, err := transport.HTTPWrappersForConfig(tc, tc.Transport)
		return rt, func() {}, err
	}
	tlsConfig, err := transport.TLSConfigFor(tc)
	if err != nil {
		return nil, nil, fmt.Errorf("TLS configuration: %w", err)
	}
	if tlsConfig == nil {
		tlsConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	dial := (&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}).DialContext
	if tc.DialHolder != nil {
		dial = tc.DialHolder.Dial
	}
	proxy := http.ProxyFromEnvironment
	if tc.Proxy != nil {
		proxy = tc.Proxy
	}
	base := &http.Transport{
		Proxy:                 proxy,
		DialContext:           dial,
		TLSClientConfig:       tlsConfig,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: headerTimeout,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       90 * time.Second,
		DisableCompression:    tc.DisableCompression,
		ForceAttemptHTTP2:     len(tlsConfig.NextProtos) == 0,
		// A peer that vanished is noticed after 45 s.
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream: streamBuffer,
			SendPingTimeout:           keepAlive,
			PingTimeout:               15 * time.Second,
		},
	}
	rt, err := transport.HTTPWrappersForConfig(tc, base)
	return rt, base.CloseIdleConnections, err
}

// url returns the address of a collection.
func (c *conn) url(col Collection, query url.Values) string {
	u := *c.base
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(u.Path, "/") + collectionRoot(col.Type))
	if col.Namespace != "" {
		b.WriteString("/namespaces/" + col.Namespace)
	}
	b.WriteString("/" + col.Type.Resource)
	u.Path = b.String()
	u.RawQuery = query.Encode()
	return u.String()
}
