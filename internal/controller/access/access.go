// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/claims"
	"github.com/configbutler/gitops-reverser/internal/gitstore"
)

// Refusal is an answer that stands until a person changes something. The zero value means "allowed".
type Refusal struct{ Reason, Message string }

// Refused reports whether it says no.
func (r Refusal) Refused() bool { return r.Reason != "" }

// Reader gathers what the gates need.
type Reader struct {
	// Client reads through the cache.
	Client client.Reader
	// Unfiltered lists GitTargets whatever watch selector is set: ownership must see them all (decisions 63).
	Unfiltered client.Reader
	// NoCrossNamespaceRefs overrides every accessFrom of a GitProvider (decisions 77).
	NoCrossNamespaceRefs bool
}

// Grant is what a GitTarget may use. GitProvider and KubeProvider are nil when they do not exist.
type Grant struct {
	GitProvider  *v1alpha3.GitProvider
	KubeProvider *v1alpha3.KubeProvider
	Refusal
}

// Grant reads both providers of a GitTarget and their accessFrom.
func (r *Reader) Grant(ctx context.Context, t *v1alpha3.GitTarget) (Grant, error) {
	var g Grant
	name := types.NamespacedName{Namespace: t.GetGitProviderNamespace(), Name: t.Spec.GitProviderRef.Name}
	gp := &v1alpha3.GitProvider{}
	switch err := r.Client.Get(ctx, name, gp); {
	case apierrors.IsNotFound(err):
		g.Refusal = Refusal{v1alpha3.GitProviderNotFoundReason, fmt.Sprintf("GitProvider %s does not exist", name)}
		return g, nil
	case err != nil:
		return g, err
	}
	g.GitProvider = gp
	kp := &v1alpha3.KubeProvider{}
	switch err := r.Client.Get(ctx, types.NamespacedName{Name: t.GetKubeProviderName()}, kp); {
	case apierrors.IsNotFound(err):
		g.Refusal = Refusal{v1alpha3.KubeProviderNotFoundReason, fmt.Sprintf("KubeProvider %s does not exist", t.GetKubeProviderName())}
		return g, nil
	case err != nil:
		return g, err
	}
	g.KubeProvider = kp
	var err error
	g.Refusal, err = r.admit(ctx, t, gp, kp)
	return g, err
}

func (r *Reader) admit(ctx context.Context, t *v1alpha3.GitTarget, gp *v1alpha3.GitProvider, kp *v1alpha3.KubeProvider) (Refusal, error) {
	if gp.Namespace != t.Namespace && r.NoCrossNamespaceRefs {
		return Refusal{v1alpha3.NamespaceNotAuthorizedReason, fmt.Sprintf(
			"GitProvider %s/%s is in another namespace, which --no-cross-namespace-refs forbids", gp.Namespace, gp.Name)}, nil
	}
	ok, err := r.Admits(ctx, gp.Spec.AccessFrom, gp.Namespace, t.Namespace)
	if err != nil {
		return Refusal{}, fmt.Errorf("accessFrom of GitProvider %s/%s: %w", gp.Namespace, gp.Name, err)
	}
	if !ok {
		return Refusal{v1alpha3.NamespaceNotAuthorizedReason, fmt.Sprintf(
			"GitProvider %s/%s does not admit namespace %s: add it to spec.accessFrom", gp.Namespace, gp.Name, t.Namespace)}, nil
	}
	if ok, err = r.Admits(ctx, kp.Spec.AccessFrom, "", t.Namespace); err != nil {
		return Refusal{}, fmt.Errorf("accessFrom of KubeProvider %s: %w", kp.Name, err)
	}
	if !ok {
		return Refusal{v1alpha3.NamespaceNotAuthorizedReason, fmt.Sprintf(
			"KubeProvider %s does not admit namespace %s: add it to spec.accessFrom", kp.Name, t.Namespace)}, nil
	}
	return Refusal{}, nil
}

// Admits answers api 3.1: own is always admitted (empty for a kind without a namespace), names are exact, a selector
// reads the labels of a namespace of the control cluster. A namespace that does not exist has no labels; an
// unparseable selector is an error, never "no match".
func (r *Reader) Admits(ctx context.Context, m *v1alpha3.NamespaceMatcher, own, namespace string) (bool, error) {
	var selector labels.Selector
	if m != nil && m.Selector != nil {
		var err error
		if selector, err = metav1.LabelSelectorAsSelector(m.Selector); err != nil {
			return false, fmt.Errorf("spec.accessFrom.selector: %w", err)
		}
	}
	switch {
	case own != "" && namespace == own:
		return true, nil
	case m == nil:
		return false, nil
	case slices.Contains(m.Names, namespace):
		return true, nil
	case selector == nil:
		return false, nil
	case selector.Empty():
		return true, nil
	}
	ns := &corev1.Namespace{}
	err := r.Client.Get(ctx, types.NamespacedName{Name: namespace}, ns)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil && selector.Matches(labels.Set(ns.Labels)), err
}

// Key returns the identity of a GitTarget.
func Key(t *v1alpha3.GitTarget) change.TargetKey {
	return change.TargetKey{Namespace: t.Namespace, Name: t.Name, UID: string(t.UID)}
}

// Conflicts returns who may not write because an older GitTarget owns the branch or the folder.
func (r *Reader) Conflicts(ctx context.Context) (map[change.TargetKey]claims.Conflict, error) {
	var list v1alpha3.GitTargetList
	if err := r.Unfiltered.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list GitTargets: %w", err)
	}
	targets := make([]claims.Target, 0, len(list.Items))
	for i := range list.Items {
		t := &list.Items[i]
		if !t.DeletionTimestamp.IsZero() {
			continue
		}
		g, err := r.Grant(ctx, t)
		if err != nil {
			return nil, err
		}
		c := claims.Target{
			Key: Key(t), Created: t.CreationTimestamp.Time, Branch: t.Spec.Branch, ParentBranch: t.Spec.ParentBranch,
			Path: t.Spec.Path, Provider: t.GetGitProviderNamespace() + "/" + t.Spec.GitProviderRef.Name, Admitted: !g.Refused(),
		}
		if g.GitProvider != nil {
			normal, err := gitstore.NormalizeURL(g.GitProvider.Spec.URL)
			c.Repository, c.Admitted = normal.HostPath, c.Admitted && err == nil
		}
		targets = append(targets, c)
	}
	return claims.Resolve(targets), nil
}
