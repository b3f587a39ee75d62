// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"context"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// Sink takes over the changes of one target for its worker. It is a comparable value: equal sinks mean the same worker.
type Sink struct{ w *worker }

// Offer returns the machine's verdict on a live change.
func (s Sink) Offer(ctx context.Context, c change.Change, recovered bool) change.Verdict {
	r := inbound{in: core.Offered{Change: c, Recovered: recovered}, verdict: make(chan change.Verdict, 1)}
	if !s.w.send(ctx, r) {
		return change.Stopped
	}
	return s.await(r.verdict)
}

// Snapshot returns the machine's verdict on a snapshot; the channel then carries what became of it.
func (s Sink) Snapshot(ctx context.Context, snap change.Snapshot, initial bool,
	stamp core.Stamp) (change.Verdict, <-chan change.Outcome) {
	r := inbound{
		in:      core.Snapped{Snapshot: snap, Initial: initial, Stamp: stamp},
		verdict: make(chan change.Verdict, 1), outcome: make(chan change.Outcome, 1),
	}
	if !s.w.send(ctx, r) {
		close(r.outcome)
		return change.Stopped, r.outcome
	}
	return s.await(r.verdict), r.outcome
}

// await waits for a verdict, which the machine gives in the same step; a worker that ends first refuses.
func (s Sink) await(verdict <-chan change.Verdict) change.Verdict {
	select {
	case v := <-verdict:
		return v
	case <-s.w.done:
		select {
		case v := <-verdict:
			return v
		default:
			return change.Stopped
		}
	}
}

// Wake returns a channel that is closed when intake may have reopened.
func (s Sink) Wake() <-chan struct{} { return *s.w.wake.Load() }

// Declare names the cells a target watches from now on, and those of them that cannot be read now.
func (s Sink) Declare(target change.TargetKey, epoch uint64, cells, blocked []change.Cell) {
	s.w.send(context.Background(), inbound{in: core.CellsDeclared{Target: target, Epoch: epoch, Cells: cells, Blocked: blocked}})
}
