// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha3

import (
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TriggerCheckInterval is the time between two checks of a trigger's applier.
const TriggerCheckInterval = 5 * time.Minute

// ApplyReason is why an apply is wanted.
// +kubebuilder:validation:Enum=Refusal;Repair;ForeignCommit;CatchUp
type ApplyReason string

// The apply reasons, strongest first.
const (
	// ApplyRefusal: a live edit could not be written and onRefusal is Reapply.
	ApplyRefusal ApplyReason = "Refusal"
	// ApplyRepair: the applier overwrote an edit that Git has.
	ApplyRepair ApplyReason = "Repair"
	// ApplyForeignCommit: somebody else pushed to the branch.
	ApplyForeignCommit ApplyReason = "ForeignCommit"
	// ApplyCatchUp: the applier does not own a new object yet, or may not hold the branch's tip.
	ApplyCatchUp ApplyReason = "CatchUp"
)

// ApplyPhase is the state of one attempt to apply.
// +kubebuilder:validation:Enum=Preparing;Sent;Succeeded;Failed;AppliedOther;RequestFailed;Busy;Stale;Dropped;Unknown
type ApplyPhase string

// The phases of an attempt.
const (
	// ApplyPreparing: the attempt has not asked the applier yet.
	ApplyPreparing ApplyPhase = "Preparing"
	// ApplySent: the applier was asked and has not ended.
	ApplySent ApplyPhase = "Sent"
	// ApplySucceeded: the applier applied the commit.
	ApplySucceeded ApplyPhase = "Succeeded"
	// ApplyFailed: the applier tried and failed.
	ApplyFailed ApplyPhase = "Failed"
	// ApplyAppliedOther: the applier applied another commit.
	ApplyAppliedOther ApplyPhase = "AppliedOther"
	// ApplyRequestFailed: the applier was not reached.
	ApplyRequestFailed ApplyPhase = "RequestFailed"
	// ApplyBusy: the applier runs an operation of somebody else.
	ApplyBusy ApplyPhase = "Busy"
	// ApplyStale: the branch moved before the applier was asked.
	ApplyStale ApplyPhase = "Stale"
	// ApplyDropped: nobody stands behind the attempt's reasons any more.
	ApplyDropped ApplyPhase = "Dropped"
	// ApplyUnknown: no end of the attempt was seen.
	ApplyUnknown ApplyPhase = "Unknown"
)

// ApplyOperation is one attempt to make an applier apply one commit.
type ApplyOperation struct {
	// ID of the attempt, which is also the request's token at the applier.
	// +optional
	ID string `json:"id,omitempty"`

	// Reasons the attempt carries, strongest first.
	// +kubebuilder:validation:MaxItems=4
	// +listType=atomic
	// +optional
	Reasons []ApplyReason `json:"reasons,omitempty"`

	// Commit that was asked for.
	// +optional
	Commit string `json:"commit,omitempty"`

	// ShortCommit holds the first twelve digits of commit, for display.
	// +optional
	ShortCommit string `json:"shortCommit,omitempty"`

	// Phase of the attempt.
	// +optional
	Phase ApplyPhase `json:"phase,omitempty"`

	// StartedAt is when the attempt began.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// SentAt is when the applier was asked.
	// +optional
	SentAt *metav1.Time `json:"sentAt,omitempty"`

	// FinishedAt is when the attempt ended.
	// +optional
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`

	// SourceRevision is what Flux's source holds when that is not commit.
	// +optional
	SourceRevision string `json:"sourceRevision,omitempty"`

	// Message of the applier or of the failure.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`

	// Failures is the number of attempts since the last success.
	// +optional
	Failures int32 `json:"failures,omitempty"`
}

// ApplierObservation is what was last seen of the applier.
type ApplierObservation struct {
	// UID of the Kustomization or Application.
	// +optional
	UID string `json:"uid,omitempty"`

	// Path the applier applies. It is not compared: a root above may reach the folder indirectly.
	// +optional
	Path string `json:"path,omitempty"`

	// URL of the applier's repository.
	// +optional
	URL string `json:"url,omitempty"`

	// Ref of the applier's source: branch, refs/heads name, or nothing.
	// +optional
	Ref string `json:"ref,omitempty"`

	// Suspended is Flux's spec.suspend.
	// +optional
	Suspended *bool `json:"suspended,omitempty"`

	// AutomatedSync tells whether Argo CD syncs by itself.
	// +optional
	AutomatedSync *bool `json:"automatedSync,omitempty"`

	// ObservedAt is when that was seen.
	// +optional
	ObservedAt *metav1.Time `json:"observedAt,omitempty"`
}

// ApplyTriggerStatus is the part of the status that both trigger kinds share.
type ApplyTriggerStatus struct {
	meta.ReconcileRequestStatus `json:",inline"`

	// ObservedGeneration is the generation the conditions speak of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions are Ready, Reconciling, Stalled and ApplierConfigured.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// GitTargetCount is the number of admitted GitTargets that name the trigger.
	// +optional
	GitTargetCount int32 `json:"gitTargetCount,omitempty"`

	// Pending are the reasons that wait for an attempt, strongest first.
	// +kubebuilder:validation:MaxItems=4
	// +listType=atomic
	// +optional
	Pending []ApplyReason `json:"pending,omitempty"`

	// Operation is the last or current attempt.
	// +optional
	Operation *ApplyOperation `json:"operation,omitempty"`

	// LastAppliedCommit is the commit of the last attempt that succeeded.
	// +optional
	LastAppliedCommit string `json:"lastAppliedCommit,omitempty"`

	// Applier is what was last seen of the applier.
	// +optional
	Applier *ApplierObservation `json:"applier,omitempty"`
}
