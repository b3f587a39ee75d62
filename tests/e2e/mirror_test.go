// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/equal"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

// mirror is one namespace that is mirrored into one repository.
type mirror struct {
	namespace string
	folder    string
	repo      *gitserver.Repo
	target    *v1alpha3.GitTarget
}

// mirrorOptions say what differs from a plain mirror of ConfigMaps with a window of a quarter second.
type mirrorOptions struct {
	repo gitserver.RepoOptions
	// empty leaves the repository without a commit.
	empty  bool
	rules  []v1alpha3.WatchRuleItem
	adjust func(*v1alpha3.GitTarget)
	// provider adjusts the GitProvider, for example to give it a Secret.
	provider func(*v1alpha3.GitProvider)
	// before runs after the namespace exists and before anything is watched.
	before func(*mirror)
	// unready skips the wait for Ready.
	unready bool
}

func newMirror(ctx context.Context, o mirrorOptions) *mirror {
	GinkgoHelper()
	name := unique("shop")
	m := &mirror{namespace: name, folder: "clusters/one"}
	if o.repo.Config == nil {
		// The server itself proves that nothing is ever forced and every object is sound.
		o.repo.Config = map[string]string{"receive.denyNonFastForwards": "true", "receive.fsckObjects": "true"}
	}
	if o.repo.Files == nil && !o.empty {
		o.repo.Files = map[string]string{"README.md": "# Ours\n"}
	}
	m.repo = must(git.CreateRepo(name, o.repo))
	Expect(kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	m.target = &v1alpha3.GitTarget{
		ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "live"},
		Spec: v1alpha3.GitTargetSpec{
			GitProviderRef: meta.NamespacedObjectReference{Name: "infra"}, Branch: "main", Path: m.folder,
			Commit: &v1alpha3.GitTargetCommit{Window: &v1alpha3.CommitWindow{IdleTimeout: &metav1.Duration{Duration: 250 * time.Millisecond}}},
		},
	}
	if o.before != nil {
		o.before(m)
	}
	provider := &v1alpha3.GitProvider{
		ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "infra"},
		Spec:       v1alpha3.GitProviderSpec{URL: git.URL(name), AllowedBranches: []string{"main", "live/*"}},
	}
	if o.provider != nil {
		o.provider(provider)
	}
	if o.adjust != nil {
		o.adjust(m.target)
	}
	if o.rules == nil {
		o.rules = []v1alpha3.WatchRuleItem{{ResourceSelection: v1alpha3.ResourceSelection{APIGroups: []string{""}, Resources: []string{"configmaps"}}}}
	}
	rule := &v1alpha3.WatchRule{
		ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "rule"},
		Spec:       v1alpha3.WatchRuleSpec{GitTargetRef: meta.LocalObjectReference{Name: "live"}, Rules: o.rules},
	}
	for _, obj := range []client.Object{provider, m.target, rule} {
		Expect(kube.Create(ctx, obj)).To(Succeed())
	}
	if !o.unready {
		m.waitReady(ctx)
	}
	return m
}

func (m *mirror) waitReady(ctx context.Context) {
	GinkgoHelper()
	for _, o := range []conditionedObject{
		&v1alpha3.GitProvider{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "infra"}},
		&v1alpha3.GitTarget{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "live"}},
		&v1alpha3.WatchRule{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "rule"}},
	} {
		Eventually(func(g Gomega) {
			g.Expect(kube.Get(ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
			g.Expect(conditions.IsReady(o)).To(BeTrue(), "%T: %v", o, o.GetConditions())
		}).WithContext(ctx).Should(Succeed())
	}
}

type conditionedObject interface {
	client.Object
	conditions.Getter
}

// condition waits until a condition of the GitTarget satisfies a check.
func (m *mirror) condition(ctx context.Context, kind string, check func(Gomega, *metav1.Condition)) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		t := &v1alpha3.GitTarget{}
		g.Expect(kube.Get(ctx, client.ObjectKeyFromObject(m.target), t)).To(Succeed())
		c := conditions.Get(t, kind)
		g.Expect(c).NotTo(BeNil())
		check(g, c)
	}).WithContext(ctx).Should(Succeed())
}

// apply creates or updates a ConfigMap.
func (m *mirror) apply(ctx context.Context, name string, data map[string]string) {
	GinkgoHelper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: name}, Data: data}
	if err := kube.Create(ctx, cm); err != nil {
		Expect(client.IgnoreAlreadyExists(err)).To(Succeed())
		cm.ResourceVersion = ""
		Expect(kube.Update(ctx, cm)).To(Succeed())
	}
}

func (m *mirror) remove(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(kube.Delete(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: name}})).To(Succeed())
}

// file is the canonical place of a ConfigMap.
func (m *mirror) file(name string) string {
	return m.mirrored().Canonical("", "configmaps", m.namespace, name)
}

func (m *mirror) mirrored() equal.Folder {
	return equal.Folder{Repo: m.repo, Branch: m.target.Spec.Branch, Path: m.folder}
}

// files returns the documents of the folder by path.
func (m *mirror) files(g Gomega) map[string]string {
	files, err := m.mirrored().Files()
	g.Expect(err).NotTo(HaveOccurred())
	return files
}

// settled waits until the folder holds exactly the live ConfigMaps of the namespace, then checks what must hold after
// every scenario: sound objects and an unforced history (the server refuses anything else).
func (m *mirror) settled(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) { m.equal(ctx, g) }).WithContext(ctx).Should(Succeed())
	Expect(m.repo.Fsck()).To(Succeed())
}

func (m *mirror) equal(ctx context.Context, g Gomega) {
	g.Expect(m.mirrored().Check(ctx, kube, corev1.SchemeGroupVersion.WithKind("ConfigMap"), "configmaps", m.namespace)).To(Succeed())
}

// log returns the commits of the mirror's branch, newest first.
func (m *mirror) log() []gitserver.Commit {
	GinkgoHelper()
	return must(m.repo.Log(m.target.Spec.Branch))
}

// requests returns what the Git server answered for the mirror's repository. Providers of finished specs share the server.
func (m *mirror) requests() []gitserver.Request {
	var of []gitserver.Request
	for _, r := range git.Requests() {
		if strings.HasPrefix(r.Path, "/"+m.namespace+".git/") {
			of = append(of, r)
		}
	}
	return of
}

// hasFile waits until a ConfigMap's file holds a text.
func (m *mirror) hasFile(ctx context.Context, name, text string) {
	GinkgoHelper()
	Eventually(func(g Gomega) { g.Expect(m.files(g)).To(HaveKeyWithValue(m.file(name), ContainSubstring(text))) }).
		WithContext(ctx).Should(Succeed())
}

func data(value any) map[string]string { return map[string]string{"value": fmt.Sprint(value)} }

func writeFile(name, text string) error { return os.WriteFile(name, []byte(text), 0o600) }
