// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/gitstore/transport"
	"github.com/configbutler/gitops-reverser/internal/gitstore/wire"
)

// namedTip is how git tells where a reference is when its lock fails.
var namedTip = regexp.MustCompile(`ref '?([^\s']+)'?: is at ([0-9a-f]{40}) but expected ([0-9a-f]{40})`)

// contention are the reasons of a status line by which servers mean "somebody else was there": they say nothing about
// the content of the push. Whether the branch really moved is asked, never guessed.
var contention = []string{
	"failed to update ref", "cannot lock ref", "failed to lock", "unable to lock", "lock failure", "lock error",
	"incorrect old value", "non-fast-forward", "fetch first", "stale info", "already exists", "transaction failed",
	"reference conflict", "remote ref is at", "changed since",
}

// occupied is how git says that a branch cannot live below another one, or above it: no lock that goes away by itself.
const occupied = "exists; cannot create"

// judge classifies the answer to a push by its structure: who says no (the report of git itself, a hook, the transport)
// and where the branch is now. retry asks for one more attempt at once.
func (s *Store) judge(
	ctx context.Context, x *transport.Session, p *push, rep wire.Report, err error,
) (res PushResult, retry bool, _ error) {
	res = PushResult{Outcome: Unknown, Text: x.Clean(report(rep))}
	var e *TransportError
	if errors.As(err, &e) {
		res.RetryAfter = e.RetryAfter
		if res.Text == "" {
			res.Text = e.Text
		}
	}
	switch {
	case rep.OK:
		res.Outcome = Accepted
		return res, false, nil
	case rep.Unpack == "" && rep.Reason == "":
		if e != nil && refusesContent(e) {
			return s.proveRefusal(ctx, x, p, res, e)
		}
		return res, false, err // an empty report is Unknown, as is a lost one
	}
	if tip, ok := p.named(rep.Text + "\n" + rep.Reason); ok {
		if tip == p.command.New {
			res.Outcome = Accepted
			return res, false, nil
		}
		res.Outcome, res.Tip, res.TipKnown = Moved, tip, true
		return res, false, nil
	}
	r, lookErr := s.look(ctx, x)
	if lookErr != nil {
		return res, false, lookErr
	}
	res.Tip, res.TipKnown = r.Tip, true
	switch {
	case r.Tip == p.command.New:
		res.Outcome = Accepted
	case r.Tip != p.command.Old:
		res.Outcome = Moved
	case rep.Unpack == "ok" && rep.Reason == "":
		return res, false, err // the report ended early
	case rep.Unpack != "" && rep.Unpack != "ok":
		// The server could not use the pack: once more without deltas, which need what it may have lost.
		retry = !s.proto.whole
		s.proto.whole = true
	case strings.Contains(rep.Reason, "missing necessary objects"):
		retry = !s.proto.whole
		s.proto.whole = true
	case isContention(rep.Reason) && !strings.Contains(rep.Text+rep.Reason, occupied):
		retry = true // a lock held for a moment
	default:
		res.Outcome = Rejected
	}
	return res, retry, nil
}

// proveRefusal turns a definite no of the transport (413, other 4xx) into Rejected when the branch has not moved.
func (s *Store) proveRefusal(
	ctx context.Context, x *transport.Session, p *push, res PushResult, e *TransportError,
) (PushResult, bool, error) {
	r, err := s.look(ctx, x)
	if err != nil {
		return res, false, e
	}
	res.Tip, res.TipKnown = r.Tip, true
	switch r.Tip {
	case p.command.New:
		res.Outcome = Accepted
	case p.command.Old:
		res.Outcome = Rejected
		res.Text = e.Said()
	default:
		res.Outcome = Moved
	}
	return res, false, nil
}

// refusesContent reports whether a transport error is about what was sent, not about who sent it or when.
func refusesContent(e *TransportError) bool {
	return e.Status != 0 && (e.Kind == TooLarge || e.Kind == Refused)
}

// named finds the tip in the server's words, when they speak of our reference and our expectation.
func (p *push) named(text string) (Hash, bool) {
	for _, m := range namedTip.FindAllStringSubmatch(text, -1) {
		at, ok1 := wire.ParseHash(m[2])
		expected, ok2 := wire.ParseHash(m[3])
		if ok1 && ok2 && m[1] == p.command.Ref && expected == p.command.Old && at != expected && !at.IsZero() {
			return at, true
		}
	}
	return Hash{}, false
}

func isContention(reason string) bool {
	reason = strings.ToLower(reason)
	for _, c := range contention {
		if strings.Contains(reason, c) {
			return true
		}
	}
	return false
}

// report is what a person should read of a report.
func report(rep wire.Report) string {
	parts := []string{strings.TrimSpace(rep.Text)}
	if rep.Unpack != "" && rep.Unpack != "ok" {
		parts = append(parts, "unpack: "+rep.Unpack)
	}
	if rep.Reason != "" {
		parts = append(parts, rep.Reason)
	}
	return strings.Join(parts, "\n")
}
