// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"encoding/json"
	"path"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/tests/equal"
)

// TestFluxAppliesWhatIsMirrored is one life of a repository: mirrored, applied elsewhere, edited, applied again, and at
// last applied onto the mirrored objects themselves.
func TestFluxAppliesWhatIsMirrored(t *testing.T) {
	w := newWorld(t)
	g, ctx := NewWithT(t), t.Context()
	var objects []client.Object
	for _, s := range secrets() {
		objects = append(objects, s)
	}
	objects = append(append(objects, plain()...), credential())
	for _, o := range objects {
		g.Expect(w.kube.Create(ctx, o)).To(Succeed())
	}
	w.mirror(ctx, g)
	for _, o := range objects {
		w.written(ctx, g, o)
	}
	g.Expect(w.kube.Create(ctx, &sourcev1.GitRepository{
		ObjectMeta: metav1.ObjectMeta{Namespace: source, Name: "live"},
		Spec: sourcev1.GitRepositorySpec{
			URL: w.repo.URL, Interval: metav1.Duration{Duration: patience * 40}, Reference: &sourcev1.GitRepositoryRef{Branch: "main"},
		},
	})).To(Succeed())

	t.Run("the applied objects equal the mirrored ones", func(t *testing.T) {
		g := NewWithT(t)
		g.Expect(w.clearFiles(g)).To(BeEmpty(), "files of sensitive objects that are not encrypted")
		w.kustomization(ctx, g, "copy", copied)
		w.applied(ctx, g, "copy")
		for _, o := range objects {
			w.same(ctx, g, o)
		}
	})

	t.Run("an edit, a deletion and a new Secret follow", func(t *testing.T) {
		g := NewWithT(t)
		login := &corev1.Secret{}
		g.Expect(w.kube.Get(ctx, client.ObjectKey{Namespace: source, Name: "login"}, login)).To(Succeed())
		login.Data["password"] = []byte("the next password")
		delete(login.Data, "number")
		g.Expect(w.kube.Update(ctx, login)).To(Succeed())
		gone := objects[1]
		g.Expect(w.kube.Delete(ctx, gone)).To(Succeed())
		fresh := &corev1.Secret{ObjectMeta: named("fresh"), StringData: map[string]string{"password": "made-later"}}
		g.Expect(w.kube.Create(ctx, fresh)).To(Succeed())
		w.written(ctx, g, fresh)
		w.typed(g, login)
		g.Eventually(func() (map[string]string, error) { return w.repo.Files("main") }).WithContext(ctx).WithTimeout(patience).
			ShouldNot(HaveKey(file(gone)))
		// One stream keeps its order: what was changed before these two is in Git as well.
		w.fetch(ctx, g)
		w.applied(ctx, g, "copy")
		g.Eventually(func(g Gomega) {
			w.same(ctx, g, login)
			w.same(ctx, g, fresh)
			err := w.kube.Get(ctx, client.ObjectKey{Namespace: copied, Name: gone.GetName()}, &corev1.Secret{})
			g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "the deleted Secret is pruned: %v", err)
		}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
	})

	t.Run("applied onto the mirrored objects it makes no commit", func(t *testing.T) {
		g := NewWithT(t)
		w.kustomization(ctx, g, "same", "")
		before := w.applied(ctx, g, "same")
		s := &corev1.Secret{}
		g.Expect(w.kube.Get(ctx, client.ObjectKey{Namespace: source, Name: "login"}, s)).To(Succeed())
		g.Expect(s.Labels).To(HaveKeyWithValue("kustomize.toolkit.fluxcd.io/name", "same"), "Flux has written the mirrored objects")
		marker := &corev1.ConfigMap{ObjectMeta: named("marker"), Data: map[string]string{"value": "1"}}
		g.Expect(w.kube.Create(ctx, marker)).To(Succeed())
		w.written(ctx, g, marker)
		log, err := w.repo.Log("main")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(log[0].Parents).To(Equal([]string{before}), "%s", log[0].Message)
	})
	g.Expect(w.repo.Fsck()).To(Succeed())
}

// file is the canonical place of an object.
func file(o client.Object) string {
	group, resource, suffix := "", "", ".yaml"
	switch kind := o.GetObjectKind().GroupVersionKind(); o.(type) {
	case *corev1.Secret:
		resource, suffix = "secrets", ".sops.yaml"
	case *unstructured.Unstructured:
		group, resource, suffix = kind.Group, "credentials", ".sops.yaml"
	default:
		group = kind.Group
		resource = strings.ToLower(kind.Kind) + "s"
		if kind.Kind == "NetworkPolicy" {
			resource = "networkpolicies"
		}
	}
	return path.Join(folder, source, group, resource, o.GetName()+suffix)
}

// written waits until an object has its file in Git.
func (w *world) written(ctx context.Context, g Gomega, o client.Object) {
	w.typed(g, o)
	g.Eventually(func() (map[string]string, error) { return w.repo.Files("main") }).WithContext(ctx).WithTimeout(patience).
		Should(HaveKey(file(o)))
}

// typed sets apiVersion and kind, which the client drops.
func (w *world) typed(g Gomega, o client.Object) {
	kind, err := w.kube.GroupVersionKindFor(o)
	g.Expect(err).NotTo(HaveOccurred())
	o.GetObjectKind().SetGroupVersionKind(kind)
}

// clearFiles names the files of sensitive objects that are readable.
func (w *world) clearFiles(g Gomega) []string {
	files, err := w.repo.Contents("main")
	g.Expect(err).NotTo(HaveOccurred())
	var out []string
	sealed := 0
	for name, text := range files {
		if !strings.Contains(text, "\nkind: Secret\n") && !strings.Contains(text, "\nkind: Credential\n") {
			continue
		}
		sealed++
		for _, planted := range []string{"czNjcjN0", "aHVudGVyMi1odW50ZXIy", "correct horse", "4711-0815"} {
			if strings.Contains(text, planted) || !strings.Contains(text, "\nsops:\n") {
				out = append(out, name)
			}
		}
	}
	g.Expect(sealed).To(BeNumerically(">=", 7), "there is something to look at")
	return out
}

// same compares what Flux applied with the live object it was mirrored from: Secrets by their bytes and type, and
// every object in the form of decisions 38.
func (w *world) same(ctx context.Context, g Gomega, o client.Object) {
	live, got := w.read(ctx, g, o, source), w.read(ctx, g, o, copied)
	if _, ok := o.(*corev1.Secret); ok {
		g.Expect(secretOf(g, got)).To(Equal(secretOf(g, live)), o.GetName())
	}
	g.Expect(got.GetLabels()).To(HaveKey("kustomize.toolkit.fluxcd.io/name"), "Flux has applied it")
	g.Expect(neat(g, got)).To(Equal(neat(g, live)), o.GetName())
}

func (w *world) read(ctx context.Context, g Gomega, like client.Object, namespace string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(like.GetObjectKind().GroupVersionKind())
	g.Expect(w.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: like.GetName()}, o)).To(Succeed())
	return o
}

// secretOf is what a Secret is made of.
func secretOf(g Gomega, u *unstructured.Unstructured) corev1.Secret {
	s := corev1.Secret{}
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &s)).To(Succeed())
	return corev1.Secret{Data: s.Data, Type: s.Type, Immutable: s.Immutable}
}

// neat is an object without what differs between namespaces by nature.
func neat(g Gomega, u *unstructured.Unstructured) string {
	u = u.DeepCopy()
	u.SetNamespace("")
	b, err := json.Marshal(u.Object)
	g.Expect(err).NotTo(HaveOccurred())
	text, err := equal.Neat(b)
	g.Expect(err).NotTo(HaveOccurred())
	return text
}
