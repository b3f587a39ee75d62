// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import "time"

// Reason is the machine-readable cause of a failure; it is the reason of the condition that reports it.
type Reason string

// The reasons the machine treats differently. Any other text is an ordinary failure: progressing, retried on the
// ladder.
const (
	ReasonSecretNotFound        Reason = "SecretNotFound"
	ReasonSecretMalformed       Reason = "SecretMalformed"
	ReasonCommitConfigInvalid   Reason = "CommitConfigInvalid"
	ReasonHostKeyUnavailable    Reason = "HostKeyUnavailable"
	ReasonAuthenticationFailed  Reason = "AuthenticationFailed"
	ReasonPushRejected          Reason = "PushRejected"
	ReasonParentBranchNotFound  Reason = "ParentBranchNotFound"
	ReasonUnsupportedRepository Reason = "UnsupportedObjectFormat"
	// ReasonInvalidConfig: the URL cannot be used, or not with credentials.
	ReasonInvalidConfig Reason = "InvalidConfig"
	// ReasonConnectionFailed: the remote could not be reached or answered with an error.
	ReasonConnectionFailed Reason = "ConnectionFailed"
	// ReasonRateLimited: the host asked to wait (429, or 403 with Retry-After; decisions 59).
	ReasonRateLimited Reason = "RateLimited"
	// ReasonDeadline: a call or a cycle took longer than its deadline.
	ReasonDeadline Reason = "DeadlineExceeded"
	// ReasonContention: other writers kept moving the branch for a whole cycle.
	ReasonContention Reason = "BranchContended"
	// ReasonStore: the local object store could not be read or written. The write is kept, the base is fetched anew.
	ReasonStore Reason = "StoreUnusable"
	// ReasonCancelled: the runner stopped a Write because of an Abort. The write is kept.
	ReasonCancelled Reason = "Cancelled"
	// ReasonWriteFailed: planning, encryption, a template or signing failed. The write is dropped (git-writer 10.4).
	ReasonWriteFailed Reason = "WriteFailed"
)

// Stalled reports whether a person must act (decisions 60). Everything else is progressing.
func (r Reason) Stalled() bool {
	switch r {
	case ReasonSecretNotFound, ReasonSecretMalformed, ReasonCommitConfigInvalid, ReasonHostKeyUnavailable,
		ReasonAuthenticationFailed, ReasonPushRejected, ReasonParentBranchNotFound, ReasonUnsupportedRepository,
		ReasonInvalidConfig:
		return true
	default:
		return false
	}
}

// Failure is an error as the machine needs it. The runner makes it from the typed errors of gitstore, gitauth, plan
// and encryption; it holds no credentials and no object values.
type Failure struct {
	Reason Reason
	// Text is the cause in the server's or library's words, bounded and redacted by the runner.
	Text string
	// RetryAfter is the host's own wish; zero = none. Another branch of the same host learns of it from gitstore.Hosts,
	// through which the transport answers without dialling.
	RetryAfter time.Duration
}
