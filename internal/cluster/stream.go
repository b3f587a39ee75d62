// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Collection is what one stream reads.
type Collection struct {
	Type change.Type
	// Namespace is empty for all namespaces and cluster-scoped types.
	Namespace string
	// Selector is a label selector in its canonical text form; empty for every object.
	Selector string
}

// EventType is the type of a watch frame.
type EventType string

// The event types.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
	Bookmark EventType = "BOOKMARK"
	Failed   EventType = "ERROR"
)

// Frame is one watch event. Object aliases the stream's buffer and is valid until the next call of Next.
type Frame struct {
	Type   EventType
	Object []byte
}

// Stream is an open watch.
type Stream interface {
	// Next returns the next frame. io.EOF means the server ended the watch in order.
	Next() (Frame, error)
	// Close ends the watch. It may be called more than once and from another goroutine.
	Close()
}

// Mark says where a watch starts.
type Mark struct {
	// ResourceVersion to resume after; empty means a replay with sendInitialEvents.
	ResourceVersion string
}

// Open opens a watch. The context bounds the stream's whole life. Errors: *StatusError for the server's refusal.
func (s *Source) Open(ctx context.Context, c Collection, m Mark) (Stream, error) { return nil, nil }

// StatusError is a refusal by the API server.
type StatusError struct {
	Code            int
	Reason, Message string
	// RetryAfter is the server's wish; 0 when it named none.
	RetryAfter time.Duration
}

// Error returns the server's own words.
func (e *StatusError) Error() string { return e.Message }
