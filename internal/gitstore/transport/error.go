// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"fmt"
	"time"
)

// Kind classifies an Error.
type Kind string

// The kinds of transport errors.
const (
	// Auth: the credentials were refused (401, 403, SSH authentication), or a login page answered.
	Auth Kind = "Auth"
	// NotFound: the repository does not exist or is hidden from these credentials.
	NotFound Kind = "NotFound"
	// HostKey: the SSH host key is unknown or differs.
	HostKey Kind = "HostKey"
	// Refused: the server refused the request in another way; its words are in Text.
	Refused Kind = "Refused"
	// TooLarge: the request body is too large for the server or a proxy before it (413).
	TooLarge Kind = "TooLarge"
	// RateLimited: 429, or 403 and 503 with Retry-After.
	RateLimited Kind = "RateLimited"
	// Timeout: no answer within the deadline.
	Timeout Kind = "Timeout"
	// Connection: no connection, or it broke.
	Connection Kind = "Connection"
	// Server: the server failed (5xx).
	Server Kind = "Server"
	// Canceled: the caller's context ended first.
	Canceled Kind = "Canceled"
	// Protocol: the answer is not Git's.
	Protocol Kind = "Protocol"
	// UnsupportedFormat: a SHA-256 repository (decisions 64).
	UnsupportedFormat Kind = "UnsupportedFormat"
)

// Error is every failure to get an answer of the remote.
type Error struct {
	// Op is look, fetch, push or probe.
	Op   string
	Kind Kind
	// Sent is true when the request may have reached the server whole: a push that failed like this may have landed.
	Sent bool
	// Status is the HTTP status, 0 when there was none.
	Status int
	// Text holds the server's own words, without credentials, at most 1 KiB.
	Text string
	// RetryAfter is the pause the server asked for.
	RetryAfter time.Duration
	// Host is the server that was asked.
	Host string
	// Err is the cause, when there is one.
	Err error
}

// Error implements error.
func (e *Error) Error() string { return e.Op + " " + e.Host + ": " + e.Said() }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// local marks an error of this side, such as a full disk.
type local struct{ err error }

func (l local) Error() string { return l.err.Error() }

// Local marks an error that a read callback met on this side: it is returned as it is, not as an *Error.
func Local(err error) error { return local{err} }

// Said is what happened without who was asked: the status and the server's words.
func (e *Error) Said() string {
	switch {
	case e.Status != 0 && e.Text != "":
		return fmt.Sprintf("HTTP status %d: %s", e.Status, e.Text)
	case e.Status != 0:
		return fmt.Sprintf("HTTP status %d", e.Status)
	case e.Text != "":
		return e.Text
	case e.Err != nil:
		return e.Err.Error()
	}
	return string(e.Kind)
}

// MayHaveLanded reports whether a push that failed like this may have moved the reference all the same: the request was
// sent whole and nobody refused it.
func (e *Error) MayHaveLanded() bool {
	switch e.Kind {
	case Timeout, Connection, Canceled, Server, Protocol:
		return e.Sent
	}
	return false
}
