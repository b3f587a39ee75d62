// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha3

import "github.com/fluxcd/pkg/apis/meta"

// The kstatus trio that every kind reports. An absent Reconciling or Stalled means False.
const (
	// ReadyCondition sums up every gate.
	ReadyCondition = meta.ReadyCondition
	// ReconcilingCondition is True while the operator gets there by itself.
	ReconcilingCondition = meta.ReconcilingCondition
	// StalledCondition is True when somebody has to act.
	StalledCondition = meta.StalledCondition
)

// The gates and observations beside the trio. A gate takes part in Ready, an observation does not.
const (
	// ValidatedCondition (gate of GitTarget and KubeProvider): the spec and what it refers to are allowed and usable.
	ValidatedCondition = "Validated"
	// EncryptionConfiguredCondition (gate of GitTarget): sensitive documents can be encrypted, or none needs to be.
	EncryptionConfiguredCondition = "EncryptionConfigured"
	// GitProviderReadyCondition (gate of GitTarget): the GitProvider is Ready.
	GitProviderReadyCondition = "GitProviderReady"
	// KubeProviderReadyCondition (gate of GitTarget): the KubeProvider is Ready.
	KubeProviderReadyCondition = "KubeProviderReady"
	// SourceClusterReachableCondition (gate of GitTarget): the source cluster answers.
	SourceClusterReachableCondition = "SourceClusterReachable"
	// StreamsRunningCondition (gate of GitTarget and rules): every resolved type is followed.
	StreamsRunningCondition = "StreamsRunning"
	// GitPathAcceptedCondition (gate of GitTarget): the folder holds nothing that forbids writing.
	GitPathAcceptedCondition = "GitPathAccepted"
	// RenderMatchesLiveCondition (gate of GitTarget): what the folder renders equals the live objects.
	RenderMatchesLiveCondition = "RenderMatchesLive"
	// LayoutResolvedCondition (observation of GitTarget): the folder has one render root, or none.
	LayoutResolvedCondition = "LayoutResolved"
	// ApplyTriggerReadyCondition (gate of GitTarget, absent without applyTriggerRef): projection of the trigger's Ready.
	ApplyTriggerReadyCondition = "ApplyTriggerReady"
	// ReceiverReadyCondition (observation of GitProvider, absent without receiver): deliveries are taken.
	ReceiverReadyCondition = "ReceiverReady"
	// AuditFactsReceivedCondition (observation of KubeProvider, absent without author attribution): the audit route has
	// delivered. Once True it stays True until the route changes.
	AuditFactsReceivedCondition = "AuditFactsReceived"
	// AttributionConfiguredCondition (observation of KubeProvider): the senders of the audit route are usable.
	AttributionConfiguredCondition = "AttributionConfigured"
	// ResourcesResolvedCondition (gate of rules): every item names types that are served, or may come to be.
	ResourcesResolvedCondition = "ResourcesResolved"
	// SourceNamespaceAuthorizedCondition (gate of WatchRule): every item may read the source namespace it names.
	SourceNamespaceAuthorizedCondition = "SourceNamespaceAuthorized"
	// GitTargetReadyCondition (gate of rules): projection of the GitTarget's Ready.
	GitTargetReadyCondition = "GitTargetReady"
	// AuthorAttributedCondition (observation of CommitRequest): who asked is known.
	AuthorAttributedCondition = "AuthorAttributed"
	// PushedCondition (observation of CommitRequest): the commit is on the remote.
	PushedCondition = "Pushed"
	// ApplierConfiguredCondition (gate of triggers): the applier exists, reads this branch and may be asked.
	ApplierConfiguredCondition = "ApplierConfigured"
)

// Reasons used by several kinds.
const (
	// SucceededReason: the condition holds and has nothing to add.
	SucceededReason = meta.SucceededReason
	// FailedReason: something broke that has no name of its own.
	FailedReason = meta.FailedReason
	// ProgressingReason: on the way; the message says what is awaited.
	ProgressingReason = meta.ProgressingReason
	// SuspendedReason: suspended by spec.suspend, here or at what it refers to.
	SuspendedReason = meta.SuspendedReason
	// DependencyNotReadyReason: something referred to is not ready.
	DependencyNotReadyReason = meta.DependencyNotReadyReason
	// InvalidConfigReason: the spec is well formed and still makes no sense.
	InvalidConfigReason = "InvalidConfig"
	// NotImplementedReason: this version does not do what the spec asks for.
	NotImplementedReason = "NotImplemented"
	// NotCheckedReason: not looked at yet.
	NotCheckedReason = "NotChecked"
	// NotReadyReason: no streams are planned yet.
	NotReadyReason = "NotReady"
	// BlockedReason: an earlier gate kept this one from being evaluated.
	BlockedReason = "Blocked"
	// NamespaceNotAuthorizedReason: an accessFrom does not admit the namespace; the message names it.
	NamespaceNotAuthorizedReason = "NamespaceNotAuthorized"
	// GitProviderNotFoundReason: the GitProvider does not exist.
	GitProviderNotFoundReason = "GitProviderNotFound"
	// KubeProviderNotFoundReason: the KubeProvider does not exist.
	KubeProviderNotFoundReason = "KubeProviderNotFound"
	// SecretNotFoundReason: a Secret, or a key of it, does not exist.
	SecretNotFoundReason = "SecretNotFound"
	// CatalogNotReadyReason: the source cluster has not told yet what it serves.
	CatalogNotReadyReason = "CatalogNotReady"
)

// Reasons of a GitProvider's Ready.
const (
	// CommitConfigInvalidReason: committer or signing is unusable.
	CommitConfigInvalidReason = "CommitConfigInvalid"
	// SecretMalformedReason: the credential Secret does not hold a complete credential.
	SecretMalformedReason = "SecretMalformed"
	// AuthenticationFailedReason: the repository refused the credential.
	AuthenticationFailedReason = "AuthenticationFailed"
	// HostKeyUnavailableReason: no SSH host key is known for the repository's host, or it does not match.
	HostKeyUnavailableReason = "HostKeyUnavailable"
	// ConnectionFailedReason: the repository did not answer. It is retried.
	ConnectionFailedReason = "ConnectionFailed"
	// RateLimitedReason: the host asked to wait.
	RateLimitedReason = "RateLimited"
	// UnsupportedObjectFormatReason: the repository uses SHA-256 object names.
	UnsupportedObjectFormatReason = "UnsupportedObjectFormat"
)

// Reasons of a GitProvider's ReceiverReady.
const (
	// ListeningReason: deliveries are taken.
	ListeningReason = "Listening"
	// ListenerOffReason: the operator runs without a receiver listener.
	ListenerOffReason = "ListenerOff"
	// TokenMissingReason: the Secret has no key token.
	TokenMissingReason = "TokenMissing"
	// TokenTooShortReason: the token has fewer than 16 bytes.
	TokenTooShortReason = "TokenTooShort"
)

// Reasons of a KubeProvider's conditions.
const (
	// InClusterReason: the source is the operator's own cluster.
	InClusterReason = "InCluster"
	// KubeConfigSecretNotFoundReason: the kubeconfig Secret does not exist.
	KubeConfigSecretNotFoundReason = "KubeConfigSecretNotFound"
	// KubeConfigKeyNotFoundReason: the kubeconfig Secret lacks the key.
	KubeConfigKeyNotFoundReason = "KubeConfigKeyNotFound"
	// KubeConfigInvalidReason: the kubeconfig cannot be read.
	KubeConfigInvalidReason = "KubeConfigInvalid"
	// KubeConfigExecNotAllowedReason: the kubeconfig runs a program, and --insecure-kubeconfig-exec is off.
	KubeConfigExecNotAllowedReason = "KubeConfigExecNotAllowed"
	// KubeConfigInsecureTLSNotAllowedReason: the kubeconfig skips TLS checks, and --insecure-kubeconfig-tls is off.
	KubeConfigInsecureTLSNotAllowedReason = "KubeConfigInsecureTLSNotAllowed"
	// KubeConfigFileReferenceNotAllowedReason: the kubeconfig names files.
	KubeConfigFileReferenceNotAllowedReason = "KubeConfigFileReferenceNotAllowed"
	// ReceivedReason: the audit route has delivered.
	ReceivedReason = "Received"
	// TransportUnavailableReason: facts cannot be read from their store.
	TransportUnavailableReason = "TransportUnavailable"
	// NoAuditDeliveryReason: no audit event has arrived on any route.
	NoAuditDeliveryReason = "NoAuditDelivery"
	// RouteUnusedReason: other routes deliver, this one does not.
	RouteUnusedReason = "RouteUnused"
	// AuditRouteConflictReason: another KubeProvider owns the audit route with other senders.
	AuditRouteConflictReason = "AuditRouteConflict"
	// SenderInvalidReason: a sender's Secret is missing or unusable.
	SenderInvalidReason = "SenderInvalid"
)

// Reasons of a GitTarget's Validated and Ready.
const (
	// BranchNotAllowedReason: allowedBranches does not match the branch.
	BranchNotAllowedReason = "BranchNotAllowed"
	// TargetConflictReason: an older GitTarget owns the folder, or writes the branch through another GitProvider or from
	// another parent.
	TargetConflictReason = "TargetConflict"
	// ValidationFailedReason: Validated is False.
	ValidationFailedReason = "ValidationFailed"
	// EncryptionNotConfiguredReason: EncryptionConfigured is False.
	EncryptionNotConfiguredReason = "EncryptionNotConfigured"
	// WorkerUnavailableReason: the branch has no worker.
	WorkerUnavailableReason = "WorkerUnavailable"
	// ParentBranchNotFoundReason: the branch does not exist and neither does its parent.
	ParentBranchNotFoundReason = "ParentBranchNotFound"
	// RecoveringParentBranchReason: the parent branch has come back.
	RecoveringParentBranchReason = "RecoveringParentBranch"
	// PushRejectedReason: the remote refused a commit for its content; the message holds the server's words.
	PushRejectedReason = "PushRejected"
)

// Reasons of a GitTarget's EncryptionConfigured.
const (
	// NotRequiredReason: no encryption is configured and no sensitive type is selected.
	NotRequiredReason = "NotRequired"
	// MissingSecretReason: the Secret with the keys does not exist or holds none.
	MissingSecretReason = "MissingSecret"
	// SecretCreateDisabledReason: the Secret is missing and generateWhenMissing is off.
	SecretCreateDisabledReason = "SecretCreateDisabled"
	// EncryptionRequiredReason: a sensitive type is selected and encryption does not work; the type is not followed.
	EncryptionRequiredReason = "EncryptionRequired"
	// RecipientsDifferReason (on a True condition): the repository's rules name other recipients than the spec, which wins.
	RecipientsDifferReason = "RecipientsDiffer"
)

// Reasons of a GitTarget's projections and of SourceClusterReachable.
const (
	// GitProviderNotReadyReason: the GitProvider is not Ready.
	GitProviderNotReadyReason = "GitProviderNotReady"
	// KubeProviderNotReadyReason: the KubeProvider is not Ready.
	KubeProviderNotReadyReason = "KubeProviderNotReady"
	// LocalClusterReason: the source is the operator's own cluster.
	LocalClusterReason = "LocalCluster"
	// SourceClusterUnreachableReason: the source cluster does not answer.
	SourceClusterUnreachableReason = "SourceClusterUnreachable"
	// SourceClusterAuthenticationFailedReason: it answers 401.
	SourceClusterAuthenticationFailedReason = "SourceClusterAuthenticationFailed"
	// SourceClusterAccessDeniedReason: it answers 403.
	SourceClusterAccessDeniedReason = "SourceClusterAccessDenied"
	// AwaitingDiscoveryReason: it was not contacted yet.
	AwaitingDiscoveryReason = "AwaitingDiscovery"
	// TriggerReadyReason: the trigger is Ready.
	TriggerReadyReason = "TriggerReady"
	// TriggerNotFoundReason: the trigger does not exist.
	TriggerNotFoundReason = "TriggerNotFound"
)

// Reasons of StreamsRunning, on GitTargets and rules.
const (
	// AllStreamsReadyReason: every resolved type is followed.
	AllStreamsReadyReason = "AllStreamsReady"
	// ReplayingReason: collections are being listed.
	ReplayingReason = "Replaying"
	// InitialReplayReason: a collection is listed for the first time.
	InitialReplayReason = "InitialReplay"
	// ResumeReplayReason: a collection is listed again after an interruption.
	ResumeReplayReason = "ResumeReplay"
	// ExpiredResourceVersionReason: the API server has forgotten where a stream was; the collection is listed again.
	ExpiredResourceVersionReason = "ExpiredResourceVersion"
	// BranchIntakePausedReason: the branch holds as many unpublished changes as it may; streams wait.
	BranchIntakePausedReason = "BranchIntakePaused"
	// WatchErrorReason: a watch fails and is retried.
	WatchErrorReason = "WatchError"
	// WatchNotPermittedReason: the source cluster does not permit to list and watch a named type.
	WatchNotPermittedReason = "WatchNotPermitted"
	// TooManyStreamsReason: the rules select more streams than --max-streams-per-target.
	TooManyStreamsReason = "TooManyStreams"
	// NoResolvedTypesReason: nothing is selected.
	NoResolvedTypesReason = "NoResolvedTypes"
)

// Reasons of GitPathAccepted, RenderMatchesLive and LayoutResolved.
const (
	// UnsupportedContentReason: the folder holds content that cannot be managed.
	UnsupportedContentReason = "UnsupportedContent"
	// IgnoreShadowsManagedPathReason: .gittargetignore hides a managed path.
	IgnoreShadowsManagedPathReason = "IgnoreShadowsManagedPath"
	// WriteBoundaryRefusedReason: an edit cannot be written inside the folder.
	WriteBoundaryRefusedReason = "WriteBoundaryRefused"
	// AmbiguousLayoutReason: several render roots, and a new document has to go somewhere.
	AmbiguousLayoutReason = "AmbiguousLayout"
	// MultipleSourceNamespacesReason: serializeNamespace is false and several namespaces reach the folder.
	MultipleSourceNamespacesReason = "MultipleSourceNamespaces"
	// UnrenderedPlacementReason: a new document would be reached by no kustomization.
	UnrenderedPlacementReason = "UnrenderedPlacement"
	// RenderDoesNotMatchLiveReason: what the folder renders differs from the live objects.
	RenderDoesNotMatchLiveReason = "RenderDoesNotMatchLive"
	// RecheckingReason: the comparison is being repeated.
	RecheckingReason = "Rechecking"
	// SingleKustomizationReason: one kustomization renders the folder.
	SingleKustomizationReason = "SingleKustomization"
	// NoneReason: the folder has no kustomization.
	NoneReason = "None"
	// AmbiguousReason: several kustomizations render parts of the folder.
	AmbiguousReason = "Ambiguous"
)

// Reasons of the conditions of rules.
const (
	// CollectionOverlapReason: another rule of the GitTarget selects these objects differently.
	CollectionOverlapReason = "CollectionOverlap"
	// ObjectSelectorInvalidReason: an objectSelector does not compile.
	ObjectSelectorInvalidReason = "ObjectSelectorInvalid"
	// AmbiguousResourceReason: several groups serve the resource; name one.
	AmbiguousResourceReason = "AmbiguousResource"
	// ResourceNotServedReason: the source cluster does not serve a named resource. It heals when it does.
	ResourceNotServedReason = "ResourceNotServed"
	// ResourceExcludedReason: the default policy never follows a named resource.
	ResourceExcludedReason = "ResourceExcluded"
	// LegacySourceNamespaceReason: every item reads the rule's own namespace.
	LegacySourceNamespaceReason = "LegacySourceNamespace"
	// SourceNamespaceAllowedReason: every item reads a namespace it may read.
	SourceNamespaceAllowedReason = "SourceNamespaceAllowed"
	// SourceNamespaceNotAllowedReason: an item names a namespace it may not read.
	SourceNamespaceNotAllowedReason = "SourceNamespaceNotAllowed"
	// SourceNamespacePolicyUnavailableReason: allowedSourceNamespaces is invalid, or its labels may not be read.
	SourceNamespacePolicyUnavailableReason = "SourceNamespacePolicyUnavailable"
	// CheckingSourceNamespacePolicyReason: the labels of the source namespaces are not known yet.
	CheckingSourceNamespacePolicyReason = "CheckingSourceNamespacePolicy"
	// GitTargetNotFoundReason: the GitTarget does not exist.
	GitTargetNotFoundReason = "GitTargetNotFound"
	// GitDestinationInvalidReason: the GitTarget is not valid.
	GitDestinationInvalidReason = "GitDestinationInvalid"
	// GitTargetNamespaceNotAuthorizedReason: a provider does not admit the namespace of a ClusterWatchRule's GitTarget.
	GitTargetNamespaceNotAuthorizedReason = "GitTargetNamespaceNotAuthorized"
)

// Reasons of a CommitRequest's conditions.
const (
	// AttributedFromAdmissionReason: admission recorded who asked.
	AttributedFromAdmissionReason = "AttributedFromAdmission"
	// CommitterFallbackReason: nothing was recorded; the committer stands for the author.
	CommitterFallbackReason = "CommitterFallback"
	// AuthorCaptureDisabledReason: the operator runs without author capture.
	AuthorCaptureDisabledReason = "AuthorCaptureDisabled"
	// NotPushedReason: there is no commit of this request on the remote.
	NotPushedReason = "NotPushed"
	// CommittedReason: the window is on the remote.
	CommittedReason = "Committed"
	// NoWindowReason: no window opened in time.
	NoWindowReason = "NoWindow"
	// WindowMismatchReason: only windows of other authors were seen.
	WindowMismatchReason = "WindowMismatch"
	// AlreadyPresentReason: Git held everything already.
	AlreadyPresentReason = "AlreadyPresent"
	// WaitingForWorkerReason: the branch has no worker yet.
	WaitingForWorkerReason = "WaitingForWorker"
	// WaitingForWindowReason: no window of the author is open yet.
	WaitingForWindowReason = "WaitingForWindow"
	// CollectingWindowReason: the window is open.
	CollectingWindowReason = "CollectingWindow"
	// WaitingForPushReason: the commit is on its way.
	WaitingForPushReason = "WaitingForPush"
	// FinalizeFailedReason: the save failed; the message says at which gate.
	FinalizeFailedReason = "FinalizeFailed"
	// UnexpectedOutcomeReason: what became of the save is not known; look at the branch.
	UnexpectedOutcomeReason = "UnexpectedOutcome"
)

// Reasons of a trigger's conditions.
const (
	// ConfiguredReason: the applier may be asked.
	ConfiguredReason = "Configured"
	// AppliedReason: the last attempt succeeded.
	AppliedReason = "Applied"
	// NoGitTargetReason: no admitted GitTarget names the trigger.
	NoGitTargetReason = "NoGitTarget"
	// ApplierKindNotServedReason: the cluster does not serve the applier's kind.
	ApplierKindNotServedReason = "ApplierKindNotServed"
	// ApplierNotFoundReason: the applier does not exist or is being deleted.
	ApplierNotFoundReason = "ApplierNotFound"
	// SourceNotFoundReason: the applier's source does not exist.
	SourceNotFoundReason = "SourceNotFound"
	// SourceKindUnsupportedReason: the applier does not read a Git repository.
	SourceKindUnsupportedReason = "SourceKindUnsupported"
	// NotSingleSourceReason: the Application reads several sources, or a hydrated one.
	NotSingleSourceReason = "NotSingleSource"
	// SourceMismatchReason: the applier reads another repository or branch; the message names both.
	SourceMismatchReason = "SourceMismatch"
	// SourceSuspendedReason: the applier's source is suspended.
	SourceSuspendedReason = "SourceSuspended"
	// AutomatedSyncEnabledReason: Argo CD syncs by itself, which would revert edits before they reach Git.
	AutomatedSyncEnabledReason = "AutomatedSyncEnabled"
	// AccessDeniedReason: the operator may not read or ask the applier.
	AccessDeniedReason = "AccessDenied"
	// ApplierConflictReason: an older trigger names the same applier.
	ApplierConflictReason = "ApplierConflict"
	// GitTargetsDisagreeReason: the GitTargets write different branches.
	GitTargetsDisagreeReason = "GitTargetsDisagree"
	// HoldContestedReason: somebody keeps resuming the held Kustomization.
	HoldContestedReason = "HoldContested"
	// ApplierHoldsOperatorReason: the applier's inventory holds this operator, which must not stop itself.
	ApplierHoldsOperatorReason = "ApplierHoldsOperator"
	// CheckFailedReason: the check itself failed and is repeated.
	CheckFailedReason = "CheckFailed"
	// ApplyFailedReason: the applier tried and failed.
	ApplyFailedReason = "ApplyFailed"
	// ApplyRequestFailedReason: the applier could not be asked.
	ApplyRequestFailedReason = "ApplyRequestFailed"
)
