// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package targets

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Keys maps names to the UIDs of the declared targets.
type Keys struct {
	mu   sync.Mutex
	keys map[types.NamespacedName]change.TargetKey
}

// NewKeys returns an empty map.
func NewKeys() *Keys { return &Keys{keys: map[types.NamespacedName]change.TargetKey{}} }

// Put remembers a key. When another object had the name, its key is returned with true.
func (k *Keys) Put(key change.TargetKey) (change.TargetKey, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	name := types.NamespacedName{Namespace: key.Namespace, Name: key.Name}
	old, ok := k.keys[name]
	k.keys[name] = key
	return old, ok && old != key
}

// Get returns the key of a name.
func (k *Keys) Get(name types.NamespacedName) (change.TargetKey, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key, ok := k.keys[name]
	return key, ok
}

// Take forgets and returns the key of a name.
func (k *Keys) Take(name types.NamespacedName) (change.TargetKey, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key, ok := k.keys[name]
	delete(k.keys, name)
	return key, ok
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

// siblingChanged lets through what can change who owns a branch: a GitTarget that comes or goes.
func siblingChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return true },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.GetDeletionTimestamp() == nil && e.ObjectNew.GetDeletionTimestamp() != nil
		},
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}
