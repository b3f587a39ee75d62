// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/mailbox"
)

// DefaultMaxStreams is --max-streams-per-target (decision 75).
const DefaultMaxStreams = 2000

// Trigger reasons (watch 7); they are metric labels.
const (
	TriggerDeclare       = "declare"
	TriggerRuleChange    = "rule_change"
	TriggerSharedRefresh = "shared_refresh"
	TriggerPeriodic      = "periodic"
)

// Options configures a Manager.
type Options struct {
	Sources *cluster.Sources
	Planner Planner
	// Dirty receives the key of each target whose Status changed; may be nil.
	Dirty *mailbox.Mailbox[change.TargetKey]
	// Requests carries the worker's wishes for fresh snapshots; may be nil.
	Requests *mailbox.Mailbox[SnapshotRequest]
	// Recorder counts; nil counts nothing.
	Recorder Recorder
	// MaxStreams per target; 0 means DefaultMaxStreams.
	MaxStreams int
	// Clock is injected by tests; nil means the real one.
	Clock clock.Clock
	Log   logr.Logger
}

// SnapshotRequest asks for a fresh snapshot of one cell, or of every cell of the target when Cell is zero.
type SnapshotRequest = struct {
	Target change.TargetKey
	Cell   change.Cell
}

// Manager owns the targets. It is safe for concurrent use.
type Manager struct {
	o Options
}

// NewManager returns a manager; nothing runs before Start.
func NewManager(o Options) *Manager { return &Manager{o: o} }

// Start runs until the context ends, then ends every stream. It is a manager.Runnable.
func (m *Manager) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// Declare adds a target or replaces its spec. It returns at once; an equal spec changes nothing.
func (m *Manager) Declare(s TargetSpec) {}

// Forget ends a target's streams. Git is left as it is.
func (m *Manager) Forget(k change.TargetKey) {}

// Trigger asks for a planning pass of a target.
func (m *Manager) Trigger(k change.TargetKey, reason string) {}

// Recheck takes a fresh snapshot of every collection of a target. Status.Rechecked becomes token when all were
// accepted; a token that was already handled does nothing.
func (m *Manager) Recheck(k change.TargetKey, token string) {}

// Status returns the view of a target; false when it is not declared.
func (m *Manager) Status(k change.TargetKey) (Status, bool) { return Status{}, false }

// Targets returns the declared targets in a fixed order.
func (m *Manager) Targets() []change.TargetKey { return nil }
