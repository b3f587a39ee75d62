// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watchrules

import (
	"context"
	"reflect"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/controller/access"
	"github.com/configbutler/gitops-reverser/internal/controller/lifecycle"
	"github.com/configbutler/gitops-reverser/internal/rules"
	"github.com/configbutler/gitops-reverser/internal/watch"
)

// +kubebuilder:rbac:groups=configbutler.ai,resources=watchrules,verbs=get;list;watch
// +kubebuilder:rbac:groups=configbutler.ai,resources=watchrules/status,verbs=get;update;patch

// Targets knows the UID of each declared GitTarget.
type Targets interface {
	Get(name types.NamespacedName) (change.TargetKey, bool)
}

// Reconciler reconciles WatchRules.
type Reconciler struct {
	*lifecycle.Runner
	Access  *access.Reader
	Store   *rules.Store
	Sources *cluster.Sources
	Watch   *watch.Manager
	Targets Targets
	// Dirty carries GitTargets whose streams changed.
	Dirty <-chan reconcile.Request
	// Namespaces returns the label snapshot of a source's namespaces; nil when the source is not connected.
	Namespaces func(source string) rules.Namespaces
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, o controller.Options) error {
	r.Kind = v1alpha3.WatchRuleKind
	r.Owned = []string{
		v1alpha3.ResourcesResolvedCondition, v1alpha3.SourceNamespaceAuthorizedCondition, v1alpha3.StreamsRunningCondition,
		v1alpha3.GitTargetReadyCondition,
	}
	r.Forget = func(_ context.Context, name types.NamespacedName) { r.drop(key(name)) }
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha3.WatchRule{}, builder.WithPredicates(lifecycle.Changed())).
		Watches(&v1alpha3.GitTarget{}, handler.EnqueueRequestsFromMapFunc(r.ofTarget), builder.WithPredicates(lifecycle.ReadyFlipped())).
		// Revocation must not wait: a provider's flag or accessFrom closes rules by event.
		Watches(&v1alpha3.KubeProvider{}, handler.EnqueueRequestsFromMapFunc(r.all), builder.WithPredicates(lifecycle.ReadyFlipped())).
		Watches(&v1alpha3.GitProvider{}, handler.EnqueueRequestsFromMapFunc(r.all), builder.WithPredicates(lifecycle.Changed())).
		WatchesRawSource(source.Func(r.dirty)).
		WithOptions(o).
		Complete(r)
}

func key(name types.NamespacedName) rules.Key {
	return rules.Key{Kind: rules.WatchRule, Namespace: name.Namespace, Name: name.Name}
}

// Reconcile makes one pass.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	obj := &v1alpha3.WatchRule{}
	return r.Run(ctx, req.NamespacedName, obj, func(ctx context.Context) (lifecycle.Pass, error) { return r.pass(ctx, obj) })
}

func (r *Reconciler) pass(ctx context.Context, obj *v1alpha3.WatchRule) (lifecycle.Pass, error) {
	var pass lifecycle.Pass
	target := &v1alpha3.GitTarget{}
	name := types.NamespacedName{Namespace: obj.Namespace, Name: obj.Spec.GitTargetRef.Name}
	if err := r.Client.Get(ctx, name, target); apierrors.IsNotFound(err) {
		r.drop(key(client.ObjectKeyFromObject(obj)))
		blocked(obj, &pass, v1alpha3.GitTargetNotFoundReason, "GitTarget "+name.String()+" does not exist")
		return pass, nil
	} else if err != nil {
		return pass, err
	}
	result, err := r.compile(ctx, obj, target)
	if err != nil {
		return pass, err
	}
	r.store(result, key(client.ObjectKeyFromObject(obj)))
	r.report(obj, target, result, &pass)
	return pass, nil
}

// compile is also what start-up uses, so a restart cannot let a refused rule in.
func (r *Reconciler) compile(ctx context.Context, obj *v1alpha3.WatchRule, target *v1alpha3.GitTarget) (rules.Result, error) {
	grant, err := r.Access.Grant(ctx, target)
	if err != nil {
		return rules.Result{}, err
	}
	a := rules.Access{TargetAdmitted: !grant.Refused(), Policy: policy(target)}
	var namespaces rules.Namespaces
	if grant.KubeProvider != nil {
		a.AllowAnySourceNamespace = grant.KubeProvider.Spec.AllowAnySourceNamespace
		if r.Namespaces != nil {
			namespaces = r.Namespaces(grant.KubeProvider.Name)
		}
	}
	return rules.Compile(ruleOf(obj), a, namespaces), nil
}

// store applies a compile result and asks for planning before any condition is written.
func (r *Reconciler) store(result rules.Result, k rules.Key) {
	switch result.Effect {
	case rules.Replace:
		if old, ok := r.Store.Get(k); ok && reflect.DeepEqual(old, result.Compiled) {
			return
		}
		for _, t := range r.Store.Put(result.Compiled) {
			r.trigger(t)
		}
	case rules.Remove:
		r.drop(k)
	}
}

func (r *Reconciler) drop(k rules.Key) {
	if t, ok := r.Store.Remove(k); ok {
		r.trigger(t)
	}
}

func (r *Reconciler) trigger(target types.NamespacedName) {
	if k, ok := r.Targets.Get(target); ok {
		r.Watch.Trigger(k, watch.TriggerRuleChange)
	}
}

// Load compiles every stored rule once, before the watch plans anything. It is a manager.Runnable and runs until the
// stored rules were read; a read that fails is tried again by the manager's restart.
func (r *Reconciler) Load(ctx context.Context) error {
	var list v1alpha3.WatchRuleList
	if err := r.Client.List(ctx, &list); err != nil {
		return err
	}
	for i := range list.Items {
		obj := &list.Items[i]
		target := &v1alpha3.GitTarget{}
		name := types.NamespacedName{Namespace: obj.Namespace, Name: obj.Spec.GitTargetRef.Name}
		if err := r.Client.Get(ctx, name, target); apierrors.IsNotFound(err) {
			continue
		} else if err != nil {
			return err
		}
		result, err := r.compile(ctx, obj, target)
		if err != nil {
			return err
		}
		r.store(result, key(client.ObjectKeyFromObject(obj)))
	}
	r.Store.MarkLoaded()
	return nil
}

// blocked says that an earlier gate stopped the evaluation.
func blocked(obj *v1alpha3.WatchRule, pass *lifecycle.Pass, reason, message string) {
	conditions.MarkFalse(obj, v1alpha3.GitTargetReadyCondition, reason, "%s", message)
	conditions.MarkUnknown(obj, v1alpha3.SourceNamespaceAuthorizedCondition, meta.ProgressingReason, "%s", message)
	conditions.MarkUnknown(obj, v1alpha3.ResourcesResolvedCondition, meta.ProgressingReason, "%s", message)
	conditions.MarkUnknown(obj, v1alpha3.StreamsRunningCondition, v1alpha3.NotReadyReason, "%s", message)
	obj.Status.Streams, obj.Status.UnresolvedSample = nil, nil
	pass.Stalled(reason, message)
}

func (r *Reconciler) all(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.list(ctx, func(*v1alpha3.WatchRule) bool { return true })
}

func (r *Reconciler) ofTarget(ctx context.Context, o client.Object) []reconcile.Request {
	return r.list(ctx, func(w *v1alpha3.WatchRule) bool {
		return w.Namespace == o.GetNamespace() && w.Spec.GitTargetRef.Name == o.GetName()
	})
}

func (r *Reconciler) list(ctx context.Context, match func(*v1alpha3.WatchRule) bool) []reconcile.Request {
	var l v1alpha3.WatchRuleList
	if err := r.Client.List(ctx, &l); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "could not list WatchRules")
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

// dirty turns a target's change of streams into passes of the rules that feed it.
func (r *Reconciler) dirty(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	go func() {
		for {
			select {
			case req := <-r.Dirty:
				for _, rule := range r.list(ctx, func(w *v1alpha3.WatchRule) bool {
					return w.Namespace == req.Namespace && w.Spec.GitTargetRef.Name == req.Name
				}) {
					q.Add(rule)
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return nil
}
