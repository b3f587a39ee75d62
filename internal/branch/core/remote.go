// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core/pace"
)

// remote is what the machine believes of the remote repository, and the base that plans read.
type remote struct {
	m *Machine
	// base is the fetched commit: the branch's tip, or its parent's while the branch is absent.
	base   Commit
	exists bool
	parent ParentState
	// known: a base was fetched once; trusted: the next plan may read it without a fetch.
	known, trusted bool
	// missing: the named parent branch does not exist; nothing is planned.
	missing bool
	// want and why go into the next fetch; refetch asks for it even when no write needs it.
	want    Commit
	why     Why
	refetch bool
	proof   proof
	wished  wish
}

// proof is when the remote was last seen to be at the base.
type proof struct {
	from, at time.Time // the request began and ended
	by       string
	tip      Commit
}

// wish is a look that somebody asked for.
type wish struct {
	wanted    bool
	why       Why
	at        time.Time
	notBefore time.Time
}

// lookSpacing keeps hints from looking more than once a second (apply U57).
const lookSpacing = time.Second

// hint closes the window of a busy branch, so that its push finds the move, and looks when the branch is idle.
func (r *remote) hint(in Hint) {
	if !r.known || r.expects(in.Tip) {
		return
	}
	if in.Source == HintRefresh {
		every := r.m.cfg.RefreshInterval
		if every > 0 && pace.Due(r.proof.at.Add(every), r.m.now) {
			r.wish(WhyRefresh)
		}
		return
	}
	r.m.windows.close(CloseForeignCommit)
	r.wish(WhyRefresh)
}

// expects reports whether a tip is no news: the base, or what a push brings whose answer is still on its way. The push
// receiver may hear of our own push before we do.
func (r *remote) expects(tip Commit) bool {
	if tip.IsZero() {
		return false
	}
	o, u := r.m.lane.op, r.m.publish.unresolved
	return (r.exists && tip == r.base) || (o != nil && o.kind == opPush && o.tip == tip) || (u != nil && u.tip == tip)
}

// wish asks for a look as soon as the branch is idle and nothing else proved it.
func (r *remote) wish(why Why) {
	if !r.known {
		return
	}
	w := &r.wished
	if !w.wanted {
		w.notBefore = r.proof.at.Add(lookSpacing)
	}
	w.wanted, w.why, w.at = true, why, r.m.now
}

// postpone gives something that proves the remote anyway the time to come first.
func (r *remote) postpone() { r.wished.notBefore = r.m.now.Add(lookSpacing) }

// prove notes that a request begun at from found the remote at the base.
func (r *remote) prove(from time.Time, by string, tip Commit) {
	r.proof = proof{from: from, at: r.m.now, by: by, tip: tip}
	if r.wished.wanted && !from.Before(r.wished.at) {
		r.wished.wanted = false
	}
}

// stale reports whether a snapshot must be compared with a base proved after the snapshot was accepted.
func (r *remote) stale(p *pending) bool {
	return p.resync != nil && !p.Decided && r.proof.from.Before(p.since)
}

// same reports whether an observation agrees with the base.
func (r *remote) same(o Remote) bool {
	return r.trusted && r.exists == o.Exists && r.base == o.base() && r.parent == o.ParentState
}

// distrust makes the next plan wait for a fetch. Local commits are given up at once, before anything can go wrong half
// way; those of a push whose outcome is not known are given up when it is.
func (r *remote) distrust(want Commit, why Why) {
	r.trusted, r.want, r.why = false, want, why
	if r.m.publish.unresolved == nil {
		r.m.ledger.Unbuild(0)
	} else {
		r.m.ledger.Again(1)
	}
	r.m.touched(nil)
}

// lose handles a missing parent branch: nothing is written, and the ladder says when to look again (10.8).
func (r *remote) lose(o *op) {
	r.missing = true
	r.distrust(Commit{}, WhyRecovery)
	if r.m.publish.owed() {
		r.m.publish.fail(o, Failure{Reason: ReasonParentBranchNotFound, Text: "the parent branch does not exist"})
	}
	r.m.touched(nil)
}

// looked compares an observation with the base.
func (r *remote) looked(o *op, in Remote) {
	u := r.m.publish.unresolved
	r.m.publish.unresolved = nil
	switch {
	case u != nil && in.Exists && in.Tip == u.tip:
		r.m.publish.accept(u.count, u.tip, o.at)
	case !in.Exists && in.ParentState == ParentMissing:
		r.prove(o.at, "Fetch", Commit{})
		r.lose(o)
	case r.same(in):
		r.prove(o.at, "Fetch", in.Tip)
		if u != nil {
			r.m.publish.fail(nil, u.failure)
			return
		}
		r.m.publish.confirm()
	case u != nil:
		r.missing = false
		r.m.publish.moved(in.Tip)
	default:
		r.missing = false
		r.distrust(in.base(), o.why)
		r.refetch = true
	}
}

// fetched takes over a new base.
func (r *remote) fetched(o *op, in Fetched) {
	if !in.Remote.Exists && in.Remote.ParentState == ParentMissing {
		r.prove(o.at, "Fetch", Commit{})
		r.lose(o)
		return
	}
	foreign := r.known && (in.Foreign || in.Base != r.base)
	vanished := r.known && r.exists && !in.Remote.Exists
	r.base, r.exists, r.parent = in.Base, in.Remote.Exists, in.Remote.ParentState
	r.known, r.trusted, r.missing, r.refetch = true, true, false, false
	r.want = Commit{}
	r.prove(o.at, "Fetch", in.Remote.Tip)
	if foreign {
		r.foreign()
	}
	if vanished {
		for _, t := range r.m.targets.list {
			r.m.targets.askAll(t, RequestRecreated)
		}
	}
	r.m.touched(nil)
}

// foreign reacts to commits of others: folders are read again, refused writes may pass now.
func (r *remote) foreign() {
	for _, p := range r.m.ledger.All {
		if p.resync != nil && !p.Decided {
			p.resync.foreign = true
		}
	}
	r.m.publish.rejects.wanted = true
	for _, t := range r.m.targets.list {
		t.health.Touch = true
		for _, c := range t.cells.list {
			if c.verdict == GateDiverges {
				r.m.targets.ask(c, RequestGate)
			}
		}
	}
}

// published takes over the tip of our own push.
func (r *remote) published(tip Commit, from time.Time) {
	r.base, r.exists, r.parent = tip, true, ""
	r.known, r.trusted, r.missing, r.refetch = true, true, false, false
	r.prove(from, "Push", tip)
}
