// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package providers

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/branch/message"
	"github.com/configbutler/gitops-reverser/internal/controller/access"
	"github.com/configbutler/gitops-reverser/internal/controller/lifecycle"
	"github.com/configbutler/gitops-reverser/internal/gitauth"
	"github.com/configbutler/gitops-reverser/internal/gitstore"
)

// +kubebuilder:rbac:groups=configbutler.ai,resources=gitproviders,verbs=get;list;watch
// +kubebuilder:rbac:groups=configbutler.ai,resources=gitproviders/status,verbs=patch

// textVerified is Ready's message of a repository that answered.
const textVerified = "the repository accepts this credential for writing"

// maxBranches bounds status.branches (api 4.2).
const maxBranches = 64

// GitProviderReconciler proves that a repository can be written: committer, signing key, credential, and the
// advertisement of receive-pack; it never clones (api 4.2).
type GitProviderReconciler struct {
	*lifecycle.Runner
	Git *Git
}

// SetupWithManager registers the controller.
func (r *GitProviderReconciler) SetupWithManager(mgr ctrl.Manager, o controller.Options) error {
	r.Kind = v1alpha3.GitProviderKind
	r.Owned = []string{v1alpha3.ReceiverReadyCondition}
	r.Forget = func(_ context.Context, name types.NamespacedName) { r.Git.forget(name) }
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha3.GitProvider{}, builder.WithPredicates(lifecycle.Changed())).
		// status.branches counts the GitTargets that name this provider.
		Watches(&v1alpha3.GitTarget{}, handler.EnqueueRequestsFromMapFunc(func(_ context.Context,
			o client.Object) []reconcile.Request {
			t, ok := o.(*v1alpha3.GitTarget)
			if !ok {
				return nil
			}
			return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: t.GetGitProviderNamespace(),
				Name: t.Spec.GitProviderRef.Name}}}
		}), builder.WithPredicates(lifecycle.Changed())).
		WithOptions(o).
		Complete(r)
}

// Reconcile makes one pass.
func (r *GitProviderReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	obj := &v1alpha3.GitProvider{}
	return r.Run(ctx, req.NamespacedName, obj, func(ctx context.Context) (lifecycle.Pass,
		error) {
		return r.pass(ctx, obj)
	})
}

func (r *GitProviderReconciler) pass(ctx context.Context, obj *v1alpha3.GitProvider) (lifecycle.Pass, error) {
	var pass lifecycle.Pass
	if err := r.countBranches(ctx, obj); err != nil {
		return pass, err
	}
	reportReceiver(obj)
	if obj.Spec.Suspend {
		pass.Converged(meta.SuspendedReason, "suspended: no fetch, push or check is made; writes wait")
		return pass, nil
	}
	if !r.due(obj) {
		// A GitTarget came or went: nothing about the repository has changed, so it is not asked again.
		pass.RequeueAfter = max(time.Second, obj.GetRequeueAfter()-time.Since(obj.Status.LastVerifiedAt.Time))
		pass.Converged(meta.SucceededReason, textVerified)
		return pass, nil
	}
	ctx, cancel := context.WithTimeout(ctx, obj.GetTimeout())
	defer cancel()
	if err := r.check(ctx, obj); err != nil {
		if isRead(err) {
			// The API server did not answer: that says nothing about the repository.
			return pass, err
		}
		reason, stalled := classify(err)
		if stalled {
			pass.Stalled(reason, err.Error())
		} else {
			pass.Progressing(reason, err.Error())
		}
		pass.RequeueAfter = obj.GetRequeueAfter()
		if !stalled {
			pass.RequeueAfter = min(pass.RequeueAfter, 30*time.Second)
		}
		return pass, nil
	}
	obj.Status.LastVerifiedAt = &metav1.Time{Time: time.Now().UTC().Truncate(time.Second)}
	pass.Converged(meta.SucceededReason, textVerified)
	return pass, nil
}

// reportReceiver says that a receiver is declared and not served. It is an observation: a delivery is only a hint.
func reportReceiver(obj *v1alpha3.GitProvider) {
	if obj.Spec.Receiver == nil {
		conditions.Delete(obj, v1alpha3.ReceiverReadyCondition)
		return
	}
	conditions.MarkFalse(obj, v1alpha3.ReceiverReadyCondition, v1alpha3.NotImplementedReason,
		"this version takes no deliveries; pushes of others are found at --git-refresh-interval and at the next commit")
}

// due reports whether the repository must be asked: the spec or the request changed, the last answer was no success,
// or it is older than the interval.
func (r *GitProviderReconciler) due(obj *v1alpha3.GitProvider) bool {
	ready := slices.IndexFunc(obj.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == meta.ReadyCondition && c.Status == metav1.ConditionTrue && c.Reason == meta.SucceededReason
	})
	token := obj.Annotations[lifecycle.RequestAnnotation]
	return ready < 0 || obj.Status.ObservedGeneration != obj.Generation || obj.Status.LastVerifiedAt == nil ||
		token != "" && token != obj.Status.LastHandledReconcileAt ||
		r.Git.Revision(client.ObjectKeyFromObject(obj)) == "" ||
		time.Since(obj.Status.LastVerifiedAt.Time) >= obj.GetRequeueAfter()*9/10
}

// check proves one thing after the other; the first that fails names the reason.
func (r *GitProviderReconciler) check(ctx context.Context, obj *v1alpha3.GitProvider) error {
	if _, err := gitstore.NormalizeURL(obj.Spec.URL); err != nil {
		return gitauth.Errorf(gitauth.InvalidConfig, "spec.url: %v", err)
	}
	if err := access.CheckPatterns(obj.Spec.AllowedBranches); err != nil {
		return gitauth.Errorf(gitauth.InvalidConfig, "%v", err)
	}
	if err := access.CheckAccessFrom(obj.Spec.AccessFrom); err != nil {
		return gitauth.Errorf(gitauth.InvalidConfig, "%v", err)
	}
	c := obj.GetCommitter()
	if err := message.ValidateCommitter(message.Identity{Name: c.Name, Email: c.Email}); err != nil {
		return gitauth.Errorf(gitauth.CommitConfigInvalid, "%v", err)
	}
	obj.Status.SigningPublicKey = ""
	if obj.GetSigning() != nil {
		signer, err := r.Git.signingKey(ctx, obj)
		if err != nil {
			return err
		}
		obj.Status.SigningPublicKey = strings.TrimSpace(signer.PublicKey())
	}
	credentials, err := r.Git.resolve(ctx, obj)
	if err != nil {
		return err
	}
	probed, err := gitstore.Probe(ctx, gitstore.Options{
		URL: obj.Spec.URL, Deadline: obj.GetTimeout(), Hosts: r.Git.Hosts,
		Credentials: func(context.Context) (gitstore.Credentials, error) { return credentials, nil },
	})
	if err != nil {
		return fmt.Errorf("the repository does not answer as it should: %w%s", err, cure(obj, err))
	}
	r.Git.remember(obj, func(k *known) { k.revision, k.capabilities = credentials.Revision, probed.Capabilities })
	return nil
}

// cure adds what a person can do where the words of the other side do not say it.
func cure(obj *v1alpha3.GitProvider, err error) string {
	var unknown x509.UnknownAuthorityError
	var transport *gitstore.TransportError
	secret := obj.Spec.SecretRef
	switch {
	case errors.As(err, &unknown):
		return "; a certificate authority of your own belongs into the key ca.crt of the Secret in spec.secretRef"
	case !errors.As(err, &transport) || transport.Kind != gitstore.Auth && transport.Kind != gitstore.NotFound:
		return ""
	case secret == nil:
		return "; check spec.url, and name a Secret with a credential in spec.secretRef: none is sent now"
	case transport.Kind == gitstore.NotFound:
		return fmt.Sprintf("; check spec.url, and that the credential in Secret %s/%s may see the repository", obj.Namespace, secret.Name)
	}
	return fmt.Sprintf("; renew the credential in Secret %s/%s (it may have expired), or let its owner write",
		obj.Namespace, secret.Name)
}

// isRead reports an answer of the API server about a Secret, a ConfigMap or the creation of a key.
func isRead(err error) bool {
	var auth *gitauth.Error
	var status apierrors.APIStatus
	return !errors.As(err, &auth) && errors.As(err, &status)
}

// classify gives an error its condition reason and says whether a person must act (decisions 60).
func classify(err error) (reason string, stalled bool) {
	var auth *gitauth.Error
	var transport *gitstore.TransportError
	switch {
	case errors.As(err, &auth):
		return string(auth.Reason), auth.Stalled()
	case errors.As(err, &transport):
		switch transport.Kind {
		case gitstore.Auth:
			return v1alpha3.AuthenticationFailedReason, true
		case gitstore.HostKey:
			return v1alpha3.HostKeyUnavailableReason, true
		case gitstore.RateLimited:
			return v1alpha3.RateLimitedReason, false
		case gitstore.UnsupportedFormat:
			return v1alpha3.UnsupportedObjectFormatReason, true
		}
	}
	return v1alpha3.ConnectionFailedReason, false
}

// countBranches measures status.branches.
func (r *GitProviderReconciler) countBranches(ctx context.Context, obj *v1alpha3.GitProvider) error {
	var list v1alpha3.GitTargetList
	if err := r.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	counts := map[string]int32{}
	for i := range list.Items {
		t := &list.Items[i]
		if t.GetGitProviderNamespace() == obj.Namespace && t.Spec.GitProviderRef.Name == obj.Name && t.DeletionTimestamp.IsZero() {
			counts[t.Spec.Branch]++
		}
	}
	branches := make([]v1alpha3.GitProviderBranch, 0, len(counts))
	for name, n := range counts {
		branches = append(branches, v1alpha3.GitProviderBranch{Name: name, GitTargetCount: n})
	}
	slices.SortFunc(branches, func(a, b v1alpha3.GitProviderBranch) int { return strings.Compare(a.Name, b.Name) })
	obj.Status.Branches = branches[:min(len(branches), maxBranches)]
	return nil
}
