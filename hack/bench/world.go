// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
	"github.com/configbutler/gitops-reverser/tests/harness"
)

// patience bounds every wait.
const patience = 4 * time.Minute

// folder is spec.path of every GitTarget.
const folder = "clusters/one"

// world is the real parts that the scenarios share. Each scenario runs an operator of its own.
type world struct {
	table *table
	dir   string
	cp    *harness.ControlPlane
	git   *gitserver.Server
	kube  client.Client
	// objects writes the mirrored objects, in protobuf and without a rate limit.
	objects kubernetes.Interface
	// quick shortens waits.
	quick    bool
	sequence int
}

func newWorld(ctx context.Context, t *table) (w *world, err error) {
	w = &world{table: t}
	if w.dir, err = os.MkdirTemp("", "gitops-reverser-bench-"); err != nil {
		return nil, err
	}
	if w.git, err = gitserver.New(filepath.Join(w.dir, "git"), gitserver.Options{}); err != nil {
		return w, err
	}
	if w.cp, err = harness.StartControlPlane(filepath.Join(w.dir, "cluster")); err != nil {
		return w, err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha3.AddToScheme(scheme)); err != nil {
		return w, err
	}
	if w.kube, err = client.New(w.cp.Config, client.Options{Scheme: scheme}); err != nil {
		return w, err
	}
	protobuf := rest.CopyConfig(w.cp.Config)
	protobuf.ContentType = runtime.ContentTypeProtobuf
	if w.objects, err = kubernetes.NewForConfig(protobuf); err != nil {
		return w, err
	}
	if err := w.cp.Install(ctx); err != nil {
		return w, err
	}
	root, err := harness.ModuleRoot()
	if err != nil {
		return w, err
	}
	_, err = w.cp.Kubectl(ctx, "", "apply", "--server-side", "--force-conflicts", "-f",
		filepath.Join(root, "config", "samples", "kubeprovider.yaml"))
	return w, err
}

func (w *world) close() {
	if w.cp != nil {
		w.cp.Stop()
	}
	if w.git != nil {
		w.git.Close()
	}
	_ = os.RemoveAll(w.dir)
}

// unique gives a name no other scenario of this run has.
func (w *world) unique(prefix string) string {
	w.sequence++
	return fmt.Sprintf("%s-%d", prefix, w.sequence)
}

// operator starts the operator and waits until it is quiet.
func (w *world) operator(ctx context.Context, args ...string) (*operator, error) {
	dir := filepath.Join(w.dir, w.unique("operator"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	p, err := harness.StartOperator(w.cp, dir, append([]string{"--log-level", "info"}, args...)...)
	if err != nil {
		return nil, err
	}
	o := &operator{Operator: p}
	return o, o.quiet(ctx)
}

// operator is a running operator with the means to measure it.
type operator struct{ *harness.Operator }

func (o *operator) stop() { o.Stop(30 * time.Second) }

func (o *operator) cpu() time.Duration {
	d, err := cpuTime(o.PID())
	if err != nil {
		return 0 // it has ended, which every wait notices
	}
	return d
}

// memory is the anonymous memory of the operator in MiB.
func (o *operator) memory() float64 {
	n, err := anonymous(o.PID())
	if err != nil {
		return 0
	}
	return mib(n)
}

// held is what the heap and the stacks of the quiet operator hold after a garbage collection, in MiB. Its anonymous
// memory is larger by the room the runtime leaves for garbage.
func (o *operator) held(ctx context.Context) (float64, error) {
	if err := o.quiet(ctx); err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.MetricsURL+"/debug/pprof/heap?gc=1", nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0, err
	}
	heap, err := o.gauge(ctx, "go_memstats_heap_alloc_bytes")
	if err != nil {
		return 0, err
	}
	stacks, err := o.gauge(ctx, "go_memstats_stack_inuse_bytes")
	return mib(int64(heap + stacks)), err
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// quiet waits until the operator has used nearly no CPU for a second: what it was given to do is done.
func (o *operator) quiet(ctx context.Context) error {
	still, last := 0, o.cpu()
	return o.until(ctx, "the operator to be quiet", 250*time.Millisecond, func() (bool, error) {
		now := o.cpu()
		if now-last < 5*time.Millisecond {
			still++
		} else {
			still = 0
		}
		last = now
		return still >= 4, nil
	})
}

// until polls a condition while the operator runs.
func (o *operator) until(ctx context.Context, what string, every time.Duration, check func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		ok, err := check()
		if ok || err != nil {
			return err
		}
		select {
		case <-o.Done():
			return fmt.Errorf("the operator ended while waiting for %s:\n%s", what, o.Tail(20))
		case <-ctx.Done():
			return fmt.Errorf("waited for %s: %w\n%s", what, context.Cause(ctx), o.Tail(20))
		case <-tick.C:
		}
	}
}

// apiRequests is the number of requests the operator has sent to API servers.
func (o *operator) apiRequests(ctx context.Context) (float64, error) {
	return o.gauge(ctx, "rest_client_requests_total")
}

// gauge is the sum of the series of a metric.
func (o *operator) gauge(ctx context.Context, name string) (float64, error) {
	text, err := o.Metrics(ctx)
	if err != nil {
		return 0, err
	}
	var sum float64
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 2 || !strings.HasPrefix(line, name+"{") && f[0] != name {
			continue
		}
		v, err := strconv.ParseFloat(f[len(f)-1], 64)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}

// profile collects a CPU profile of the next ten seconds, and a heap profile when the returned function is called.
// Without BENCH_PROFILE it does nothing.
func (o *operator) profile(name string) (collect func()) {
	dir := os.Getenv("BENCH_PROFILE")
	if dir == "" {
		return func() {}
	}
	file := filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.fetch("/debug/pprof/profile?seconds=10", file+".cpu")
	}()
	return func() {
		<-done
		o.fetch("/debug/pprof/heap?gc=1", file+".heap")
		o.fetch("/debug/pprof/goroutine", file+".goroutine")
		o.fetch("/metrics", file+".metrics")
	}
}

func (o *operator) fetch(path, file string) {
	resp, err := http.Get(o.MetricsURL + path)
	if err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		return
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil {
		err = os.WriteFile(file, b, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
	}
}

// mirror is one namespace that is mirrored into one repository.
type mirror struct {
	w         *world
	o         *operator
	namespace string
	repo      *gitserver.Repo
	target    *v1alpha3.GitTarget
}

// newMirror makes a namespace, an empty-but-for-a-README repository and a GitProvider that is Ready.
func (w *world) newMirror(ctx context.Context, o *operator) (*mirror, error) {
	m := &mirror{w: w, o: o, namespace: w.unique("shop")}
	if err := w.kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: m.namespace}}); err != nil {
		return nil, err
	}
	var err error
	m.repo, err = w.git.CreateRepo(m.namespace, gitserver.RepoOptions{Files: map[string]string{"README.md": "# Ours\n"}})
	return m, err
}

// provide creates the GitProvider, for every namespace, and waits until it is Ready.
func (m *mirror) provide(ctx context.Context) error {
	p := &v1alpha3.GitProvider{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "infra"},
		Spec: v1alpha3.GitProviderSpec{
			URL: m.repo.URL, AllowedBranches: []string{"main"},
			AccessFrom: &v1alpha3.NamespaceMatcher{Selector: &metav1.LabelSelector{}},
		},
	}
	if err := m.w.kube.Create(ctx, p); err != nil {
		return err
	}
	return m.ready(ctx, p)
}

// declare creates a GitTarget that makes a commit per write, without rules yet.
func (m *mirror) declare(ctx context.Context, adjust func(*v1alpha3.GitTarget)) error {
	m.target = &v1alpha3.GitTarget{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "live"},
		Spec: v1alpha3.GitTargetSpec{
			GitProviderRef: meta.NamespacedObjectReference{Name: "infra"}, Branch: "main", Path: folder,
			Commit: &v1alpha3.GitTargetCommit{Window: &v1alpha3.CommitWindow{
				IdleTimeout: &metav1.Duration{}, MaxDuration: &metav1.Duration{},
			}},
		},
	}
	if adjust != nil {
		adjust(m.target)
	}
	return m.w.kube.Create(ctx, m.target)
}

// watch creates the WatchRule.
func (m *mirror) watch(ctx context.Context, rules ...v1alpha3.WatchRuleItem) error {
	if len(rules) == 0 {
		rules = []v1alpha3.WatchRuleItem{selection("", "configmaps")}
	}
	return m.w.kube.Create(ctx, &v1alpha3.WatchRule{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "rule"},
		Spec:       v1alpha3.WatchRuleSpec{GitTargetRef: meta.LocalObjectReference{Name: "live"}, Rules: rules},
	})
}

func selection(group string, resources ...string) v1alpha3.WatchRuleItem {
	return v1alpha3.WatchRuleItem{ResourceSelection: v1alpha3.ResourceSelection{APIGroups: []string{group}, Resources: resources}}
}

// mirrored creates provider, target and rule, and waits until the target is Ready and the operator quiet.
func (m *mirror) mirrored(ctx context.Context) error {
	if err := m.provide(ctx); err != nil {
		return err
	}
	if err := m.declare(ctx, nil); err != nil {
		return err
	}
	if err := m.watch(ctx); err != nil {
		return err
	}
	if err := m.ready(ctx, m.target); err != nil {
		return err
	}
	return m.o.quiet(ctx)
}

// conditioned is an object with conditions.
type conditioned interface {
	client.Object
	conditions.Getter
}

func (m *mirror) ready(ctx context.Context, o conditioned) error {
	err := m.o.until(ctx, fmt.Sprintf("%T %s/%s to be Ready", o, o.GetNamespace(), o.GetName()), 50*time.Millisecond, func() (bool, error) {
		err := m.w.kube.Get(ctx, client.ObjectKeyFromObject(o), o)
		return err == nil && conditions.IsReady(o), err
	})
	if err != nil {
		return fmt.Errorf("%w\nits conditions: %v", err, o.GetConditions())
	}
	return nil
}

// configMap is an object of about half a KiB.
func (m *mirror) configMap(i int, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: objectName(i), Labels: map[string]string{"app": "bench"}},
		Data:       map[string]string{"index": strconv.Itoa(i), "value": value, "text": filler},
	}
}

func objectName(i int) string { return fmt.Sprintf("object-%05d", i) }

var filler = strings.Repeat("A line of some configuration that nobody reads.\n", 5)

// document is the same object as a file in Git.
func (m *mirror) document(i int, value string) string {
	return fmt.Sprintf("apiVersion: v1\ndata:\n  index: %q\n  text: |\n    %s\n  value: %s\nkind: ConfigMap\nmetadata:\n  labels:\n    app: bench\n  name: %s\n  namespace: %s\n",
		strconv.Itoa(i), strings.ReplaceAll(strings.TrimSpace(filler), "\n", "\n    "), value, objectName(i), m.namespace)
}

// canonical is the place the operator gives an object.
func (m *mirror) canonical(i int) string {
	return path.Join(folder, m.namespace, "configmaps", objectName(i)+".yaml")
}

// fill creates n ConfigMaps.
func (m *mirror) fill(ctx context.Context, n int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				_, err := m.w.objects.CoreV1().ConfigMaps(m.namespace).Create(ctx, m.configMap(i, "first"), metav1.CreateOptions{})
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// edit changes one value of an object.
func (m *mirror) edit(ctx context.Context, i int, value string) error {
	_, err := m.w.objects.CoreV1().ConfigMaps(m.namespace).Patch(ctx, objectName(i), types.MergePatchType,
		fmt.Appendf(nil, `{"data":{"value":%q}}`, value), metav1.PatchOptions{})
	return err
}

// files counts the documents of the folder on the branch.
func (m *mirror) files() (int, error) {
	if m.repo.Tip("main") == gitserver.Zero {
		return 0, nil
	}
	out, err := m.repo.Git("ls-tree", "-r", "--name-only", "main", folder+"/")
	return strings.Count(out, ".yaml\n"), err
}

// commits counts the commits of the branch.
func (m *mirror) commits() (int, error) {
	if m.repo.Tip("main") == gitserver.Zero {
		return 0, nil
	}
	out, err := m.repo.Git("rev-list", "--count", "main")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(out))
}

// pushes returns the pushes that were answered since the last Reset.
func (w *world) pushes() []gitserver.Request {
	var out []gitserver.Request
	for _, r := range w.git.Requests() {
		if r.Service == "git-receive-pack" && r.Method == "POST" {
			out = append(out, r)
		}
	}
	return out
}

// pushed waits for a push after the last Reset.
func (m *mirror) pushed(ctx context.Context, n int) error {
	return m.o.until(ctx, "a push", time.Millisecond, func() (bool, error) { return len(m.w.pushes()) >= n, nil })
}
