// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha3

import (
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterWatchRuleKind is the kind's name.
const ClusterWatchRuleKind = "ClusterWatchRule"

// ClusterWatchRuleSpec selects cluster-scoped resources for a GitTarget.
type ClusterWatchRuleSpec struct {
	// GitTargetRef names the GitTarget; its namespace is required.
	// +kubebuilder:validation:XValidation:rule="self.name != ''",message="gitTargetRef.name must not be empty"
	// +kubebuilder:validation:XValidation:rule="has(self.__namespace__) && self.__namespace__ != ''",message="gitTargetRef.namespace must be set: a ClusterWatchRule has no namespace of its own"
	// +kubebuilder:validation:XValidation:rule="size(self.name) <= 253 && (!has(self.__namespace__) || size(self.__namespace__) <= 63)",message="gitTargetRef.name must have at most 253 characters and namespace at most 63"
	// +required
	GitTargetRef meta.NamespacedObjectReference `json:"gitTargetRef"`

	// Rules select objects; an object that any of them selects is mirrored.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +required
	Rules []ClusterWatchRuleItem `json:"rules"`

	// Suspend takes the rule out: its streams close, Git is left as it is.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// ClusterWatchRuleItem selects cluster-scoped objects.
type ClusterWatchRuleItem struct {
	ResourceSelection `json:",inline"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=cwr,categories=configbutler
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
// +kubebuilder:printcolumn:name="GitTarget",type=string,JSONPath=".spec.gitTargetRef.name"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].reason"
// +kubebuilder:printcolumn:name="Streams",type=string,JSONPath=".status.streams.summary"
// +kubebuilder:printcolumn:name="ResourcesResolved",type=string,JSONPath=".status.conditions[?(@.type==\"ResourcesResolved\")].status",priority=1
// +kubebuilder:printcolumn:name="StreamsRunning",type=string,JSONPath=".status.conditions[?(@.type==\"StreamsRunning\")].status",priority=1
// +kubebuilder:printcolumn:name="GitTargetReady",type=string,JSONPath=".status.conditions[?(@.type==\"GitTargetReady\")].status",priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].message",priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"

// ClusterWatchRule selects the cluster-scoped resources that a GitTarget mirrors. Only the credential of the source
// cluster bounds it.
type ClusterWatchRule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec ClusterWatchRuleSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status RuleStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// ClusterWatchRuleList is a list of ClusterWatchRules.
type ClusterWatchRuleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterWatchRule `json:"items"`
}

var _ meta.ObjectWithConditionsSetter = (*ClusterWatchRule)(nil)

// GetConditions returns the conditions of the status.
func (in *ClusterWatchRule) GetConditions() []metav1.Condition { return in.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (in *ClusterWatchRule) SetConditions(c []metav1.Condition) { in.Status.Conditions = c }

// GetRequeueAfter returns the time between two passes of a converged rule.
func (in *ClusterWatchRule) GetRequeueAfter() time.Duration { return RuleRequeueInterval }
