// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package providers

import (
	"context"
	"errors"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/controller/lifecycle"
	"github.com/configbutler/gitops-reverser/internal/metrics"
	"github.com/configbutler/gitops-reverser/tests/kstatus"
)

const operatorNamespace = "operator"

// bed is both reconcilers over stored objects.
type bed struct {
	*GomegaWithT
	t *testing.T
	client.Client
	git     *Git
	kube    *KubeProviderReconciler
	repos   *GitProviderReconciler
	sources *cluster.Sources
	// reads counts reads of Secrets and ConfigMaps; fail, when set, is their answer.
	reads int
	fail  error
}

// silent is an events.Recorder that records nothing.
type silent struct{}

func (silent) Eventf(_, _ runtime.Object, _, _, _, _ string, _ ...any) {}
func (silent) AnnotatedEventf(_, _ runtime.Object, _ map[string]string, _, _, _, _ string, _ ...any) {
}

func newBed(t *testing.T, objects ...client.Object) *bed {
	b := &bed{GomegaWithT: NewWithT(t), t: t}
	scheme := runtime.NewScheme()
	b.Expect(errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha3.AddToScheme(scheme))).To(Succeed())
	b.Client = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&v1alpha3.GitProvider{}, &v1alpha3.KubeProvider{}).WithObjects(objects...).
		WithInterceptorFuncs(interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch,
			key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			switch o.(type) {
			case *corev1.Secret, *corev1.ConfigMap:
				if b.reads++; b.fail != nil {
					return b.fail
				}
			}
			return c.Get(ctx, key, o, opts...)
		}}).Build()
	runner := func() *lifecycle.Runner {
		return &lifecycle.Runner{Client: b.Client, Recorder: silent{}, Metrics: metrics.New(prometheus.NewRegistry())}
	}
	b.sources = cluster.NewSources(cluster.Options{})
	b.git = &Git{GitOptions: GitOptions{OperatorNamespace: operatorNamespace}, Cached: b.Client, Secrets: b.Client,
		Writer: b.Client}
	b.repos = &GitProviderReconciler{Runner: runner(), Git: b.git}
	b.kube = &KubeProviderReconciler{
		Runner: runner(), Secrets: b.Client, Sources: b.sources, Local: &rest.Config{Host: "https://control.example.org"}, OperatorNamespace: operatorNamespace,
	}
	// What SetupWithManager does without a manager.
	b.repos.Kind, b.repos.Owned = v1alpha3.GitProviderKind, []string{v1alpha3.ReceiverReadyCondition}
	b.repos.Forget = func(_ context.Context, name types.NamespacedName) { b.git.forget(name) }
	b.kube.Kind, b.kube.Owned = v1alpha3.KubeProviderKind, []string{v1alpha3.ValidatedCondition}
	b.kube.Forget = b.kube.forget
	return b
}

func (b *bed) passGit(name string) (*v1alpha3.GitProvider, ctrl.Result) {
	b.t.Helper()
	key := types.NamespacedName{Namespace: "shop", Name: name}
	result, err := b.repos.Reconcile(b.t.Context(), ctrl.Request{NamespacedName: key})
	b.Expect(err).NotTo(HaveOccurred())
	p := &v1alpha3.GitProvider{}
	b.Expect(b.Get(b.t.Context(), key, p)).To(Succeed())
	b.Expect(kstatus.Legal(b.t.Context(), p)).To(Succeed())
	return p, result
}

func (b *bed) passKube(name string) (*v1alpha3.KubeProvider, ctrl.Result) {
	b.t.Helper()
	key := types.NamespacedName{Name: name}
	result, err := b.kube.Reconcile(b.t.Context(), ctrl.Request{NamespacedName: key})
	b.Expect(err).NotTo(HaveOccurred())
	p := &v1alpha3.KubeProvider{}
	b.Expect(b.Get(b.t.Context(), key, p)).To(Succeed())
	b.Expect(kstatus.Legal(b.t.Context(), p)).To(Succeed())
	return p, result
}

// change edits a stored object.
func (b *bed) change(o client.Object, edit func()) {
	b.t.Helper()
	b.Expect(b.Get(b.t.Context(), client.ObjectKeyFromObject(o), o)).To(Succeed())
	edit()
	o.SetGeneration(o.GetGeneration() + 1)
	b.Expect(b.Update(b.t.Context(), o)).To(Succeed())
}

func secret(ns, name string, data map[string]string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Data: map[string][]byte{}}
	for k, v := range data {
		s.Data[k] = []byte(v)
	}
	return s
}

func repository(url string, change ...func(*v1alpha3.GitProvider)) *v1alpha3.GitProvider {
	p := &v1alpha3.GitProvider{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "infra", UID: "1", Generation: 1},
		Spec:       v1alpha3.GitProviderSpec{URL: url, AllowedBranches: []string{"main"}},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func withSecret(name string) func(*v1alpha3.GitProvider) {
	return func(p *v1alpha3.GitProvider) { p.Spec.SecretRef = &meta.LocalObjectReference{Name: name} }
}

func signed(name string, generate bool) func(*v1alpha3.GitProvider) {
	return func(p *v1alpha3.GitProvider) {
		p.Spec.Commit = &v1alpha3.GitProviderCommit{Signing: &v1alpha3.CommitSigning{
			SecretRef: meta.LocalObjectReference{Name: name}, GenerateWhenMissing: generate,
		}}
	}
}

func ready(o conditions.Getter) (status metav1.ConditionStatus, reason, message string) {
	c := conditions.Get(o, meta.ReadyCondition)
	return c.Status, c.Reason, c.Message
}
