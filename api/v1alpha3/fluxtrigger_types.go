// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha3

import (
	"cmp"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FluxTriggerKind is the kind's name.
const FluxTriggerKind = "FluxTrigger"

// FluxHoldPolicy says whether Flux may reconcile on its own.
// +kubebuilder:validation:Enum=Suspend;None
type FluxHoldPolicy string

// The hold policies.
const (
	// FluxHoldSuspend keeps the Kustomization suspended but during an attempt.
	FluxHoldSuspend FluxHoldPolicy = "Suspend"
	// FluxHoldNone leaves Flux's own schedule alone.
	FluxHoldNone FluxHoldPolicy = "None"
)

// FluxTriggerSpec names a Flux Kustomization that applies the folder.
type FluxTriggerSpec struct {
	// KustomizationRef names the Kustomization; its namespace is the trigger's unless set.
	// +kubebuilder:validation:XValidation:rule="self.name != ''",message="kustomizationRef.name must not be empty"
	// +kubebuilder:validation:XValidation:rule="size(self.name) <= 253 && (!has(self.__namespace__) || size(self.__namespace__) <= 63)",message="kustomizationRef.name must have at most 253 characters and namespace at most 63"
	// +required
	KustomizationRef meta.NamespacedObjectReference `json:"kustomizationRef"`

	// KubeProviderRef names the cluster that holds the Kustomization.
	// +kubebuilder:validation:XValidation:rule="self.name != ''",message="kubeProviderRef.name must not be empty"
	// +kubebuilder:validation:XValidation:rule="size(self.name) <= 253",message="kubeProviderRef.name must have at most 253 characters"
	// +kubebuilder:default={name: default}
	// +optional
	KubeProviderRef *meta.LocalObjectReference `json:"kubeProviderRef,omitempty"`

	// Hold: Suspend keeps the Kustomization suspended but during an attempt, so that Flux cannot revert an edit before
	// it reached Git; None leaves Flux's own schedule alone.
	// +kubebuilder:default=Suspend
	// +optional
	Hold FluxHoldPolicy `json:"hold,omitempty"`

	// Suspend stops asking. A hold stays.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// FluxTriggerStatus is what was observed of a FluxTrigger.
type FluxTriggerStatus struct {
	ApplyTriggerStatus `json:",inline"`

	// Source is the GitRepository that the Kustomization reads.
	// +optional
	Source *FluxSourceStatus `json:"source,omitempty"`

	// Hold is the state of the hold.
	// +optional
	Hold *FluxHoldStatus `json:"hold,omitempty"`
}

// FluxSourceStatus is what was last seen of a GitRepository.
type FluxSourceStatus struct {
	// Namespace of the GitRepository.
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// Name of the GitRepository.
	// +optional
	Name string `json:"name,omitempty"`

	// Revision of its artifact, in Flux's form.
	// +optional
	Revision string `json:"revision,omitempty"`

	// OtherConsumers names up to ten other Kustomizations that read it, as "namespace/name".
	// +kubebuilder:validation:MaxItems=10
	// +listType=atomic
	// +optional
	OtherConsumers []string `json:"otherConsumers,omitempty"`

	// OtherConsumersTotal is their number.
	// +optional
	OtherConsumersTotal int32 `json:"otherConsumersTotal,omitempty"`
}

// FluxHoldState is the state of a hold.
// +kubebuilder:validation:Enum=Held;Applying;Released;None;Contested
type FluxHoldState string

// The states of a hold.
const (
	// FluxHeld: the Kustomization is suspended by the trigger.
	FluxHeld FluxHoldState = "Held"
	// FluxApplying: it is released for an attempt.
	FluxApplying FluxHoldState = "Applying"
	// FluxReleased: it has its former state back.
	FluxReleased FluxHoldState = "Released"
	// FluxHoldAbsent: the trigger holds nothing.
	FluxHoldAbsent FluxHoldState = "None"
	// FluxContested: somebody keeps taking the hold away.
	FluxContested FluxHoldState = "Contested"
)

// FluxHoldStatus is the state of the hold on a Kustomization.
type FluxHoldStatus struct {
	// State of the hold.
	// +optional
	State FluxHoldState `json:"state,omitempty"`

	// SuspendBefore is the Kustomization's spec.suspend before the hold, which a release restores.
	// +optional
	SuspendBefore bool `json:"suspendBefore,omitempty"`

	// ChangedAt is when the state last changed.
	// +optional
	ChangedAt *metav1.Time `json:"changedAt,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=fxt,categories=configbutler
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
// +kubebuilder:printcolumn:name="Applier",type=string,JSONPath=".spec.kustomizationRef.name"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].reason"
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=".status.operation.phase"
// +kubebuilder:printcolumn:name="Revision",type=string,JSONPath=".status.operation.shortCommit"
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].message",priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"

// FluxTrigger names the Flux Kustomization that applies a GitTarget's folder, so that it applies when Git holds
// something the cluster does not.
type FluxTrigger struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec FluxTriggerSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status FluxTriggerStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// FluxTriggerList is a list of FluxTriggers.
type FluxTriggerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []FluxTrigger `json:"items"`
}

var _ meta.ObjectWithConditionsSetter = (*FluxTrigger)(nil)

// GetConditions returns the conditions of the status.
func (in *FluxTrigger) GetConditions() []metav1.Condition { return in.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (in *FluxTrigger) SetConditions(c []metav1.Condition) { in.Status.Conditions = c }

// GetRequeueAfter returns the time between two checks of the applier.
func (in *FluxTrigger) GetRequeueAfter() time.Duration { return TriggerCheckInterval }

// GetKustomization returns namespace and name of the Kustomization; the trigger's own namespace unless set.
func (in *FluxTrigger) GetKustomization() (namespace, name string) {
	return cmp.Or(in.Spec.KustomizationRef.Namespace, in.Namespace), in.Spec.KustomizationRef.Name
}

// GetKubeProviderName returns the cluster that holds the Kustomization; "default" unless set.
func (in *FluxTrigger) GetKubeProviderName() string { return kubeProviderName(in.Spec.KubeProviderRef) }

// GetHold returns whether Flux is held; Suspend unless set.
func (in *FluxTrigger) GetHold() FluxHoldPolicy { return cmp.Or(in.Spec.Hold, FluxHoldSuspend) }
