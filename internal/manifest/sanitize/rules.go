// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sanitize

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

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
	// Names are globs of object names: * matches any text, ? one character, [a-z] a range.
	Names []string
	// FieldPaths are JSON pointers (RFC 6901).
	FieldPaths []string
	// FieldManagers mask the fields these managers own; with FieldPaths only those at or below the paths.
	FieldManagers []string
}

// GroupResource is a type in any version. Resource is the plural; the kind, which is the singular, means the same. The
// case of letters does not matter: a rule that is meant to leave something out must not fail for how its name is written.
type GroupResource struct{ Group, Resource string }

// The default rules (decisions 70). Those up to ServiceAccountTokens and HelmReleaseSecrets skip objects, the others
// mask fields.
const (
	// ClusterMade skips what a cluster makes for itself: objects only the control plane wrote, the well-known
	// ConfigMaps of every namespace, untouched default ServiceAccounts and namespaces, provisioned volumes. It masks the
	// rules of aggregated ClusterRoles.
	ClusterMade = "cluster-made"
	// LeaderElection skips Leases, and ConfigMaps and Endpoints used as locks.
	LeaderElection = "leader-election"
	// HelmOwned skips what a Helm release owns: its source is a chart.
	HelmOwned = "helm-owned"
	// ControllerOwned skips objects with a controlling owner, and products that well-known controllers mark otherwise.
	ControllerOwned = "controller-owned"
	// ServiceAccountTokens skips token Secrets.
	ServiceAccountTokens = "service-account-tokens"
	// HelmReleaseSecrets skips the Secrets and ConfigMaps in which Helm stores releases.
	HelmReleaseSecrets = "helm-release-secrets"
	// CABundle masks CA bundles that an injector writes.
	CABundle = "ca-bundle"
	// AutoscaledReplicas masks what an autoscaler owns through the scale subresource.
	AutoscaledReplicas = "autoscaled-replicas"
	// RestartAnnotations masks the annotations by which tools restart pods.
	RestartAnnotations = "restart-annotations"
)

// OwnKeys skips the Secrets in which this operator keeps keys it generated. It is no default rule: nothing switches it off.
const OwnKeys = "own-keys"

// Defaults are the names of the default rules, in the order of evaluation.
var Defaults = []string{
	ClusterMade, LeaderElection, HelmOwned, ControllerOwned, ServiceAccountTokens, HelmReleaseSecrets,
	CABundle, AutoscaledReplicas, RestartAnnotations,
}

// rule is a compiled Rule.
type rule struct {
	Rule
	managers map[string]bool
}

var (
	ruleName     = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	fieldPointer = regexp.MustCompile(`^(/([^~/]|~[01])*)+$`)
)

// identity are the fields no rule may mask.
var identity = []string{"/apiVersion", "/kind", "/metadata/name", "/metadata/namespace"}

// New returns a sanitizer. It fails on a rule that cannot mean anything: an unknown default, a taken or doubled name, a
// rule that says nothing, a bad glob or pointer.
func New(c Config) (*Sanitizer, error) {
	s := &Sanitizer{off: map[string]bool{}}
	for _, name := range c.DisableDefaults {
		if !slices.Contains(Defaults, name) {
			return nil, fmt.Errorf("disableDefaults: no default rule is named %q; there are %s", name, strings.Join(Defaults, ", "))
		}
		s.off[name] = true
	}
	seen := map[string]bool{}
	for i, r := range c.Rules {
		if err := r.validate(); err != nil {
			return nil, fmt.Errorf("rules[%d] (%s): %w", i, r.Name, err)
		}
		if seen[r.Name] {
			return nil, fmt.Errorf("rules[%d] (%s): another rule has this name", i, r.Name)
		}
		seen[r.Name] = true
		compiled := rule{Rule: r, managers: map[string]bool{}}
		for _, m := range r.FieldManagers {
			compiled.managers[m] = true
		}
		s.rules = append(s.rules, compiled)
	}
	return s, nil
}

func (r Rule) validate() error {
	switch {
	case !ruleName.MatchString(r.Name):
		return fmt.Errorf("the name must be a DNS label")
	case slices.Contains(Defaults, r.Name):
		return fmt.Errorf("the name belongs to a default rule")
	case len(r.Resources)+len(r.Names)+len(r.FieldPaths)+len(r.FieldManagers) == 0:
		return fmt.Errorf("it needs resources, names, fieldPaths or fieldManagers")
	}
	for _, n := range r.Names {
		if _, err := path.Match(n, ""); err != nil {
			return fmt.Errorf("names: %q is no glob: %w", n, err)
		}
	}
	for _, p := range r.FieldPaths {
		if !fieldPointer.MatchString(p) {
			return fmt.Errorf("fieldPaths: %q is no JSON pointer such as /spec/replicas", p)
		}
		if slices.ContainsFunc(identity, func(i string) bool { return below(i, p) || below(p, i) }) {
			return fmt.Errorf("fieldPaths: %q holds what identifies the object, which cannot be masked", p)
		}
	}
	return nil
}

// skips reports an object rule.
func (r rule) skips() bool { return len(r.FieldPaths)+len(r.FieldManagers) == 0 }

// matches reports whether the rule speaks of an object.
func (r rule) matches(w *work) bool {
	resource := len(r.Resources) == 0 || slices.ContainsFunc(r.Resources, func(g GroupResource) bool {
		return g.Group == w.t.Group && (strings.EqualFold(g.Resource, w.t.Resource) || strings.EqualFold(g.Resource, w.t.Kind))
	})
	return resource && (len(r.Names) == 0 || slices.ContainsFunc(r.Names, func(n string) bool {
		ok, err := path.Match(n, w.name)
		return ok && err == nil
	}))
}
