// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package targets

import (
	"context"
	"sync"
	"time"

	"github.com/fluxcd/pkg/runtime/conditions"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// Keys is what the reconciler remembers of declared targets between passes. It is safe for concurrent use.
type Keys struct {
	mu      sync.Mutex
	targets map[types.NamespacedName]*declared
}

// declared is one target.
type declared struct {
	key change.TargetKey
	// repository is the identity of what it writes to; empty before the first declaration.
	repository string
	// remoteAt is when status.remote was written last.
	remoteAt time.Time
}

// NewKeys returns an empty memory.
func NewKeys() *Keys { return &Keys{targets: map[types.NamespacedName]*declared{}} }

func nameOf(key change.TargetKey) types.NamespacedName {
	return types.NamespacedName{Namespace: key.Namespace, Name: key.Name}
}

// Put remembers a key. When another object had the name, its key is returned with true.
func (k *Keys) Put(key change.TargetKey) (change.TargetKey, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.targets[nameOf(key)]
	if old != nil && old.key == key {
		return key, false
	}
	k.targets[nameOf(key)] = &declared{key: key}
	if old == nil {
		return change.TargetKey{}, false
	}
	return old.key, true
}

// Get returns the key of a name.
func (k *Keys) Get(name types.NamespacedName) (change.TargetKey, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	d := k.targets[name]
	if d == nil {
		return change.TargetKey{}, false
	}
	return d.key, true
}

// Take forgets and returns the key of a name.
func (k *Keys) Take(name types.NamespacedName) (change.TargetKey, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	d := k.targets[name]
	if d == nil {
		return change.TargetKey{}, false
	}
	delete(k.targets, name)
	return d.key, true
}

// moved remembers the repository of a target and reports that it was another one before.
func (k *Keys) moved(key change.TargetKey, repository string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	d := k.targets[nameOf(key)]
	if d == nil || d.key != key {
		return false
	}
	old := d.repository
	d.repository = repository
	if old == "" || old == repository {
		return false
	}
	d.remoteAt = time.Time{}
	return true
}

func (k *Keys) remoteWritten(key change.TargetKey) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	if d := k.targets[nameOf(key)]; d != nil && d.key == key {
		return d.remoteAt
	}
	return time.Time{}
}

func (k *Keys) writeRemote(key change.TargetKey, at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if d := k.targets[nameOf(key)]; d != nil && d.key == key {
		d.remoteAt = at
	}
}

// dirty turns the mailboxes of the watch and the branches into passes.
func (r *Reconciler) dirty(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	go func() {
		for {
			select {
			case req := <-r.Dirty:
				q.Add(req)
			case <-ctx.Done():
				return
			}
		}
	}()
	return nil
}

// rivalChanged lets through what can change who owns a branch: a GitTarget that comes, goes, changes its spec, or gains
// or loses validity. Those of the start see each other in their own passes.
func rivalChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return !e.IsInInitialList },
		DeleteFunc: func(event.DeleteEvent) bool { return true },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() || isValid(e.ObjectOld) != isValid(e.ObjectNew) ||
				e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
		},
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

func isValid(o client.Object) bool {
	t, ok := o.(*v1alpha3.GitTarget)
	return ok && conditions.IsTrue(t, v1alpha3.ValidatedCondition)
}

// rivals are the other GitTargets of a branch with the same name; whether it is the same branch is for their passes.
func (r *Reconciler) rivals(ctx context.Context, o client.Object) []reconcile.Request {
	changed, ok := o.(*v1alpha3.GitTarget)
	if !ok {
		return nil
	}
	return r.list(ctx, func(t *v1alpha3.GitTarget) bool { return t.Spec.Branch == changed.Spec.Branch && t.UID != changed.UID })
}
