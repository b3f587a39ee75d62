// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core/chain"
	"github.com/configbutler/gitops-reverser/internal/branch/core/cursor"
	"github.com/configbutler/gitops-reverser/internal/branch/core/group"
	"github.com/configbutler/gitops-reverser/internal/branch/core/pace"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// window is the open group of live changes of one author and one target (git-writer 9.4, 10.3).
type window struct {
	t         *target
	author    change.Author
	recovered bool
	batch     group.Batch
	timers    group.Timers
	opened    time.Time
	save      *save
	// own is the receipt of changes taken directly; receipts also holds those of changes that were held.
	own      *receipt
	receipts []*receipt
}

// closes returns when and why the window closes by itself.
func (w *window) closes() (time.Time, CloseReason) {
	at, idle := w.timers.End()
	if idle {
		return at, CloseIdle
	}
	return at, CloseMax
}

func (w *window) fits(t *target, a change.Author, recovered bool) bool {
	return w.t == t && w.author.Kind == a.Kind && w.author.Username == a.Username && w.recovered == recovered
}

// named reports whether the author is somebody (attribution 13.4).
func named(a change.Author) bool {
	return a.Kind == change.AuthorUser || a.Kind == change.AuthorServiceAccount
}

// windows owns the one open window of the branch.
type windows struct {
	m    *Machine
	open *window
}

// take adds an accepted change and follows it for its cell's cursor.
func (k *windows) take(t *target, cl *cell, c change.Change, recovered bool) {
	w := k.join(t, c.Author, recovered)
	if w.own == nil {
		w.own = cursor.Open[*cell]()
		w.receipts = append(w.receipts, w.own)
	}
	cl.Track(c.ResourceVersion, w.own, false)
	k.put(w, c)
}

// add adds a change that already has receipts: it was held.
func (k *windows) add(t *target, c change.Change, recovered bool, rs []*receipt) {
	w := k.join(t, c.Author, recovered)
	w.receipts = append(w.receipts, rs...)
	k.put(w, c)
}

// join returns the window a change belongs into. Only a write opens a window, and a waiting save is offered it first.
func (k *windows) join(t *target, a change.Author, recovered bool) *window {
	if k.open != nil && !k.open.fits(t, a, recovered) {
		k.close(CloseIdentity)
	}
	if k.open == nil {
		k.open = &window{
			t: t, author: a, recovered: recovered, opened: k.m.now,
			timers: group.Timers{From: k.m.now, Max: t.cfg.MaxDuration, Idle: t.cfg.IdleTimeout},
		}
		k.m.saves.opened(k.open)
	}
	return k.open
}

// put stores the last state of the object at its first-seen place and closes the window when that is due.
func (k *windows) put(w *window, c change.Change) {
	w.timers.Last = k.m.now
	w.batch.Put(c)
	if at, why := w.closes(); pace.Due(at, k.m.now) {
		k.close(why)
	} else if w.batch.Bytes+k.m.ledger.Bytes() >= k.m.cfg.BufferMax {
		k.close(CloseBuffer)
	}
}

func (k *windows) expire() {
	if k.open == nil {
		return
	}
	if at, why := k.open.closes(); pace.Due(at, k.m.now) {
		k.close(why)
	}
}

func (k *windows) due(next *pace.Soonest) {
	if k.open != nil {
		at, _ := k.open.closes()
		next.Add(at)
	}
}

// close turns the open window into a pending write, before any commit is made.
func (k *windows) close(why CloseReason) {
	w := k.open
	if w == nil {
		return
	}
	k.open = nil
	p := &pending{t: w.t, receipts: w.receipts, Link: chain.Link[Commit]{Bytes: w.batch.Bytes}, since: w.opened, save: w.save}
	p.work = PendingWrite{
		Kind: KindWindow, Changes: w.batch.Changes, Author: w.author, Source: MessageLive, Recovered: w.recovered,
	}
	if s := w.save; s != nil {
		s.state = SaveAwaitingPush
		p.work.Save, p.work.CommitEmpty = s.ID, s.CommitEmpty
		if s.Message != "" {
			p.work.Source, p.work.Message = MessageRequest, s.Message
		}
	}
	k.m.ledger.append(p)
	k.m.observe(w.t, Observation{
		What: ObservedWindow, Reason: string(why), Count: len(w.batch.Changes), Since: w.opened, BySave: w.save != nil,
	})
}
