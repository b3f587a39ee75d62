// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"slices"
	"strings"
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core/chain"
	"github.com/configbutler/gitops-reverser/internal/branch/core/group"
	"github.com/configbutler/gitops-reverser/internal/branch/core/pace"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// Texts of failed saves.
const (
	textSuspended = "the GitTarget is suspended"
	textPending   = "the render fidelity of the folder is not established yet"
	textDivergent = "the folder renders differently from the live objects"
	textStopped   = "the worker stopped before the commit reached the remote"
	textUnknown   = "the worker stopped before it knew whether its push reached the remote"
)

// save is one CommitRequest on its way (attribution 13.3).
type save struct {
	Save
	state    SaveState
	commit   Commit
	text     string
	deadline time.Time
	attached time.Time
	ended    time.Time
	// foreign: while it waited, a window of its target opened for somebody else.
	foreign bool
}

// saves holds registered saves and remembers outcomes for a while.
type saves struct {
	m       *Machine
	byID    map[string]*save
	waiting []*save
	done    []*save // in order of their end
}

func (k *saves) bytes() int64 { return int64(len(k.waiting)) * itemOverhead }

func (k *saves) answer(s *save) {
	k.m.emit(Answer{Save: s.ID, State: s.state, Commit: s.commit, Text: s.text, AttachedAt: s.attached})
}

// open registers a save; a known one is only answered.
func (k *saves) open(in Save) {
	if s := k.byID[in.ID]; s != nil {
		k.answer(s)
		return
	}
	t := k.m.targets.byKey[in.Target]
	if t == nil {
		k.m.emit(Answer{Save: in.ID, State: SaveNotAdmitted, Text: "no worker holds the GitTarget"})
		return
	}
	if v := k.m.intake.verdict(itemOverhead); v != change.Accepted {
		k.m.intake.refuse(t, v, "attach")
		k.m.emit(Answer{Save: in.ID, State: SaveNotAdmitted, Text: string(v)})
		return
	}
	s := &save{Save: in, state: SaveWaiting}
	k.byID[s.ID] = s
	if t.suspended() {
		k.end(s, SaveFailed, Commit{}, textSuspended)
		return
	}
	s.deadline = k.m.now.Add(s.AttachTimeout)
	k.waiting = append(k.waiting, s)
	if w := k.m.windows.open; w != nil && w.t == t {
		switch {
		case !s.matches(w):
			s.foreign = true
		case s.Next:
			k.m.windows.close(CloseAttachNext)
		case w.save == nil:
			k.attach(w, s)
		}
	}
	k.answer(s)
}

// matches compares target, name and "names somebody" (attribution 13.4).
func (s *save) matches(w *window) bool {
	return s.Target == w.t.key && s.Named == named(w.author) && (!s.Named || s.Username == w.author.Username)
}

// author is who an empty record is committed as.
func (s *save) author() change.Author {
	if !s.Named {
		return change.Author{}
	}
	kind := change.AuthorUser
	if strings.HasPrefix(s.Username, "system:serviceaccount:") {
		kind = change.AuthorServiceAccount
	}
	return change.Author{Kind: kind, Username: s.Username}
}

// opened offers a new window to the waiting saves, first come first served.
func (k *saves) opened(w *window) {
	for _, s := range slices.Clone(k.waiting) {
		switch {
		case s.Target != w.t.key:
		case !s.matches(w):
			s.foreign = true
		case w.save == nil:
			k.attach(w, s)
		}
	}
}

// attach gives the window to the save; its timers replace the window's and count from now.
func (k *saves) attach(w *window, s *save) {
	s.state, s.attached = SaveCollecting, k.m.now
	k.leave(s)
	w.save = s
	w.timers = group.Timers{From: k.m.now, Last: k.m.now, Max: s.MaxDuration, Quiet: s.IdleTimeout == nil}
	if s.IdleTimeout != nil {
		w.timers.Idle = *s.IdleTimeout
	}
}

// close withdraws a save that no window holds. An unknown one is remembered as withdrawn, so that a late SaveOpened
// cannot revive it.
func (k *saves) close(id string) {
	s := k.byID[id]
	if s == nil {
		s = &save{Save: Save{ID: id}, state: SaveWaiting}
		k.byID[id] = s
		k.end(s, SaveWithdrawn, Commit{}, "")
		return
	}
	if s.state == SaveWaiting {
		k.end(s, SaveWithdrawn, Commit{}, "")
		return
	}
	k.answer(s)
}

// end reaches an outcome, once.
func (k *saves) end(s *save, state SaveState, c Commit, text string) {
	if s == nil || s.state.Final() {
		return
	}
	k.leave(s)
	s.state, s.commit, s.text, s.ended = state, c, text, k.m.now
	k.done = append(k.done, s)
	k.answer(s)
	k.m.observe(k.m.targets.byKey[s.Target], Observation{What: ObservedSave, Reason: string(state), Commit: c})
}

// expire ends saves whose wait is over and forgets old outcomes.
func (k *saves) expire() {
	for _, s := range slices.Clone(k.waiting) {
		if pace.Due(s.deadline, k.m.now) {
			k.miss(s)
		}
	}
	for len(k.done) > 0 && pace.Due(k.done[0].ended.Add(k.m.cfg.SaveMemory), k.m.now) {
		delete(k.byID, k.done[0].ID)
		k.done = k.done[1:]
	}
}

func (k *saves) due(next *pace.Soonest) {
	for _, s := range k.waiting {
		next.Add(s.deadline)
	}
}

// miss resolves a save that got no window.
func (k *saves) miss(s *save) {
	t := k.m.targets.byKey[s.Target]
	switch {
	case s.foreign:
		k.end(s, SaveWindowMismatch, Commit{}, "")
	case t == nil || !s.CommitEmpty:
		k.end(s, SaveNoWindow, Commit{}, "")
	default:
		k.leave(s)
		s.state = SaveAwaitingPush
		p := &pending{t: t, save: s, Link: chain.Link[Commit]{Bytes: itemOverhead}}
		p.work = PendingWrite{
			Kind: KindSave, Source: MessageRequest, Message: s.Message, Save: s.ID, CommitEmpty: true, Author: s.author(),
		}
		k.m.ledger.append(p)
	}
}

func (k *saves) leave(s *save) {
	k.waiting = slices.DeleteFunc(k.waiting, func(o *save) bool { return o == s })
}

// failWaiting ends the waiting saves of a target.
func (k *saves) failWaiting(t *target, text string) {
	for _, s := range slices.Clone(k.waiting) {
		if s.Target == t.key {
			k.end(s, SaveFailed, Commit{}, text)
		}
	}
}

// published ends the save of a write the remote holds.
func (k *saves) published(p *pending) {
	switch {
	case p.save == nil:
	case p.work.Kind == KindSave:
		k.end(p.save, SaveNoWindow, p.Commit, "")
	case p.Commit.IsZero() || p.empty:
		k.end(p.save, SaveAlreadyPresent, p.Commit, "")
	default:
		k.end(p.save, SaveCommitted, p.Commit, "")
	}
}

// handBack tells the waiting saves that this worker will not act on them; they may be sent to the next one.
func (k *saves) handBack() {
	for _, s := range k.waiting {
		delete(k.byID, s.ID)
		k.m.emit(Answer{Save: s.ID, State: SaveNotAdmitted, Text: "the worker stopped before it acted on the request"})
	}
	k.waiting = nil
}
