// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha3

import "time"

// RuleRequeueInterval is the time between two passes of a converged rule; every cause of a change also has a watch.
const RuleRequeueInterval = 5 * time.Minute

// OperationType is an operation on a live object; * means all.
// +kubebuilder:validation:Enum=CREATE;UPDATE;DELETE;*
type OperationType string

// The operations.
const (
	OperationCreate OperationType = "CREATE"
	OperationUpdate OperationType = "UPDATE"
	OperationDelete OperationType = "DELETE"
	OperationAll    OperationType = "*"
)

// ResourceSelection selects types and objects of a source cluster. It is the part that the items of both rule kinds
// share.
type ResourceSelection struct {
	// Operations filter live events; absent means all. A snapshot always materialises state.
	// +kubebuilder:validation:MaxItems=4
	// +listType=set
	// +optional
	Operations []OperationType `json:"operations,omitempty"`

	// APIGroups of the resources: "" is the core group, * are all groups. Absent searches every group, and a resource
	// that several groups serve is then ambiguous.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^(\*|[^/*]*)$`
	// +listType=set
	// +optional
	APIGroups []string `json:"apiGroups,omitempty"`

	// APIVersions restrict the versions; absent means the preferred one, * any.
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^(\*|[^/*]+)$`
	// +listType=set
	// +optional
	APIVersions []string `json:"apiVersions,omitempty"`

	// Resources are plural names, in any case, or * for all. Subresources and partial globs are refused.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^(\*|[^/*]+)$`
	// +listType=set
	// +required
	Resources []string `json:"resources"`

	// ObjectSelector selects objects by label; absent selects all. An object that stops matching counts as deleted.
	// +optional
	ObjectSelector *ObjectSelector `json:"objectSelector,omitempty"`
}
