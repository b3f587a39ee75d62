// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Phase is the state of a stream.
type Phase string

// The phases, weakest last.
const (
	Streaming Phase = "Streaming"
	Replaying Phase = "Replaying"
	Blocked   Phase = "Blocked"
)

// weakness orders phases: blocked > replaying > streaming.
func (p Phase) weakness() int {
	switch p {
	case Blocked:
		return 2
	case Replaying:
		return 1
	default:
		return 0
	}
}

// Reasons of a stream's phase and of StreamsRunning (watch 8.1, api 6.3).
const (
	ReasonAllStreamsReady    = "AllStreamsReady"
	ReasonInitialReplay      = "InitialReplay"
	ReasonResumeReplay       = "ResumeReplay"
	ReasonExpired            = "ExpiredResourceVersion"
	ReasonBranchIntakePaused = "BranchIntakePaused"
	ReasonWatchError         = "WatchError"
	ReasonWatchNotPermitted  = "WatchNotPermitted"
	ReasonTooManyStreams     = "TooManyStreams"
	ReasonNoResolvedTypes    = "NoResolvedTypes"
	ReasonReplaying          = "Replaying"
	ReasonNotReady           = "NotReady"
)

// CellStatus is the state of one stream.
type CellStatus struct {
	Cell change.Cell
	Type change.Type
	Phase
	Reason, Message string
	// Since is when the stream entered this phase and reason.
	Since time.Time
	// Listed: the API server cannot stream initial events, so this stream lists (watch 8.3).
	Listed bool
	// Skipped: selected only by a wildcard and not permitted; not counted in the roll-up (watch 4.1 gate 11).
	Skipped bool
	// Objects is the number of objects in the last accepted snapshot.
	Objects int
}

// TypeStatus is a type in its weakest state over its cells.
type TypeStatus struct {
	Group, Resource string
	Phase
	Reason, Message string
}

// Status is an immutable view of one target.
type Status struct {
	Key change.TargetKey
	// Planned is false before the first plan is installed.
	Planned bool
	// Settled is false while a trigger waits or a pass failed.
	Settled bool
	// DirtySince is when the oldest waiting trigger came; zero when none waits.
	DirtySince time.Time
	// Epoch numbers the sets of cells declared to the worker.
	Epoch uint64
	// CatalogRevision is the catalog the plan was made from.
	CatalogRevision uint64
	// Cells and Types are sorted by group, resource and namespace.
	Cells []CellStatus
	Types []TypeStatus
	Counts
	Answer
	// PlanProblem is why the last pass installed nothing; empty when it did.
	PlanProblem string
	// Rechecked is the last token of Recheck whose snapshots were all accepted.
	Rechecked string
}

// Counts are numbers of types, by their weakest state; Open counts sessions held at the API server.
type Counts struct {
	Total, Ready, Replaying, Blocked, Open int
}

// Answer answers StreamsRunning. Running is "True", "False" or "Unknown".
type Answer struct {
	Running, Reason, Message string
}

// ForCells returns the roll-up of the given cells only, as a rule's status shows it. Cells without a stream yet count
// as replaying.
func (s *Status) ForCells(cells []change.Cell) Status {
	out := Status{
		Key: s.Key, Planned: s.Planned, Settled: s.Settled, Epoch: s.Epoch, CatalogRevision: s.CatalogRevision,
		PlanProblem: s.PlanProblem,
	}
	for _, c := range cells {
		i := slices.IndexFunc(s.Cells, func(x CellStatus) bool { return x.Cell == c })
		if i < 0 {
			out.Cells = append(out.Cells, CellStatus{
				Cell: c, Type: change.Type{Group: c.Group, Resource: c.Resource}, Phase: Replaying, Reason: ReasonInitialReplay,
			})
			continue
		}
		out.Cells = append(out.Cells, s.Cells[i])
	}
	out.rollUp()
	return out
}

// rollUp derives the types and StreamsRunning from the cells.
func (s *Status) rollUp() {
	slices.SortFunc(s.Cells, func(a, b CellStatus) int { return compareCells(a.Cell, b.Cell) })
	for _, c := range s.Cells {
		if c.Skipped {
			continue
		}
		t := TypeStatus{
			Group: c.Cell.Group, Resource: c.Cell.Resource, Phase: c.Phase, Reason: c.Reason, Message: c.Message,
		}
		last := len(s.Types) - 1
		switch {
		case last < 0 || s.Types[last].Group != t.Group || s.Types[last].Resource != t.Resource:
			s.Types = append(s.Types, t)
		case t.weakness() > s.Types[last].weakness():
			s.Types[last] = t
		}
	}
	s.Total = len(s.Types)
	var worst *TypeStatus
	for i := range s.Types {
		t := &s.Types[i]
		switch t.Phase {
		case Blocked:
			s.Blocked++
		case Replaying:
			s.Replaying++
		case Streaming:
			s.Ready++
		}
		if worst == nil || t.weakness() > worst.weakness() ||
			t.Phase == Replaying && worst.Phase == Replaying && waits(t.Reason) > waits(worst.Reason) {
			worst = t
		}
	}
	s.Running, s.Reason, s.Message = s.running(worst)
}

// waits orders the reasons of a replay that waits for something else than its objects.
func waits(reason string) int {
	switch reason {
	case ReasonNotReady:
		return 2
	case ReasonBranchIntakePaused:
		return 1
	}
	return 0
}

func (s *Status) running(worst *TypeStatus) (status, reason, message string) {
	switch {
	case !s.Planned:
		return "Unknown", ReasonNotReady, first(s.PlanProblem, "The first plan is not made yet.")
	case worst == nil:
		return "False", ReasonNoResolvedTypes, "The rules select no resource type."
	case worst.Phase == Blocked:
		return "False", worst.Reason, first(worst.Message, worst.name()+" is blocked.")
	case worst.Phase == Replaying && worst.Reason == ReasonNotReady:
		return "Unknown", ReasonNotReady, worst.Message
	case worst.Phase == Replaying && worst.Reason == ReasonBranchIntakePaused:
		return "False", ReasonBranchIntakePaused, worst.Message
	case worst.Phase == Replaying:
		return "False", ReasonReplaying, "Reading the present state of " + s.waiting() + "."
	}
	return "True", ReasonAllStreamsReady, fmt.Sprintf("Watching %d resource type(s).", s.Total)
}

// waiting names up to three types that replay.
func (s *Status) waiting() string {
	var names []string
	for i := range s.Types {
		if s.Types[i].Phase == Replaying {
			names = append(names, s.Types[i].name())
		}
	}
	if more := len(names) - 3; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), more)
	}
	return strings.Join(names, ", ")
}

func (t *TypeStatus) name() string {
	return change.Type{Group: t.Group, Resource: t.Resource}.GroupResource()
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// publish makes the present state visible and tells the controllers when it differs from before.
func (t *target) publish() {
	p := &t.plan
	s := &Status{
		Key: t.key, Planned: p.installed, Settled: p.installed && p.dirtySince.IsZero() && p.problem == "",
		DirtySince: p.dirtySince, Epoch: p.epoch, CatalogRevision: p.revision, PlanProblem: p.problem,
		Rechecked: t.recheck.done, Cells: slices.Clone(p.held),
	}
	for cell, st := range t.streams {
		r := st.seen
		s.Cells = append(s.Cells, CellStatus{
			Cell: cell, Type: st.col.Type, Phase: r.phase, Reason: r.reason, Message: r.message, Since: st.since,
			Listed: r.listed, Skipped: r.skipped, Objects: r.objects,
		})
		if r.open {
			s.Open++
		}
	}
	s.rollUp()
	old := t.status.Swap(s)
	if reflect.DeepEqual(old, s) {
		return
	}
	t.o.Recorder.Streams(t.spec.Source, t.key, s.Ready, s.Replaying, s.Blocked, s.Open)
	if !old.DirtySince.Equal(s.DirtySince) {
		t.dirty()
	}
	if t.o.Dirty != nil {
		t.o.Dirty.Post(t.key)
	}
}
