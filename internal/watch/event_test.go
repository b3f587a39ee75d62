// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/utils/clock"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
)

// bareStream is the filter of a stream without a source.
func bareStream(t testing.TB, sink Sink, c Collection) *filter {
	t.Helper()
	sanitize, err := newSanitize(TargetSpec{})
	if err != nil {
		t.Fatal(err)
	}
	s := newStream(&env{
		target: key, sink: sink, sanitize: sanitize, clock: clock.RealClock{}, recorder: silent{},
		report: func(*stream, report) {}, missing: func() {},
	}, c, nil, false)
	if err := s.filter.prepare(); err != nil {
		t.Fatal(err)
	}
	return s.filter
}

// rawDeployment is about 3 KB, as the API server would write it.
func rawDeployment(rv int, image string, ready int) []byte {
	return fmt.Appendf(nil, `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"boat","namespace":"dock",`+
		`"uid":"0a1b2c3d-0000-4000-8000-000000000001","resourceVersion":"%d","generation":%d,"labels":{"app":"boat"},`+
		`"managedFields":[{"manager":"kubectl","operation":"Update","fieldsV1":{"f:spec":{}}}]},`+
		`"spec":{"replicas":2,"template":{"spec":{"containers":[{"name":"hull","image":"%s","env":[{"name":"PAD","value":"%s"}]}]}}},`+
		`"status":{"readyReplicas":%d}}`, rv, rv, image, strings.Repeat("x", 2400), ready)
}

func TestStatusOnlyEventAllocatesNothing(t *testing.T) {
	g := NewWithT(t)
	sink := newFakeSink()
	s := bareStream(t, sink, col(deployments))
	ctx := t.Context()
	g.Expect(s.event(ctx, cluster.Frame{Type: cluster.Added, Object: rawDeployment(1, "a", 0)})).To(Succeed())
	g.Expect(sink.take()).To(Equal([]string{"CREATE boat"}))
	frames := make([]cluster.Frame, 10)
	for i := range frames {
		frames[i] = cluster.Frame{Type: cluster.Modified, Object: rawDeployment(100+i, "a", i)}
	}
	i := 0
	allocs := testing.AllocsPerRun(100, func() {
		if err := s.event(ctx, frames[i%len(frames)]); err != nil {
			t.Fatal(err)
		}
		i++
	})
	g.Expect(allocs).To(BeZero())
	g.Expect(sink.take()).To(BeEmpty())
	g.Expect(string(s.mark)).To(HavePrefix("10"))
}

func TestBaselineSurvivesWhatIsOnlyNoise(t *testing.T) {
	g := NewWithT(t)
	sink := newFakeSink()
	s := bareStream(t, sink, col(deployments))
	send := func(typ cluster.EventType, raw string) {
		g.Expect(s.event(t.Context(), cluster.Frame{Type: typ, Object: []byte(raw)})).To(Succeed())
	}
	first := string(rawDeployment(1, "a", 0))
	send(cluster.Added, first)
	sink.take()
	// The raw bytes differ, the document does not.
	noisy := strings.Replace(first, `"labels"`, `"annotations":{"deployment.kubernetes.io/revision":"7"},"labels"`, 1)
	send(cluster.Modified, noisy)
	g.Expect(sink.take()).To(BeEmpty())
	send(cluster.Modified, strings.Replace(noisy, `"readyReplicas":0`, `"readyReplicas":1`, 1))
	g.Expect(sink.take()).To(BeEmpty())
	send(cluster.Modified, strings.Replace(noisy, `"replicas":2`, `"replicas":3`, 1))
	g.Expect(sink.take()).To(Equal([]string{"UPDATE boat"}))
}

func TestProtectedObjects(t *testing.T) {
	g := NewWithT(t)
	sink := newFakeSink()
	s := bareStream(t, sink, col(configMaps))
	raw := func(name, v string) []byte {
		return fmt.Appendf(nil, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":%q,"namespace":"dock","uid":"u-%s"},"data":{"a":%q}}`, name, name, v)
	}
	send := func(typ cluster.EventType, raw []byte) {
		g.Expect(s.event(t.Context(), cluster.Frame{Type: typ, Object: raw})).To(Succeed())
	}
	send(cluster.Added, raw("kube-root-ca.crt", "1"))
	send(cluster.Modified, raw("kube-root-ca.crt", "2"))
	g.Expect(sink.take()).To(BeEmpty(), "never written")
	send(cluster.Deleted, raw("kube-root-ca.crt", "2"))
	g.Expect(sink.take()).To(Equal([]string{"DELETE kube-root-ca.crt"}), "decision 35: its observed removal is mirrored")
}

func TestKeys(t *testing.T) {
	g := NewWithT(t)
	head := func(uid, ns, name string) *cluster.Head {
		return &cluster.Head{UID: []byte(uid), Namespace: []byte(ns), Name: []byte(name)}
	}
	uid := "0a1b2c3d-0000-4000-8000-000000000001"
	g.Expect(keyOf(head(uid, "a", "b"))).To(Equal(keyOf(head(uid, "c", "d"))))
	g.Expect(keyOf(head("u-1", "a", "b"))).NotTo(Equal(keyOf(head("u-2", "a", "b"))))
	g.Expect(keyOf(head("", "a", "b"))).NotTo(Equal(keyOf(head("", "", "a\x00b"))))
	h := head(uid, "a", "b")
	g.Expect(testing.AllocsPerRun(10, func() { keyOf(h) })).To(BeZero())
}

func TestContentCoversTheMask(t *testing.T) {
	g := NewWithT(t)
	a := change.Item{Desired: []byte(`{}`)}
	b := change.Item{Desired: []byte(`{}`), Mask: change.Mask{Keep: []string{"/spec/replicas"}}}
	c := change.Item{Desired: []byte(`{}`), Mask: change.Mask{IfPresent: []string{"/spec/replicas"}}}
	g.Expect(contentOf(&a)).NotTo(Equal(contentOf(&b)))
	g.Expect(contentOf(&b)).NotTo(Equal(contentOf(&c)))
}

func BenchmarkStatusOnlyEvent(b *testing.B) {
	s := bareStream(b, newFakeSink(), col(deployments))
	f := cluster.Frame{Type: cluster.Added, Object: rawDeployment(1, "a", 0)}
	if err := s.event(b.Context(), f); err != nil {
		b.Fatal(err)
	}
	f.Type = cluster.Modified
	b.ReportAllocs()
	for b.Loop() {
		_ = s.event(b.Context(), f)
	}
}
