// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/cluster/clustertest"
)

var (
	configMaps = change.Type{Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespaced: true}
	namespaces = change.Type{Version: "v1", Kind: "Namespace", Resource: "namespaces"}
	boats      = change.Type{Group: "x.test", Version: "v1", Kind: "Boat", Resource: "boats", Namespaced: true}
	crds       = change.Type{
		Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions",
	}
)

// port runs Sources inside a bubble.
type port struct {
	*WithT
	sources *cluster.Sources
	ctx     context.Context //nolint:containedctx // the bubble's
	logs    atomic.Int32
}

func inPort(t *testing.T, f func(p *port)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &port{WithT: NewWithT(t)}
		p.sources = cluster.NewSources(cluster.Options{
			Log: funcr.New(func(_, _ string) { p.logs.Add(1) }, funcr.Options{}),
		})
		ctx, cancel := context.WithCancel(context.Background())
		p.ctx = ctx
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			p.sources.Run(ctx)
		}()
		defer func() {
			cancel()
			<-ended
		}()
		f(p)
	})
}

func (p *port) pass(d time.Duration) {
	time.Sleep(d) // fake time: the bubble's clock
	synctest.Wait()
}

func (p *port) verdict(s *cluster.Source, t change.Type) string {
	v, reason := s.Catalog().Standing(t)
	return strings.TrimSpace(string(v) + " " + reason)
}

func TestSourcesLiveWhileHeld(t *testing.T) {
	inPort(t, func(p *port) {
		server := clustertest.New(configMaps)
		p.Expect(p.sources.Set("a", cluster.Config{REST: server.Config(), Token: "1"})).To(Succeed())
		p.pass(time.Minute)
		p.Expect(server.Calls()).To(BeEmpty(), "nobody holds it")
		s, release := p.sources.Acquire("a")
		p.pass(time.Second)
		p.Expect(p.verdict(s, configMaps)).To(Equal("followable"))
		p.Expect(s.Reachability()).To(Equal(cluster.Reachability{
			Status: "True", Reason: cluster.ReasonReachable, Message: "The API server answers.",
		}))
		n := len(server.Calls("/apis"))
		p.pass(30 * time.Second)
		p.Expect(len(server.Calls("/apis"))).To(Equal(n+1), "one look per interval")
		_, again := p.sources.Acquire("a")
		release()
		release()
		got, ok := p.sources.Get("a")
		p.Expect(ok).To(BeTrue())
		p.Expect(got).To(BeIdenticalTo(s))
		again()
		_, ok = p.sources.Get("a")
		p.Expect(ok).To(BeFalse())
		n = len(server.Calls())
		p.pass(5 * time.Minute)
		p.Expect(server.Calls()).To(HaveLen(n), "a source nobody holds is left alone")
	})
}

func TestScenario12_NewTypeInRemoteSource(t *testing.T) {
	inPort(t, func(p *port) {
		server := clustertest.New(configMaps)
		p.Expect(p.sources.Set("a", cluster.Config{REST: server.Config(), Token: "1"})).To(Succeed())
		s, release := p.sources.Acquire("a")
		defer release()
		p.pass(time.Second)
		server.SetTypes(clustertest.Resource{Type: configMaps}, clustertest.Resource{Type: boats})
		p.pass(30 * time.Second)
		p.Expect(p.verdict(s, boats)).To(Equal("pending settling"))
		p.sources.Changed().Take()
		p.pass(5 * time.Second)
		p.Expect(p.verdict(s, boats)).To(Equal("followable"), "no scan is needed to settle")
		p.Expect(p.sources.Changed().Take()).To(Equal([]string{"a"}))
	})
}

func TestScenario11_TriggersOfTheLocalCluster(t *testing.T) {
	inPort(t, func(p *port) {
		server := clustertest.New(configMaps, crds)
		forbidden := func(w http.ResponseWriter, r *http.Request) bool {
			if strings.Contains(r.URL.Path, "customresourcedefinitions") {
				clustertest.Fail(w, http.StatusForbidden, "Forbidden", "customresourcedefinitions is forbidden: no")
				return true
			}
			return false
		}
		server.Intercept(forbidden)
		p.Expect(p.sources.Set("a", cluster.Config{REST: server.Config(), Token: "1", Local: true})).To(Succeed())
		s, release := p.sources.Acquire("a")
		defer release()
		p.pass(5*time.Minute + time.Second)
		p.Expect(p.logs.Load()).To(Equal(int32(1)), "one line")
		p.Expect(len(server.Calls("customresourcedefinitions"))).To(BeNumerically("<=", 11), "no loop")

		server.Intercept(nil)
		p.pass(30 * time.Second)
		p.Expect(server.Calls("customresourcedefinitions", "watch=true")).To(HaveLen(1), "armed again at the next refresh")
		server.SetTypes(clustertest.Resource{Type: configMaps}, clustertest.Resource{Type: crds}, clustertest.Resource{Type: boats})
		server.Apply(crds, clustertest.Object{"metadata": clustertest.Object{"name": "boats.x.test"}})
		p.pass(3 * time.Second)
		p.Expect(p.verdict(s, boats)).To(Equal("pending settling"), "found without waiting for the tick")
		server.EndWatches()
		p.pass(time.Second)
	})
}

func TestScenario15_HungDiscoveryDelaysNobody(t *testing.T) {
	inPort(t, func(p *port) {
		hung, fine := clustertest.New(configMaps), clustertest.New(configMaps)
		hung.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
			<-r.Context().Done()
			return true
		})
		p.Expect(p.sources.Set("hung", cluster.Config{REST: hung.Config(), Token: "1", Local: true})).To(Succeed())
		p.Expect(p.sources.Set("fine", cluster.Config{REST: fine.Config(), Token: "1"})).To(Succeed())
		h, releaseH := p.sources.Acquire("hung")
		defer releaseH()
		f, releaseF := p.sources.Acquire("fine")
		defer releaseF()
		p.pass(time.Second)
		p.Expect(p.verdict(f, configMaps)).To(Equal("followable"))
		p.Expect(h.Catalog().Ready()).To(BeFalse())
		p.pass(15 * time.Second)
		p.Expect(h.Reachability()).To(Equal(cluster.Reachability{
			Status: "False", Reason: cluster.ReasonUnreachable, Message: "Discovery failed: timeout",
		}))
	})
}

func TestReachabilityReasons(t *testing.T) {
	for code, reason := range map[int]string{
		401: cluster.ReasonAuthenticationFailed, 403: cluster.ReasonAccessDenied, 500: cluster.ReasonUnreachable,
	} {
		inPort(t, func(p *port) {
			server := clustertest.New(configMaps)
			p.Expect(p.sources.Set("a", cluster.Config{REST: server.Config(), Token: "1"})).To(Succeed())
			s, release := p.sources.Acquire("a")
			defer release()
			p.pass(time.Second)
			server.Intercept(func(w http.ResponseWriter, _ *http.Request) bool {
				clustertest.Fail(w, code, map[int]string{401: "Unauthorized", 403: "Forbidden", 500: "InternalError"}[code], "no")
				return true
			})
			p.pass(30 * time.Second)
			p.Expect(s.Reachability().Status).To(Equal("False"))
			p.Expect(s.Reachability().Reason).To(Equal(reason))
			p.Expect(p.verdict(s, configMaps)).To(Equal("followable"), "the last facts survive")
		})
	}
}

func TestRotatedAndLostCredentials(t *testing.T) {
	inPort(t, func(p *port) {
		old, next := clustertest.New(configMaps), clustertest.New(configMaps)
		p.Expect(p.sources.Set("a", cluster.Config{REST: old.Config(), Token: "1"})).To(Succeed())
		s, release := p.sources.Acquire("a")
		defer release()
		p.pass(time.Second)
		w, err := s.Open(p.ctx, cluster.Collection{Type: configMaps}, cluster.Mark{})
		p.Expect(err).NotTo(HaveOccurred())
		f, err := w.Next()
		p.Expect(err).NotTo(HaveOccurred())
		p.Expect(f.Type).To(Equal(cluster.Bookmark))

		p.Expect(p.sources.Set("a", cluster.Config{REST: next.Config(), Token: "1"})).To(Succeed())
		p.Expect(s.Token()).To(Equal("1"), "an equal token changes nothing")
		p.Expect(p.sources.Set("a", cluster.Config{REST: next.Config(), Token: "2"})).To(Succeed())
		_, err = w.Next()
		p.Expect(cluster.IsNotConnected(err)).To(BeTrue())
		p.pass(time.Second)
		p.Expect(next.Calls("/apis")).NotTo(BeEmpty())
		p.Expect(s.Reachability().Reason).To(Equal(cluster.ReasonReachable))

		p.sources.Remove("a")
		_, err = s.Open(p.ctx, cluster.Collection{Type: configMaps}, cluster.Mark{})
		p.Expect(err).To(MatchError(cluster.ErrNotConnected))
		p.Expect(p.verdict(s, configMaps)).To(Equal("followable"), "facts are kept for whoever asks")
	})
}

// TestNewCredentialsAreNotTrustedYet: nothing refreshes here, so nothing is learnt.
func TestNewCredentialsAreNotTrustedYet(t *testing.T) {
	g := NewWithT(t)
	sources := cluster.NewSources(cluster.Options{Log: logr.Discard()})
	s, release := sources.Acquire("a")
	defer release()
	g.Expect(s.Reachability().Reason).To(Equal(cluster.ReasonAwaitingDiscovery))
	server := clustertest.New(configMaps)
	for _, token := range []string{"1", "2"} {
		g.Expect(sources.Set("a", cluster.Config{REST: server.Config(), Token: token})).To(Succeed())
		g.Expect(s.Reachability().Reason).To(Equal(cluster.ReasonAwaitingDiscovery))
		g.Expect(s.Token()).To(Equal(token))
		g.Expect(s.Refresh(t.Context())).To(Succeed())
		g.Expect(s.Reachability().Reason).To(Equal(cluster.ReasonReachable))
	}
	g.Expect(sources.Set("a", cluster.Config{REST: server.Config(), Token: "2", Suspended: true})).To(Succeed())
	g.Expect(s.Refresh(t.Context())).To(MatchError(cluster.ErrNotConnected))
}

func TestBadConfigurationIsRefusedWhereItIsDeclared(t *testing.T) {
	g := NewWithT(t)
	s := cluster.NewSources(cluster.Options{Log: logr.Discard()})
	g.Expect(s.Set("a", cluster.Config{})).To(MatchError("no client configuration"))
	bad := clustertest.New().Config()
	bad.Host = "://"
	g.Expect(s.Set("a", cluster.Config{REST: bad})).NotTo(Succeed())
}

func TestNamespaceSnapshot(t *testing.T) {
	inPort(t, func(p *port) {
		server := clustertest.New(configMaps, namespaces)
		server.Apply(namespaces, clustertest.Object{"metadata": clustertest.Object{
			"name": "dock", "labels": clustertest.Object{"team": "a"},
		}})
		p.Expect(p.sources.Set("a", cluster.Config{REST: server.Config(), Token: "1"})).To(Succeed())
		s, release := p.sources.Acquire("a")
		defer release()
		p.pass(time.Minute)
		p.Expect(server.Calls("namespaces")).To(BeEmpty(), "nobody needs it")
		synced, _ := s.Namespaces().State()
		p.Expect(synced).To(BeFalse())
		p.pass(3 * time.Second)
		n := s.Namespaces()
		synced, forbidden := n.State()
		p.Expect([]bool{synced, forbidden}).To(Equal([]bool{true, false}))
		l, ok := n.Labels("dock")
		p.Expect(ok).To(BeTrue())
		p.Expect(l).To(Equal(map[string]string{"team": "a"}))
		p.Expect(n.Names()).To(Equal([]string{"dock"}))

		p.sources.Changed().Take()
		p.pass(time.Minute)
		p.Expect(p.sources.Changed().Take()).To(BeEmpty(), "only an observable change is news")

		var deny atomic.Int32
		deny.Store(503)
		server.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/namespaces") {
				code := int(deny.Load())
				clustertest.Fail(w, code, map[int]string{403: "Forbidden", 503: "ServiceUnavailable"}[code], "no")
				return true
			}
			return false
		})
		p.pass(30 * time.Second)
		p.Expect(s.Namespaces()).To(BeIdenticalTo(n), "other errors keep the snapshot")
		deny.Store(403)
		p.pass(30 * time.Second)
		_, forbidden = s.Namespaces().State()
		p.Expect(forbidden).To(BeTrue())
		calls := len(server.Calls("/namespaces"))
		p.pass(5 * time.Minute)
		p.Expect(server.Calls("/namespaces")).To(HaveLen(calls), "it is not asked at every refresh")
		p.pass(30 * time.Minute)
		p.Expect(len(server.Calls("/namespaces"))).To(BeNumerically("~", calls+3, 1))
		server.Intercept(nil)
		p.pass(11 * time.Minute)
		synced, _ = s.Namespaces().State()
		p.Expect(synced).To(BeTrue(), "an extended role is noticed without a restart")
		server.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/namespaces") {
				clustertest.Fail(w, 403, "Forbidden", "no")
				return true
			}
			return false
		})
		p.pass(30 * time.Second)
		server.Intercept(nil)
		p.Expect(p.sources.Set("a", cluster.Config{REST: server.Config(), Token: "2"})).To(Succeed())
		p.pass(3 * time.Second)
		synced, _ = s.Namespaces().State()
		p.Expect(synced).To(BeTrue())
	})
}

func TestListPages(t *testing.T) {
	inPort(t, func(p *port) {
		server := clustertest.New(configMaps)
		for _, n := range []string{"a", "b", "c"} {
			server.Apply(configMaps, clustertest.Object{"metadata": clustertest.Object{"namespace": "dock", "name": n}})
		}
		p.Expect(p.sources.Set("a", cluster.Config{REST: server.Config(), Token: "1"})).To(Succeed())
		s, release := p.sources.Acquire("a")
		defer release()
		page, err := s.List(p.ctx, cluster.Collection{Type: configMaps, Namespace: "dock"}, 2, "")
		p.Expect(err).NotTo(HaveOccurred())
		p.Expect(page.Items).To(HaveLen(2))
		p.Expect(string(page.Items[0])).To(HavePrefix(`{"kind":"ConfigMap","apiVersion":"v1",`))
		last, err := s.List(p.ctx, cluster.Collection{Type: configMaps, Namespace: "dock"}, 2, page.Continue)
		p.Expect(err).NotTo(HaveOccurred())
		p.Expect(last.Items).To(HaveLen(1))
		p.Expect(last.Continue).To(BeEmpty())
		p.Expect(last.ResourceVersion).To(Equal(page.ResourceVersion))
	})
}
