// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package watch turns rules into streams and streams into changes: one stream
// per (GitTarget, type, namespace or all) reads raw watch events, drops what
// carries no content, and offers the rest to the branch worker in order.
//
// Flow: cluster -> watch -> Sink (branch). State has one owner: a target per
// GitTarget, one goroutine, which plans and owns its streams; each stream is
// one goroutine.
//
// How controllers use it:
//
//   - main: m := NewManager(Options{...}); run m.Start beside the controllers.
//   - KubeProvider: Sources.Set / Sources.Remove.
//   - GitTarget: m.Declare(TargetSpec) on every reconcile whose gates pass (it
//     is cheap when nothing changed), m.Forget(key) when they do not or when
//     the object is gone, m.Recheck(key, token) for requestedAt; then
//     m.Status(key) for streams and conditions.
//   - WatchRule, ClusterWatchRule: rules.Compile, put into or take out of the
//     rules.Store, then m.Trigger(target, "rule_change"). The Planner in
//     Options is the glue over rules.Resolve.
//   - Options.Dirty receives the key of a target whose Status changed; map it to
//     GitTargets and to the rules that feed it.
//
// Invariants: closing a stream changes nothing in Git. A deletion is inferred
// only from a complete snapshot. A mark, a content hash or "replay done"
// advances only after the worker accepted the item.
package watch
