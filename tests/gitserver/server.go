// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitserver

import (
	"bytes"
	"crypto/subtle"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Options configure a server. The zero value is plain HTTP without authentication on a free loopback port.
type Options struct {
	// Addr is the listen address; default "127.0.0.1:0".
	Addr string
	// Username and Password demand basic authentication when Password is set.
	Username, Password string
	// BearerToken demands a bearer token.
	BearerToken string
	// TLS serves https with a certificate of its own; see CACert.
	TLS bool
	// V0Only hides protocol v2, as old servers do.
	V0Only bool
}

// Request is one HTTP request the server answered.
type Request struct {
	Method string
	// Path is the URL path, with its query.
	Path string
	// Service is git-upload-pack, git-receive-pack or empty.
	Service string
	// Protocol is the Git-Protocol header.
	Protocol string
	// Authorization is the header of that name.
	Authorization string
	// UserAgent is the header of that name.
	UserAgent string
	// Status is the answered status; 0 = the connection was closed without one.
	Status int
	// In and Out are body bytes received and sent.
	In, Out int64
	// Began is when the request arrived, Took how long the server worked on it, its reading of the body included.
	Began time.Time
	Took  time.Duration
}

// Server serves the bare repositories of one folder.
type Server struct {
	// receiving is held for reading while a push is received: Git moves the objects of a push into the repository one by
	// one, and a check in between would miss some.
	receiving sync.RWMutex

	dir     string
	ownDir  bool
	http    *httptest.Server
	backend string

	mu       sync.Mutex
	opts     Options
	requests []Request
	faults   []*Fault
	ssh      []*SSHServer
	closed   chan struct{}
}

// TB is what Start needs of testing.TB.
type TB interface {
	Helper()
	TempDir() string
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// Start runs a server for one test and closes it at the test's end.
func Start(t TB, o Options) *Server {
	t.Helper()
	s, err := New(t.TempDir(), o)
	if err != nil {
		t.Fatalf("git server: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// New starts a server over the repositories in dir; an empty dir is a temporary folder that Close removes.
func New(dir string, o Options) (*Server, error) {
	s := &Server{dir: dir, opts: o, closed: make(chan struct{})}
	if dir == "" {
		d, err := os.MkdirTemp("", "gitserver-")
		if err != nil {
			return nil, err
		}
		s.dir, s.ownDir = d, true
	}
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return nil, fmt.Errorf("git is needed on PATH: %w", err)
	}
	s.backend = filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	if _, err := os.Stat(s.backend); err != nil {
		return nil, fmt.Errorf("git http-backend is needed: %w", err)
	}
	addr := o.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	s.http = &httptest.Server{Listener: l, Config: &http.Server{
		Handler: http.HandlerFunc(s.serve), ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute,
	}}
	if o.TLS {
		s.http.StartTLS()
	} else {
		s.http.Start()
	}
	return s, nil
}

// Close ends the server and frees requests that hang.
func (s *Server) Close() {
	s.mu.Lock()
	select {
	case <-s.closed:
		s.mu.Unlock()
		return
	default:
		close(s.closed)
	}
	ssh := s.ssh
	s.mu.Unlock()
	for _, x := range ssh {
		x.Close()
	}
	s.http.CloseClientConnections()
	s.http.Close()
	if s.ownDir {
		_ = os.RemoveAll(s.dir)
	}
}

// Dir is the folder that holds the repositories.
func (s *Server) Dir() string { return s.dir }

// BaseURL is the server's address without a path.
func (s *Server) BaseURL() string { return s.http.URL }

// URL is the address of a repository.
func (s *Server) URL(repo string) string { return s.http.URL + "/" + repo + ".git" }

// CACert is the server's certificate in PEM; nil without TLS.
func (s *Server) CACert() []byte {
	c := s.http.Certificate()
	if c == nil {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// SetAuth changes the accepted basic credentials; an empty password turns authentication off.
func (s *Server) SetAuth(username, password string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.Username, s.opts.Password = username, password
}

// SetV0Only hides (or shows again) protocol v2.
func (s *Server) SetV0Only(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.V0Only = on
}

// Requests returns the requests answered since the start or the last Reset.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Reset forgets the requests counted so far.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	rec := Request{Method: r.Method, Path: r.URL.RequestURI(), Service: service(r), Protocol: r.Header.Get("Git-Protocol"),
		Authorization: r.Header.Get("Authorization"), UserAgent: r.UserAgent(), In: int64(len(body)), Began: began}
	cw := &countingWriter{ResponseWriter: w}
	f := s.fault(rec)
	if f == nil {
		// Whoever has waited for a push finds its request counted.
		defer s.receive(r)()
	}
	defer func() {
		rec.Status, rec.Out, rec.Took = cw.status, cw.n, time.Since(began)
		s.mu.Lock()
		s.requests = append(s.requests, rec)
		s.mu.Unlock()
		if cw.abort {
			panic(http.ErrAbortHandler)
		}
	}()
	if f != nil {
		f.serve(s, cw, r, body)
		return
	}
	s.forward(cw, r, body)
}

// receive marks a push as in flight and returns what ends it.
func (s *Server) receive(r *http.Request) (done func()) {
	if service(r) != "git-receive-pack" {
		return func() {}
	}
	s.receiving.RLock()
	return s.receiving.RUnlock
}

// answer is what faults use that let the request through.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, body []byte) {
	defer s.receive(r)()
	s.forward(w, r, body)
}

// forward authenticates and hands the request to git http-backend.
func (s *Server) forward(w http.ResponseWriter, r *http.Request, body []byte) {
	s.mu.Lock()
	o := s.opts
	s.mu.Unlock()
	if !authorized(o, r) {
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		http.Error(w, "authentication required", http.StatusUnauthorized)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body)) // the CGI handler refuses chunked bodies
	r.TransferEncoding = nil
	if o.V0Only {
		r.Header.Del("Git-Protocol")
	}
	h := cgi.Handler{
		Path: s.backend, Dir: s.dir, Stderr: io.Discard, Logger: log.New(io.Discard, "", 0),
		Env: append(Env(s.dir), "GIT_PROJECT_ROOT="+s.dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=gitserver"),
	}
	h.ServeHTTP(w, r)
}

func authorized(o Options, r *http.Request) bool {
	switch {
	case o.BearerToken != "":
		return equal(r.Header.Get("Authorization"), "Bearer "+o.BearerToken)
	case o.Password != "":
		u, p, _ := r.BasicAuth()
		return equal(u, o.Username) && equal(p, o.Password)
	}
	return true
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func service(r *http.Request) string {
	if q := r.URL.Query().Get("service"); q != "" {
		return q
	}
	if b := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]; strings.HasPrefix(b, "git-") {
		return b
	}
	return ""
}

// countingWriter counts what is sent and can end the connection in the middle.
type countingWriter struct {
	http.ResponseWriter
	status int
	n      int64
	limit  int64 // > 0: bytes to let through before the connection is closed
	abort  bool
}

var errCut = errors.New("connection cut by a fault")

func (w *countingWriter) WriteHeader(code int) {
	w.status = code
	w.ResponseWriter.WriteHeader(code)
}

func (w *countingWriter) Write(p []byte) (int, error) {
	if w.abort {
		return 0, errCut
	}
	if w.status == 0 {
		w.status = http.StatusOK
	}
	if w.limit > 0 && w.n+int64(len(p)) > w.limit {
		n, _ := w.ResponseWriter.Write(p[:w.limit-w.n])
		w.n += int64(n)
		w.flush()
		w.abort = true
		return n, errCut
	}
	n, err := w.ResponseWriter.Write(p)
	w.n += int64(n)
	return n, err
}

func (w *countingWriter) flush() {
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}
