// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sanitize

import (
	"errors"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Revision counts the changes of what sanitizing gives for the same object. Whoever stores a digest of a desired
// document stores it too.
const Revision = 1

// Config adjusts the noise rules: GitTarget.spec.ignore as plain values (decisions 33 and 70).
type Config struct {
	// DisableDefaults names default rules that are switched off.
	DisableDefaults []string
	// Rules are further rules.
	Rules []Rule
}

// Rule is one noise rule of a user. Resources and Names narrow the objects; empty narrows nothing. With FieldPaths or
// FieldManagers it masks fields, with neither it skips the objects.
type Rule struct {
	// Name is a DNS label that no default rule has.
	Name string
	// Resources are types, in any version.
	Resources []GroupResource
	// Names are globs of object names.
	Names []string
	// FieldPaths are JSON pointers (RFC 6901).
	FieldPaths []string
	// FieldManagers mask the fields these managers own; with FieldPaths only those below the paths.
	FieldManagers []string
}

// GroupResource is a type in any version. Resource is the lower-case plural.
type GroupResource struct{ Group, Resource string }

// Object is a sanitized live object.
type Object struct {
	change.Item
	// Terminating reports a deletionTimestamp: such an object is never written; its deletion arrives as DELETE.
	Terminating bool
	// Owner is the applier whose marks the raw object carries; nil without.
	Owner *Applier
	// Labels are the object's labels as they are in the document.
	Labels map[string]string
	// Rules names the noise rules that masked something or skipped the object, in the order of evaluation.
	Rules []string
}

// ApplierKind is a kind of applier.
type ApplierKind string

// The appliers whose marks are known.
const (
	// Flux marks with the labels kustomize.toolkit.fluxcd.io/name and /namespace.
	Flux ApplierKind = "Flux"
	// ArgoCD marks with the annotation argocd.argoproj.io/tracking-id.
	ArgoCD ApplierKind = "ArgoCD"
)

// Applier is a Flux Kustomization or an Argo CD Application.
type Applier struct {
	Kind ApplierKind
	// Namespace is empty for an Application of Argo CD's own namespace.
	Namespace string
	Name      string
}

// Sanitizer sanitizes objects for one GitTarget. It is safe for concurrent use.
type Sanitizer struct{}

// New returns a sanitizer. It fails on a rule that cannot mean anything: an unknown default, a taken or doubled name, a
// bad glob or pointer.
func New(Config) (*Sanitizer, error) { return &Sanitizer{}, nil }

// Object turns the raw JSON of a live object into its desired form. The raw bytes are not modified. Errors name the
// object and never hold values.
func (s *Sanitizer) Object([]byte, change.Type) (Object, error) {
	return Object{}, errors.New("sanitize: under construction")
}

// Neat returns the document of a live object whose served type is not known, as compact JSON. Values the system
// allocated are left out; noise rules do not apply.
func (s *Sanitizer) Neat([]byte) ([]byte, error) {
	return nil, errors.New("sanitize: under construction")
}
