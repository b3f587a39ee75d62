// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Sink takes over changes and snapshots; the branch worker implements it. Sinks are compared with ==: another value
// means another worker.
type Sink interface {
	// Offer returns at once with the machine's verdict.
	Offer(ctx context.Context, c change.Change) change.Verdict
	// Snapshot offers the complete state of one cell. The channel carries what became of an accepted snapshot, once.
	Snapshot(ctx context.Context, s change.Snapshot, initial bool, stamp Stamp) (change.Verdict, <-chan change.Outcome)
	// Wake returns a channel that is closed when intake may have reopened. Take it before Offer and call it again after
	// each receive.
	Wake() <-chan struct{}
	// Declare names the cells a target watches from now on, and those of them that cannot be read now, for which nobody
	// should wait. It is repeated with the same epoch when an offer was answered UnknownTarget, and when a cell becomes
	// blocked or readable.
	Declare(target change.TargetKey, epoch uint64, cells, blocked []change.Cell)
}

// Stamp is what the worker knew before a snapshot was gathered (watch 8.2 step 2).
type Stamp struct {
	// Epoch is the epoch of the last Declare; watch fills it in.
	Epoch uint64
	// Applies counts the applies seen so far.
	Applies uint64
	// Ahead: Git held commits the cluster had not been given yet.
	Ahead bool
}

// Attributor names the author of a change. It may wait for evidence.
type Attributor interface {
	Attribute(ctx context.Context, c *change.Change) change.Author
}
