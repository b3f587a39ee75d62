// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"context"
	"errors"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/gitstore"
)

// Reasoned is an error that names the condition reason it stands for, such as a missing Secret. Credentials and
// signers return it.
type Reasoned interface {
	error
	ConditionReason() string
}

// maxText bounds what a condition shows of a cause, in bytes.
const maxText = 1024

// failure makes the machine's words from a typed error.
func failure(ctx context.Context, err error) *core.Failure {
	f := &core.Failure{Reason: core.ReasonConnectionFailed, Text: bounded(err.Error())}
	var transport *gitstore.TransportError
	var reasoned Reasoned
	var corrupt *gitstore.CorruptError
	switch {
	case errors.As(err, &reasoned):
		f.Reason = core.Reason(reasoned.ConditionReason())
	case errors.As(err, &transport):
		f.Reason, f.RetryAfter = transportReason(transport.Kind), transport.RetryAfter
	case errors.As(err, &corrupt), errors.Is(err, gitstore.ErrNoBase), errors.Is(err, gitstore.ErrStale):
		f.Reason = core.ReasonStore
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		f.Reason = core.ReasonDeadline
	case errors.Is(err, context.Canceled):
		f.Reason = core.ReasonCancelled
	}
	return f
}

func transportReason(k gitstore.Kind) core.Reason {
	switch k {
	case gitstore.Auth:
		return core.ReasonAuthenticationFailed
	case gitstore.HostKey:
		return core.ReasonHostKeyUnavailable
	case gitstore.RateLimited:
		return core.ReasonRateLimited
	case gitstore.Timeout:
		return core.ReasonDeadline
	case gitstore.Canceled:
		return core.ReasonCancelled
	case gitstore.UnsupportedFormat:
		return core.ReasonUnsupportedRepository
	default:
		return core.ReasonConnectionFailed
	}
}

func bounded(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "..."
	}
	return s
}
