// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
	"github.com/configbutler/gitops-reverser/tests/harness"
)

const (
	// source is mirrored into Git, copied is where Flux applies that.
	source, copied = "shop", "copy"
	// folder is the GitTarget's spec.path and the Kustomization's.
	folder = "clusters/one"
	// patience bounds every wait for a condition; nothing waits for time alone.
	patience = 90 * time.Second
)

// world is a cluster with the operator and Flux, and a repository.
type world struct {
	kube client.Client
	repo *gitserver.Repo
	cp   *harness.ControlPlane
}

// needControllers skips the test where Flux's controllers are not built.
func needControllers(t *testing.T) {
	t.Helper()
	for _, name := range []string{"source-controller", "kustomize-controller"} {
		switch _, err := harness.Tool(name); {
		case errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") != "true":
			t.Skipf("%s is not built, run `make tools-appliers`", name)
		case err != nil:
			t.Fatal(err)
		}
	}
}

// newWorld starts everything and mirrors nothing yet.
func newWorld(t *testing.T) *world {
	t.Helper()
	needControllers(t)
	g, ctx, dir := NewWithT(t), t.Context(), t.TempDir()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1alpha3.AddToScheme, sourcev1.AddToScheme, kustomizev1.AddToScheme,
	} {
		g.Expect(add(scheme)).To(Succeed())
	}
	cp, err := harness.StartControlPlane(filepath.Join(dir, "cluster"))
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(cp.Stop)
	git := gitserver.Start(t, gitserver.Options{})
	repo, err := git.CreateRepo(source, gitserver.RepoOptions{
		Files:  map[string]string{"README.md": "# Ours\n"},
		Config: map[string]string{"receive.denyNonFastForwards": "true", "receive.fsckObjects": "true"},
	})
	g.Expect(err).NotTo(HaveOccurred())
	w := &world{repo: repo, cp: cp}
	w.kube, err = client.New(cp.Config, client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(cp.Install(ctx)).To(Succeed())
	g.Expect(cp.InstallFlux(ctx)).To(Succeed())
	root, err := harness.ModuleRoot()
	g.Expect(err).NotTo(HaveOccurred())
	_, err = cp.Kubectl(ctx, credentialCRD, "apply", "--server-side", "--force-conflicts",
		"-f", filepath.Join(root, "config", "samples", "kubeprovider.yaml"), "-f", "-")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = cp.Kubectl(ctx, "", "wait", "--for=condition=Established", "--timeout=60s", "crd", "credentials.example.org")
	g.Expect(err).NotTo(HaveOccurred())

	operator, err := harness.StartOperator(cp, dir, "--insecure-allow-git-http", "--additional-sensitive-resources=example.org/credentials")
	g.Expect(err).NotTo(HaveOccurred())
	sc, err := harness.StartSourceController(cp, dir)
	g.Expect(err).NotTo(HaveOccurred())
	kc, err := harness.StartKustomizeController(cp, dir)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() {
		for _, p := range []*harness.Process{kc, sc, operator.Process} {
			if t.Failed() {
				t.Logf("%s:\n%s", p.Name, p.Tail(20))
			}
			p.Kill()
		}
	})
	for _, name := range []string{source, copied} {
		g.Expect(w.kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	}
	return w
}

// mirror declares the mirror of the source namespace, with a generated age identity in the Secret "age".
func (w *world) mirror(ctx context.Context, g Gomega) {
	rule := func(group string, resources ...string) v1alpha3.WatchRuleItem {
		return v1alpha3.WatchRuleItem{ResourceSelection: v1alpha3.ResourceSelection{APIGroups: []string{group}, Resources: resources}}
	}
	secrets := rule("", "secrets")
	secrets.ObjectSelector = &v1alpha3.ObjectSelector{MatchLabels: mirrored}
	named := metav1.ObjectMeta{Namespace: source, Name: "live"}
	list := []client.Object{
		&v1alpha3.GitProvider{
			ObjectMeta: named, Spec: v1alpha3.GitProviderSpec{URL: w.repo.URL, AllowedBranches: []string{"main"}},
		},
		&v1alpha3.GitTarget{ObjectMeta: named, Spec: v1alpha3.GitTargetSpec{
			GitProviderRef: meta.NamespacedObjectReference{Name: "live"}, Branch: "main", Path: folder,
			Commit: &v1alpha3.GitTargetCommit{Window: &v1alpha3.CommitWindow{IdleTimeout: &metav1.Duration{Duration: 250 * time.Millisecond}}},
			Encryption: &v1alpha3.Encryption{
				SecretRef: &meta.LocalObjectReference{Name: "age"},
				Age:       &v1alpha3.AgeEncryption{Enabled: true, Recipients: &v1alpha3.AgeRecipients{ExtractFromSecret: true, GenerateWhenMissing: true}},
			},
		}},
		&v1alpha3.WatchRule{ObjectMeta: named, Spec: v1alpha3.WatchRuleSpec{
			GitTargetRef: meta.LocalObjectReference{Name: "live"},
			Rules: []v1alpha3.WatchRuleItem{
				rule("", "configmaps", "services"), secrets, rule("apps", "deployments"), rule("batch", "cronjobs"),
				rule("networking.k8s.io", "networkpolicies"), rule("example.org", "credentials"),
			},
		}},
	}
	for _, o := range list {
		g.Expect(w.kube.Create(ctx, o)).To(Succeed())
	}
	target := list[1].(*v1alpha3.GitTarget)
	g.Eventually(func(g Gomega) {
		g.Expect(w.kube.Get(ctx, client.ObjectKeyFromObject(target), target)).To(Succeed())
		g.Expect(conditions.IsReady(target)).To(BeTrue(), "%v", target.Status.Conditions)
	}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
}

// kustomization applies the repository's folder, decrypting with the mirror's own identity, into a namespace; empty
// leaves every object in its own.
func (w *world) kustomization(ctx context.Context, g Gomega, name, namespace string) {
	g.Expect(w.kube.Create(ctx, &kustomizev1.Kustomization{
		ObjectMeta: metav1.ObjectMeta{Namespace: source, Name: name},
		Spec: kustomizev1.KustomizationSpec{
			SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.GitRepositoryKind, Name: "live"},
			Path:      "./" + folder, Prune: true, TargetNamespace: namespace,
			Interval: metav1.Duration{Duration: time.Hour}, RetryInterval: &metav1.Duration{Duration: 5 * time.Second},
			Timeout:    &metav1.Duration{Duration: 30 * time.Second},
			Decryption: &kustomizev1.Decryption{Provider: "sops", SecretRef: &meta.LocalObjectReference{Name: "age"}},
		},
	})).To(Succeed())
}

// fetch lets Flux read the repository now, as a webhook would.
func (w *world) fetch(ctx context.Context, g Gomega) {
	r := &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Namespace: source, Name: "live"}}
	g.Expect(w.kube.Get(ctx, client.ObjectKeyFromObject(r), r)).To(Succeed())
	before := client.MergeFrom(r.DeepCopy())
	r.Annotations = map[string]string{meta.ReconcileRequestAnnotation: time.Now().Format(time.RFC3339Nano)}
	g.Expect(w.kube.Patch(ctx, r, before)).To(Succeed())
}

// applied waits until a Kustomization has applied the tip of the branch, and returns that.
func (w *world) applied(ctx context.Context, g Gomega, name string) string {
	tip := w.repo.Tip("main")
	g.Eventually(func(g Gomega) {
		k := &kustomizev1.Kustomization{}
		g.Expect(w.kube.Get(ctx, client.ObjectKey{Namespace: source, Name: name}, k)).To(Succeed())
		g.Expect(conditions.IsReady(k)).To(BeTrue(), "%v", k.Status.Conditions)
		g.Expect(k.Status.LastAppliedRevision).To(Equal("main@sha1:" + tip))
	}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
	return tip
}
