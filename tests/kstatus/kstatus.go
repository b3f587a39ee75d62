// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package kstatus

import (
	"context"
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"github.com/fluxcd/pkg/runtime/conditions/check"
)

// Legal returns what is wrong with the conditions of an object as it was stored. Warnings of the checker, which are about
// habits, do not count.
func Legal(ctx context.Context, obj conditions.Getter) error {
	c := check.NewChecker(nil, &check.Conditions{NegativePolarity: []string{meta.StalledCondition, meta.ReconcilingCondition}})
	if conditions.IsUnknown(obj, meta.ReadyCondition) {
		c = check.NewInProgressChecker(nil)
	}
	c.DisableFetch = true
	if fail, _ := c.Check(ctx, obj); fail != nil {
		return fmt.Errorf("%w: %+v", fail, obj.GetConditions())
	}
	return nil
}
