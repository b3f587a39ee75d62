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
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
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
	t.Helper()
	cp := controlPlane(t)
	if cfg == nil {
		cfg = cp.Config
	}
	return newRealWorldOn(t, cp, cfg)
}

func newRealWorldOn(t *testing.T, cp *harness.ControlPlane, cfg *rest.Config) *realWorld {
	t.Helper()
	ctx := t.Context()
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

func TestReal_StatusUpdatesAndFinalizers(t *testing.T) {
	w := newRealWorld(t, nil)
	one := int32(1)
	labels := map[string]string{"app": "boat"}
	dep, err := w.client.AppsV1().Deployments(w.ns).Create(w.ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "boat", Finalizers: []string{"x.test/hold"}},
		Spec: appsv1.DeploymentSpec{
			Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "hull", Image: "registry.test/hull:1"}}},
			},
		},
	}, metav1.CreateOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	w.rule(rules.Item{Resources: []string{"deployments"}})
	w.up()
	w.Expect(w.status().Cells[0].Listed).To(BeFalse(), "a modern server streams initial events")
	w.sink.take()
	for i := range 50 {
		dep.Status.ReadyReplicas = int32(i % 2)
		dep.Status.Replicas = 1
		dep.Status.ObservedGeneration = int64(i)
		dep, err = w.client.AppsV1().Deployments(w.ns).UpdateStatus(w.ctx, dep, metav1.UpdateOptions{})
		w.Expect(err).NotTo(HaveOccurred())
	}
	w.Eventually(func() int { return w.rec.get("event unchanged") }).Should(Equal(50))
	w.Expect(w.sink.take()).To(BeEmpty())
	w.Expect(w.rec.get("handled")).To(BeZero())

	w.Expect(w.client.AppsV1().Deployments(w.ns).Delete(w.ctx, "boat", metav1.DeleteOptions{})).To(Succeed())
	w.Eventually(w.sink.take).Should(Equal([]string{"DELETE boat"}), "at the request")
	_, err = w.client.AppsV1().Deployments(w.ns).Patch(w.ctx, "boat", types.MergePatchType,
		[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	w.configMap("marker", "1")
	w.Eventually(func() int { return w.rec.get("event unchanged") }).Should(Equal(51), "the real end says nothing new")
	w.Expect(w.sink.take()).To(BeEmpty())
}

func TestReal_CaseW05_PermissionRemovedAndRestored(t *testing.T) {
	cp := controlPlane(t)
	w := newRealWorld(t, cp.As("watcher"))
	_, err := w.client.RbacV1().Roles(w.ns).Create(w.ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "watcher"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"},
		}},
	}, metav1.CreateOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "watcher"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "watcher"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "watcher"}},
	}
	bind := func() {
		_, err := w.client.RbacV1().RoleBindings(w.ns).Create(w.ctx, binding, metav1.CreateOptions{})
		w.Expect(err).NotTo(HaveOccurred())
	}
	bind()
	discovery := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "watcher-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:discovery"},
		Subjects:   binding.Subjects,
	}
	_, err = w.client.RbacV1().ClusterRoleBindings().Create(w.ctx, discovery, metav1.CreateOptions{})
	w.Expect(err).NotTo(HaveOccurred())

	w.sink.always = true
	w.configMap("boat", "1")
	w.rule(rules.Item{Resources: []string{"configmaps"}})
	w.up()
	w.Expect(w.client.RbacV1().RoleBindings(w.ns).Delete(w.ctx, "watcher", metav1.DeleteOptions{})).To(Succeed())
	w.Eventually(func() string {
		w.manager.Recheck(key, time.Now().String())
		return w.status().Reason
	}, "20s", "500ms").Should(Equal(ReasonWatchNotPermitted))
	w.Expect(w.status().Message).To(And(ContainSubstring(`cannot watch resource "configmaps"`), ContainSubstring(w.ns)))
	w.Expect(w.sink.names()).To(Equal([]string{"boat"}))
	w.Expect(w.client.CoreV1().ConfigMaps(w.ns).Delete(w.ctx, "boat", metav1.DeleteOptions{})).To(Succeed())
	bind()
	w.Eventually(func() string {
		w.manager.Recheck(key, time.Now().String())
		return w.status().Running
	}, "20s", "500ms").Should(Equal("True"), "no restart is needed")
	w.Eventually(w.sink.names).Should(BeEmpty())
}

func TestReal_CaseW04_CRDDeletedAndMadeAgain(t *testing.T) {
	cp := controlPlane(t)
	w := newRealWorld(t, nil)
	crd := func(version string) string {
		return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"boats.x.test"},
"spec":{"group":"x.test","scope":"Namespaced","names":{"plural":"boats","kind":"Boat"},"versions":[{"name":%q,"served":true,"storage":true,
"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`, version)
	}
	kubectl := func(stdin string, args ...string) {
		t.Helper()
		_, err := cp.Kubectl(w.ctx, stdin, args...)
		w.Expect(err).NotTo(HaveOccurred())
	}
	boat := func(version, name string) string {
		return fmt.Sprintf(`{"apiVersion":"x.test/%s","kind":"Boat","metadata":{"name":%q,"namespace":%q},"spec":{"sails":2}}`, version, name, w.ns)
	}
	kubectl(crd("v1"), "create", "-f", "-")
	t.Cleanup(func() {
		_, _ = cp.Kubectl(context.Background(), "", "delete", "crd", "boats.x.test", "--ignore-not-found")
	})
	kubectl("", "wait", "--for=condition=Established", "crd/boats.x.test")
	kubectl(boat("v1", "skiff"), "create", "-f", "-")
	w.rule(rules.Item{Resources: []string{"boats"}})
	w.up()
	w.Eventually(w.sink.names).Should(Equal([]string{"skiff"}))
	w.Expect(w.sink.documents()).To(HaveKeyWithValue(HaveField("Name", "skiff"), ContainSubstring(`"apiVersion":"x.test/v1"`)))

	kubectl("", "delete", "crd", "boats.x.test")
	w.Eventually(w.sink.names).Should(BeEmpty(), "the API server deletes the objects, and that is observed")
	kubectl(crd("v2"), "create", "-f", "-")
	kubectl("", "wait", "--for=condition=Established", "crd/boats.x.test")
	kubectl(boat("v2", "skiff"), "create", "-f", "-")
	w.Eventually(w.sink.names, "60s").Should(Equal([]string{"skiff"}), "the watch is on the served version")
	w.Expect(w.sink.documents()).To(HaveLen(1))
	w.Expect(w.sink.documents()).To(HaveKeyWithValue(HaveField("Name", "skiff"), ContainSubstring(`"apiVersion":"x.test/v2"`)))
	w.Expect(w.status().Cells[0].Type.Version).To(Equal("v2"))
}

func TestReal_CaseW10_MissedWhileDown(t *testing.T) {
	w := newRealWorld(t, nil)
	w.sink.always = true
	w.configMap("a", "1")
	w.configMap("b", "1")
	w.rule(rules.Item{Resources: []string{"configmaps"}})
	w.up()
	w.stop()
	w.Expect(w.client.CoreV1().ConfigMaps(w.ns).Delete(w.ctx, "a", metav1.DeleteOptions{})).To(Succeed())
	w.configMap("b", "2")
	w.sink.take()
	w.start()
	w.up()
	w.Expect(w.sink.take()).To(HaveLen(1), "one snapshot, nothing doubled")
	w.Expect(w.sink.names()).To(Equal([]string{"b"}))
	w.Expect(w.sink.documents()).To(HaveKeyWithValue(HaveField("Name", "b"), ContainSubstring(`"a":"2"`)))
}

// TestReal_ListFallback runs against an API server without streaming lists.
func TestReal_ListFallback(t *testing.T) {
	cp, err := harness.StartControlPlane(t.TempDir(), "--feature-gates=WatchList=false")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cp.Stop)
	w := newRealWorldOn(t, cp, cp.Config)
	for i := range 600 {
		w.configMap(fmt.Sprintf("cm-%04d", i), "1")
	}
	w.rule(rules.Item{Resources: []string{"configmaps"}})
	w.up()
	w.Expect(w.sink.names()).To(HaveLen(600))
	w.Expect(w.status().Cells[0].Listed).To(BeTrue())
	w.Expect(w.rec.get(RecoveryList)).To(Equal(1))
	w.sink.take()
	w.configMap("cm-0000", "1")
	w.configMap("cm-0001", "2")
	w.Eventually(w.sink.take).Should(Equal([]string{"UPDATE cm-0001"}), "listed and watched objects have one digest")
}

// TestReal_APIServerCrash: streams come back by themselves, with what changed meanwhile, and sweep nothing of their own.
func TestReal_APIServerCrash(t *testing.T) {
	cp, err := harness.StartControlPlane(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cp.Stop)
	w := newRealWorldOn(t, cp, cp.Config)
	w.sink.always = true
	w.SetDefaultEventuallyTimeout(time.Minute)
	for _, name := range []string{"kept", "edited", "removed"} {
		w.configMap(name, "1")
	}
	w.rule(rules.Item{Resources: []string{"configmaps"}})
	w.up()
	cp.KillAPIServer()
	w.Eventually(func() string { return w.status().Running }).Should(Equal("False"))
	w.Expect(w.sink.names()).To(HaveLen(3), "an outage is no absence")
	w.Expect(cp.StartAPIServer()).To(Succeed())
	w.configMap("edited", "2")
	w.Expect(w.client.CoreV1().ConfigMaps(w.ns).Delete(w.ctx, "removed", metav1.DeleteOptions{})).To(Succeed())
	w.Eventually(w.sink.names).Should(Equal([]string{"edited", "kept"}))
	w.Eventually(w.sink.documents).Should(HaveKeyWithValue(HaveField("Name", "edited"), ContainSubstring(`"a":"2"`)))
	w.Eventually(func() string { return w.status().Running }).Should(Equal("True"))
}
