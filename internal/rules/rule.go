// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Kind is the kind of a rule.
type Kind string

// The rule kinds.
const (
	WatchRule        Kind = "WatchRule"
	ClusterWatchRule Kind = "ClusterWatchRule"
)

// All is the wildcard of resources, groups, versions, operations and source namespaces.
const All = "*"

// Key names one rule. Namespace is empty for a ClusterWatchRule.
type Key struct {
	Kind            Kind
	Namespace, Name string
}

// String returns "Kind namespace/name", or "Kind name".
func (k Key) String() string {
	if k.Namespace == "" {
		return string(k.Kind) + " " + k.Name
	}
	return string(k.Kind) + " " + k.Namespace + "/" + k.Name
}

// Compare orders keys by kind, namespace and name.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Kind, o.Kind), cmp.Compare(k.Namespace, o.Namespace), cmp.Compare(k.Name, o.Name))
}

// Rule is a WatchRule or ClusterWatchRule as plain values.
type Rule struct {
	Key
	UID        string
	Generation int64
	// Created is the rule's creation time: of two overlapping rules the older one keeps its collections.
	Created time.Time
	// Target is the GitTarget the rule feeds.
	Target types.NamespacedName
	// Suspended rules contribute nothing.
	Suspended bool
	Items     []Item
}

// Item is one entry of a rule's spec.rules.
type Item struct {
	// Operations bounds live events; empty or "*" means all of them. A snapshot always materialises state.
	Operations []string
	// APIGroups: nil means "search", "" the core group, "*" all of them.
	APIGroups []string
	// APIVersions: nil means the preferred version, "*" any.
	APIVersions []string
	// Resources are case-insensitive plurals, or "*".
	Resources []string
	// SourceNamespace is empty for the rule's own namespace, "*" for all of them. Unused on a ClusterWatchRule.
	SourceNamespace string
	// ObjectSelector is nil for every object.
	ObjectSelector *Selector
}

// Selector is a label selector as plain values.
type Selector struct {
	MatchLabels      map[string]string
	MatchExpressions []Requirement
}

// Requirement is one expression of a Selector. Operator is In, NotIn, Exists or DoesNotExist.
type Requirement struct {
	Key, Operator string
	Values        []string
}

// Access is what the rule's gates need to know, read by the caller from the control cluster only.
type Access struct {
	// TargetAdmitted: the KubeProvider's accessFrom admits the GitTarget.
	TargetAdmitted bool
	// AllowAnySourceNamespace is the KubeProvider's delegation flag.
	AllowAnySourceNamespace bool
	// Policy is the GitTarget's allowedSourceNamespaces; nil when it declares none.
	Policy *NamespacePolicy
	// Undecided is a text when a read failed; nothing is changed then.
	Undecided string
}

// NamespacePolicy is GitTarget.spec.allowedSourceNamespaces. It is exhaustive: the zero value allows nothing.
type NamespacePolicy struct {
	Names    []string
	Selector *Selector
}

// Namespaces is the label snapshot of a source's namespaces. It is read only for a policy with a selector.
type Namespaces interface {
	// State says whether the snapshot can be used: synced, or forbidden by the source.
	State() (synced, forbidden bool)
	// Labels returns a namespace's labels; false when it does not exist.
	Labels(namespace string) (map[string]string, bool)
	// Names returns the names of all namespaces, sorted.
	Names() []string
}

// Status is a condition's status.
type Status string

// The condition statuses.
const (
	True    Status = "True"
	False   Status = "False"
	Unknown Status = "Unknown"
)

// Answer is what a condition says. The zero Answer says nothing.
type Answer struct {
	Status          Status
	Reason, Message string
	// Stalled: a person must act (decisions 60, 71).
	Stalled bool
}

// Reasons of ResourcesResolved and SourceNamespaceAuthorized.
const (
	ReasonSucceeded              = "Succeeded"
	ReasonCatalogNotReady        = "CatalogNotReady"
	ReasonCollectionOverlap      = "CollectionOverlap"
	ReasonObjectSelectorInvalid  = "ObjectSelectorInvalid"
	ReasonAmbiguousResource      = "AmbiguousResource"
	ReasonResourceNotServed      = "ResourceNotServed"
	ReasonResourceExcluded       = "ResourceExcluded"
	ReasonLegacySourceNamespace  = "LegacySourceNamespace"
	ReasonNamespaceAllowed       = "SourceNamespaceAllowed"
	ReasonNamespaceNotAllowed    = "SourceNamespaceNotAllowed"
	ReasonNamespacePolicyBad     = "SourceNamespacePolicyUnavailable"
	ReasonNamespacePolicyPending = "CheckingSourceNamespacePolicy"
	ReasonProgressing            = "Progressing"
	ReasonSuspended              = "Suspended"
)

// Effect tells the caller what to do with the rule in the Store.
type Effect string

// The effects.
const (
	// Replace: put Result.Compiled into the store.
	Replace Effect = "Replace"
	// Remove: take the rule out of the store, trigger planning, then publish the refusal.
	Remove Effect = "Remove"
	// Keep: undecided; leave a rule compiled from the same spec as it is and try again.
	Keep Effect = "Keep"
)

// Result is what Compile says about one rule.
type Result struct {
	Effect   Effect
	Compiled *Compiled
	// Authorized answers SourceNamespaceAuthorized; zero for a ClusterWatchRule.
	Authorized Answer
	// Refused answers ResourcesResolved when the rule itself is wrong; zero otherwise.
	Refused Answer
}

// Collection is one stream a GitTarget needs: a type in one namespace or in all of them.
type Collection struct {
	Type change.Type
	// Namespace is empty for all namespaces and for cluster-scoped types.
	Namespace string
	// Selector is the canonical label selector the API server applies; empty when there is none or when Clauses decide.
	Selector string
	// Clauses are evaluated in process, one of them must match; empty means every object and Operations.
	Clauses []Clause
	// Operations is the union over all rules, in the order CREATE, UPDATE, DELETE.
	Operations []change.Operation
	// Named is true when at least one rule names the resource, false when only wildcards select it.
	Named bool
}

// Clause is one selection of objects with the operations it wants.
type Clause struct {
	Selector   string
	Operations []change.Operation
}

// RuleAnswer is what Resolve says about one rule.
type RuleAnswer struct {
	Key Key
	// Resolved answers ResourcesResolved.
	Resolved Answer
	// Cells are the collections this rule claims, sorted.
	Cells []change.Cell
	// Unresolved lists resources that match nothing or several groups, sorted.
	Unresolved []string
}

// Resolution is the outcome of Resolve for one GitTarget.
type Resolution struct {
	// Collections to watch, sorted by group, resource and namespace.
	Collections []Collection
	// Rules has one answer per rule, in the rules' order.
	Rules []RuleAnswer
	// Retained lists claimed types whose facts are not trusted now; non-empty means: keep the current streams and
	// plan again later (watch 3.2, 4.1).
	Retained []string
}

// Catalog is what a source serves. cluster.Catalog implements it.
type Catalog interface {
	// Ready is false until the first facts are known.
	Ready() bool
	// Each calls yield for every served version of every type, in a fixed order, until it returns false. verdict is
	// "followable", "retained", "pending", "refused" or "unknown"; reason is the funnel's reason code (watch 4.1).
	Each(yield func(t change.Type, preferred bool, verdict, reason string) bool)
	// Degraded lists the group/versions whose discovery fails now, sorted.
	Degraded() []string
}
