// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitserver

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// Fault replaces or spoils answers. The first fault that matches a request and is not used up serves it.
type Fault struct {
	// Service limits the fault to git-upload-pack or git-receive-pack; empty = both.
	Service string
	// Method limits the fault to GET (advertisements) or POST; empty = both.
	Method string
	// Skip lets that many matching requests pass first.
	Skip int
	// Times is how many requests it serves; 0 = until ClearFaults.
	Times int

	// Before runs first, outside of any lock: a competing push, for instance.
	Before func()
	// Delay holds the request before it is served; the server's end cuts it short.
	Delay time.Duration
	// Backend runs the real backend although the answer is replaced: the ref moves, the reply is lost.
	Backend bool
	// Status and Body replace the answer; Header is added to it.
	Status int
	Body   string
	Header map[string]string
	// Hang answers nothing until the client or the server goes away. HangAfter sends that many bytes of the real
	// answer first.
	Hang      bool
	HangAfter int64
	// Close ends the connection without an answer; CloseAfter sends that many bytes of the real answer first.
	Close      bool
	CloseAfter int64
	// Refuse looks at a request and answers it when its status is not 0; else the real answer follows.
	Refuse func(r *http.Request, body []byte) (status int, text string)
	// Handler serves the request with whatever the test wants.
	Handler func(w http.ResponseWriter, r *http.Request, body []byte)
}

// SetFault replaces all faults by these.
func (s *Server) SetFault(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
	for _, f := range faults {
		s.faults = append(s.faults, &f)
	}
}

// ClearFaults removes all faults.
func (s *Server) ClearFaults() { s.SetFault() }

func (s *Server) fault(r Request) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		if f.Service != "" && f.Service != r.Service || f.Method != "" && f.Method != r.Method {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
			}
		}
		c := *f
		return &c
	}
	return nil
}

func (f *Fault) serve(s *Server, w *countingWriter, r *http.Request, body []byte) {
	if f.Before != nil {
		f.Before()
	}
	if f.Delay > 0 {
		t := time.NewTimer(f.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done():
		case <-s.closed:
		}
	}
	for k, v := range f.Header {
		w.Header().Set(k, v)
	}
	if f.Refuse != nil {
		if status, text := f.Refuse(r, body); status != 0 {
			http.Error(w, text, status)
			return
		}
	}
	replaced := f.Status != 0 || f.Hang || f.Close || f.Handler != nil
	if f.Backend && replaced {
		s.answer(&discard{}, r.Clone(r.Context()), body)
	}
	switch {
	case f.Handler != nil:
		f.Handler(w, r, body)
	case f.Status != 0:
		w.WriteHeader(f.Status)
		_, _ = io.Copy(w, strings.NewReader(f.Body))
	case f.Hang:
		s.hang(r)
		w.abort = true
	case f.HangAfter > 0:
		w.limit = f.HangAfter
		s.answer(w, r, body)
		s.hang(r)
	case f.Close:
		w.abort = true
	case f.CloseAfter > 0:
		w.limit = f.CloseAfter
		s.answer(w, r, body)
	default:
		s.answer(w, r, body)
	}
}

func (s *Server) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.closed:
	}
}

// discard is an answer nobody reads.
type discard struct{ h http.Header }

func (d *discard) Header() http.Header {
	if d.h == nil {
		d.h = http.Header{}
	}
	return d.h
}
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}
