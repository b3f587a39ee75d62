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

// Unclear is an answer that nobody can give, because the accessFrom of a provider does not parse. It is an error, never
// "no match" (api scenario 18): what is admitted stays admitted until a person corrects the provider.
type Unclear struct {
	// Reason is the dependent's: its provider is not ready.
	Reason string
	err    error
}

// Error implements error.
func (u *Unclear) Error() string { return u.err.Error() }

// Reader gathers what the gates need. It is safe for concurrent use.
type Reader struct {
	// Client reads through the cache.
	Client client.Reader
	// Unfiltered reads GitTargets and their providers whatever watch selector is set: ownership must see them all
	// (decisions 63). It is the same as Client when no selector is set.
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
		g.Refusal = Refusal{v1alpha3.KubeProviderNotFoundReason, fmt.Sprintf("KubeProvider %s does not exist",
			t.GetKubeProviderName())}
		return g, nil
	case err != nil:
		return g, err
	}
	g.KubeProvider = kp
	var err error
	g.Refusal, err = r.admit(ctx, t, gp, kp)
	return g, err
}

func (r *Reader) admit(ctx context.Context, t *v1alpha3.GitTarget, gp *v1alpha3.GitProvider,
	kp *v1alpha3.KubeProvider) (Refusal, error) {
	if gp.Namespace != t.Namespace && r.NoCrossNamespaceRefs {
		return Refusal{v1alpha3.NamespaceNotAuthorizedReason, fmt.Sprintf(
			"GitProvider %s/%s is in another namespace, which --no-cross-namespace-refs forbids", gp.Namespace, gp.Name)}, nil
	}
	if err := CheckAccessFrom(gp.Spec.AccessFrom); err != nil {
		return Refusal{}, &Unclear{v1alpha3.GitProviderNotReadyReason, fmt.Errorf("GitProvider %s/%s: %w", gp.Namespace, gp.Name, err)}
	}
	if err := CheckAccessFrom(kp.Spec.AccessFrom); err != nil {
		return Refusal{}, &Unclear{v1alpha3.KubeProviderNotReadyReason, fmt.Errorf("KubeProvider %s: %w", kp.Name, err)}
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

// CheckAccessFrom says what is wrong with an accessFrom.
func CheckAccessFrom(m *v1alpha3.NamespaceMatcher) error {
	_, err := selectorOf(m)
	return err
}

// selectorOf returns the selector of a matcher; nil when it has none.
func selectorOf(m *v1alpha3.NamespaceMatcher) (labels.Selector, error) {
	if m == nil || m.Selector == nil {
		return nil, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(m.Selector)
	if err != nil {
		return nil, fmt.Errorf("spec.accessFrom.selector: %w", err)
	}
	return selector, nil
}

// Admits answers api 3.1: own is always admitted (empty for a kind without a namespace), names are exact, a selector
// reads the labels of a namespace of the control cluster. A namespace that does not exist has no labels; an
// unparseable selector is an error, never "no match".
func (r *Reader) Admits(ctx context.Context, m *v1alpha3.NamespaceMatcher, own, namespace string) (bool, error) {
	selector, err := selectorOf(m)
	switch {
	case err != nil:
		return false, err
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
	err = r.Client.Get(ctx, types.NamespacedName{Name: namespace}, ns)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil && selector.Matches(labels.Set(ns.Labels)), err
}

// Key returns the identity of a GitTarget.
func Key(t *v1alpha3.GitTarget) change.TargetKey {
	return change.TargetKey{Namespace: t.Namespace, Name: t.Name, UID: string(t.UID)}
}

// Conflict answers whether an older GitTarget stands in the way of t: one that writes the same branch of the same
// repository through another GitProvider, from another parent, or into an overlapping folder. Only older ones are
// looked at, so that nobody can disturb an owner by what they create later. An admission that cannot be read is an
// error and moves nothing (api 6.5). valid says whether the rest of a spec makes sense: an invalid target owns nothing.
func (r *Reader) Conflict(
	ctx context.Context, t *v1alpha3.GitTarget, g Grant, valid func(*v1alpha3.GitTarget, *v1alpha3.GitProvider) bool,
) (claims.Conflict, error) {
	place, err := gitstore.NormalizeURL(g.GitProvider.Spec.URL)
	if err != nil {
		return claims.Conflict{}, err
	}
	var list v1alpha3.GitTargetList
	// The list is only read: a copy of every GitTarget in each pass of every other would be most of the work.
	if err := r.Unfiltered.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return claims.Conflict{}, fmt.Errorf("list GitTargets: %w", err)
	}
	mine := r.claim(t, place.HostPath)
	rivals := []claims.Target{mine}
	known := map[types.NamespacedName]*v1alpha3.GitProvider{}
	everything := &Reader{Client: r.Unfiltered, NoCrossNamespaceRefs: r.NoCrossNamespaceRefs}
	for i := range list.Items {
		o := &list.Items[i]
		c := r.claim(o, place.HostPath)
		if !o.DeletionTimestamp.IsZero() || o.UID == t.UID || o.Spec.Branch != t.Spec.Branch || c.Compare(mine) >= 0 {
			continue
		}
		same, err := r.writes(ctx, o, place.HostPath, known)
		if err != nil {
			return claims.Conflict{}, err
		}
		if !same {
			continue
		}
		theirs, err := everything.Grant(ctx, o)
		if err != nil {
			return claims.Conflict{}, fmt.Errorf("GitTarget %s/%s, which is older and writes the same branch: %w",
				o.Namespace, o.Name, err)
		}
		if !theirs.Refused() && valid(o, theirs.GitProvider) {
			rivals = append(rivals, c)
		}
	}
	return claims.Resolve(rivals)[mine.Key], nil
}

func (r *Reader) claim(t *v1alpha3.GitTarget, repository string) claims.Target {
	return claims.Target{
		Key: Key(t), Created: t.CreationTimestamp.Time, Repository: repository, Branch: t.Spec.Branch,
		ParentBranch: t.Spec.ParentBranch, Path: t.Spec.Path, Admitted: true,
		Provider: t.GetGitProviderNamespace() + "/" + t.Spec.GitProviderRef.Name,
	}
}

// writes reports whether a GitTarget's GitProvider is for the repository.
func (r *Reader) writes(
	ctx context.Context, t *v1alpha3.GitTarget, repository string, known map[types.NamespacedName]*v1alpha3.GitProvider,
) (bool, error) {
	name := types.NamespacedName{Namespace: t.GetGitProviderNamespace(), Name: t.Spec.GitProviderRef.Name}
	gp, ok := known[name]
	if !ok {
		gp = &v1alpha3.GitProvider{}
		if err := r.Unfiltered.Get(ctx, name, gp); apierrors.IsNotFound(err) {
			gp = nil
		} else if err != nil {
			return false, fmt.Errorf("read GitProvider %s: %w", name, err)
		}
		known[name] = gp
	}
	if gp == nil {
		return false, nil
	}
	place, err := gitstore.NormalizeURL(gp.Spec.URL)
	return err == nil && place.HostPath == repository, nil
}
