// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package targets

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/branch/message"
	"github.com/configbutler/gitops-reverser/internal/claims"
	"github.com/configbutler/gitops-reverser/internal/controller/access"
	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/internal/manifest/placement"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
)

const (
	succeededReason   = meta.SucceededReason
	progressingReason = meta.ProgressingReason
)

// validated is what validation found besides its answer.
type validated struct {
	access.Refusal
	grant     access.Grant
	normal    gitstore.Normal
	path      string
	templates *message.Templates
	placement placement.Policy
}

func refuse(v validated, reason, format string, args ...any) validated {
	v.Refusal = access.Refusal{Reason: reason, Message: fmt.Sprintf(format, args...)}
	return v
}

// validate answers the condition Validated. The error means that something could not be read.
func (r *Reconciler) validate(ctx context.Context, obj *v1alpha3.GitTarget) (validated, error) {
	var v validated
	var err error
	if v.grant, err = r.Access.Grant(ctx, obj); err != nil {
		return v, err
	}
	if v.grant.Refused() {
		v.Refusal = v.grant.Refusal
		return v, nil
	}
	if v = r.validateSpec(v, obj); v.Refused() {
		return v, nil
	}
	conflict, err := r.Access.Conflict(ctx, obj, v.grant, func(o *v1alpha3.GitTarget, gp *v1alpha3.GitProvider) bool {
		return !r.validateSpec(validated{grant: access.Grant{GitProvider: gp}}, o).Refused()
	})
	if err != nil {
		return v, err
	}
	if !conflict.None() {
		return refuse(v, v1alpha3.TargetConflictReason, "%s", conflict.Message), nil
	}
	return v, nil
}

func (r *Reconciler) validateSpec(v validated, obj *v1alpha3.GitTarget) validated {
	if v.Refusal = access.Destination(obj, v.grant.GitProvider); v.Refused() {
		return v
	}
	if ref := obj.Spec.ApplyTriggerRef; ref != nil {
		// Mirroring without the applier's side of it would be two loops on one folder.
		return refuse(v, v1alpha3.NotImplementedReason,
			"this version does not serve %s: nothing is mirrored until spec.applyTriggerRef is removed", ref.Kind)
	}
	// Destination has proved both.
	v.normal, _ = gitstore.NormalizeURL(v.grant.GitProvider.Spec.URL)
	v.path, _ = claims.CleanPath(obj.Spec.Path)
	var err error
	m := obj.GetMessageTemplates()
	if v.templates, err = message.Parse(m.LiveTemplate, m.ReconcileTemplate); err != nil {
		return refuse(v, v1alpha3.InvalidConfigReason, "%v", err)
	}
	if _, err := sanitize.New(ignoreConfig(obj.Spec.Ignore)); err != nil {
		return refuse(v, v1alpha3.InvalidConfigReason, "spec.ignore: %v", err)
	}
	if p := obj.Spec.Placement; p != nil {
		v.placement = placement.Policy{Default: string(p.Default), UseKustomize: p.UseKustomize, ByType: map[string]string{}}
		for k, t := range p.ByType {
			v.placement.ByType[k] = string(t)
		}
		if errs := v.placement.Validate(r.Encrypter.AdditionalSensitive()); len(errs) > 0 {
			return refuse(v, v1alpha3.InvalidConfigReason, "%s", strings.ReplaceAll(errors.Join(errs...).Error(), "\n", "; "))
		}
	}
	return v
}

// readyReasonOf maps Validated's reasons to Ready's. A cause a person reads at a glance keeps its own name.
func readyReasonOf(validated string) string {
	if validated == v1alpha3.InvalidConfigReason {
		return v1alpha3.ValidationFailedReason
	}
	return validated
}
