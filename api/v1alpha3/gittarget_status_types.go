// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha3

import (
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GitTargetStatus is what was observed of a GitTarget. An absent block was not observed yet; it never means zero.
type GitTargetStatus struct {
	meta.ReconcileRequestStatus `json:",inline"`

	// ObservedGeneration is the generation the conditions speak of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions are Ready, Reconciling, Stalled and one per gate and observation.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Streams counts the mirrored types by the state of their streams.
	// +optional
	Streams *StreamsStatus `json:"streams,omitempty"`

	// Retention tells which documents the prune mode kept.
	// +optional
	Retention *RetentionStatus `json:"retention,omitempty"`

	// Placement is the layout of the folder as last read.
	// +optional
	Placement *PlacementStatus `json:"placement,omitempty"`

	// Remote is the state of the branch as last proven.
	// +optional
	Remote *RemoteStatus `json:"remote,omitempty"`

	// Preview is what the initial snapshot would do, while the GitTarget is suspended.
	// +optional
	Preview *PreviewStatus `json:"preview,omitempty"`

	// ApplyTrigger is the last apply this GitTarget had a part in.
	// +optional
	ApplyTrigger *GitTargetApplyStatus `json:"applyTrigger,omitempty"`

	// LastHandledRekeyAt echoes the rekeyRequestedAt annotation once every sensitive document was encrypted anew.
	// +optional
	LastHandledRekeyAt string `json:"lastHandledRekeyAt,omitempty"`
}

// RetentionStatus tells which documents without a live object the prune mode kept in the last sweep.
type RetentionStatus struct {
	// Mode that kept them.
	// +optional
	Mode PruneMode `json:"mode,omitempty"`

	// RetainedDocuments is their number.
	// +optional
	RetainedDocuments int32 `json:"retainedDocuments"`

	// Sample names up to twenty of them.
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	// +optional
	Sample []string `json:"sample,omitempty"`

	// LastChangedAt is when the number last changed.
	// +optional
	LastChangedAt *metav1.Time `json:"lastChangedAt,omitempty"`
}

// LayoutMode is how a folder is built.
// +kubebuilder:validation:Enum=Plain;KustomizeRoot;KustomizeOverlay
type LayoutMode string

// The layouts.
const (
	// LayoutPlain is a folder of plain manifests.
	LayoutPlain LayoutMode = "Plain"
	// LayoutKustomizeRoot is a folder with one kustomization that reads nothing outside it.
	LayoutKustomizeRoot LayoutMode = "KustomizeRoot"
	// LayoutKustomizeOverlay is a folder with one kustomization that also reads bases outside the folder.
	LayoutKustomizeOverlay LayoutMode = "KustomizeOverlay"
)

// PlacementStatus is the layout of the folder at one commit.
type PlacementStatus struct {
	// Mode of the folder; absent when several render roots make it ambiguous.
	// +optional
	Mode LayoutMode `json:"mode,omitempty"`

	// RenderRoot is the folder of the kustomization that renders everything, from the repository's root.
	// +optional
	RenderRoot string `json:"renderRoot,omitempty"`

	// ReadOnlyBases are folders outside the owned one that the kustomization reads.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	ReadOnlyBases []string `json:"readOnlyBases,omitempty"`

	// UnrenderedDocuments is the number of documents that no kustomization reaches although there is one.
	// +optional
	UnrenderedDocuments int32 `json:"unrenderedDocuments,omitempty"`

	// UnrenderedSample names up to twenty of their files.
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	// +optional
	UnrenderedSample []string `json:"unrenderedSample,omitempty"`

	// ResolvedAtCommit is the commit that was read.
	// +optional
	ResolvedAtCommit string `json:"resolvedAtCommit,omitempty"`

	// ResolvedAt is when it was read.
	// +optional
	ResolvedAt *metav1.Time `json:"resolvedAt,omitempty"`
}

// The ways in which a branch's tip was proven.
const (
	// VerifiedByPush: the remote accepted a push of ours.
	VerifiedByPush = "Push"
	// VerifiedByFetch: the remote advertised it.
	VerifiedByFetch = "Fetch"
)

// The states of the parent of a branch that does not exist yet.
const (
	// ParentFound: the parent branch exists.
	ParentFound = "Found"
	// ParentMissing: the named parent branch does not exist.
	ParentMissing = "Missing"
	// ParentUnborn: the repository is empty.
	ParentUnborn = "Unborn"
)

// RemoteStatus is the state of the branch on the remote. It is written at most once a minute.
type RemoteStatus struct {
	// Commit is the tip; empty when the branch does not exist.
	// +optional
	Commit string `json:"commit"`

	// LastVerifiedAt is when that was last proven.
	// +optional
	LastVerifiedAt *metav1.Time `json:"lastVerifiedAt,omitempty"`

	// VerifiedBy tells how.
	// +kubebuilder:validation:Enum=Push;Fetch
	// +optional
	VerifiedBy string `json:"verifiedBy,omitempty"`

	// Parent is the state of the parent branch, while the branch itself does not exist.
	// +kubebuilder:validation:Enum=Found;Missing;Unborn
	// +optional
	Parent string `json:"parent,omitempty"`
}

// PreviewStatus is the plan of a snapshot that was not carried out.
type PreviewStatus struct {
	// Created is the number of documents that would be created, with up to twenty names.
	// +optional
	Created PreviewCount `json:"created"`

	// Updated is the number of documents that would be changed, with up to twenty names.
	// +optional
	Updated PreviewCount `json:"updated"`

	// Deleted is the number of documents that would be deleted, with up to twenty names.
	// +optional
	Deleted PreviewCount `json:"deleted"`

	// Refused is the number of objects that could not be written, with up to twenty names.
	// +optional
	Refused PreviewCount `json:"refused"`

	// Commit the plan was made for; empty when the branch does not exist.
	// +optional
	Commit string `json:"commit,omitempty"`

	// PlannedAt is when the plan was made.
	// +optional
	PlannedAt *metav1.Time `json:"plannedAt,omitempty"`
}

// PreviewCount is a number of documents and the names of some.
type PreviewCount struct {
	// Count is the number.
	// +optional
	Count int32 `json:"count"`

	// Sample holds up to twenty names.
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	// +optional
	Sample []string `json:"sample,omitempty"`
}

// GitTargetApplyStatus is the last apply a GitTarget had a part in.
type GitTargetApplyStatus struct {
	// Kind of the trigger.
	// +optional
	Kind string `json:"kind,omitempty"`

	// Name of the trigger.
	// +optional
	Name string `json:"name,omitempty"`

	// LastOperation of this incarnation of the GitTarget.
	// +optional
	LastOperation *ApplyOperation `json:"lastOperation,omitempty"`
}
