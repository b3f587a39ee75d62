// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// TestStalledStreamHoldsLittle: a stream nobody reads stops the server after the receive window. With Go's own window
// it would take 4 MiB.
func TestStalledStreamHoldsLittle(t *testing.T) {
	g := NewWithT(t)
	var written atomic.Int64
	frame := []byte(`{"type":"ADDED","object":{"data":"` + strings.Repeat("x", 4000) + `"}}` + "\n")
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("spoke %s", r.Proto)
		}
		if e := r.Header.Get("Accept-Encoding"); e != "identity" {
			t.Errorf("asked for the encoding %q: its reader would hold 40 KiB per stream", e)
		}
		for {
			n, err := w.Write(frame)
			written.Add(int64(n))
			if err != nil {
				return
			}
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	s := newSource("a", Options{Log: logr.Discard(), Clock: clock.RealClock{}}, hooks{changed: func() {}, refresh: func() {}})
	c, err := newConn(Config{REST: &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}}, Options{})
	g.Expect(err).NotTo(HaveOccurred())
	s.connect(c)
	defer s.connect(nil)
	w, err := s.Open(t.Context(), Collection{Type: change.Type{Version: "v1", Resource: "configmaps"}}, Mark{})
	g.Expect(err).NotTo(HaveOccurred())
	defer w.Close()
	g.Eventually(written.Load).Should(BeNumerically(">=", streamBuffer/2))
	g.Consistently(written.Load, "300ms").Should(BeNumerically("<=", 2*streamBuffer))
	f, err := w.Next()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(f.Type).To(Equal(Added))
}

func TestURLs(t *testing.T) {
	g := NewWithT(t)
	c, err := newConn(Config{REST: &rest.Config{Host: "https://proxy.test/clusters/a/"}}, Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.url(Collection{Type: change.Type{Version: "v1", Resource: "configmaps"}, Namespace: "dock"}, nil)).
		To(Equal("https://proxy.test/clusters/a/api/v1/namespaces/dock/configmaps"))
	g.Expect(c.url(Collection{Type: change.Type{Group: "apps", Version: "v1", Resource: "deployments"}}, nil)).
		To(Equal("https://proxy.test/clusters/a/apis/apps/v1/deployments"))
}

func TestStatusErrors(t *testing.T) {
	g := NewWithT(t)
	e := ParseStatus([]byte(`{"kind":"Status","code":410,"reason":"Expired","message":"too old"}`))
	g.Expect(e.Expired()).To(BeTrue())
	g.Expect(e).To(MatchError("too old"))
	e = ParseStatus([]byte(`{"kind":"Status","code":422,"details":{"retryAfterSeconds":3,"causes":[{"field":"sendInitialEvents"}]}}`))
	g.Expect(e.Causes).To(Equal([]string{"sendInitialEvents"}))
	g.Expect(e.RetryAfter.Seconds()).To(Equal(3.0))
	g.Expect(e.Error()).To(Equal("the API server answered 422 Unprocessable Entity"))
	long := ParseStatus([]byte(strings.Repeat("<html>", 1000)))
	g.Expect(len(long.Message)).To(Equal(512))
}
