// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watchrules

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/rules"
	"github.com/configbutler/gitops-reverser/internal/watch"
)

// Planner answers the watch from the rule store.
type Planner struct{ Store *rules.Store }

// Plan implements watch.Planner. Before every stored rule was tried once there is no answer: a plan made from half of
// the rules would close streams (watch 15).
func (p Planner) Plan(_ context.Context, target change.TargetKey, c *cluster.Catalog) (watch.Plan, error) {
	if !p.Store.Loaded() {
		return watch.Plan{}, errors.New("the stored rules are still being read")
	}
	if !c.Ready() {
		return watch.Plan{}, errors.New("the source cluster's types are not known yet")
	}
	r := rules.Resolve(p.Store.ForTarget(types.NamespacedName{Namespace: target.Namespace, Name: target.Name}), c)
	plan := watch.Plan{Retained: r.Retained}
	for _, x := range r.Collections {
		clauses := make([]watch.Clause, len(x.Clauses))
		for i, cl := range x.Clauses {
			clauses[i] = watch.Clause(cl)
		}
		plan.Collections = append(plan.Collections, watch.Collection{
			Type: x.Type, Namespace: x.Namespace, Selector: x.Selector, Clauses: clauses, Operations: x.Operations, Named: x.Named,
		})
	}
	return plan, nil
}

var _ watch.Planner = Planner{}
