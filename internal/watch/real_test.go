// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/mailbox"
	"github.com/configbutler/gitops-reverser/internal/rules"
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
	if testing.Short() {
		t.Skip("needs the control plane")
	}
	plane.once.Do(func() {
		if plane.dir, plane.err = os.MkdirTemp("", "watch"); plane.err == nil {
			plane.cp, plane.err = harness.StartControlPlane(plane.dir)
		}
	})
	if plane.err != nil {
		t.Fatal(plane.err)
	}
	return plane.cp
}

// realWorld is a manager over the real API server.
type realWorld struct {
	*WithT
	t       *testing.T
	ctx     context.Context //nolint:containedctx // a test's
	client  *kubernetes.Clientset
	manager *Manager
	sources *cluster.Sources
	sink    *fakeSink
	rec     *counts
	ns      string
	spec    TargetSpec
	store   *rules.Store
	// stop ends the manager before the test does.
	stop func()
}

func newRealWorld(t *testing.T, cfg *rest.Config) *realWorld {
	cp := controlPlane(t)
	ctx := t.Context()
	if cfg == nil {
		cfg = cp.Config
	}
	w := &realWorld{
		WithT: NewWithT(t), t: t, ctx: ctx, sink: newFakeSink(), rec: &counts{n: map[string]int{}}, store: rules.NewStore(),
	}
	w.SetDefaultEventuallyTimeout(20 * time.Second)
	w.client = kubernetes.NewForConfigOrDie(cp.Config)
	ns, err := w.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "dock-"},
	}, metav1.CreateOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	w.ns = ns.Name
	w.sources = cluster.NewSources(cluster.Options{Log: logr.Discard()})
	w.Expect(w.sources.Set("default", cluster.Config{REST: cfg, Token: "1", Interval: time.Second})).To(Succeed())
	w.spec = TargetSpec{Key: key, Source: "default", Sink: w.sink, PruneMode: "OnEvent"}
	w.start()
	return w
}

// start runs a fresh manager, as a new process does.
func (w *realWorld) start() {
	w.manager = NewManager(Options{
		Sources: w.sources, Planner: w, Dirty: mailbox.New[change.TargetKey](), Recorder: w.rec, Log: logr.Discard(),
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = w.manager.Start(ctx)
	}()
	var once sync.Once
	w.stop = func() {
		once.Do(func() {
			cancel()
			<-ended
		})
	}
	w.t.Cleanup(w.stop)
}

// Plan implements Planner with the real rules.
func (w *realWorld) Plan(_ context.Context, _ change.TargetKey, c *cluster.Catalog) (Plan, error) {
	r := rules.Resolve(w.store.ForTarget(types.NamespacedName{Name: "mirror"}), c)
	p := Plan{Retained: r.Retained}
	for _, col := range r.Collections {
		p.Collections = append(p.Collections, convert(col))
	}
	return p, nil
}

func (w *realWorld) rule(items ...rules.Item) {
	for i := range items {
		if items[i].SourceNamespace == "" {
			items[i].SourceNamespace = w.ns
		}
	}
	res := rules.Compile(rules.Rule{
		Key: rules.Key{Kind: rules.WatchRule, Namespace: "team", Name: "r"}, Target: types.NamespacedName{Name: "mirror"},
		Items: items,
	}, rules.Access{TargetAdmitted: true, AllowAnySourceNamespace: true}, nil)
	w.store.Put(res.Compiled)
	w.manager.Trigger(key, TriggerRuleChange)
}

func (w *realWorld) up() {
	w.t.Helper()
	w.manager.Declare(w.spec)
	w.Eventually(func() string { return w.status().Running }).Should(Equal("True"), func() string {
		return fmt.Sprintf("%+v", w.status())
	})
}

func (w *realWorld) status() Status {
	st, _ := w.manager.Status(key)
	return st
}

func (w *realWorld) configMap(name, value string) {
	w.t.Helper()
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.ns}, Data: map[string]string{"a": value},
	}
	if _, err := w.client.CoreV1().ConfigMaps(w.ns).Update(w.ctx, cm, metav1.UpdateOptions{}); err == nil {
		return
	}
	_, err := w.client.CoreV1().ConfigMaps(w.ns).Create(w.ctx, cm, metav1.CreateOptions{})
	w.Expect(err).NotTo(HaveOccurred())
}

func TestReal_ReplayFollowAndDelete(t *testing.T) {
	w := newRealWorld(t, nil)
	w.configMap("boat", "1")
	w.rule(rules.Item{Resources: []string{"configmaps"}})
	w.up()
	w.Expect(w.sink.names()).To(Equal([]string{"boat"}))
	w.sink.take()

	w.configMap("boat", "2")
	w.configMap("buoy", "1")
	w.Expect(w.client.CoreV1().ConfigMaps(w.ns).Delete(w.ctx, "boat", metav1.DeleteOptions{})).To(Succeed())
	w.Eventually(w.sink.names).Should(Equal([]string{"buoy"}))
	w.Expect(w.sink.take()).To(Equal([]string{"UPDATE boat", "CREATE buoy", "DELETE boat"}))
}
