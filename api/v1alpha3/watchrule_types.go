// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha3

import (
	"cmp"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WatchRuleKind is the kind's name.
const WatchRuleKind = "WatchRule"

// AllNamespaces is the sourceNamespace of a cluster-wide watch.
const AllNamespaces = "*"

// WatchRuleSpec selects namespaced resources for a GitTarget of the same namespace.
type WatchRuleSpec struct {
	// GitTargetRef names the GitTarget, in the namespace of the WatchRule.
	// +kubebuilder:validation:XValidation:rule="self.name != ''",message="gitTargetRef.name must not be empty"
	// +kubebuilder:validation:XValidation:rule="size(self.name) <= 253",message="gitTargetRef.name must have at most 253 characters"
	// +required
	GitTargetRef meta.LocalObjectReference `json:"gitTargetRef"`

	// Rules select objects; an object that any of them selects is mirrored.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +required
	Rules []WatchRuleItem `json:"rules"`

	// Suspend takes the rule out: its streams close, Git is left as it is.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// WatchRuleItem selects objects of one source namespace, or of all.
type WatchRuleItem struct {
	ResourceSelection `json:",inline"`

	// SourceNamespace is the namespace in the source cluster; * is one watch over all namespaces. Absent means the
	// WatchRule's own. Any other than its own needs allowAnySourceNamespace on the KubeProvider.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^(\*|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$`
	// +optional
	SourceNamespace string `json:"sourceNamespace,omitempty"`
}

// RuleStatus is what was observed of a WatchRule or ClusterWatchRule.
type RuleStatus struct {
	meta.ReconcileRequestStatus `json:",inline"`

	// ObservedGeneration is the generation the conditions speak of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions are Ready, Reconciling, Stalled, ResourcesResolved, StreamsRunning, GitTargetReady and, on a WatchRule,
	// SourceNamespaceAuthorized.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Streams counts the rule's types by the state of their streams.
	// +optional
	Streams *StreamsStatus `json:"streams,omitempty"`

	// UnresolvedSample names up to five resources that the source cluster does not serve.
	// +kubebuilder:validation:MaxItems=5
	// +listType=atomic
	// +optional
	UnresolvedSample []string `json:"unresolvedSample,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=wr,categories=configbutler
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
// +kubebuilder:printcolumn:name="GitTarget",type=string,JSONPath=".spec.gitTargetRef.name"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].reason"
// +kubebuilder:printcolumn:name="Streams",type=string,JSONPath=".status.streams.summary"
// +kubebuilder:printcolumn:name="ResourcesResolved",type=string,JSONPath=".status.conditions[?(@.type==\"ResourcesResolved\")].status",priority=1
// +kubebuilder:printcolumn:name="StreamsRunning",type=string,JSONPath=".status.conditions[?(@.type==\"StreamsRunning\")].status",priority=1
// +kubebuilder:printcolumn:name="GitTargetReady",type=string,JSONPath=".status.conditions[?(@.type==\"GitTargetReady\")].status",priority=1
// +kubebuilder:printcolumn:name="SourceAuthorized",type=string,JSONPath=".status.conditions[?(@.type==\"SourceNamespaceAuthorized\")].status",priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].message",priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"

// WatchRule selects the namespaced resources that a GitTarget of its namespace mirrors.
type WatchRule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec WatchRuleSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status RuleStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// WatchRuleList is a list of WatchRules.
type WatchRuleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []WatchRule `json:"items"`
}

var _ meta.ObjectWithConditionsSetter = (*WatchRule)(nil)

// GetConditions returns the conditions of the status.
func (in *WatchRule) GetConditions() []metav1.Condition { return in.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (in *WatchRule) SetConditions(c []metav1.Condition) { in.Status.Conditions = c }

// GetRequeueAfter returns the time between two passes of a converged rule.
func (in *WatchRule) GetRequeueAfter() time.Duration { return RuleRequeueInterval }

// GetSourceNamespace returns the source namespace of item i; the WatchRule's own unless set.
func (in *WatchRule) GetSourceNamespace(i int) string {
	return cmp.Or(in.Spec.Rules[i].SourceNamespace, in.Namespace)
}
