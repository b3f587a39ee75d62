// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package watch turns rules into streams and streams into changes: one stream
// per (GitTarget, type, namespace or all) reads raw watch events, drops what
// carries no content, and offers the rest to the branch worker in order.
//
// Flow: cluster -> watch -> Sink (branch). A target per GitTarget plans and owns
// its streams in one goroutine. A stream is one goroutine as well: session.go
// and fallback.go gather a snapshot and follow, filter.go and offer.go pass live
// events on, health.go and stream.go decide what follows an end.
//
// Controllers: a KubeProvider calls Sources.Set and Remove; a GitTarget calls
// Manager.Declare on each pass (an equal spec costs nothing) or Forget, Recheck
// for requestedAt, and reads Status; rules go through rules.Compile into the
// rules.Store, followed by Manager.Trigger. Options.Planner is the glue over
// rules.Resolve, and Options.Dirty receives the key of each target whose Status
// changed. The TargetSet of the branch comes before Declare.
//
// Invariants: closing a stream changes nothing in Git. A deletion is inferred
// only from a complete snapshot. A mark, a content hash or "replay done" moves
// only after the worker accepted the item. No pass installs half a plan.
package watch
