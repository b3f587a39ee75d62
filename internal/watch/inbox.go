// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"sync"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// mail is everything that waits for a target's owner. It coalesces: what is posted twice is handled once.
type mail struct {
	spec *TargetSpec
	// triggers are the reasons to plan, in order.
	triggers []string
	// source: the source's configuration, catalog or reachability changed.
	source bool
	// recheck is the last token; rechecked tells an empty one from none.
	recheck   string
	rechecked bool
	// snapshots are the cells the worker wants afresh; a zero cell means all.
	snapshots map[change.Cell]struct{}
	// reports are the streams' latest words.
	reports map[*stream]report
	// redeclare: the worker answered UnknownTarget.
	redeclare bool
}

// inbox hands mail to a target's owner. Posting never blocks.
type inbox struct {
	mu   sync.Mutex
	mail mail
	wake chan struct{}
}

func newInbox() *inbox { return &inbox{wake: make(chan struct{}, 1)} }

func (b *inbox) post(f func(*mail)) {
	b.mu.Lock()
	f(&b.mail)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *inbox) take() mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.mail
	b.mail = mail{}
	return m
}

// dirty reports a trigger that arrived after the last take.
func (b *inbox) dirty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.mail.triggers) > 0
}
