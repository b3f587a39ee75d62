// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha3

import (
	"cmp"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// ReconcileRequestAnnotation asks for a pass now; any change of its value counts. On a GitTarget it also reads the
	// branch and the folder again and takes a fresh snapshot of every collection. Flux's annotation of the same purpose
	// is ignored on purpose: poking a neighbour must not start a snapshot that overwrites files.
	ReconcileRequestAnnotation = "reconcile.configbutler.ai/requestedAt"
	// RekeyRequestAnnotation asks a GitTarget to encrypt every sensitive document anew for the current recipients; any
	// change of its value counts.
	RekeyRequestAnnotation = "reconcile.configbutler.ai/rekeyRequestedAt"
	// HeldByAnnotation names, on a Flux Kustomization, the FluxTrigger that keeps it suspended ("namespace/name").
	HeldByAnnotation = "configbutler.ai/held-by"
	// SuspendBeforeHoldAnnotation keeps, on a held Flux Kustomization, the value of spec.suspend before the hold.
	SuspendBeforeHoldAnnotation = "configbutler.ai/suspend-before-hold"
	// AgeRecipientAnnotation holds, on a generated age key Secret, the public recipient.
	AgeRecipientAnnotation = "configbutler.ai/age-recipient"
	// BackupWarningAnnotation reminds, on a generated age key Secret, that the key has no other copy.
	BackupWarningAnnotation = "configbutler.ai/backup-warning"
	// SigningPublicKeyAnnotation holds, on the Secret of a generated signing key, the public key. Marked Secrets are never
	// mirrored.
	SigningPublicKeyAnnotation = "configbutler.ai/signing-public-key"
	// FluxHoldFinalizer keeps a FluxTrigger until the Kustomization it holds is released.
	FluxHoldFinalizer = "configbutler.ai/flux-hold"
)

// DefaultKubeProviderName is the KubeProvider that an omitted kubeProviderRef points at.
const DefaultKubeProviderName = "default"

// NamespaceMatcher admits namespaces of the control cluster, by name or by label. Absent and empty admit nobody but,
// on a GitProvider, its own namespace; an empty selector admits every namespace.
type NamespaceMatcher struct {
	// Names are exact namespace names. They are answered without reading labels.
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	Names []string `json:"names,omitempty"`

	// Selector admits the namespaces whose labels match, in addition to names.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// SourceNamespaces bounds namespaces of the source cluster, by name or by label. Once declared it is exhaustive: an
// empty value admits nothing.
type SourceNamespaces struct {
	// Names are exact namespace names.
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	Names []string `json:"names,omitempty"`

	// Selector admits the source namespaces whose labels match, in addition to names. It needs permission to list and
	// watch namespaces in the source cluster.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// ObjectSelector selects objects by label. All entries must match; an empty selector matches every object.
type ObjectSelector struct {
	// MatchLabels are labels an object must have with these values.
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	MatchLabels map[string]string `json:"matchLabels,omitempty"`

	// MatchExpressions are label requirements.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	MatchExpressions []ObjectSelectorRequirement `json:"matchExpressions,omitempty"`
}

// ObjectSelectorRequirement is one requirement on a label.
// +kubebuilder:validation:XValidation:rule="(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",message="values must be set for the operators In and NotIn, and must be empty for Exists and DoesNotExist"
type ObjectSelectorRequirement struct {
	// Key is the label key.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`
	// +required
	Key string `json:"key"`

	// Operator relates the key to the values.
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist
	// +required
	Operator metav1.LabelSelectorOperator `json:"operator"`

	// Values are the values of In and NotIn.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	// +optional
	Values []string `json:"values,omitempty"`
}

// LabelSelector returns the selector as the type that Kubernetes' own libraries compile; nil for a nil selector.
func (s *ObjectSelector) LabelSelector() *metav1.LabelSelector {
	if s == nil {
		return nil
	}
	out := &metav1.LabelSelector{MatchLabels: s.MatchLabels}
	for _, e := range s.MatchExpressions {
		out.MatchExpressions = append(out.MatchExpressions,
			metav1.LabelSelectorRequirement{Key: e.Key, Operator: e.Operator, Values: e.Values})
	}
	return out
}

// StreamsStatus counts the resolved types of a GitTarget or rule, each in the weakest state of its collections.
type StreamsStatus struct {
	// Summary is "ready/total", for display.
	// +optional
	Summary string `json:"summary,omitempty"`

	// Total is the number of resolved types.
	// +optional
	Total int32 `json:"total"`

	// Ready is the number of types whose collections are all followed.
	// +optional
	Ready int32 `json:"ready"`

	// Replaying is the number of types that are being listed.
	// +optional
	Replaying int32 `json:"replaying"`

	// Blocked is the number of types whose streams cannot run.
	// +optional
	Blocked int32 `json:"blocked"`

	// PendingSample names up to five types that are not ready.
	// +kubebuilder:validation:MaxItems=5
	// +listType=atomic
	// +optional
	PendingSample []string `json:"pendingSample,omitempty"`
}

// durationOr returns the value of an optional duration.
func durationOr(d *metav1.Duration, def time.Duration) time.Duration {
	if d == nil {
		return def
	}
	return d.Duration
}

// kubeProviderName returns the name of an optional reference to a KubeProvider.
func kubeProviderName(ref *meta.LocalObjectReference) string {
	if ref == nil {
		return DefaultKubeProviderName
	}
	return cmp.Or(ref.Name, DefaultKubeProviderName)
}
