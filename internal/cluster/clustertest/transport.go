// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package clustertest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// transport hands requests to a handler through a pipe.
type transport struct{ handler http.Handler }

var _ http.RoundTripper = transport{}

// ErrAbort, as the value of a panic in an interceptor, cuts the connection.
var ErrAbort = http.ErrAbortHandler

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	pr, pw := io.Pipe()
	w := &pipeWriter{header: http.Header{}, body: pw, started: make(chan struct{})}
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(ctx, func() { _ = pr.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer func() {
			stop()
			err := io.EOF
			if p := recover(); p != nil {
				err = errors.New("connection reset by peer")
			}
			w.WriteHeader(http.StatusOK)
			_ = pw.CloseWithError(err)
		}()
		t.handler.ServeHTTP(w, r.WithContext(ctx))
	}()
	select {
	case <-w.started:
	case <-r.Context().Done():
		cancel()
		return nil, r.Context().Err()
	}
	return &http.Response{
		StatusCode: w.code, Status: http.StatusText(w.code), Header: w.sent, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: body{pr, cancel}, Request: r, ContentLength: -1,
	}, nil
}

type body struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (b body) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}

type pipeWriter struct {
	once    sync.Once
	header  http.Header
	sent    http.Header
	code    int
	started chan struct{}
	body    *io.PipeWriter
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(code int) {
	w.once.Do(func() {
		w.code, w.sent = code, w.header.Clone()
		close(w.started)
	})
}

func (w *pipeWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// Flush implements http.Flusher: a pipe has nothing to flush, but the header may be waiting.
func (w *pipeWriter) Flush() { w.WriteHeader(http.StatusOK) }
