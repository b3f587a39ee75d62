// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watchrules

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

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
// +kubebuilder:rbac:groups=configbutler.ai,resources=watchrules/status,verbs=patch

// owned are the conditions this reconciler writes besides the trio.
var owned = []string{
	v1alpha3.ResourcesResolvedCondition, v1alpha3.SourceNamespaceAuthorizedCondition, v1alpha3.StreamsRunningCondition,
	v1alpha3.GitTargetReadyCondition,
}

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
	// Changed is told of each target whose compiled rules changed; it must not block.
	Changed func(change.TargetKey)
	// Namespaces returns the label snapshot of a source's namespaces; nil when nobody holds the source. Asking starts
	// the snapshot, so it is asked only where a policy selects by label.
	Namespaces func(source string) rules.Namespaces

	// mu makes reading, compiling and storing a rule one step, so that Load cannot store what a pass has just replaced.
	mu sync.Mutex
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, o controller.Options) error {
	r.Kind = v1alpha3.WatchRuleKind
	r.Owned = owned
	r.Forget = r.forget
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha3.WatchRule{}, builder.WithPredicates(lifecycle.Changed())).
		Watches(&v1alpha3.GitTarget{}, handler.EnqueueRequestsFromMapFunc(r.ofTarget),
			builder.WithPredicates(lifecycle.ReadyFlipped())).
		// Revocation must not wait: a provider's flag or accessFrom closes rules by event.
		Watches(&v1alpha3.KubeProvider{}, handler.EnqueueRequestsFromMapFunc(r.all),
			builder.WithPredicates(lifecycle.ReadyFlipped())).
		Watches(&v1alpha3.GitProvider{}, handler.EnqueueRequestsFromMapFunc(r.all),
			builder.WithPredicates(lifecycle.SpecChanged())).
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
	return r.Run(ctx, req.NamespacedName, obj, func(ctx context.Context) (lifecycle.Pass,
		error) {
		return r.pass(ctx, obj)
	})
}

func (r *Reconciler) pass(ctx context.Context, obj *v1alpha3.WatchRule) (lifecycle.Pass, error) {
	var pass lifecycle.Pass
	r.mu.Lock()
	v, err := r.evaluate(ctx, obj)
	r.mu.Unlock()
	var unclear *access.Unclear
	switch {
	case errors.As(err, &unclear):
		conditions.MarkUnknown(obj, v1alpha3.GitTargetReadyCondition, unclear.Reason, "%s", err.Error())
		pass.Stalled(unclear.Reason, err.Error())
	case err != nil:
		return pass, err
	case v.refusal.Refused():
		blocked(obj, &pass, v.refusal.Reason, v.refusal.Message)
	default:
		r.report(obj, v, &pass)
	}
	if pass.IsStalled() {
		// Every cause of a stall brings a pass when it goes (api 7).
		pass.RequeueAfter = obj.GetRequeueAfter()
	}
	return pass, nil
}

// verdict is what evaluation found: a refusal of the destination, or the target and what the compiler says.
type verdict struct {
	refusal access.Refusal
	target  *v1alpha3.GitTarget
	result  rules.Result
	// idle: the source is suspended, so no stream can be expected.
	idle bool
}

// evaluate passes a rule through its gates and keeps the store in step before any condition is written. Start-up uses it,
// too, so a restart cannot let a refused rule in. An error is a read that failed: nothing is changed.
func (r *Reconciler) evaluate(ctx context.Context, obj *v1alpha3.WatchRule) (verdict, error) {
	k := key(client.ObjectKeyFromObject(obj))
	v := verdict{target: &v1alpha3.GitTarget{}}
	name := types.NamespacedName{Namespace: obj.Namespace, Name: obj.Spec.GitTargetRef.Name}
	if err := r.Client.Get(ctx, name, v.target); apierrors.IsNotFound(err) {
		r.drop(k)
		v.refusal = access.Refusal{Reason: v1alpha3.GitTargetNotFoundReason,
			Message: "GitTarget " + name.String() + " does not exist"}
		return v, nil
	} else if err != nil {
		return v, fmt.Errorf("read GitTarget %s: %w", name, err)
	}
	grant, err := r.Access.Grant(ctx, v.target)
	if err != nil {
		return v, err
	}
	if v.refusal = destination(v.target, grant); v.refusal.Refused() {
		r.drop(k)
		return v, nil
	}
	v.result = r.compile(obj, v.target, grant.KubeProvider)
	v.idle = grant.KubeProvider.Spec.Suspend
	r.store(v.result, k, obj)
	return v, nil
}

// destination answers the first rows of watch 5.1: the target is admitted, and its branch and path are valid.
func destination(t *v1alpha3.GitTarget, grant access.Grant) access.Refusal {
	if grant.Refused() {
		return grant.Refusal
	}
	if d := access.Destination(t, grant.GitProvider); d.Refused() {
		return access.Refusal{Reason: v1alpha3.GitDestinationInvalidReason, Message: fmt.Sprintf("GitTarget %s: %s",
			t.Name, d.Message)}
	}
	return access.Refusal{}
}

func (r *Reconciler) compile(obj *v1alpha3.WatchRule, target *v1alpha3.GitTarget,
	kp *v1alpha3.KubeProvider) rules.Result {
	a := rules.Access{TargetAdmitted: true, AllowAnySourceNamespace: kp.Spec.AllowAnySourceNamespace,
		Policy: policy(target)}
	var namespaces rules.Namespaces
	if a.Policy != nil && a.Policy.Selector != nil && r.Namespaces != nil {
		namespaces = r.Namespaces(kp.Name)
	}
	return rules.Compile(ruleOf(obj), a, namespaces)
}

// store applies a compile result. While nothing is decided, a rule stays only if it was compiled from the same spec.
func (r *Reconciler) store(result rules.Result, k rules.Key, obj *v1alpha3.WatchRule) {
	old, ok := r.Store.Get(k)
	switch result.Effect {
	case rules.Replace:
		if ok && reflect.DeepEqual(old, result.Compiled) {
			return
		}
		for _, t := range r.Store.Put(result.Compiled) {
			r.trigger(t)
		}
	case rules.Keep:
		if ok && (old.Rule.UID != string(obj.UID) || old.Rule.Generation != obj.Generation) {
			r.drop(k)
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

// trigger asks for planning, and for a pass of the target and its rules: their folder and their answers depend on all
// rules of the target.
func (r *Reconciler) trigger(target types.NamespacedName) {
	k, ok := r.Targets.Get(target)
	if !ok {
		return
	}
	r.Watch.Trigger(k, watch.TriggerRuleChange)
	if r.Changed != nil {
		r.Changed(k)
	}
}

func (r *Reconciler) forget(_ context.Context, name types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(key(name))
}

// Load tries every stored rule once and then opens the store for planning. A rule that cannot be evaluated now is left to
// its own passes: one bad neighbour must not keep the operator from starting (api scenario 23). It is a
// manager.Runnable.
func (r *Reconciler) Load(ctx context.Context) error {
	var list v1alpha3.WatchRuleList
	if err := r.Client.List(ctx, &list); err != nil {
		return fmt.Errorf("list WatchRules: %w", err)
	}
	for i := range list.Items {
		if err := r.load(ctx, client.ObjectKeyFromObject(&list.Items[i])); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "a stored rule cannot be evaluated yet", "watchRule",
				client.ObjectKeyFromObject(&list.Items[i]).String())
		}
	}
	r.Store.MarkLoaded()
	return nil
}

// load reads the rule again under the lock: it may have changed since it was listed.
func (r *Reconciler) load(ctx context.Context, name types.NamespacedName) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	obj := &v1alpha3.WatchRule{}
	if err := r.Client.Get(ctx, name, obj); err != nil || !obj.DeletionTimestamp.IsZero() {
		return client.IgnoreNotFound(err)
	}
	_, err := r.evaluate(ctx, obj)
	return err
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
	return r.feeding(ctx, client.ObjectKeyFromObject(o))
}

// feeding lists the rules of a GitTarget.
func (r *Reconciler) feeding(ctx context.Context, target types.NamespacedName) []reconcile.Request {
	return r.list(ctx, func(w *v1alpha3.WatchRule) bool { return w.Spec.GitTargetRef.Name == target.Name },
		client.InNamespace(target.Namespace))
}

func (r *Reconciler) list(ctx context.Context, match func(*v1alpha3.WatchRule) bool,
	in ...client.ListOption) []reconcile.Request {
	var l v1alpha3.WatchRuleList
	if err := r.Client.List(ctx, &l, append(in, client.UnsafeDisableDeepCopy)...); err != nil {
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
				for _, rule := range r.feeding(ctx, req.NamespacedName) {
					q.Add(rule)
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return nil
}
