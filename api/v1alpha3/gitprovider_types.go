// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha3

import (
	"cmp"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GitProviderKind is the kind's name.
const GitProviderKind = "GitProvider"

// The effective defaults of a GitProvider.
const (
	DefaultGitProviderInterval = 5 * time.Minute
	DefaultGitProviderTimeout  = time.Minute
	DefaultCommitterName       = "GitOps Reverser"
	DefaultCommitterEmail      = "noreply@configbutler.ai"
)

// GitProviderSpec describes one Git repository: how to reach it, what may be written and who may use it.
type GitProviderSpec struct {
	// URL of the repository: HTTP(S), SSH, or the scp-like form. It cannot be changed: delete the GitProvider and
	// create it anew.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.url is immutable; delete and recreate the GitProvider"
	// +required
	URL string `json:"url"`

	// SecretRef names the Secret with the credential, in the namespace of the GitProvider. Absent means anonymous.
	// +kubebuilder:validation:XValidation:rule="self.name != ''",message="secretRef.name must not be empty; leave secretRef out for anonymous access"
	// +kubebuilder:validation:XValidation:rule="size(self.name) <= 253",message="secretRef.name must have at most 253 characters"
	// +optional
	SecretRef *meta.LocalObjectReference `json:"secretRef,omitempty"`

	// ProxySecretRef names the Secret with the proxy, in the namespace of the GitProvider: keys address, username and
	// password.
	// +kubebuilder:validation:XValidation:rule="self.name != ''",message="proxySecretRef.name must not be empty"
	// +kubebuilder:validation:XValidation:rule="size(self.name) <= 253",message="proxySecretRef.name must have at most 253 characters"
	// +optional
	ProxySecretRef *meta.LocalObjectReference `json:"proxySecretRef,omitempty"`

	// KnownHostsRef names the ConfigMap or Secret with SSH host keys, in the namespace of the GitProvider: key
	// known_hosts, else ssh_known_hosts. A known_hosts key in the credential Secret comes first.
	// +optional
	KnownHostsRef *KnownHostsReference `json:"knownHostsRef,omitempty"`

	// AllowedBranches are the branches that may be written: names or globs, whose * stops at a slash.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=255
	// +listType=set
	// +required
	AllowedBranches []string `json:"allowedBranches"`

	// AccessFrom admits GitTargets of other namespaces. The GitProvider's own namespace is always admitted.
	// +optional
	AccessFrom *NamespaceMatcher `json:"accessFrom,omitempty"`

	// Commit is the identity under which commits are made.
	// +optional
	Commit *GitProviderCommit `json:"commit,omitempty"`

	// Receiver accepts push webhooks of the Git host. A delivery is only a hint to look at the branch.
	// +optional
	Receiver *PushReceiverSpec `json:"receiver,omitempty"`

	// Interval between two checks of the repository, from 30s to 24h.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('30s') && duration(self) <= duration('24h')",message="interval must be between 30s and 24h"
	// +kubebuilder:default="5m"
	// +optional
	Interval *metav1.Duration `json:"interval,omitempty"`

	// Timeout of one check of the repository, from 1s to 10m.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('10m')",message="timeout must be between 1s and 10m"
	// +kubebuilder:default="60s"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// Suspend stops every fetch, push and check through this GitProvider. Its branches wait as if the repository could
	// not be reached; nothing is lost.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// KnownHostsReference names an object with SSH host keys.
type KnownHostsReference struct {
	// Kind of the object.
	// +kubebuilder:validation:Enum=ConfigMap;Secret
	// +kubebuilder:default=ConfigMap
	// +optional
	Kind string `json:"kind,omitempty"`

	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
}

// GitProviderCommit is the identity of the commits made through a GitProvider.
type GitProviderCommit struct {
	// Committer of every commit.
	// +optional
	Committer *Committer `json:"committer,omitempty"`

	// Signing signs every commit. A key that cannot be used stops commits; none is ever made unsigned.
	// +optional
	Signing *CommitSigning `json:"signing,omitempty"`
}

// Committer is a Git identity.
type Committer struct {
	// Name of the committer.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule=`!self.matches(r'[\p{Cc}<>]')`,message="committer.name must not hold control characters, < or >"
	// +kubebuilder:default="GitOps Reverser"
	// +optional
	Name string `json:"name,omitempty"`

	// Email of the committer.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule=`!self.matches(r'[\p{Cc}<>]')`,message="committer.email must not hold control characters, < or >"
	// +kubebuilder:default="noreply@configbutler.ai"
	// +optional
	Email string `json:"email,omitempty"`
}

// CommitSigning names the key that signs commits.
type CommitSigning struct {
	// SecretRef names the Secret with the key, in the namespace of the GitProvider: signing.key (OpenSSH or PKCS#8) with
	// passphrase and signing.pub, or git.asc (armoured OpenPGP).
	// +kubebuilder:validation:XValidation:rule="self.name != ''",message="signing.secretRef.name must not be empty"
	// +kubebuilder:validation:XValidation:rule="size(self.name) <= 253",message="signing.secretRef.name must have at most 253 characters"
	// +required
	SecretRef meta.LocalObjectReference `json:"secretRef"`

	// GenerateWhenMissing creates an ed25519 key when the Secret or its key is missing. The Secret outlives the
	// GitProvider.
	// +optional
	GenerateWhenMissing bool `json:"generateWhenMissing,omitempty"`
}

// PushReceiverSpec describes the push webhook of a Git host.
type PushReceiverSpec struct {
	// Type of the Git host, which decides how a delivery is proven and read.
	// +kubebuilder:validation:Enum=github;gitlab;gitea;forgejo;bitbucket;generic-hmac
	// +required
	Type string `json:"type"`

	// SecretRef names the Secret with the shared token, in the namespace of the GitProvider: key token.
	// +kubebuilder:validation:XValidation:rule="self.name != ''",message="receiver.secretRef.name must not be empty"
	// +kubebuilder:validation:XValidation:rule="size(self.name) <= 253",message="receiver.secretRef.name must have at most 253 characters"
	// +required
	SecretRef meta.LocalObjectReference `json:"secretRef"`

	// Suspend answers deliveries with 503.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// GitProviderStatus is what was observed of a repository.
type GitProviderStatus struct {
	meta.ReconcileRequestStatus `json:",inline"`

	// ObservedGeneration is the generation the conditions speak of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions are Ready, Reconciling, Stalled and, with a receiver, ReceiverReady.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// SigningPublicKey is the public form of the effective signing key: an authorized_keys line, or an armoured OpenPGP
	// public key.
	// +optional
	SigningPublicKey string `json:"signingPublicKey,omitempty"`

	// Branches are the branches that live GitTargets write through this GitProvider, sorted. Empty means measured none.
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=name
	// +optional
	Branches []GitProviderBranch `json:"branches,omitzero"`

	// LastVerifiedAt is when the repository last answered a check.
	// +optional
	LastVerifiedAt *metav1.Time `json:"lastVerifiedAt,omitempty"`

	// Receiver tells where the Git host sends its webhook.
	// +optional
	Receiver *PushReceiverStatus `json:"receiver,omitempty"`
}

// GitProviderBranch is one written branch.
type GitProviderBranch struct {
	// Name of the branch.
	// +required
	Name string `json:"name"`

	// GitTargetCount is the number of GitTargets that write it.
	// +required
	GitTargetCount int32 `json:"gitTargetCount"`
}

// PushReceiverStatus tells where deliveries are taken.
type PushReceiverStatus struct {
	// WebhookPath is the path of the webhook on the receiver's address.
	// +optional
	WebhookPath string `json:"webhookPath,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=gp,categories=configbutler
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=".spec.url"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].reason"
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].message",priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"

// GitProvider names a Git repository, the credential for it, the identity of its commits, the branches that may be
// written and the namespaces that may use it.
type GitProvider struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec GitProviderSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status GitProviderStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// GitProviderList is a list of GitProviders.
type GitProviderList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GitProvider `json:"items"`
}

var _ meta.ObjectWithConditionsSetter = (*GitProvider)(nil)

// GetConditions returns the conditions of the status.
func (in *GitProvider) GetConditions() []metav1.Condition { return in.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (in *GitProvider) SetConditions(c []metav1.Condition) { in.Status.Conditions = c }

// GetRequeueAfter returns the interval between two checks; 5 minutes unless set.
func (in *GitProvider) GetRequeueAfter() time.Duration {
	return durationOr(in.Spec.Interval, DefaultGitProviderInterval)
}

// GetTimeout returns the bound of one check; 60 seconds unless set.
func (in *GitProvider) GetTimeout() time.Duration {
	return durationOr(in.Spec.Timeout, DefaultGitProviderTimeout)
}

// GetCommitter returns the committer of every commit, defaults applied.
func (in *GitProvider) GetCommitter() Committer {
	var c Committer
	if in.Spec.Commit != nil && in.Spec.Commit.Committer != nil {
		c = *in.Spec.Commit.Committer
	}
	return Committer{Name: cmp.Or(c.Name, DefaultCommitterName), Email: cmp.Or(c.Email, DefaultCommitterEmail)}
}

// GetSigning returns how commits are signed; nil when they are not.
func (in *GitProvider) GetSigning() *CommitSigning {
	if in.Spec.Commit == nil {
		return nil
	}
	return in.Spec.Commit.Signing
}

// GetKind returns the kind of the object with host keys; ConfigMap unless set.
func (in *KnownHostsReference) GetKind() string { return cmp.Or(in.Kind, "ConfigMap") }
