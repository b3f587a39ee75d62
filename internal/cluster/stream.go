// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Collection is what one stream reads.
type Collection struct {
	Type change.Type
	// Namespace is empty for all namespaces and cluster-scoped types.
	Namespace string
	// Selector is a label selector in its canonical text form; empty for every object.
	Selector string
}

// Mark says where a watch starts.
type Mark struct {
	// ResourceVersion to resume after; empty means a replay with sendInitialEvents.
	ResourceVersion string
}

// Stream is an open watch.
type Stream interface {
	// Next returns the next frame. io.EOF means the server ended the watch in order.
	Next() (Frame, error)
	// Close ends the watch. It may be called more than once and from another goroutine.
	Close()
}

// Open opens a watch: a replay when the mark is empty, else a resume (watch 8.2). The context bounds the stream's whole
// life. Errors: ErrNotConnected, *StatusError for the server's refusal, else the transport's.
func (s *Source) Open(ctx context.Context, col Collection, m Mark) (Stream, error) {
	q := url.Values{"watch": {"true"}, "allowWatchBookmarks": {"true"}}
	if m.ResourceVersion == "" {
		q.Set("sendInitialEvents", "true")
		q.Set("resourceVersionMatch", "NotOlderThan")
	} else {
		q.Set("resourceVersion", m.ResourceVersion)
	}
	if col.Selector != "" {
		q.Set("labelSelector", col.Selector)
	}
	c, ctx, cancel, err := s.bind(ctx)
	if err != nil {
		return nil, err
	}
	// A gzip reader would hold 40 KiB for as long as the stream lives.
	resp, err := c.get(ctx, c.url(col, q), "identity")
	if err != nil {
		cancel()
		return nil, dropped(c, err)
	}
	return &stream{conn: c, body: resp.Body, frames: NewFrameReader(resp.Body), cancel: cancel}, nil
}

// bind joins a caller's context with the lifetime of the connection.
func (s *Source) bind(ctx context.Context) (*conn, context.Context, context.CancelFunc, error) {
	c := s.conn()
	if c == nil {
		return nil, nil, nil, ErrNotConnected
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.ctx, cancel)
	return c, ctx, func() { stop(); cancel() }, nil
}

// dropped names the true cause of an error that a dropped connection leads to.
func dropped(c *conn, err error) error {
	if c.ctx.Err() != nil {
		return errors.Join(ErrNotConnected, context.Cause(c.ctx))
	}
	return err
}

type stream struct {
	conn   *conn
	body   io.ReadCloser
	frames *FrameReader
	cancel context.CancelFunc
	once   sync.Once
}

var _ Stream = (*stream)(nil)

func (s *stream) Next() (Frame, error) {
	f, err := s.frames.Next()
	if err != nil {
		return Frame{}, dropped(s.conn, err)
	}
	return f, nil
}

func (s *stream) Close() {
	s.once.Do(func() {
		s.cancel()
		// The error of closing a cancelled body says nothing new.
		_ = s.body.Close()
	})
}

// get sends a GET after waiting for the source's limiter and returns an answer of status 200. An empty encoding leaves
// compression to the transport.
func (c *conn) get(ctx context.Context, u, encoding string) (*http.Response, error) {
	if err := c.opens.Wait(ctx); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if encoding != "" {
		req.Header.Set("Accept-Encoding", encoding)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, readStatus(resp)
	}
	return resp, nil
}

// StatusError is a refusal by the API server.
type StatusError struct {
	Code            int
	Reason, Message string
	// Causes are the fields the server complains about.
	Causes []string
	// RetryAfter is the server's wish; 0 when it named none.
	RetryAfter time.Duration
}

// Error returns the server's own words.
func (e *StatusError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("the API server answered %d %s", e.Code, http.StatusText(e.Code))
	}
	return e.Message
}

// Expired reports a resource version the server no longer holds.
func (e *StatusError) Expired() bool {
	return e.Code == http.StatusGone || e.Reason == string(metav1.StatusReasonExpired) ||
		e.Reason == string(metav1.StatusReasonGone)
}

// readStatus consumes a refusal. It never keeps more than 64 KiB of it.
func readStatus(resp *http.Response) error {
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	e := &StatusError{}
	if err == nil {
		e = ParseStatus(b)
	}
	e.Code = resp.StatusCode
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
		e.RetryAfter = time.Duration(s) * time.Second
	}
	return e
}

// ParseStatus reads a metav1.Status, as in the object of an ERROR event. Text that is none becomes the message, cut at
// 512 bytes.
func ParseStatus(b []byte) *StatusError {
	var st metav1.Status
	if err := json.Unmarshal(b, &st); err != nil || st.Kind != "Status" {
		return &StatusError{Message: strings.TrimSpace(string(b[:min(len(b), 512)]))}
	}
	e := &StatusError{Code: int(st.Code), Reason: string(st.Reason), Message: st.Message}
	if st.Details != nil {
		e.RetryAfter = time.Duration(st.Details.RetryAfterSeconds) * time.Second
		for _, c := range st.Details.Causes {
			e.Causes = append(e.Causes, c.Field)
		}
	}
	return e
}
