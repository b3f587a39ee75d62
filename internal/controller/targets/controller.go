// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package targets

import (
	"context"
	"errors"
	"time"

	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/branch"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/controller/access"
	"github.com/configbutler/gitops-reverser/internal/controller/lifecycle"
	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/rules"
	"github.com/configbutler/gitops-reverser/internal/watch"
)

// +kubebuilder:rbac:groups=configbutler.ai,resources=gittargets,verbs=get;list;watch
// +kubebuilder:rbac:groups=configbutler.ai,resources=gittargets/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch

// Git gives a worker what it needs to reach a repository and to sign.
type Git interface {
	// Credentials is called once per network call.
	Credentials(p *v1alpha3.GitProvider) func(context.Context) (gitstore.Credentials, error)
	// Signer is called once per commit; it gives nil when commits are not signed.
	Signer(p *v1alpha3.GitProvider) func(context.Context) (gitstore.Signer, error)
	// Capabilities are what the repository's server offered at the last probe.
	Capabilities(provider types.NamespacedName) []string
	// Revision changes when the credentials or keys last read for a provider changed.
	Revision(provider types.NamespacedName) string
}

// Encryption is what a GitTarget's encryption amounts to right now.
type Encryption struct {
	// Sealer is nil when sensitive types cannot be written.
	Sealer plan.Sealer
	// SOPSConfig is the .sops.yaml to bootstrap.
	SOPSConfig []byte
	// Ready is true when sensitive types can be written; else Reason and Message say why not.
	Ready           bool
	Reason, Message string
	// Revision changes with recipients and keys.
	Revision string
}

// Encrypter resolves spec.encryption. An error means that something could not be read.
type Encrypter interface {
	Encryption(ctx context.Context, t *v1alpha3.GitTarget) (Encryption, error)
	// Sensitive reports additional sensitive types; AdditionalSensitive lists them as "resource" or "group/resource".
	Sensitive(t change.Type) bool
	AdditionalSensitive() []string
	// Forget drops what is remembered of a deleted target.
	Forget(uid string)
}

// Reconciler reconciles GitTargets.
type Reconciler struct {
	*lifecycle.Runner
	Access     *access.Reader
	Sources    *cluster.Sources
	Watch      *watch.Manager
	Branches   *branch.Manager
	Git        Git
	Encrypter  Encrypter
	Attributor watch.Attributor
	// Rules holds the compiled rules, for the source namespaces that reach a folder.
	Rules *rules.Store
	// Dirty is fed by DirtyEvents with targets whose watch or branch status changed.
	Dirty <-chan reconcile.Request
	// Keys remembers the UID of each declared target, so that a deleted one can be forgotten.
	Keys *Keys
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, o controller.Options) error {
	r.Kind = v1alpha3.GitTargetKind
	r.Owned = ownedConditions
	r.Forget = r.forget
	all := handler.EnqueueRequestsFromMapFunc(r.all)
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha3.GitTarget{}, builder.WithPredicates(lifecycle.Changed())).
		Watches(&v1alpha3.GitProvider{}, handler.EnqueueRequestsFromMapFunc(r.ofGitProvider),
			builder.WithPredicates(lifecycle.ReadyFlipped())).
		Watches(&v1alpha3.KubeProvider{}, handler.EnqueueRequestsFromMapFunc(r.ofKubeProvider),
			builder.WithPredicates(lifecycle.ReadyFlipped())).
		// A label of a namespace can open or close an accessFrom; a sibling can take or free a branch.
		Watches(&corev1.Namespace{}, all, builder.WithPredicates(lifecycle.LabelsChanged())).
		Watches(&v1alpha3.GitTarget{}, handler.EnqueueRequestsFromMapFunc(r.rivals), builder.WithPredicates(rivalChanged())).
		WatchesRawSource(source.Func(r.dirty)).
		WithOptions(o).
		Complete(r)
}

// Reconcile makes one pass.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	obj := &v1alpha3.GitTarget{}
	return r.Run(ctx, req.NamespacedName, obj, func(ctx context.Context) (lifecycle.Pass,
		error) {
		return r.pass(ctx, obj)
	})
}

// pass is the order in which a target is looked at; conditions are written as facts become known.
func (r *Reconciler) pass(ctx context.Context, obj *v1alpha3.GitTarget) (lifecycle.Pass, error) {
	var pass lifecycle.Pass
	key := access.Key(obj)
	if old, replaced := r.Keys.Put(key); replaced {
		r.undeclare(old)
		r.Encrypter.Forget(old.UID)
	}
	valid, err := r.validate(ctx, obj)
	if err != nil {
		// A read failed, or an accessFrom makes no sense: the data plane stays as it is.
		conditions.MarkUnknown(obj, v1alpha3.ValidatedCondition, progressingReason, "%s", err.Error())
		var unclear *access.Unclear
		if errors.As(err, &unclear) {
			pass.Stalled(unclear.Reason, err.Error())
			return pass, nil
		}
		return pass, err
	}
	if valid.Refused() {
		r.undeclare(key)
		conditions.MarkFalse(obj, v1alpha3.ValidatedCondition, valid.Reason, "%s", valid.Message)
		forgetObservations(obj)
		pass.Stalled(readyReasonOf(valid.Reason), valid.Message)
		return pass, nil
	}
	conditions.MarkTrue(obj, v1alpha3.ValidatedCondition, succeededReason,
		"references, branch, path and configuration are valid")
	if r.Keys.moved(key, valid.normal.Identity) {
		// What is known of another repository says nothing about this one.
		obj.Status.Remote, obj.Status.Placement, obj.Status.Retention = nil, nil, nil
	}
	enc, err := r.Encrypter.Encryption(ctx, obj)
	if err != nil {
		return pass, err
	}
	switch err := r.declare(obj, valid, enc); {
	case errors.Is(err, branch.ErrBusy):
		pass.Progressing(progressingReason, err.Error())
		pass.Within(busyPause)
		return pass, nil
	case err != nil:
		pass.Stalled(v1alpha3.WorkerUnavailableReason, err.Error())
		return pass, nil
	}
	view := r.observe(obj, key)
	r.request(obj, key, view, &pass)
	r.rekey(obj, key, view, &pass)
	r.report(obj, valid, enc, view, &pass)
	return pass, nil
}

// request starts what the request annotation asks for and keeps it pending until both sides are done.
func (r *Reconciler) request(obj *v1alpha3.GitTarget, key change.TargetKey, v view, pass *lifecycle.Pass) {
	token := obj.Annotations[lifecycle.RequestAnnotation]
	if token == "" || token == obj.Status.LastHandledReconcileAt {
		r.Branches.Refresh(key)
		return
	}
	if v.watch.Rechecked != token {
		r.Branches.Recheck(key, token)
		r.Watch.Recheck(key, token)
	}
	// The end of the recheck is news that brings the next pass.
	pass.Pending = v.watch.Rechecked != token || v.branch.Target.Rechecked != token
	if pass.Pending {
		pass.Within(requestPause)
	}
}

// busyPause is the time between two looks at a branch whose earlier worker still publishes.
const busyPause = time.Second

// requestPause bounds the time between two looks at a request that is on its way.
const requestPause = 5 * time.Second

// rekey re-encrypts the folder: the sealer of this pass encrypts every sensitive document anew, and a fresh snapshot
// brings every one of them. It is done when those snapshots are published; it waits while suspended or refused.
func (r *Reconciler) rekey(obj *v1alpha3.GitTarget, key change.TargetKey, v view, pass *lifecycle.Pass) {
	token := rekeyOf(obj)
	if token == "" || obj.Spec.Suspend || v.branch.Target.Refusal != nil || pass.Pending {
		return
	}
	mark := "rekey/" + token
	if v.watch.Rechecked != mark {
		r.Watch.Recheck(key, mark)
	} else if v.branch.Target.Waiting == 0 && v.watch.Ready == v.watch.Total {
		obj.Status.LastHandledRekeyAt = token
		return
	}
	pass.Within(requestPause)
}

func (r *Reconciler) forget(_ context.Context, name types.NamespacedName) {
	if key, ok := r.Keys.Take(name); ok {
		r.undeclare(key)
		r.Encrypter.Forget(key.UID)
	}
}

// undeclare ends streams first, so that nothing is offered to a worker that forgets the target.
func (r *Reconciler) undeclare(key change.TargetKey) {
	r.Watch.Forget(key)
	r.Branches.Remove(key)
}

func (r *Reconciler) all(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.list(ctx, func(*v1alpha3.GitTarget) bool { return true })
}

func (r *Reconciler) ofGitProvider(ctx context.Context, o client.Object) []reconcile.Request {
	return r.list(ctx, func(t *v1alpha3.GitTarget) bool {
		return t.GetGitProviderNamespace() == o.GetNamespace() && t.Spec.GitProviderRef.Name == o.GetName()
	})
}

func (r *Reconciler) ofKubeProvider(ctx context.Context, o client.Object) []reconcile.Request {
	return r.list(ctx, func(t *v1alpha3.GitTarget) bool { return t.GetKubeProviderName() == o.GetName() })
}

func (r *Reconciler) list(ctx context.Context, match func(*v1alpha3.GitTarget) bool) []reconcile.Request {
	var l v1alpha3.GitTargetList
	if err := r.Client.List(ctx, &l, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "could not list GitTargets")
		return nil
	}
	var out []reconcile.Request
	for i := range l.Items {
		if match(&l.Items[i]) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&l.Items[i])})
		}
	}
	return out
}
