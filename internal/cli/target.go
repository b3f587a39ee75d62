// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/placement"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
)

// target is what a GitTarget says about the folder.
type target struct {
	path   string
	policy plan.Policy
	ignore sanitize.Config
}

// readTarget reads a GitTarget. Without a file the defaults of an empty one hold.
func readTarget(name string, sensitive []string) (*target, error) {
	t := &target{policy: plan.Policy{Prune: plan.PruneOnEvent}}
	t.policy.Sensitive = func(x change.Type) bool { return slices.Contains(sensitive, x.GroupResource()) }
	if name == "" {
		return t, nil
	}
	objects, err := readTargetFile(name)
	if err != nil {
		return nil, fmt.Errorf("--gittarget %s: %w", name, err)
	}
	obj := &objects.target
	t.path = obj.Spec.Path
	t.policy.SerializeNamespace = obj.Spec.SerializeNamespace
	if p := obj.Spec.Prune; p != nil && p.Mode != "" {
		t.policy.Prune = plan.PruneMode(p.Mode)
		if !slices.Contains([]plan.PruneMode{plan.PruneNever, plan.PruneOnEvent, plan.PruneAlways}, t.policy.Prune) {
			return nil, fmt.Errorf("--gittarget %s: spec.prune.mode: want Never, OnEvent or Always, have %q", name, p.Mode)
		}
	}
	if p := obj.Spec.Placement; p != nil {
		t.policy.Placement = placement.Policy{
			Default: string(p.Default), UseKustomize: p.UseKustomize, ByType: map[string]string{},
		}
		for k, v := range p.ByType {
			t.policy.Placement.ByType[k] = string(v)
		}
		if errs := t.policy.Placement.Validate(sensitive); len(errs) > 0 {
			return nil, fmt.Errorf("--gittarget %s: spec.placement: %w", name, errs[0])
		}
	}
	t.policy.EscapeSubstitution = objects.substitutes()
	t.ignore = ignoreConfig(obj.Spec.Ignore)
	return t, nil
}

// targetObjects are what a --gittarget file may hold: the GitTarget, and the applier it names.
type targetObjects struct {
	target         v1alpha3.GitTarget
	triggers       []v1alpha3.FluxTrigger
	kustomizations []fluxKustomization
}

// fluxKustomization is the part of a Flux Kustomization that says whether it substitutes.
type fluxKustomization struct {
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		PostBuild *struct {
			Substitute     map[string]string `json:"substitute"`
			SubstituteFrom []any             `json:"substituteFrom"`
		} `json:"postBuild"`
	} `json:"spec"`
}

func readTargetFile(name string) (*targetObjects, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, reason(err)
	}
	list, err := objectsIn(b, name)
	if err != nil {
		return nil, err
	}
	out, targets := &targetObjects{}, 0
	for _, o := range list {
		var err error
		switch h := o.head; {
		case h.APIVersion == v1alpha3.GroupVersion.String() && h.Kind == v1alpha3.GitTargetKind:
			targets++
			err = yaml.UnmarshalStrict(o.raw, &out.target)
		case h.APIVersion == v1alpha3.GroupVersion.String() && h.Kind == v1alpha3.FluxTriggerKind:
			out.triggers = append(out.triggers, v1alpha3.FluxTrigger{})
			err = yaml.UnmarshalStrict(o.raw, &out.triggers[len(out.triggers)-1])
		case h.Group == "kustomize.toolkit.fluxcd.io" && h.Kind == "Kustomization":
			out.kustomizations = append(out.kustomizations, fluxKustomization{})
			err = yaml.Unmarshal(o.raw, &out.kustomizations[len(out.kustomizations)-1])
		default:
			return nil, fmt.Errorf("want a %s of %s, have %q of %q",
				v1alpha3.GitTargetKind, v1alpha3.GroupVersion, h.Kind, h.APIVersion)
		}
		if err != nil {
			return nil, err
		}
	}
	if targets != 1 {
		return nil, fmt.Errorf("want one %s, have %d", v1alpha3.GitTargetKind, targets)
	}
	return out, nil
}

// substitutes reports whether the FluxTrigger of the target names a Kustomization that substitutes, so that a new value
// with a brace must be escaped (decision 48).
func (o *targetObjects) substitutes() bool {
	ref := o.target.Spec.ApplyTriggerRef
	if ref == nil || string(ref.Kind) != v1alpha3.FluxTriggerKind {
		return false
	}
	for i := range o.triggers {
		t := &o.triggers[i]
		if t.Name != ref.Name || t.Namespace != o.target.Namespace {
			continue
		}
		namespace, name := t.GetKustomization()
		return slices.ContainsFunc(o.kustomizations, func(k fluxKustomization) bool {
			p := k.Spec.PostBuild
			return k.Metadata.Name == name && k.Metadata.Namespace == namespace && p != nil &&
				len(p.Substitute)+len(p.SubstituteFrom) > 0
		})
	}
	return false
}

func ignoreConfig(in *v1alpha3.Ignore) sanitize.Config {
	var c sanitize.Config
	if in == nil {
		return c
	}
	for _, d := range in.DisableDefaults {
		c.DisableDefaults = append(c.DisableDefaults, string(d))
	}
	for _, r := range in.Rules {
		x := sanitize.Rule{Name: r.Name, Names: r.Names, FieldPaths: r.FieldPaths, FieldManagers: r.FieldManagers}
		for _, gr := range r.Resources {
			x.Resources = append(x.Resources, sanitize.GroupResource(gr))
		}
		c.Rules = append(c.Rules, x)
	}
	return c
}
