// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth

import "fmt"

// Reason is the condition reason an error stands for.
type Reason string

// The reasons of this package. They are reasons of a GitProvider's Ready (api 4.2).
const (
	// SecretNotFound: a key of a Secret, or the Secret, does not exist.
	SecretNotFound Reason = "SecretNotFound"
	// SecretMalformed: the Secret does not hold a complete, readable credential.
	SecretMalformed Reason = "SecretMalformed"
	// HostKeyUnavailable: no usable SSH host key is known, or the server's differs.
	HostKeyUnavailable Reason = "HostKeyUnavailable"
	// AuthenticationFailed: the Git host refused to issue a token.
	AuthenticationFailed Reason = "AuthenticationFailed"
	// RateLimited: the Git host asked to wait before it issues a token.
	RateLimited Reason = "RateLimited"
	// ConnectionFailed: the Git host did not answer a request for a token.
	ConnectionFailed Reason = "ConnectionFailed"
	// CommitConfigInvalid: the signing key cannot be used.
	CommitConfigInvalid Reason = "CommitConfigInvalid"
	// InvalidConfig: the URL cannot be used, or not with credentials.
	InvalidConfig Reason = "InvalidConfig"
)

// Error is every failure of this package. It names the cause and the cure and never holds a secret value.
type Error struct {
	Reason  Reason
	Message string
	// Err is the cause, when it has more to tell.
	Err error
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// ConditionReason names the condition reason.
func (e *Error) ConditionReason() string { return string(e.Reason) }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Stalled reports whether a person must act (decisions 60).
func (e *Error) Stalled() bool { return e.Reason != RateLimited && e.Reason != ConnectionFailed }

// Errorf makes an Error. An argument that is an error becomes part of the text only.
func Errorf(r Reason, format string, args ...any) *Error {
	return &Error{Reason: r, Message: fmt.Sprintf(format, args...)}
}
