// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore

import (
	"errors"
	"fmt"

	"github.com/configbutler/gitops-reverser/internal/gitstore/transport"
)

// TransportError is every failure to get an answer of the remote.
type TransportError = transport.Error

// Kind classifies a TransportError.
type Kind = transport.Kind

// The kinds of transport errors; see package transport.
const (
	Auth              = transport.Auth
	NotFound          = transport.NotFound
	HostKey           = transport.HostKey
	Refused           = transport.Refused
	TooLarge          = transport.TooLarge
	RateLimited       = transport.RateLimited
	Canceled          = transport.Canceled
	Timeout           = transport.Timeout
	Connection        = transport.Connection
	Server            = transport.Server
	Protocol          = transport.Protocol
	UnsupportedFormat = transport.UnsupportedFormat
)

// ErrNoBase is returned by calls that need a base before the first Fetch, or after the store found itself damaged.
var ErrNoBase = errors.New("the store has no base: fetch first")

// ErrParentMissing is returned by Fetch when neither the branch nor its named parent exists (git-writer 10.8).
var ErrParentMissing = errors.New("the parent branch does not exist")

// CorruptError means that an object of the store is damaged or missing. The store trusts nothing it holds any more:
// unpublished commits are gone and the next Fetch starts a fresh folder.
type CorruptError struct {
	ID  Hash
	Err error
}

// Error implements error.
func (e *CorruptError) Error() string { return fmt.Sprintf("object %s of the store: %v", e.ID, e.Err) }

// Unwrap gives the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// PathError means that an edit cannot be made at its path.
type PathError struct {
	Path, Reason string
}

// Error implements error.
func (e *PathError) Error() string { return fmt.Sprintf("%s: %s", e.Path, e.Reason) }
