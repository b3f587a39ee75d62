// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

// report is what a stream says about itself.
type report struct {
	phase           Phase
	reason, message string
	// listed: the server cannot stream initial events; skipped: not permitted, and only a wildcard selects the type.
	listed, skipped bool
	objects         int
	// accepted counts the snapshots the worker accepted.
	accepted int
	// open: a session is held at the API server.
	open bool
}

// voice tells the owner what a stream does. It belongs to the stream's goroutine.
type voice struct {
	last report
	post func(report)
}

// say reports a phase.
func (v *voice) say(p Phase, reason, message string) {
	if p != Blocked {
		v.last.skipped = false
	}
	v.last.phase, v.last.reason, v.last.message = p, reason, message
	v.post(v.last)
}

// tries reports a replay that begins. A blocked stream stays blocked until the server has answered: an attempt is no
// progress, and a state that goes to and fro with every attempt tells nobody anything.
func (v *voice) tries(why string) {
	if v.last.phase != Blocked {
		v.say(Replaying, why, "")
	}
}

// reads reports a replay whose session the API server has opened.
func (v *voice) reads(why string) {
	v.last.open = true
	v.say(Replaying, why, "")
}

// opened reports whether the API server holds a session of this stream.
func (v *voice) opened(open bool) {
	if v.last.open != open {
		v.last.open = open
		v.post(v.last)
	}
}

// againReason is the reason of a replay that was not asked for.
func (v *voice) againReason() string {
	if v.last.accepted == 0 {
		return ReasonInitialReplay
	}
	return ReasonResumeReplay
}
