// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package targets_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/equal"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
	"github.com/configbutler/gitops-reverser/tests/harness"
	"github.com/configbutler/gitops-reverser/tests/kstatus"
)

// The real parts all tests of this package share: one control plane, one Git server.
var parts struct {
	plane *harness.ControlPlane
	git   *gitserver.Server
	kube  client.Client
	dir   string
}

func TestMain(m *testing.M) {
	SetDefaultEventuallyTimeout(time.Minute)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	flag.Parse()
	// The scenarios wait most of the time.
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if parts.dir, err = os.MkdirTemp("", "targets-"); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(parts.dir)) }()
	if parts.plane, err = harness.StartControlPlane(filepath.Join(parts.dir, "cluster")); err != nil {
		return 1, err
	}
	defer parts.plane.Stop()
	if parts.git, err = gitserver.New(filepath.Join(parts.dir, "git"), gitserver.Options{}); err != nil {
		return 1, err
	}
	defer parts.git.Close()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha3.AddToScheme(scheme),
		apiextensionsv1.AddToScheme(scheme)); err != nil {
		return 1, err
	}
	if parts.kube, err = client.New(parts.plane.Config, client.Options{Scheme: scheme}); err != nil {
		return 1, err
	}
	if err := parts.plane.Install(context.Background()); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// shard is the value of the label "test" on everything a test stores.
func shard(t *testing.T) string {
	name, _, _ := strings.Cut(t.Name(), "/")
	return strings.ToLower(name)
}

// startShard runs an operator that serves what this test stores and nothing else, so that others may run beside it.
func startShard(t *testing.T, args ...string) *harness.Operator {
	t.Helper()
	return startOperator(t, append(args, "--watch-label-selector=test="+shard(t))...)
}

// startOperator runs an operator until the test's end.
func startOperator(t *testing.T, args ...string) *harness.Operator {
	t.Helper()
	o, err := harness.StartOperator(parts.plane, t.TempDir(), append([]string{"--insecure-allow-git-http",
		"--git-timeout=5s"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		o.Stop(30 * time.Second)
		if t.Failed() {
			t.Log(o.Tail(40))
		}
	})
	return o
}

var sequence atomic.Int64

// world is a namespace with a KubeProvider, a GitProvider, a GitTarget and a WatchRule of its own.
type world struct {
	*GomegaWithT
	t         *testing.T
	namespace string
	repo      *gitserver.Repo
	kube      *v1alpha3.KubeProvider
	provider  *v1alpha3.GitProvider
	target    *v1alpha3.GitTarget
	rule      *v1alpha3.WatchRule
}

// newWorld stores the objects after change had its way with them; a nil field is left out.
func newWorld(t *testing.T, change ...func(*world)) *world {
	t.Helper()
	name := fmt.Sprintf("w%d", sequence.Add(1))
	w := &world{GomegaWithT: NewWithT(t), t: t, namespace: name}
	var err error
	w.repo, err = parts.git.CreateRepo(name, gitserver.RepoOptions{
		Files:  map[string]string{"README.md": "# Ours\n"},
		Config: map[string]string{"receive.denyNonFastForwards": "true", "receive.fsckObjects": "true"},
	})
	w.Expect(err).NotTo(HaveOccurred())
	w.kube = &v1alpha3.KubeProvider{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha3.KubeProviderSpec{AccessFrom: &v1alpha3.NamespaceMatcher{Names: []string{name}}},
	}
	w.provider = &v1alpha3.GitProvider{
		ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "infra"},
		Spec:       v1alpha3.GitProviderSpec{URL: parts.git.URL(name), AllowedBranches: []string{"main", "live/*"}},
	}
	w.target = w.newTarget("live", "clusters/one")
	w.rule = w.newRule("rule", "live", "configmaps")
	w.apply(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	for _, c := range change {
		c(w)
	}
	for _, o := range []client.Object{w.kube, w.provider, w.target, w.rule} {
		w.apply(o)
	}
	t.Cleanup(func() {
		for _, o := range []client.Object{&v1alpha3.WatchRule{}, &v1alpha3.GitTarget{}, &v1alpha3.GitProvider{}} {
			_ = parts.kube.DeleteAllOf(context.Background(), o, client.InNamespace(name))
		}
		_ = parts.kube.Delete(context.Background(), &v1alpha3.KubeProvider{ObjectMeta: metav1.ObjectMeta{Name: name}})
	})
	return w
}

func (w *world) newTarget(name, path string) *v1alpha3.GitTarget {
	return &v1alpha3.GitTarget{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec: v1alpha3.GitTargetSpec{
			GitProviderRef: meta.NamespacedObjectReference{Name: "infra"}, KubeProviderRef: &meta.LocalObjectReference{Name: w.namespace},
			Branch: "main", Path: path,
			Commit: &v1alpha3.GitTargetCommit{Window: &v1alpha3.CommitWindow{IdleTimeout: &metav1.Duration{Duration: 100 * time.Millisecond}}},
		},
	}
}

func (w *world) newRule(name, target string, resources ...string) *v1alpha3.WatchRule {
	return &v1alpha3.WatchRule{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec: v1alpha3.WatchRuleSpec{GitTargetRef: meta.LocalObjectReference{Name: target}, Rules: []v1alpha3.WatchRuleItem{
			{ResourceSelection: v1alpha3.ResourceSelection{Resources: resources}},
		}},
	}
}

// apply creates an object; a nil one is left out.
func (w *world) apply(o client.Object) {
	w.t.Helper()
	if reflect.ValueOf(o).IsNil() {
		return
	}
	labels := maps.Clone(o.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	labels["test"] = shard(w.t)
	o.SetLabels(labels)
	w.Expect(parts.kube.Create(w.t.Context(), o)).To(Succeed())
}

// change edits a stored object until that succeeds.
func (w *world) change(o client.Object, edit func()) {
	w.t.Helper()
	w.Eventually(func() error {
		if err := parts.kube.Get(w.t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		edit()
		return parts.kube.Update(w.t.Context(), o)
	}).Should(Succeed())
}

func (w *world) delete(o client.Object) {
	w.t.Helper()
	w.Expect(parts.kube.Delete(w.t.Context(), o)).To(Succeed())
}

func (w *world) configMap(name, value string) {
	w.t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Data: map[string]string{"value": value}}
	if err := parts.kube.Create(w.t.Context(), cm); err != nil {
		w.Expect(client.IgnoreAlreadyExists(err)).To(Succeed())
		cm.ResourceVersion = ""
		w.Expect(parts.kube.Update(w.t.Context(), cm)).To(Succeed())
	}
}

// object is what has conditions.
type object interface {
	client.Object
	conditions.Getter
}

// shows waits until a condition has status and reason, and checks that the object is legal. It returns the message.
func (w *world) shows(o object, kind string, status metav1.ConditionStatus, reason string) string {
	w.t.Helper()
	w.Eventually(func(g Gomega) {
		g.Expect(parts.kube.Get(w.t.Context(), client.ObjectKeyFromObject(o), o)).To(Succeed())
		c := conditions.Get(o, kind)
		g.Expect(c).NotTo(BeNil(), "%s is absent: %+v", kind, o.GetConditions())
		g.Expect([]string{string(c.Status), c.Reason}).To(Equal([]string{string(status), reason}), "%s: %s", kind, c.Message)
		g.Expect(kstatus.Legal(w.t.Context(), o)).To(Succeed())
	}).Should(Succeed())
	return conditions.GetMessage(o, kind)
}

// field waits until a part of an object satisfies a matcher. Conditions are stored before the rest of a status.
func (w *world) field(o client.Object, of func() any, m OmegaMatcher) {
	w.t.Helper()
	w.Eventually(func() (any, error) {
		err := parts.kube.Get(w.t.Context(), client.ObjectKeyFromObject(o), o)
		return of(), err
	}).Should(m)
}

// ready waits until everything that is stored is Ready.
func (w *world) ready() {
	w.t.Helper()
	for _, o := range []object{w.kube, w.provider, w.target, w.rule} {
		w.shows(o, meta.ReadyCondition, metav1.ConditionTrue, meta.SucceededReason)
	}
}

func (w *world) folder() equal.Folder {
	return equal.Folder{Repo: w.repo, Branch: w.target.Spec.Branch, Path: w.target.Spec.Path}
}

// settled waits until the folder holds the namespace's ConfigMaps and no other document.
func (w *world) settled() {
	w.t.Helper()
	w.Eventually(func() error {
		return w.folder().Check(w.t.Context(), parts.kube, corev1.SchemeGroupVersion.WithKind("ConfigMap"),
			"configmaps", w.namespace)
	}).Should(Succeed())
	w.Expect(w.repo.Fsck()).To(Succeed())
}

// files are the names of the folder's documents.
func (w *world) files() []string {
	w.t.Helper()
	files, err := w.folder().Files()
	w.Expect(err).NotTo(HaveOccurred())
	return slices.Sorted(maps.Keys(files))
}

func annotate(o client.Object, key, value string) {
	a := maps.Clone(o.GetAnnotations())
	if a == nil {
		a = map[string]string{}
	}
	a[key] = value
	o.SetAnnotations(a)
}

// scrape reads a metric of the operator: the values by their labels.
func scrape(t *testing.T, o *harness.Operator, name string) map[string]float64 {
	t.Helper()
	text, err := o.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, m := range metricLine(name).FindAllStringSubmatch(text, -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		out[m[1]] = v
	}
	return out
}

var metricLines sync.Map

func metricLine(name string) *regexp.Regexp {
	if r, ok := metricLines.Load(name); ok {
		return r.(*regexp.Regexp)
	}
	r := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `(?:\{(.*)\})? (\S+)$`)
	metricLines.Store(name, r)
	return r
}

// total sums the values whose labels hold every text.
func total(values map[string]float64, texts ...string) float64 {
	sum := 0.0
	for labels, v := range values {
		if !slices.ContainsFunc(texts, func(s string) bool { return !strings.Contains(labels, s) }) {
			sum += v
		}
	}
	return sum
}

// linesWith returns the lines that hold a text.
func linesWith(text, part string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			out = append(out, line)
		}
	}
	return out
}

// entries are the names in a folder.
func entries(dir string) ([]string, error) {
	list, err := os.ReadDir(dir)
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out, err
}
