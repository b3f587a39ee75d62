// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha3

import (
	"cmp"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GitTargetKind is the kind's name.
const GitTargetKind = "GitTarget"

// The effective defaults of a GitTarget.
const (
	DefaultGitTargetInterval = 5 * time.Minute
	DefaultWindowIdleTimeout = 5 * time.Second
	DefaultWindowMaxDuration = time.Minute
)

// PruneMode says which deletions reach Git.
// +kubebuilder:validation:Enum=Never;OnEvent;Always
type PruneMode string

// The prune modes.
const (
	// PruneNever deletes no document.
	PruneNever PruneMode = "Never"
	// PruneOnEvent deletes the document of an object whose deletion was observed.
	PruneOnEvent PruneMode = "OnEvent"
	// PruneAlways also deletes documents whose object a complete snapshot does not hold.
	PruneAlways PruneMode = "Always"
)

// OnRefusalPolicy says what follows a live edit that cannot be written.
// +kubebuilder:validation:Enum=Ignore;Reapply
type OnRefusalPolicy string

// The refusal policies.
const (
	// OnRefusalIgnore reports the refusal and asks nobody.
	OnRefusalIgnore OnRefusalPolicy = "Ignore"
	// OnRefusalReapply asks the applier to put Git's content back. The gates stay closed until they clear by themselves.
	OnRefusalReapply OnRefusalPolicy = "Reapply"
)

// EncryptionProviderSOPS is the one encryption provider.
const EncryptionProviderSOPS = "sops"

// GitTargetSpec describes one materialisation: a source cluster, a branch and the folder in it that this GitTarget owns.
// +kubebuilder:validation:XValidation:rule="has(self.parentBranch) == has(oldSelf.parentBranch) && (!has(self.parentBranch) || self.parentBranch == oldSelf.parentBranch)",message="spec.parentBranch is immutable, also by adding or removing it; delete and recreate the GitTarget"
// +kubebuilder:validation:XValidation:rule="!has(self.parentBranch) || self.parentBranch != self.branch",message="parentBranch must differ from branch"
// +kubebuilder:validation:XValidation:rule="!has(self.onRefusal) || self.onRefusal != 'Reapply' || has(self.applyTriggerRef)",message="onRefusal: Reapply needs applyTriggerRef"
type GitTargetSpec struct {
	// GitProviderRef names the GitProvider of the repository. Another namespace needs that GitProvider's accessFrom.
	// +kubebuilder:validation:XValidation:rule="self.name != ''",message="gitProviderRef.name must not be empty"
	// +kubebuilder:validation:XValidation:rule="size(self.name) <= 253 && (!has(self.__namespace__) || size(self.__namespace__) <= 63)",message="gitProviderRef.name must have at most 253 characters and namespace at most 63"
	// +kubebuilder:validation:XValidation:rule="self.name == oldSelf.name && (!has(self.__namespace__) || !has(oldSelf.__namespace__) || self.__namespace__ == oldSelf.__namespace__) && (has(self.__namespace__) || !has(oldSelf.__namespace__) || oldSelf.__namespace__ == '') && (has(oldSelf.__namespace__) || !has(self.__namespace__) || self.__namespace__ == '')",message="spec.gitProviderRef is immutable; delete and recreate the GitTarget"
	// +required
	GitProviderRef meta.NamespacedObjectReference `json:"gitProviderRef"`

	// KubeProviderRef names the source cluster.
	// +kubebuilder:validation:XValidation:rule="self.name != ''",message="kubeProviderRef.name must not be empty"
	// +kubebuilder:validation:XValidation:rule="size(self.name) <= 253",message="kubeProviderRef.name must have at most 253 characters"
	// +kubebuilder:validation:XValidation:rule="self.name == oldSelf.name",message="spec.kubeProviderRef is immutable; delete and recreate the GitTarget"
	// +kubebuilder:default={name: default}
	// +optional
	KubeProviderRef *meta.LocalObjectReference `json:"kubeProviderRef,omitempty"`

	// Branch that is written. The GitProvider's allowedBranches must match it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.branch is immutable; delete and recreate the GitTarget"
	// +required
	Branch string `json:"branch"`

	// ParentBranch is the base of a branch that does not exist yet. Absent means the remote's HEAD.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +optional
	ParentBranch string `json:"parentBranch,omitempty"`

	// Path of the owned folder from the repository's root; "." is the root itself.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('/')",message="path must be relative to the repository's root; use . for the root itself"
	// +kubebuilder:validation:XValidation:rule="!self.contains('\\\\')",message="path must use / as separator, not \\"
	// +kubebuilder:validation:XValidation:rule=`!self.matches(r'(^|/)\.\.(/|$)')`,message="path must not hold .. segments"
	// +kubebuilder:validation:XValidation:rule=`!self.matches(r'(^|/)\.[gG][iI][tT](/|$)')`,message="path must not hold .git segments"
	// +kubebuilder:validation:XValidation:rule=`!self.matches(r'\p{Cc}')`,message="path must not hold control characters"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.path is immutable; delete and recreate the GitTarget"
	// +required
	Path string `json:"path"`

	// Suspend stops new commits of this GitTarget. Commits already made are still pushed, and every check goes on. On
	// resume a fresh snapshot is taken. While suspended, status.preview shows what that snapshot would do.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// Commit shapes the commits of this folder.
	// +kubebuilder:default={}
	// +optional
	Commit *GitTargetCommit `json:"commit,omitempty"`

	// Placement says where new documents go. It never moves a document.
	// +optional
	Placement *Placement `json:"placement,omitempty"`

	// SerializeNamespace says whether documents hold metadata.namespace. Absent infers it per document; true writes it
	// always; false never, and then exactly one source namespace may reach the folder.
	// +optional
	SerializeNamespace *bool `json:"serializeNamespace,omitempty"`

	// Encryption of sensitive types. Without it no sensitive type is mirrored; there is no plain-text option.
	// +optional
	Encryption *Encryption `json:"encryption,omitempty"`

	// Prune says which deletions reach Git.
	// +kubebuilder:default={}
	// +optional
	Prune *Prune `json:"prune,omitempty"`

	// AllowedSourceNamespaces bounds the source namespaces this folder accepts. Once declared it is exhaustive. Absent
	// leaves it to the rules.
	// +optional
	AllowedSourceNamespaces *SourceNamespaces `json:"allowedSourceNamespaces,omitempty"`

	// Ignore adjusts the noise rules: what nobody wrote by hand is not mirrored.
	// +optional
	Ignore *Ignore `json:"ignore,omitempty"`

	// ApplyTriggerRef names who applies this folder back, in the namespace of the GitTarget.
	// +optional
	ApplyTriggerRef *ApplyTriggerReference `json:"applyTriggerRef,omitempty"`

	// OnRefusal says what follows a live edit that cannot be written. Reapply needs applyTriggerRef.
	// +kubebuilder:default=Ignore
	// +optional
	OnRefusal OnRefusalPolicy `json:"onRefusal,omitempty"`

	// Interval between two passes of a converged GitTarget, from 30s to 24h. A pass neither fetches nor takes a snapshot.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('30s') && duration(self) <= duration('24h')",message="interval must be between 30s and 24h"
	// +kubebuilder:default="5m"
	// +optional
	Interval *metav1.Duration `json:"interval,omitempty"`
}

// GitTargetCommit shapes the commits of a folder.
type GitTargetCommit struct {
	// Window groups live changes of one author into one commit.
	// +kubebuilder:default={}
	// +optional
	Window *CommitWindow `json:"window,omitempty"`

	// Message holds the templates of commit messages.
	// +optional
	Message *CommitMessage `json:"message,omitempty"`
}

// CommitWindow bounds how long live changes are collected.
// +kubebuilder:validation:XValidation:rule="!has(self.idleTimeout) || !has(self.maxDuration) || duration(self.idleTimeout) <= duration(self.maxDuration)",message="idleTimeout must not exceed maxDuration"
type CommitWindow struct {
	// IdleTimeout closes the window after this long without a change, at most 24h. 0s makes a commit per write.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('24h')",message="idleTimeout must be at most 24h"
	// +kubebuilder:default="5s"
	// +optional
	IdleTimeout *metav1.Duration `json:"idleTimeout,omitempty"`

	// MaxDuration closes the window this long after it opened, at most 24h. 0s closes it after the first write.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('24h')",message="maxDuration must be at most 24h"
	// +kubebuilder:default="1m"
	// +optional
	MaxDuration *metav1.Duration `json:"maxDuration,omitempty"`
}

// CommitMessage holds Go templates (text/template). A key the data does not have is an error.
type CommitMessage struct {
	// LiveTemplate is the message of a window of live changes.
	// +kubebuilder:validation:MaxLength=16384
	// +optional
	LiveTemplate string `json:"liveTemplate,omitempty"`

	// ReconcileTemplate is the message of a snapshot.
	// +kubebuilder:validation:MaxLength=16384
	// +optional
	ReconcileTemplate string `json:"reconcileTemplate,omitempty"`
}

// Placement says where the document of an object that Git does not have yet is written.
type Placement struct {
	// ByType are path templates by "[group/]version/resource".
	// +kubebuilder:validation:MaxProperties=256
	// +optional
	ByType map[string]PathTemplate `json:"byType,omitempty"`

	// Default is the path template of every other type.
	// +optional
	Default PathTemplate `json:"default,omitempty"`

	// UseKustomize creates a kustomization.yaml at the folder's root when there is none, and lists documents in it.
	// +optional
	UseKustomize bool `json:"useKustomize,omitempty"`
}

// PathTemplate is a path below the folder with placeholders such as {namespace} and {name}.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=1024
type PathTemplate string

// Encryption says how sensitive documents are encrypted.
// +kubebuilder:validation:XValidation:rule="!(has(self.age) && has(self.age.recipients) && has(self.age.recipients.generateWhenMissing) && self.age.recipients.generateWhenMissing) || has(self.secretRef)",message="age.recipients.generateWhenMissing needs secretRef"
type Encryption struct {
	// Provider of the encryption.
	// +kubebuilder:validation:Enum=sops
	// +kubebuilder:default=sops
	// +optional
	Provider string `json:"provider,omitempty"`

	// SecretRef names the Secret with the keys, in the namespace of the GitTarget: one age identity in every entry that
	// ends in .agekey.
	// +kubebuilder:validation:XValidation:rule="self.name != ''",message="encryption.secretRef.name must not be empty"
	// +kubebuilder:validation:XValidation:rule="size(self.name) <= 253",message="encryption.secretRef.name must have at most 253 characters"
	// +optional
	SecretRef *meta.LocalObjectReference `json:"secretRef,omitempty"`

	// Age configures age recipients.
	// +optional
	Age *AgeEncryption `json:"age,omitempty"`

	// UseRepositoryRules takes the recipients from the .sops.yaml of the repository instead of this spec. Whoever can
	// push then decides who can read.
	// +optional
	UseRepositoryRules bool `json:"useRepositoryRules,omitempty"`
}

// AgeEncryption configures encryption for age recipients.
type AgeEncryption struct {
	// Enabled turns it on.
	// +optional
	Enabled bool `json:"enabled,omitempty"`

	// Recipients who can decrypt. All sources are united.
	// +optional
	Recipients *AgeRecipients `json:"recipients,omitempty"`
}

// AgeRecipients names the recipients of age encryption.
// +kubebuilder:validation:XValidation:rule="!(has(self.generateWhenMissing) && self.generateWhenMissing) || (has(self.extractFromSecret) && self.extractFromSecret)",message="generateWhenMissing needs extractFromSecret"
type AgeRecipients struct {
	// PublicKeys are explicit recipients.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=4096
	// +listType=set
	// +optional
	PublicKeys []string `json:"publicKeys,omitempty"`

	// ExtractFromSecret adds the recipient of every identity in secretRef.
	// +optional
	ExtractFromSecret bool `json:"extractFromSecret,omitempty"`

	// GenerateWhenMissing creates an identity when secretRef has none. It never replaces one.
	// +optional
	GenerateWhenMissing bool `json:"generateWhenMissing,omitempty"`
}

// Prune says which deletions reach Git.
type Prune struct {
	// Mode: Never deletes nothing; OnEvent mirrors observed deletions; Always also deletes what a complete snapshot does
	// not hold.
	// +kubebuilder:default=OnEvent
	// +optional
	Mode PruneMode `json:"mode,omitempty"`
}

// ApplyTriggerReference names a trigger in the namespace of the GitTarget.
type ApplyTriggerReference struct {
	// Kind of the trigger.
	// +kubebuilder:validation:Enum=FluxTrigger;ArgoCDTrigger
	// +required
	Kind string `json:"kind"`

	// Name of the trigger.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=gt,categories=configbutler
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].reason"
// +kubebuilder:printcolumn:name="Streams",type=string,JSONPath=".status.streams.summary"
// +kubebuilder:printcolumn:name="Suspended",type=boolean,JSONPath=".spec.suspend",priority=1
// +kubebuilder:printcolumn:name="Verified",type=date,JSONPath=".status.remote.lastVerifiedAt",priority=1
// +kubebuilder:printcolumn:name="Layout",type=string,JSONPath=".status.placement.mode",priority=1
// +kubebuilder:printcolumn:name="RenderRoot",type=string,JSONPath=".status.placement.renderRoot",priority=1
// +kubebuilder:printcolumn:name="LayoutResolved",type=string,JSONPath=".status.conditions[?(@.type==\"LayoutResolved\")].status",priority=1
// +kubebuilder:printcolumn:name="GitPathAccepted",type=string,JSONPath=".status.conditions[?(@.type==\"GitPathAccepted\")].status",priority=1
// +kubebuilder:printcolumn:name="RenderMatchesLive",type=string,JSONPath=".status.conditions[?(@.type==\"RenderMatchesLive\")].status",priority=1
// +kubebuilder:printcolumn:name="StreamsRunning",type=string,JSONPath=".status.conditions[?(@.type==\"StreamsRunning\")].status",priority=1
// +kubebuilder:printcolumn:name="SourceReachable",type=string,JSONPath=".status.conditions[?(@.type==\"SourceClusterReachable\")].status",priority=1
// +kubebuilder:printcolumn:name="ApplyTriggerReady",type=string,JSONPath=".status.conditions[?(@.type==\"ApplyTriggerReady\")].status",priority=1
// +kubebuilder:printcolumn:name="Encryption",type=string,JSONPath=".status.conditions[?(@.type==\"EncryptionConfigured\")].status",priority=1
// +kubebuilder:printcolumn:name="Provider",type=string,JSONPath=".spec.gitProviderRef.name",priority=1
// +kubebuilder:printcolumn:name="Branch",type=string,JSONPath=".spec.branch",priority=1
// +kubebuilder:printcolumn:name="Path",type=string,JSONPath=".spec.path",priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].message",priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"

// GitTarget mirrors a source cluster into one folder of one branch. Deleting it leaves the folder as it is.
type GitTarget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec GitTargetSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status GitTargetStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// GitTargetList is a list of GitTargets.
type GitTargetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GitTarget `json:"items"`
}

var _ meta.ObjectWithConditionsSetter = (*GitTarget)(nil)

// GetConditions returns the conditions of the status.
func (in *GitTarget) GetConditions() []metav1.Condition { return in.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (in *GitTarget) SetConditions(c []metav1.Condition) { in.Status.Conditions = c }

// GetRequeueAfter returns the interval between two passes; 5 minutes unless set.
func (in *GitTarget) GetRequeueAfter() time.Duration {
	return durationOr(in.Spec.Interval, DefaultGitTargetInterval)
}

// GetGitProviderNamespace returns the namespace of the GitProvider; the GitTarget's own unless set.
func (in *GitTarget) GetGitProviderNamespace() string {
	return cmp.Or(in.Spec.GitProviderRef.Namespace, in.Namespace)
}

// GetKubeProviderName returns the name of the source cluster; "default" unless set.
func (in *GitTarget) GetKubeProviderName() string { return kubeProviderName(in.Spec.KubeProviderRef) }

// GetWindowIdleTimeout returns the silence that closes a commit window; 5 seconds unless set.
func (in *GitTarget) GetWindowIdleTimeout() time.Duration {
	if in.Spec.Commit == nil || in.Spec.Commit.Window == nil {
		return DefaultWindowIdleTimeout
	}
	return durationOr(in.Spec.Commit.Window.IdleTimeout, DefaultWindowIdleTimeout)
}

// GetWindowMaxDuration returns the longest life of a commit window; 1 minute unless set.
func (in *GitTarget) GetWindowMaxDuration() time.Duration {
	if in.Spec.Commit == nil || in.Spec.Commit.Window == nil {
		return DefaultWindowMaxDuration
	}
	return durationOr(in.Spec.Commit.Window.MaxDuration, DefaultWindowMaxDuration)
}

// GetMessageTemplates returns the message templates; an empty one means the built-in template.
func (in *GitTarget) GetMessageTemplates() CommitMessage {
	if in.Spec.Commit == nil || in.Spec.Commit.Message == nil {
		return CommitMessage{}
	}
	return *in.Spec.Commit.Message
}

// GetPruneMode returns which deletions reach Git; OnEvent unless set, for stored objects too.
func (in *GitTarget) GetPruneMode() PruneMode {
	if in.Spec.Prune == nil {
		return PruneOnEvent
	}
	return cmp.Or(in.Spec.Prune.Mode, PruneOnEvent)
}

// GetOnRefusal returns what follows a refused edit; Ignore unless set.
func (in *GitTarget) GetOnRefusal() OnRefusalPolicy {
	return cmp.Or(in.Spec.OnRefusal, OnRefusalIgnore)
}
