// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha3

import (
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KubeProviderKind is the kind's name.
const KubeProviderKind = "KubeProvider"

// The effective defaults of a KubeProvider.
const (
	DefaultKubeProviderInterval = 30 * time.Second
	// SenderTokenKey is the key of a sender's token Secret.
	SenderTokenKey = "token"
	// SenderCAKey is the key of a sender's trust root Secret.
	SenderCAKey = "ca.crt"
)

// KubeProviderSpec describes one source cluster.
// +kubebuilder:validation:XValidation:rule="has(self.kubeConfig) == has(oldSelf.kubeConfig)",message="spec.kubeConfig cannot be added or removed; delete and recreate the KubeProvider"
type KubeProviderSpec struct {
	// KubeConfig names the credential of a remote cluster. Absent means the cluster the operator runs in. It cannot be
	// changed, added or removed: delete the KubeProvider and create it anew.
	// +kubebuilder:validation:XValidation:rule="!has(self.configMapRef)",message="kubeConfig.configMapRef is not supported; use kubeConfig.secretRef"
	// +kubebuilder:validation:XValidation:rule="!has(self.secretRef) || self.secretRef.name != ''",message="kubeConfig.secretRef.name must not be empty"
	// +kubebuilder:validation:XValidation:rule="!has(self.secretRef) || size(self.secretRef.name) <= 253",message="kubeConfig.secretRef.name must have at most 253 characters"
	// +kubebuilder:validation:XValidation:rule="!has(self.secretRef) || !has(oldSelf.secretRef) || (self.secretRef.name == oldSelf.secretRef.name && (!has(self.secretRef.key) || !has(oldSelf.secretRef.key) || self.secretRef.key == oldSelf.secretRef.key) && (has(self.secretRef.key) || !has(oldSelf.secretRef.key) || oldSelf.secretRef.key == '') && (has(oldSelf.secretRef.key) || !has(self.secretRef.key) || self.secretRef.key == ''))",message="spec.kubeConfig is immutable; delete and recreate the KubeProvider"
	// +optional
	KubeConfig *meta.KubeConfigReference `json:"kubeConfig,omitempty"`

	// AccessFrom admits the namespaces whose GitTargets may use this source cluster. Absent admits nobody.
	// +optional
	AccessFrom *NamespaceMatcher `json:"accessFrom,omitempty"`

	// AllowAnySourceNamespace lets admitted GitTargets choose the source namespace, all namespaces included. It grants
	// no access by itself. On the operator's own cluster it bypasses the namespace RBAC of rule authors.
	// +optional
	AllowAnySourceNamespace bool `json:"allowAnySourceNamespace,omitempty"`

	// Client bounds the requests to a remote cluster; ignored for the operator's own.
	// +optional
	Client *KubeClient `json:"client,omitempty"`

	// Attribution says who may report the authors of changes.
	// +optional
	Attribution *KubeProviderAttribution `json:"attribution,omitempty"`

	// Interval between two refreshes of what the cluster serves, from 10s to 24h.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10s') && duration(self) <= duration('24h')",message="interval must be between 10s and 24h"
	// +kubebuilder:default="30s"
	// +optional
	Interval *metav1.Duration `json:"interval,omitempty"`

	// Suspend closes every stream from this cluster. Git is left as it is.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// KubeClient bounds a client. Absent values come from the operator's flags.
type KubeClient struct {
	// QPS is the sustained number of requests per second.
	// +kubebuilder:validation:Minimum=1
	// +optional
	QPS *int32 `json:"qps,omitempty"`

	// Burst is the number of requests that may exceed the sustained rate for a moment.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Burst *int32 `json:"burst,omitempty"`
}

// KubeProviderAttribution says where audit facts of a cluster arrive and from whom.
type KubeProviderAttribution struct {
	// AuditRoute is the last path segment of the audit webhook's address and the partition of its facts. Absent means
	// the name of the KubeProvider.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +optional
	AuditRoute string `json:"auditRoute,omitempty"`

	// Senders are the identities that may post to the route. Empty leaves it to --audit-sender-binding.
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	// +optional
	Senders []AuditSender `json:"senders,omitempty"`
}

// AuditSender is one identity that may post audit events.
// +kubebuilder:validation:XValidation:rule="[has(self.uriSAN), has(self.commonName), has(self.spkiSHA256), has(self.tokenSecretRef)].filter(x, x).size() == 1",message="a sender needs exactly one of uriSAN, commonName, spkiSHA256 and tokenSecretRef"
// +kubebuilder:validation:XValidation:rule="!has(self.commonName) || has(self.caSecretRef)",message="commonName needs caSecretRef: a common name under a shared CA is no identity"
type AuditSender struct {
	// URISAN is the exact URI subject alternative name of the client certificate.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	URISAN string `json:"uriSAN,omitempty"`

	// CommonName is the exact subject common name of the client certificate. It needs caSecretRef.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	CommonName string `json:"commonName,omitempty"`

	// SPKISHA256 is the base64 SHA-256 of the client certificate's public key info.
	// +kubebuilder:validation:MaxLength=44
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9+/]{43}=$`
	// +optional
	SPKISHA256 string `json:"spkiSHA256,omitempty"`

	// TokenSecretRef names a Secret in the operator's namespace whose key token is a bearer token, for API servers that
	// cannot present client certificates.
	// +kubebuilder:validation:XValidation:rule="self.name != ''",message="tokenSecretRef.name must not be empty"
	// +kubebuilder:validation:XValidation:rule="size(self.name) <= 253",message="tokenSecretRef.name must have at most 253 characters"
	// +optional
	TokenSecretRef *meta.LocalObjectReference `json:"tokenSecretRef,omitempty"`

	// CASecretRef names a Secret in the operator's namespace whose key ca.crt is this sender's own trust root. Absent
	// means the audit CA.
	// +kubebuilder:validation:XValidation:rule="self.name != ''",message="caSecretRef.name must not be empty"
	// +kubebuilder:validation:XValidation:rule="size(self.name) <= 253",message="caSecretRef.name must have at most 253 characters"
	// +optional
	CASecretRef *meta.LocalObjectReference `json:"caSecretRef,omitempty"`

	// NotAfter ends the sender's permission, for the overlap of a rotation.
	// +optional
	NotAfter *metav1.Time `json:"notAfter,omitempty"`

	// TrustExtras accepts display name and e-mail claims from this sender.
	// +kubebuilder:default=true
	// +optional
	TrustExtras *bool `json:"trustExtras,omitempty"`
}

// KubeProviderStatus is what was observed of a source cluster's configuration.
type KubeProviderStatus struct {
	meta.ReconcileRequestStatus `json:",inline"`

	// ObservedGeneration is the generation the conditions speak of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions are Ready, Reconciling, Stalled, Validated and, with author attribution, AuditFactsReceived and
	// AttributionConfigured.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// AuditRoute is the route on which AuditFactsReceived was earned.
	// +optional
	AuditRoute string `json:"auditRoute,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=kp,categories=configbutler
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].reason"
// +kubebuilder:printcolumn:name="FactsReceived",type=string,JSONPath=".status.conditions[?(@.type==\"AuditFactsReceived\")].status"
// +kubebuilder:printcolumn:name="Validated",type=string,JSONPath=".status.conditions[?(@.type==\"Validated\")].status",priority=1
// +kubebuilder:printcolumn:name="AuditRoute",type=string,JSONPath=".status.auditRoute",priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].message",priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"

// KubeProvider names a source cluster, the credential for it and the namespaces that may mirror from it. Its name is
// the identity of the source: its streams, its catalog and its audit facts belong to it.
type KubeProvider struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:default={}
	// +optional
	Spec KubeProviderSpec `json:"spec,omitempty"`
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status KubeProviderStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// KubeProviderList is a list of KubeProviders.
type KubeProviderList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KubeProvider `json:"items"`
}

var _ meta.ObjectWithConditionsSetter = (*KubeProvider)(nil)

// GetConditions returns the conditions of the status.
func (in *KubeProvider) GetConditions() []metav1.Condition { return in.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (in *KubeProvider) SetConditions(c []metav1.Condition) { in.Status.Conditions = c }

// GetRequeueAfter returns the interval between two refreshes; 30 seconds unless set.
func (in *KubeProvider) GetRequeueAfter() time.Duration {
	return durationOr(in.Spec.Interval, DefaultKubeProviderInterval)
}

// GetAuditRoute returns the audit route; the object's name unless set.
func (in *KubeProvider) GetAuditRoute() string {
	if a := in.Spec.Attribution; a != nil && a.AuditRoute != "" {
		return a.AuditRoute
	}
	return in.Name
}

// TrustsExtras reports whether display names and e-mails from this sender count; true unless set.
func (in *AuditSender) TrustsExtras() bool { return in.TrustExtras == nil || *in.TrustExtras }
