// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Config is fixed for the life of a machine. Zero durations and limits take the defaults named at each field.
type Config struct {
	// Seed makes the jitter of this branch; any number. Equal seeds and inputs give equal effects.
	Seed uint64
	// BufferMax bounds accepted bytes while a failed attempt waits, and closes an open window (git-writer 10.2, 10.3).
	// Default 8 MiB.
	BufferMax int64
	// QueueSlots bounds writes and saves that wait for their decision. Default 1000.
	QueueSlots int
	// Cooldown is the pause after a successful publication. Default 5 s.
	Cooldown time.Duration
	// RetryMin and RetryMax bound the failure ladder, which doubles. Defaults 10 s and 5 min.
	RetryMin, RetryMax time.Duration
	// ContentionMin and ContentionMax bound the jitter between pushes after three moved tips (decisions 59). Defaults
	// 0.2 s and 2 s.
	ContentionMin, ContentionMax time.Duration
	// CallDeadline bounds one Look, Fetch or Push; CycleDeadline one publication cycle and one Write. Defaults 2 min
	// and 5 min.
	CallDeadline, CycleDeadline time.Duration
	// RefreshInterval is how long an idle branch may stay unproved before HintRefresh looks; zero turns it off
	// (--git-refresh-interval, set by main; no default here).
	RefreshInterval time.Duration
	// HoldMax ends the hold of a pending render gate. Default 10 min.
	HoldMax time.Duration
	// RecheckRefused is how often a refused folder's branch is looked at (decisions 62). Default 10 s.
	RecheckRefused time.Duration
	// RejectedRetry is how often writes are tried again when the remote refused all of them (decisions 58). Default
	// 5 min.
	RejectedRetry time.Duration
	// SaveMemory is how long outcomes of saves are remembered. Default 15 min.
	SaveMemory time.Duration
	// SnapshotHold is how long snapshots are discarded while Git is ahead of an applier. Default 5 min.
	SnapshotHold time.Duration
}

func (c Config) withDefaults() Config {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&c.Cooldown, 5*time.Second)
	def(&c.RetryMin, 10*time.Second)
	def(&c.RetryMax, 5*time.Minute)
	def(&c.ContentionMin, 200*time.Millisecond)
	def(&c.ContentionMax, 2*time.Second)
	def(&c.CallDeadline, 2*time.Minute)
	def(&c.CycleDeadline, 5*time.Minute)
	def(&c.HoldMax, 10*time.Minute)
	def(&c.RecheckRefused, 10*time.Second)
	def(&c.RejectedRetry, 5*time.Minute)
	def(&c.SaveMemory, 15*time.Minute)
	def(&c.SnapshotHold, 5*time.Minute)
	if c.BufferMax == 0 {
		c.BufferMax = 8 << 20
	}
	if c.QueueSlots == 0 {
		c.QueueSlots = 1000
	}
	return c
}

// TargetConfig is what the machine needs to know of one GitTarget. The runner sends it whole with each TargetSet.
type TargetConfig struct {
	// IdleTimeout and MaxDuration are spec.commit.window; zero closes a window after each write. The defaults of 5 s
	// and 1 min are applied by the API, not here. A window keeps the timers it opened with.
	IdleTimeout, MaxDuration time.Duration
	// Prune is spec.prune.mode.
	Prune PruneMode
	// Suspended is spec.suspend: nothing new is planned, snapshots are previewed (git-writer 7.6, decisions 65).
	Suspended bool
	// ProviderSuspended is the GitProvider's spec.suspend: the whole branch makes no request while any of its targets
	// says so; writes wait (decisions 61).
	ProviderSuspended bool
	// RenderGate turns the render fidelity gate on (git-writer 6.10). Off = always open.
	RenderGate bool
	// Bootstrap asks the target's resyncs to write the folder's own files even when nothing else changes (7.5).
	Bootstrap bool
	// Applier names the applier of the target's trigger, empty without one; snapshots wait while Git is ahead of it.
	Applier string
	// Revision is any text that changes whenever a person changed something that may cure a refusal: spec, provider,
	// credentials, keys. A new value ends the backoff, tries set-aside writes again and asks for lost snapshots.
	Revision string
	// Frozen is the configuration a plan needs (placement, encryption, templates, committer, signer, path ...). The
	// machine copies it into a write when that write is decided and never looks inside.
	Frozen any
}

// PendingWrite is one unit of work: at most one commit. Its content never changes once the machine has handed it to a
// Write; a replay carries the Decision beside it.
type PendingWrite struct {
	Seq    Seq
	Kind   Kind
	Target change.TargetKey
	// Changes are the live changes of a window or atomic batch: the last state per object, in first-seen order.
	Changes []change.Change
	// Snapshot is the complete state of one cell. On a replay its Items are empty: the decision holds the content.
	Snapshot *change.Snapshot
	// Author is the author of every change in the write; the zero Author (the committer) for resync and atomic.
	Author change.Author
	// Source and Message choose the commit message: with MessageRequest Message is used byte for byte, else the
	// frozen template of that name is rendered. The rendered text belongs into the Decision.
	Source  MessageSource
	Message string
	// Save is the id of the CommitRequest that waits for this write; empty without one. A write with a save keeps
	// every captured object in its decision, changed or not (git-writer 10.4).
	Save string
	// CommitEmpty asks for a commit even when no byte changes.
	CommitEmpty bool
	// Recovered marks changes delivered from a cursor after a restart (decisions 74).
	Recovered bool
	// Bootstrap is TargetConfig.Bootstrap, for a resync.
	Bootstrap bool
	// Frozen is TargetConfig.Frozen at the decision.
	Frozen any
	// Since is when the oldest change in the write was accepted.
	Since time.Time
}
