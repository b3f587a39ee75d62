// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha3

import (
	"cmp"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ArgoCDTriggerKind is the kind's name.
const ArgoCDTriggerKind = "ArgoCDTrigger"

// ArgoCDTriggerSpec names an Argo CD Application that applies the folder.
type ArgoCDTriggerSpec struct {
	// ApplicationRef names the Application; its namespace is the trigger's unless set.
	// +kubebuilder:validation:XValidation:rule="self.name != ''",message="applicationRef.name must not be empty"
	// +kubebuilder:validation:XValidation:rule="size(self.name) <= 253 && (!has(self.__namespace__) || size(self.__namespace__) <= 63)",message="applicationRef.name must have at most 253 characters and namespace at most 63"
	// +required
	ApplicationRef meta.NamespacedObjectReference `json:"applicationRef"`

	// KubeProviderRef names the cluster that holds the Application.
	// +kubebuilder:validation:XValidation:rule="self.name != ''",message="kubeProviderRef.name must not be empty"
	// +kubebuilder:validation:XValidation:rule="size(self.name) <= 253",message="kubeProviderRef.name must have at most 253 characters"
	// +kubebuilder:default={name: default}
	// +optional
	KubeProviderRef *meta.LocalObjectReference `json:"kubeProviderRef,omitempty"`

	// Prune deletes what the folder no longer holds. Absent copies the Application's syncPolicy.automated.prune.
	// +optional
	Prune *bool `json:"prune,omitempty"`

	// Suspend stops asking.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// ArgoCDTriggerStatus is what was observed of an ArgoCDTrigger.
type ArgoCDTriggerStatus struct {
	ApplyTriggerStatus `json:",inline"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=acdt,categories=configbutler
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
// +kubebuilder:printcolumn:name="Applier",type=string,JSONPath=".spec.applicationRef.name"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].reason"
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=".status.operation.phase"
// +kubebuilder:printcolumn:name="Revision",type=string,JSONPath=".status.operation.shortCommit"
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].message",priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"

// ArgoCDTrigger names the Argo CD Application that applies a GitTarget's folder, so that it syncs when Git holds
// something the cluster does not.
type ArgoCDTrigger struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec ArgoCDTriggerSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status ArgoCDTriggerStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// ArgoCDTriggerList is a list of ArgoCDTriggers.
type ArgoCDTriggerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ArgoCDTrigger `json:"items"`
}

var _ meta.ObjectWithConditionsSetter = (*ArgoCDTrigger)(nil)

// GetConditions returns the conditions of the status.
func (in *ArgoCDTrigger) GetConditions() []metav1.Condition { return in.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (in *ArgoCDTrigger) SetConditions(c []metav1.Condition) { in.Status.Conditions = c }

// GetRequeueAfter returns the time between two checks of the applier.
func (in *ArgoCDTrigger) GetRequeueAfter() time.Duration { return TriggerCheckInterval }

// GetApplication returns namespace and name of the Application; the trigger's own namespace unless set.
func (in *ArgoCDTrigger) GetApplication() (namespace, name string) {
	return cmp.Or(in.Spec.ApplicationRef.Namespace, in.Namespace), in.Spec.ApplicationRef.Name
}

// GetKubeProviderName returns the cluster that holds the Application; "default" unless set.
func (in *ArgoCDTrigger) GetKubeProviderName() string {
	return kubeProviderName(in.Spec.KubeProviderRef)
}
