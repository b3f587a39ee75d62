// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption

import "fmt"

// Reason is the condition reason an Error stands for.
type Reason string

// The reasons of EncryptionConfigured=False (api 6.3).
const (
	// MissingSecret: the Secret with the keys does not exist or holds none.
	MissingSecret Reason = "MissingSecret"
	// InvalidConfig: a recipient or an identity cannot be read, or there is no recipient.
	InvalidConfig Reason = "InvalidConfig"
	// SecretCreateDisabled: the Secret holds no identity and generateWhenMissing is off.
	SecretCreateDisabled Reason = "SecretCreateDisabled"
)

// Error says why encryption is not configured. It never holds a key.
type Error struct {
	Reason  Reason
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// ConditionReason names the condition reason.
func (e *Error) ConditionReason() string { return string(e.Reason) }

func errorf(r Reason, format string, args ...any) *Error {
	return &Error{Reason: r, Message: fmt.Sprintf(format, args...)}
}
