// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha3

// IgnoreDefault is the name of a noise rule that is on by default.
// +kubebuilder:validation:Enum=cluster-made;leader-election;helm-owned;controller-owned;ca-bundle;autoscaled-replicas;restart-annotations;service-account-tokens;helm-release-secrets
type IgnoreDefault string

// The default noise rules.
const (
	// IgnoreClusterMade skips objects every cluster makes for itself, such as the kube-root-ca.crt ConfigMaps.
	IgnoreClusterMade IgnoreDefault = "cluster-made"
	// IgnoreLeaderElection skips locks of leader elections.
	IgnoreLeaderElection IgnoreDefault = "leader-election"
	// IgnoreHelmOwned skips objects that a Helm release owns.
	IgnoreHelmOwned IgnoreDefault = "helm-owned"
	// IgnoreControllerOwned skips objects whose owner is a controller.
	IgnoreControllerOwned IgnoreDefault = "controller-owned"
	// IgnoreCABundle masks CA bundles that an injector writes.
	IgnoreCABundle IgnoreDefault = "ca-bundle"
	// IgnoreAutoscaledReplicas masks replica counts that an autoscaler writes.
	IgnoreAutoscaledReplicas IgnoreDefault = "autoscaled-replicas"
	// IgnoreRestartAnnotations masks the pod-template annotations of a rolling restart.
	IgnoreRestartAnnotations IgnoreDefault = "restart-annotations"
	// IgnoreServiceAccountTokens skips token Secrets of service accounts.
	IgnoreServiceAccountTokens IgnoreDefault = "service-account-tokens"
	// IgnoreHelmReleaseSecrets skips the Secrets in which Helm stores its releases.
	IgnoreHelmReleaseSecrets IgnoreDefault = "helm-release-secrets"
)

// Ignore adjusts the noise rules of a GitTarget.
type Ignore struct {
	// DisableDefaults switches default rules off, by name.
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	// +optional
	DisableDefaults []IgnoreDefault `json:"disableDefaults,omitempty"`

	// Rules are further rules.
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	// +optional
	Rules []IgnoreRule `json:"rules,omitempty"`
}

// IgnoreRule is one noise rule. Resources and names narrow the objects it speaks of; what is left out narrows nothing.
// With fieldPaths or fieldManagers it masks fields: Git keeps what it has there. With neither it skips the objects:
// they are neither written nor swept.
// +kubebuilder:validation:XValidation:rule="[has(self.resources) && size(self.resources) > 0, has(self.names) && size(self.names) > 0, has(self.fieldPaths) && size(self.fieldPaths) > 0, has(self.fieldManagers) && size(self.fieldManagers) > 0].exists(x, x)",message="an ignore rule needs resources, names, fieldPaths or fieldManagers"
type IgnoreRule struct {
	// Name of the rule, for reports and metrics.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="!(self in ['cluster-made', 'leader-election', 'helm-owned', 'controller-owned', 'ca-bundle', 'autoscaled-replicas', 'restart-annotations', 'service-account-tokens', 'helm-release-secrets'])",message="this name belongs to a default rule"
	// +required
	Name string `json:"name"`

	// Resources are the types the rule speaks of, in any version.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	Resources []IgnoreResource `json:"resources,omitempty"`

	// Names are globs of object names; * matches any text.
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	Names []string `json:"names,omitempty"`

	// FieldPaths are JSON pointers (RFC 6901) of masked fields, such as /spec/replicas.
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=1024
	// +kubebuilder:validation:items:Pattern=`^(/([^~/]|~[01])*)+$`
	// +listType=set
	// +optional
	FieldPaths []string `json:"fieldPaths,omitempty"`

	// FieldManagers are field managers whose fields are masked; together with fieldPaths only these fields.
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +listType=set
	// +optional
	FieldManagers []string `json:"fieldManagers,omitempty"`
}

// IgnoreResource is one type, in any version.
type IgnoreResource struct {
	// Group is the API group; empty for the core group.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Group string `json:"group,omitempty"`

	// Resource is the lower-case plural.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[^/*]+$`
	// +required
	Resource string `json:"resource"`
}
