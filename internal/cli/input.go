// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/placement"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
)

// input is a folder and the types that are known beside it.
type input struct {
	path  string
	tree  *dirTree
	types *types
}

// open opens DIR and reads the CRDs in it and in the --crds files and folders.
func open(dir, folder string, crds []string) (*input, error) {
	p, err := insideRepo(folder)
	if err != nil {
		return nil, err
	}
	t, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	in := &input{path: p, tree: t}
	if err := in.readTypes(crds); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return in, nil
}

func (in *input) readTypes(crds []string) (err error) {
	if in.types, err = newTypes(); err != nil {
		return err
	}
	for _, name := range crds {
		if err := in.addCRDs(name); err != nil {
			return err
		}
	}
	return in.tree.files(in.tree.Root(), "", isYAML, func(_ string, content []byte) error {
		// A folder may hold a broken CRD; the scan names what is wrong with it.
		if bytes.Contains(content, []byte("CustomResourceDefinition")) {
			_, _ = in.types.addCRDs(content)
		}
		return nil
	})
}

// insideRepo cleans the --path flag.
func insideRepo(p string) (string, error) {
	c := path.Clean(filepath.ToSlash(p))
	if path.IsAbs(c) || c == ".." || strings.HasPrefix(c, "../") {
		return "", fmt.Errorf("--path %s must be a folder inside DIR", p)
	}
	return c, nil
}

// addCRDs reads a file or folder of --crds. One that holds no CRD is a mistake.
func (in *input) addCRDs(name string) error {
	found := 0
	add := func(file string, content []byte) error {
		count, err := in.types.addCRDs(content)
		if err != nil && file != "" {
			err = fmt.Errorf("%s: %w", file, err)
		}
		found += count
		return err
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		var t *dirTree
		if t, err = openDir(name); err == nil {
			err = errors.Join(t.files(t.Root(), "", isYAML, add), t.close())
		}
	case err == nil:
		var b []byte
		if b, err = os.ReadFile(name); err == nil {
			err = add("", b)
		}
	}
	if err != nil {
		return fmt.Errorf("--crds %s: %w", name, reason(err))
	}
	if found == 0 {
		return fmt.Errorf("--crds %s: there is no CustomResourceDefinition in it", name)
	}
	return nil
}

// reason is the part of a file error behind the operation and the name, which the message has already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
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
func readTarget(name string, sensitive []string) (*target, error) {
	t := &target{policy: plan.Policy{Prune: plan.PruneOnEvent}}
	t.policy.Sensitive = func(x change.Type) bool { return slices.Contains(sensitive, x.GroupResource()) }
	if name == "" {
		return t, nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("--gittarget %s: %w", name, reason(err))
	}
	var obj v1alpha3.GitTarget
	if err := yaml.UnmarshalStrict(b, &obj); err != nil {
		return nil, fmt.Errorf("--gittarget %s: %w", name, err)
	}
	if want := v1alpha3.GroupVersion.String(); obj.Kind != v1alpha3.GitTargetKind || obj.APIVersion != want {
		return nil, fmt.Errorf("--gittarget %s: want a %s of %s, have %q of %q",
			name, v1alpha3.GitTargetKind, want, obj.Kind, obj.APIVersion)
	}
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
