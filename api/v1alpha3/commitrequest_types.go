// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha3

import (
	"cmp"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CommitRequestKind is the kind's name.
const CommitRequestKind = "CommitRequest"

// The effective defaults of a CommitRequest.
const (
	DefaultAttachTimeout = 2 * time.Second
	DefaultSaveDuration  = 2 * time.Second
	// CommitRequestPollInterval is the time between two passes of an open request.
	CommitRequestPollInterval = 2 * time.Second
)

// AttachMode says which window a CommitRequest takes.
// +kubebuilder:validation:Enum=CurrentOrNext;Next
type AttachMode string

// The attach modes.
const (
	// AttachCurrentOrNext takes the author's open window, else the next one.
	AttachCurrentOrNext AttachMode = "CurrentOrNext"
	// AttachNext first closes the author's open window under its own message, then takes the next one.
	AttachNext AttachMode = "Next"
)

// NothingToCommitPolicy says what a CommitRequest does when there is nothing to commit.
// +kubebuilder:validation:Enum=Resolve;CommitEmpty
type NothingToCommitPolicy string

// The policies for nothing to commit.
const (
	// NothingResolve finishes the request without a commit.
	NothingResolve NothingToCommitPolicy = "Resolve"
	// NothingCommitEmpty records the message in an empty commit.
	NothingCommitEmpty NothingToCommitPolicy = "CommitEmpty"
)

// CommitRequestSpec asks for one save. It cannot be changed; durations are compared as durations, so that another
// spelling of the same value is no change.
// +kubebuilder:validation:XValidation:rule="self.gitTargetRef.name == oldSelf.gitTargetRef.name",message="spec.gitTargetRef is immutable; create another CommitRequest"
// +kubebuilder:validation:XValidation:rule="has(self.message) == has(oldSelf.message) && (!has(self.message) || self.message == oldSelf.message)",message="spec.message is immutable; create another CommitRequest"
// +kubebuilder:validation:XValidation:rule="has(self.ttlAfterFinished) == has(oldSelf.ttlAfterFinished)",message="spec.ttlAfterFinished is immutable; create another CommitRequest"
// +kubebuilder:validation:XValidation:rule="!has(self.whenNothingToCommit) || self.whenNothingToCommit != 'CommitEmpty' || has(self.message)",message="whenNothingToCommit: CommitEmpty needs message"
type CommitRequestSpec struct {
	// GitTargetRef names the GitTarget, in the namespace of the CommitRequest.
	// +kubebuilder:validation:XValidation:rule="self.name != ''",message="gitTargetRef.name must not be empty"
	// +kubebuilder:validation:XValidation:rule="size(self.name) <= 253",message="gitTargetRef.name must have at most 253 characters"
	// +required
	GitTargetRef meta.LocalObjectReference `json:"gitTargetRef"`

	// Message of the commit, taken byte for byte. Absent means the GitTarget's liveTemplate.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule=`!self.matches(r'[\x00-\x09\x0B-\x1F\x7F-\x{9F}]')`,message="message must not hold control characters other than line feeds"
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'[^\s\p{Z}]')`,message="message must not be blank"
	// +optional
	Message string `json:"message,omitempty"`

	// Window says which window of changes is saved, and how long to wait for it.
	// +kubebuilder:default={}
	// +optional
	Window *CommitRequestWindow `json:"window,omitempty"`

	// WhenNothingToCommit says what to do when there is nothing to commit. CommitEmpty needs message.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.whenNothingToCommit is immutable; create another CommitRequest"
	// +kubebuilder:default=Resolve
	// +optional
	WhenNothingToCommit NothingToCommitPolicy `json:"whenNothingToCommit,omitempty"`

	// TTLAfterFinished is how long the finished object is kept; 0s keeps it. Absent means --commit-request-ttl.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('8760h')",message="ttlAfterFinished must be at most 8760h"
	// +kubebuilder:validation:XValidation:rule="duration(self) == duration(oldSelf)",message="spec.ttlAfterFinished is immutable; create another CommitRequest"
	// +optional
	TTLAfterFinished *metav1.Duration `json:"ttlAfterFinished,omitempty"`
}

// CommitRequestWindow says which window of changes a save takes.
// +kubebuilder:validation:XValidation:rule="has(self.idleTimeout) == has(oldSelf.idleTimeout)",message="spec.window.idleTimeout is immutable; create another CommitRequest"
// +kubebuilder:validation:XValidation:rule="!has(self.attach) || self.attach != 'Next' || !has(self.attachTimeout) || duration(self.attachTimeout) > duration('0s')",message="attach: Next needs an attachTimeout above 0s"
// +kubebuilder:validation:XValidation:rule="!has(self.idleTimeout) || !has(self.maxDuration) || duration(self.idleTimeout) <= duration(self.maxDuration)",message="idleTimeout must not exceed maxDuration"
type CommitRequestWindow struct {
	// Attach: CurrentOrNext takes the author's open window, else the next; Next first closes the open window.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.window.attach is immutable; create another CommitRequest"
	// +kubebuilder:default=CurrentOrNext
	// +optional
	Attach AttachMode `json:"attach,omitempty"`

	// AttachTimeout is how long to wait for a window of the same author, at most 5m.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('5m')",message="attachTimeout must be at most 5m"
	// +kubebuilder:validation:XValidation:rule="duration(self) == duration(oldSelf)",message="spec.window.attachTimeout is immutable; create another CommitRequest"
	// +kubebuilder:default="2s"
	// +optional
	AttachTimeout *metav1.Duration `json:"attachTimeout,omitempty"`

	// MaxDuration closes the window this long after the attach, at most 5m. 0s closes it at once.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('5m')",message="maxDuration must be at most 5m"
	// +kubebuilder:validation:XValidation:rule="duration(self) == duration(oldSelf)",message="spec.window.maxDuration is immutable; create another CommitRequest"
	// +kubebuilder:default="2s"
	// +optional
	MaxDuration *metav1.Duration `json:"maxDuration,omitempty"`

	// IdleTimeout closes the window after this long without a change. Absent leaves it to maxDuration alone.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('5m')",message="idleTimeout must be at most 5m"
	// +kubebuilder:validation:XValidation:rule="duration(self) == duration(oldSelf)",message="spec.window.idleTimeout is immutable; create another CommitRequest"
	// +optional
	IdleTimeout *metav1.Duration `json:"idleTimeout,omitempty"`
}

// CommitRequestStatus is what became of a save. It is finished when Ready or Stalled is True.
type CommitRequestStatus struct {
	// ObservedGeneration is the generation the conditions speak of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions are Ready, Reconciling, Stalled, AuthorAttributed and Pushed.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Branch that the commit went to.
	// +optional
	Branch string `json:"branch,omitempty"`

	// Commit on the remote. With Pushed=True it proves the save.
	// +optional
	Commit string `json:"commit,omitempty"`

	// AttachedAt is when a worker took the request.
	// +optional
	AttachedAt *metav1.Time `json:"attachedAt,omitempty"`

	// FinishedAt is when the request was finished.
	// +optional
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=creq,categories=configbutler
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
// +kubebuilder:printcolumn:name="GitTarget",type=string,JSONPath=".spec.gitTargetRef.name"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].reason"
// +kubebuilder:printcolumn:name="Commit",type=string,JSONPath=".status.commit"
// +kubebuilder:printcolumn:name="AuthorAttributed",type=string,JSONPath=".status.conditions[?(@.type==\"AuthorAttributed\")].status",priority=1
// +kubebuilder:printcolumn:name="Pushed",type=string,JSONPath=".status.conditions[?(@.type==\"Pushed\")].status",priority=1
// +kubebuilder:printcolumn:name="Branch",type=string,JSONPath=".status.branch",priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].message",priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"

// CommitRequest saves its author's open window of changes now, under a message of its own.
type CommitRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec CommitRequestSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status CommitRequestStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// CommitRequestList is a list of CommitRequests.
type CommitRequestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []CommitRequest `json:"items"`
}

var _ meta.ObjectWithConditionsSetter = (*CommitRequest)(nil)

// GetConditions returns the conditions of the status.
func (in *CommitRequest) GetConditions() []metav1.Condition { return in.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (in *CommitRequest) SetConditions(c []metav1.Condition) { in.Status.Conditions = c }

// GetRequeueAfter returns the time between two passes of an open request.
func (in *CommitRequest) GetRequeueAfter() time.Duration { return CommitRequestPollInterval }

// Terminal reports whether the request is finished.
func (in *CommitRequest) Terminal() bool {
	for _, c := range in.Status.Conditions {
		if (c.Type == ReadyCondition || c.Type == StalledCondition) && c.Status == metav1.ConditionTrue {
			return true
		}
	}
	return false
}

// GetAttach returns which window is taken; CurrentOrNext unless set.
func (in *CommitRequest) GetAttach() AttachMode {
	return cmp.Or(in.window().Attach, AttachCurrentOrNext)
}

// GetAttachTimeout returns how long to wait for a window; 2 seconds unless set.
func (in *CommitRequest) GetAttachTimeout() time.Duration {
	return durationOr(in.window().AttachTimeout, DefaultAttachTimeout)
}

// GetMaxDuration returns how long an attached window stays open; 2 seconds unless set.
func (in *CommitRequest) GetMaxDuration() time.Duration {
	return durationOr(in.window().MaxDuration, DefaultSaveDuration)
}

// GetIdleTimeout returns the silence that closes an attached window; false when maxDuration alone decides.
func (in *CommitRequest) GetIdleTimeout() (time.Duration, bool) {
	d := in.window().IdleTimeout
	return durationOr(d, 0), d != nil
}

// GetWhenNothingToCommit returns what happens when there is nothing to commit; Resolve unless set.
func (in *CommitRequest) GetWhenNothingToCommit() NothingToCommitPolicy {
	return cmp.Or(in.Spec.WhenNothingToCommit, NothingResolve)
}

// GetTTLAfterFinished returns how long the finished object is kept; def unless set, and 0 keeps it.
func (in *CommitRequest) GetTTLAfterFinished(def time.Duration) time.Duration {
	return durationOr(in.Spec.TTLAfterFinished, def)
}

func (in *CommitRequest) window() CommitRequestWindow {
	if in.Spec.Window == nil {
		return CommitRequestWindow{}
	}
	return *in.Spec.Window
}
