// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package clustertest is an API server for tests that speaks discovery, list and watch well enough for package cluster
// and package watch, and misbehaves on request. The real kube-apiserver proves the protocol; this one proves what
// happens when it breaks, and runs inside a testing/synctest bubble.
package clustertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Object is a decoded object.
type Object = map[string]any

// Server is the fake. Its methods are safe for concurrent use.
type Server struct {
	mu      sync.Mutex
	rv      int
	types   []Resource
	failed  map[string]bool
	objects map[string]map[string]Object
	log     []event
	floor   int
	moved   chan struct{}
	closing chan struct{}
	calls   []url.URL
	sent    atomic.Int64
	// intercept may answer a request itself; true means it did.
	intercept func(w http.ResponseWriter, r *http.Request) bool
}

// Resource is a served type with its verbs; nil means all that matter.
type Resource struct {
	change.Type
	Verbs []string
}

type event struct {
	rv     int
	typ    string
	gr     string
	object Object
	// was is the object before; nil for a creation.
	was Object
}

// New returns a server of the given types.
func New(types ...change.Type) *Server {
	s := &Server{
		rv: 100, objects: map[string]map[string]Object{}, failed: map[string]bool{}, moved: make(chan struct{}),
		closing: make(chan struct{}),
	}
	for _, t := range types {
		s.types = append(s.types, Resource{Type: t})
	}
	return s
}

// Config returns a client configuration that reaches the server without a network.
func (s *Server) Config() *rest.Config {
	return &rest.Config{Host: "http://source.test", Transport: transport{s}}
}

// SetTypes replaces what is served.
func (s *Server) SetTypes(types ...Resource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.types = types
}

// FailGroupVersion makes discovery of "group/version" fail, or work again.
func (s *Server) FailGroupVersion(gv string, fail bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed[gv] = fail
}

// Intercept lets f answer requests; nil ends that. f runs before the server looks at the request.
func (s *Server) Intercept(f func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercept = f
}

// Calls returns the requests so far that contain every given text, in order. Query parameters are decoded.
func (s *Server) Calls(having ...string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, u := range s.calls {
		q, _ := url.QueryUnescape(u.RawQuery)
		text := u.Path + "?" + q
		if !slices.ContainsFunc(having, func(h string) bool { return !strings.Contains(text, h) }) {
			out = append(out, text)
		}
	}
	return out
}

// Sent counts the bytes of all answers so far, without those of interceptors.
func (s *Server) Sent() int64 { return s.sent.Load() }

// counted counts what is written through it.
type counted struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (c counted) Write(b []byte) (int, error) {
	c.sent.Add(int64(len(b)))
	return c.ResponseWriter.Write(b)
}

// Flush implements http.Flusher.
func (c counted) Flush() { flush(c.ResponseWriter) }

// EndWatches closes every open watch in order, as a server does after a while.
func (s *Server) EndWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.closing)
	s.closing = make(chan struct{})
}

// Compact forgets the events so far: resuming from before answers 410.
func (s *Server) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log, s.floor = nil, s.rv
}

// Apply creates or changes an object of a type; metadata.name is required. It returns the object as stored.
func (s *Server) Apply(t change.Type, o Object) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	o = clone(o)
	md := o["metadata"].(Object)
	ns, _ := md["namespace"].(string)
	key := ns + "/" + md["name"].(string)
	s.rv++
	was := s.objects[t.GroupResource()][key]
	typ := "ADDED"
	if was != nil {
		typ = "MODIFIED"
		md["uid"] = was["metadata"].(Object)["uid"]
	} else if md["uid"] == nil {
		md["uid"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", s.rv)
	}
	md["resourceVersion"] = strconv.Itoa(s.rv)
	o["kind"], o["apiVersion"] = t.Kind, t.APIVersion()
	if s.objects[t.GroupResource()] == nil {
		s.objects[t.GroupResource()] = map[string]Object{}
	}
	s.objects[t.GroupResource()][key] = o
	s.emit(event{rv: s.rv, typ: typ, gr: t.GroupResource(), object: o, was: was})
	return clone(o)
}

// Delete removes an object.
func (s *Server) Delete(t change.Type, namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := namespace + "/" + name
	o := clone(s.objects[t.GroupResource()][key])
	delete(s.objects[t.GroupResource()], key)
	s.rv++
	o["metadata"].(Object)["resourceVersion"] = strconv.Itoa(s.rv)
	s.emit(event{rv: s.rv, typ: "DELETED", gr: t.GroupResource(), object: o, was: o})
}

func (s *Server) emit(e event) {
	s.log = append(s.log, e)
	close(s.moved)
	s.moved = make(chan struct{})
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.calls = append(s.calls, *r.URL)
	f := s.intercept
	s.mu.Unlock()
	if f != nil && f(w, r) {
		return
	}
	w = counted{w, &s.sent}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/api":
		write(w, Object{"kind": "APIVersions", "versions": s.versions("")})
	case r.URL.Path == "/apis":
		write(w, s.groups())
	case parts[0] == "api" && len(parts) == 2:
		s.resources(w, "", parts[1])
	case parts[0] == "apis" && len(parts) == 3:
		s.resources(w, parts[1], parts[2])
	default:
		s.collection(w, r, parts)
	}
}

func (s *Server) versions(group string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, t := range s.types {
		if t.Group == group && !slices.Contains(out, t.Version) {
			out = append(out, t.Version)
		}
	}
	return out
}

func (s *Server) groups() Object {
	s.mu.Lock()
	names := map[string]bool{}
	for _, t := range s.types {
		if t.Group != "" {
			names[t.Group] = true
		}
	}
	s.mu.Unlock()
	list := []any{}
	for _, g := range slices.Sorted(maps.Keys(names)) {
		var versions []any
		for _, v := range s.versions(g) {
			versions = append(versions, Object{"groupVersion": g + "/" + v, "version": v})
		}
		list = append(list, Object{"name": g, "versions": versions, "preferredVersion": versions[0]})
	}
	return Object{"kind": "APIGroupList", "apiVersion": "v1", "groups": list}
}

func (s *Server) resources(w http.ResponseWriter, group, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gv := change.Type{Group: group, Version: version}.APIVersion()
	if s.failed[gv] {
		Fail(w, http.StatusServiceUnavailable, "ServiceUnavailable", "the backend of "+gv+" is away")
		return
	}
	list := []any{}
	for _, t := range s.types {
		if t.Group != group || t.Version != version {
			continue
		}
		verbs := t.Verbs
		if verbs == nil {
			verbs = []string{"get", "list", "watch", "create", "update", "patch", "delete"}
		}
		list = append(list, Object{"name": t.Resource, "kind": t.Kind, "namespaced": t.Namespaced, "verbs": verbs})
	}
	if len(list) == 0 {
		Fail(w, http.StatusNotFound, "NotFound", "the server could not find the requested resource")
		return
	}
	write(w, Object{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": gv, "resources": list})
}

// find returns the type and namespace of a collection's path.
func (s *Server) find(parts []string) (change.Type, string, bool) {
	group, rest := "", parts[1:]
	if parts[0] == "apis" {
		group, rest = parts[1], parts[2:]
	}
	ns := ""
	version, rest := rest[0], rest[1:]
	if len(rest) == 3 && rest[0] == "namespaces" {
		ns, rest = rest[1], rest[2:]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.types {
		if t.Group == group && t.Version == version && len(rest) == 1 && t.Resource == rest[0] {
			return t.Type, ns, true
		}
	}
	return change.Type{}, "", false
}

func (s *Server) collection(w http.ResponseWriter, r *http.Request, parts []string) {
	if len(parts) < 3 {
		http.NotFound(w, r)
		return
	}
	t, ns, ok := s.find(parts)
	if !ok {
		Fail(w, http.StatusNotFound, "NotFound", "the server could not find the requested resource")
		return
	}
	sel, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		Fail(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	in := func(o Object) bool {
		if o == nil {
			return false
		}
		md := o["metadata"].(Object)
		set := labels.Set{}
		if l, ok := md["labels"].(Object); ok {
			for k, v := range l {
				set[k] = v.(string)
			}
		}
		return (ns == "" || md["namespace"] == ns) && sel.Matches(set)
	}
	if r.URL.Query().Get("watch") == "true" {
		s.watch(w, r, t, in)
		return
	}
	s.list(w, r, t, in)
}

// list answers in pages; the continue token is the offset and the version of the first page.
func (s *Server) list(w http.ResponseWriter, r *http.Request, t change.Type, in func(Object) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.stateLocked(t, in)
	from, rv := 0, s.rv
	if c := r.URL.Query().Get("continue"); c != "" {
		if _, err := fmt.Sscanf(c, "%d-%d", &from, &rv); err != nil {
			Fail(w, http.StatusBadRequest, "BadRequest", "bad continue token")
			return
		}
	}
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit <= 0 {
		limit = len(all)
	}
	to := min(from+limit, len(all))
	md := Object{"resourceVersion": strconv.Itoa(rv)}
	if to < len(all) {
		md["continue"] = fmt.Sprintf("%d-%d", to, rv)
	}
	page := []any{}
	for _, o := range all[min(from, to):to] {
		o = clone(o)
		// As the real one does for typed lists.
		delete(o, "kind")
		delete(o, "apiVersion")
		page = append(page, o)
	}
	write(w, Object{"kind": t.Kind + "List", "apiVersion": t.APIVersion(), "metadata": md, "items": page})
}

func (s *Server) stateLocked(t change.Type, in func(Object) bool) []Object {
	var out []Object
	m := s.objects[t.GroupResource()]
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if in(m[k]) {
			out = append(out, m[k])
		}
	}
	return out
}

func (s *Server) watch(w http.ResponseWriter, r *http.Request, t change.Type, in func(Object) bool) {
	q := r.URL.Query()
	s.mu.Lock()
	closing := s.closing
	at := s.rv
	var first []Object
	if q.Get("sendInitialEvents") == "true" {
		first = s.stateLocked(t, in)
	} else {
		at, _ = strconv.Atoi(q.Get("resourceVersion"))
		if at < s.floor {
			s.mu.Unlock()
			Send(w, "ERROR", Status(http.StatusGone, "Expired", "too old resource version"))
			return
		}
	}
	rv := s.rv
	s.mu.Unlock()
	for _, o := range first {
		Send(w, "ADDED", o)
	}
	if q.Get("sendInitialEvents") == "true" {
		Send(w, "BOOKMARK", EndBookmark(t, rv))
	}
	flush(w)
	for {
		s.mu.Lock()
		moved := s.moved
		var events []event
		for _, e := range s.log {
			if e.rv > at && e.gr == t.GroupResource() {
				events = append(events, e)
			}
		}
		at = s.rv
		s.mu.Unlock()
		for _, e := range events {
			typ := e.typ
			switch now, was := typ != "DELETED" && in(e.object), in(e.was); {
			case now && !was:
				typ = "ADDED"
			case !now && was:
				typ = "DELETED"
			case !now:
				continue
			}
			Send(w, typ, e.object)
		}
		flush(w)
		select {
		case <-moved:
		case <-closing:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// EndBookmark is the bookmark that completes a replay.
func EndBookmark(t change.Type, rv int) Object {
	o := PlainBookmark(t, rv)
	o["metadata"].(Object)["annotations"] = Object{"k8s.io/initial-events-end": "true"}
	return o
}

// PlainBookmark is an ordinary bookmark.
func PlainBookmark(t change.Type, rv int) Object {
	return Object{
		"kind": t.Kind, "apiVersion": t.APIVersion(), "metadata": Object{"resourceVersion": strconv.Itoa(rv)},
	}
}

// Send writes one watch event.
func Send(w io.Writer, typ string, o any) {
	b, err := json.Marshal(struct {
		Type   string `json:"type"`
		Object any    `json:"object"`
	}{typ, o})
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(append(b, '\n'))
	flush(w)
}

func flush(w io.Writer) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// Status is the object of a failure.
func Status(code int, reason, message string) Object {
	return Object{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message,
	}
}

// Fail answers a request with a failure.
func Fail(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(Status(code, reason, message))
}

func write(w http.ResponseWriter, o Object) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(o)
}

func clone(o Object) Object {
	var buf bytes.Buffer
	if err := json.NewEncoder(&buf).Encode(o); err != nil {
		panic(err)
	}
	var out Object
	if err := json.NewDecoder(&buf).Decode(&out); err != nil {
		panic(err)
	}
	return out
}
