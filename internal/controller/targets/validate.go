// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package targets

import (
	"context"
	"errors"
	"fmt"
	"path"
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
	conflicts, err := r.Access.Conflicts(ctx)
	if err != nil {
		return v, err
	}
	if c := conflicts[access.Key(obj)]; !c.None() {
		return refuse(v, v1alpha3.TargetConflictReason, "%s", c.Message), nil
	}
	return v, nil
}

func (r *Reconciler) validateSpec(v validated, obj *v1alpha3.GitTarget) validated {
	var err error
	if v.normal, err = gitstore.NormalizeURL(v.grant.GitProvider.Spec.URL); err != nil {
		return refuse(v, v1alpha3.InvalidConfigReason, "the URL of GitProvider %s cannot be used: %v", v.grant.GitProvider.Name, err)
	}
	if v.path, err = claims.CleanPath(obj.Spec.Path); err != nil {
		return refuse(v, v1alpha3.InvalidConfigReason, "spec.path: %v", err)
	}
	for _, b := range []struct{ field, name string }{{"spec.branch", obj.Spec.Branch}, {"spec.parentBranch", obj.Spec.ParentBranch}} {
		if err := checkBranch(b.name); b.name != "" && err != nil {
			return refuse(v, v1alpha3.InvalidConfigReason, "%s %q is no branch name: %v", b.field, b.name, err)
		}
	}
	if !branchAllowed(v.grant.GitProvider.Spec.AllowedBranches, obj.Spec.Branch) {
		return refuse(v, v1alpha3.BranchNotAllowedReason, "branch %q matches none of the allowedBranches of GitProvider %s: %s",
			obj.Spec.Branch, v.grant.GitProvider.Name, strings.Join(v.grant.GitProvider.Spec.AllowedBranches, ", "))
	}
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
			return refuse(v, v1alpha3.InvalidConfigReason, "%v", errors.Join(errs...))
		}
	}
	return v
}

// checkBranch applies git-check-ref-format's rules to a branch name.
func checkBranch(b string) error {
	switch {
	case b == "@" || b == "HEAD":
		return errors.New("the name has a meaning of its own in Git")
	case strings.HasPrefix(b, "-"):
		return errors.New("it begins with a dash")
	case strings.HasPrefix(b, "refs/"):
		return errors.New("name the branch without refs/heads/")
	case strings.HasPrefix(b, "/"), strings.HasSuffix(b, "/"), strings.Contains(b, "//"):
		return errors.New("it has an empty segment")
	case strings.Contains(b, ".."), strings.Contains(b, "@{"), strings.HasSuffix(b, "."):
		return errors.New(`it holds "..", "@{" or a final dot`)
	case strings.ContainsFunc(b, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) }):
		return errors.New(`it holds a space, a control character or one of ~^:?*[\`)
	}
	for seg := range strings.SplitSeq(b, "/") {
		if strings.HasPrefix(seg, ".") || strings.HasSuffix(seg, ".lock") {
			return errors.New(`a segment begins with "." or ends in ".lock"`)
		}
	}
	return nil
}

// branchAllowed matches globs whose * stops at a slash (api 4.1).
func branchAllowed(globs []string, branch string) bool {
	for _, g := range globs {
		if ok, err := path.Match(g, branch); err == nil && ok {
			return true
		}
	}
	return false
}

// readyReasonOf maps Validated's reasons to Ready's. A cause a person reads at a glance keeps its own name.
func readyReasonOf(validated string) string {
	if validated == v1alpha3.InvalidConfigReason {
		return v1alpha3.ValidationFailedReason
	}
	return validated
}
