// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/placement"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
)

// input is a folder and the types that are known beside it.
type input struct {
	dir, path string
	files     map[string]manifest.File
	types     *types
}

// open reads DIR and the CRDs in it and in the --crds files and folders.
func open(dir, folder string, crds []string) (*input, error) {
	p, err := insideRepo(folder)
	if err != nil {
		return nil, err
	}
	in := &input{dir: dir, path: p}
	if in.files, err = readDir(dir); err != nil {
		return nil, err
	}
	if in.types, err = newTypes(); err != nil {
		return nil, err
	}
	for _, name := range crds {
		if err := in.addCRDs(name); err != nil {
			return nil, err
		}
	}
	for name, f := range in.files {
		// A folder may hold a broken CRD; the scan names what is wrong with it.
		if isYAML(name) && strings.Contains(string(f.Content), "CustomResourceDefinition") {
			_ = in.types.addCRDs(f.Content)
		}
	}
	return in, nil
}

func (in *input) addCRDs(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		b, err := os.ReadFile(name)
		if err == nil {
			err = in.types.addCRDs(b)
		}
		if err != nil {
			return fmt.Errorf("--crds %s: %w", name, err)
		}
		return nil
	}
	files, err := readDir(name)
	if err != nil {
		return err
	}
	for n, f := range files {
		if !isYAML(n) {
			continue
		}
		if err := in.types.addCRDs(f.Content); err != nil {
			return fmt.Errorf("--crds %s: %s: %w", name, n, err)
		}
	}
	return nil
}

func isYAML(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// target is what a GitTarget says about the folder.
type target struct {
	path   string
	policy plan.Policy
	ignore sanitize.Config
}

// readTarget reads a GitTarget. Without a file the defaults of an empty one hold.
func readTarget(name string) (*target, error) {
	t := &target{policy: plan.Policy{Prune: plan.PruneOnEvent}}
	if name == "" {
		return t, nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var obj v1alpha3.GitTarget
	if err := yaml.UnmarshalStrict(b, &obj); err != nil {
		return nil, fmt.Errorf("--gittarget %s: %w", name, err)
	}
	if obj.Kind != "GitTarget" {
		return nil, fmt.Errorf("--gittarget %s: want a GitTarget, have kind %q", name, obj.Kind)
	}
	t.path = obj.Spec.Path
	t.policy.SerializeNamespace = obj.Spec.SerializeNamespace
	if p := obj.Spec.Prune; p != nil && p.Mode != "" {
		t.policy.Prune = plan.PruneMode(p.Mode)
	}
	if p := obj.Spec.Placement; p != nil {
		t.policy.Placement = placement.Policy{
			Default: string(p.Default), UseKustomize: p.UseKustomize, ByType: map[string]string{},
		}
		for k, v := range p.ByType {
			t.policy.Placement.ByType[k] = string(v)
		}
		if errs := t.policy.Placement.Validate(nil); len(errs) > 0 {
			return nil, fmt.Errorf("--gittarget %s: spec.placement: %w", name, errs[0])
		}
	}
	t.ignore = ignoreConfig(obj.Spec.Ignore)
	return t, nil
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
