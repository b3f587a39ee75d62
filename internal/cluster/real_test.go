// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
	"github.com/configbutler/gitops-reverser/tests/harness"
)

// plane is the real control plane, started by the first test that needs it.
var plane struct {
	once sync.Once
	cp   *harness.ControlPlane
	err  error
	dir  string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if plane.cp != nil {
		plane.cp.Stop()
	}
	if plane.dir != "" {
		_ = os.RemoveAll(plane.dir)
	}
	os.Exit(code)
}

func controlPlane(t *testing.T) *harness.ControlPlane {
	t.Helper()
	plane.once.Do(func() {
		if plane.dir, plane.err = os.MkdirTemp("", "cluster"); plane.err == nil {
			plane.cp, plane.err = harness.StartControlPlane(plane.dir)
		}
	})
	if plane.err != nil {
		t.Fatal(plane.err)
	}
	return plane.cp
}

// realSource is a refreshed source of the real API server.
func realSource(t *testing.T, cfg *rest.Config) *Source {
	t.Helper()
	s := newSource("default", Options{Log: logr.Discard(), Clock: clock.RealClock{}}, hooks{changed: func() {}, refresh: func() {}})
	c, err := newConn(Config{REST: cfg, Local: true, Token: "1"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.connect(c)
	t.Cleanup(func() { s.connect(nil) })
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestReal_Catalog(t *testing.T) {
	g := NewWithT(t)
	s := realSource(t, controlPlane(t).Config)
	c := s.Catalog()
	g.Expect(c.Ready()).To(BeTrue())
	g.Expect(c.Degraded()).To(BeEmpty())
	g.Expect(s.Reachability()).To(Equal(Reachability{Status: "True", Reason: ReasonLocalCluster, Message: "The API server answers."}))

	dep, ok := c.Kind("apps", "Deployment")
	g.Expect(ok).To(BeTrue())
	g.Expect(dep).To(Equal(change.Type{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Namespaced: true}))
	standing := func(group, version, resource string) string {
		v, reason := c.Standing(change.Type{Group: group, Version: version, Resource: resource})
		return string(v) + " " + reason
	}
	g.Expect(standing("apps", "v1", "deployments")).To(Equal("followable "))
	g.Expect(standing("", "v1", "pods")).To(Equal("refused denied-by-policy"))
	g.Expect(standing("", "v1", "bindings")).To(Equal("refused missing-verb"))
	g.Expect(standing("batch", "v1", "cronjobs")).To(Equal("followable named-only"))
	g.Expect(standing("coordination.k8s.io", "v1", "leases")).To(Equal("refused denied-by-policy"))
	g.Expect(standing("", "v1", "boats")).To(Equal("refused not-served"))

	// Scenario 13: an identical scan changes nothing.
	g.Expect(s.Refresh(t.Context())).To(Succeed())
	g.Expect(s.Catalog()).To(BeIdenticalTo(c))
}

// TestReal_MinimalObjectsEqualThemselves creates what a person would write and compares it with what the API server
// makes of it: every added field must be known as a default.
func TestReal_MinimalObjectsEqualThemselves(t *testing.T) {
	cp := controlPlane(t)
	s := realSource(t, cp.Config)
	file, err := os.ReadFile(filepath.Join("testdata", "minimal.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	namespace := fmt.Sprintf("minimal-%d", time.Now().UnixNano())
	if _, err := cp.Kubectl(t.Context(), "", "create", "namespace", namespace); err != nil {
		t.Fatal(err)
	}
	for _, doc := range bytes.Split(file, []byte("\n---\n")) {
		j, err := yaml.YAMLToJSON(doc)
		if err != nil {
			t.Fatal(err)
		}
		v, err := compare.Decode(j)
		if err != nil {
			t.Fatal(err)
		}
		git := v.(map[string]any)
		md := git["metadata"].(map[string]any)
		t.Run(git["kind"].(string)+"/"+md["name"].(string), func(t *testing.T) {
			equalsItself(t, cp, s, namespace, git, j)
		})
	}
}

func equalsItself(t *testing.T, cp *harness.ControlPlane, s *Source, namespace string, git map[string]any, j []byte) {
	g := NewWithT(t)
	out, err := cp.Kubectl(t.Context(), string(j), "create", "-n", namespace, "-f", "-", "-o", "json")
	g.Expect(err).NotTo(HaveOccurred())
	var av struct{ APIVersion, Kind string }
	g.Expect(json.Unmarshal(j, &av)).To(Succeed())
	v, err := compare.Decode([]byte(out))
	g.Expect(err).NotTo(HaveOccurred())
	live := v.(map[string]any)
	delete(live, "status")
	md := live["metadata"].(map[string]any)
	for k := range md {
		if k != "name" {
			delete(md, k)
		}
	}
	if spec, ok := live["spec"].(map[string]any); ok {
		// Allocated values are sanitize's business.
		for _, k := range []string{"clusterIP", "clusterIPs", "ipFamilies"} {
			delete(spec, k)
		}
		if ports, ok := spec["ports"].([]any); ok {
			for _, p := range ports {
				delete(p.(map[string]any), "nodePort")
			}
		}
	}
	group, version := "", av.APIVersion
	if i := bytes.IndexByte([]byte(av.APIVersion), '/'); i >= 0 {
		group, version = av.APIVersion[:i], av.APIVersion[i+1:]
	}
	g.Expect(s.LoadSchema(t.Context(), change.Type{Group: group, Version: version})).To(Succeed())
	o := compare.Options{Schema: s.Schemas().Schema(group, version, av.Kind), BuiltIn: s.Schemas().BuiltIn(group)}
	g.Expect(o.Schema).NotTo(BeNil())
	sanitize.WithoutDerived(git, live, group, av.Kind)
	normal, err := json.MarshalIndent(compare.Normalize(live, git, o), "", " ")
	g.Expect(err).NotTo(HaveOccurred())
	want, err := json.MarshalIndent(git, "", " ")
	g.Expect(err).NotTo(HaveOccurred())
	if string(normal) != string(want) {
		t.Errorf("normalized:\n%s\nlive:\n%s", normal, out)
	}
	g.Expect(compare.Equal(git, live, o)).To(BeTrue())
}

func TestReal_SchemaIsReadOncePerEdition(t *testing.T) {
	g := NewWithT(t)
	s := realSource(t, controlPlane(t).Config)
	dep := change.Type{Group: "apps", Version: "v1", Kind: "Deployment"}
	g.Expect(s.LoadSchema(t.Context(), dep)).To(Succeed())
	first := s.Schemas().Schema("apps", "v1", "Deployment")
	g.Expect(s.LoadSchema(t.Context(), dep)).To(Succeed())
	g.Expect(s.Schemas().Schema("apps", "v1", "Deployment")).To(BeIdenticalTo(first))
	g.Expect(s.Schemas().Schema("apps", "v1", "StatefulSet")).NotTo(BeNil())
	g.Expect(s.Schemas().Schema("apps", "v1", "DeploymentList")).To(BeNil())
	c := first.Field("spec").Field("template").Field("spec").Field("containers")
	g.Expect(c.ListMapKeys).To(Equal([]string{"name"}))
	g.Expect(c.Ordered).To(BeTrue())
	g.Expect(c.Item().Field("resources").Field("limits").Field("cpu").Quantity).To(BeTrue())
	g.Expect(first.Field("spec").Field("strategy").Field("rollingUpdate").Field("maxSurge").IntOrString).To(BeTrue())
	g.Expect(c.Item().Field("ports").ListMapKeys).To(Equal([]string{"containerPort", "protocol"}))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	g.Expect(s.LoadSchema(cancelled, change.Type{Version: "v1"})).NotTo(Succeed())
}
