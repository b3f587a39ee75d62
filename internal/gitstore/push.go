// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/configbutler/gitops-reverser/internal/gitstore/pack"
	"github.com/configbutler/gitops-reverser/internal/gitstore/transport"
	"github.com/configbutler/gitops-reverser/internal/gitstore/wire"
)

// Push publishes the commits up to tip, if the remote branch is still at expected; the zero Hash creates the branch. It
// never forces. tip == expected publishes nothing and asks whether the branch is there: the no-op save.
//
// One request over HTTP when the server's capabilities are known and the branch exists; with the advertisement before
// it otherwise. When the server refuses without saying where the branch is, one look more tells Moved from Rejected.
//
// The error is a *TransportError when there was no report of the server; the outcome is then Unknown, unless a look has
// proven more, and MayHaveLanded of the error says whether a look is needed before the next attempt.
func (s *Store) Push(ctx context.Context, expected, tip Hash) (PushResult, error) {
	x, err := s.client.Begin(ctx, "push")
	if err != nil {
		return PushResult{Outcome: Unknown}, err
	}
	if tip == expected {
		return s.confirm(ctx, x, expected)
	}
	p, err := s.preparePush(expected, tip)
	if err != nil {
		return PushResult{Outcome: Unknown}, err
	}
	whole := s.proto.whole
	for again := false; ; again = true {
		rep, moved, err := p.send(ctx, x)
		if moved != nil {
			return s.settle(p, *moved), nil
		}
		if e, ok := err.(*TransportError); ok && e.Kind == Protocol {
			s.proto.receive = nil // learn the server anew
		}
		res, retry, err := s.judge(ctx, x, p, rep, err)
		if !retry || again {
			// Whole objects are for good only where they were the cure.
			s.proto.whole = whole || s.proto.whole && res.Outcome == Accepted
			return s.settle(p, res), err
		}
	}
}

// confirm answers a push without commits.
func (s *Store) confirm(ctx context.Context, x *transport.Session, expected Hash) (PushResult, error) {
	r, err := s.look(ctx, x)
	switch {
	case err != nil:
		return PushResult{Outcome: Unknown}, err
	case r.Tip == expected:
		return PushResult{Outcome: Accepted, Tip: r.Tip, TipKnown: true}, nil
	}
	s.hint = r.Tip
	return PushResult{Outcome: Moved, Tip: r.Tip, TipKnown: true}, nil
}

// push is one publication under way.
type push struct {
	s       *Store
	command wire.Command
	chain   []*commit
	objects []*pack.Object
	inPack  map[Hash]bool
}

// preparePush collects the commits from expected (or, for a new branch, from the base) to tip.
func (s *Store) preparePush(expected, tip Hash) (*push, error) {
	command := wire.Command{Old: expected, New: tip, Ref: "refs/heads/" + s.o.Branch}
	p := &push{s: s, command: command, inPack: map[Hash]bool{}}
	if !s.ready {
		return nil, ErrNoBase
	}
	p.chain = s.pending.chain(tip)
	if len(p.chain) == 0 {
		return nil, fmt.Errorf("commit %s is not an unpublished commit of the store", tip)
	}
	start := p.chain[0].parent
	for i, c := range p.chain {
		if c.id == expected { // commits up to here were published already
			p.chain, start = p.chain[i+1:], c.id
			break
		}
	}
	if start != expected && (!expected.IsZero() || start != s.base) {
		return nil, fmt.Errorf("commit %s does not follow %s", tip, expected)
	}
	for _, c := range p.chain {
		for _, o := range c.objects {
			if !p.inPack[o.ID] {
				p.inPack[o.ID] = true
				p.objects = append(p.objects, o)
			}
		}
	}
	return p, nil
}

// send does one attempt. moved is the result when an advertisement already shows that there is no point in sending.
func (p *push) send(ctx context.Context, x *transport.Session) (rep wire.Report, moved *PushResult, err error) {
	s := p.s
	if s.client.SSH() {
		return p.sendSSH(ctx, x)
	}
	if len(s.proto.receive) == 0 || p.command.Old.IsZero() {
		a, err := s.advert(ctx, x, transport.ReceivePack, "")
		if err != nil {
			return rep, nil, err
		}
		if moved := p.learn(a); moved != nil {
			return rep, moved, nil
		}
	}
	body, err := p.body(s.proto.receive)
	if err != nil {
		return rep, nil, err
	}
	send := transport.Body{Len: body.Len(), Open: body.Open}
	err = x.Post(ctx, transport.ReceivePack, "", send, func(r io.Reader) (err error) {
		rep, err = wire.ReadReport(r, p.command.Ref, wire.Has(s.proto.receive, "side-band-64k"))
		return err
	})
	return rep, nil, err
}

// sendSSH reads the advertisement, which an SSH session always begins with, and pushes in the same session.
func (p *push) sendSSH(ctx context.Context, x *transport.Session) (rep wire.Report, moved *PushResult, err error) {
	err = x.SSH(ctx, transport.ReceivePack, func(in io.WriteCloser, out io.Reader) error {
		br := bufio.NewReader(out)
		a, err := wire.ReadAdvert(wire.NewReader(br), false, p.s.wanted)
		if err != nil {
			return err
		}
		if moved = p.learn(a); moved != nil {
			if _, err := in.Write(wire.AppendFlush(nil)); err != nil {
				return err
			}
			return in.Close()
		}
		body, err := p.body(p.s.proto.receive)
		if err != nil {
			return err
		}
		if _, err := io.Copy(in, body.Open()); err != nil {
			return err
		}
		if err := in.Close(); err != nil {
			return err
		}
		rep, err = wire.ReadReport(br, p.command.Ref, wire.Has(p.s.proto.receive, "side-band-64k"))
		return err
	})
	return rep, moved, err
}

// learn takes the capabilities of a receive-pack advertisement and checks the branch, and for a new one its parent,
// against what the commits were built on (git-writer 10.6, 10.8).
func (p *push) learn(a *wire.Advert) *PushResult {
	s := p.s
	s.proto.receive = a.Capabilities
	tip := a.Ref(p.command.Ref)
	switch {
	case tip == p.command.New:
		return &PushResult{Outcome: Accepted, Tip: tip, TipKnown: true}
	case tip != p.command.Old:
		return &PushResult{Outcome: Moved, Tip: tip, TipKnown: true}
	case !p.command.Old.IsZero():
		return nil
	}
	parent := s.o.ParentBranch
	if parent == "" {
		parent = s.remote.HeadBranch
	}
	if parent == "" || a.Ref("refs/heads/"+parent) == p.chain[0].parent {
		return nil
	}
	return &PushResult{Outcome: Moved, TipKnown: true}
}

// body makes the request: the command and the pack. Deltas are sent where the receiver has their base: in the pack, or
// in the history it already holds.
func (p *push) body(capabilities []string) (*pack.Stream, error) {
	s := p.s
	thin := !s.proto.whole && !wire.Has(capabilities, "no-thin")
	usable := func(o *pack.Object) bool {
		if p.inPack[o.Base] {
			return !s.proto.whole
		}
		return thin && !s.isPending(o.Base)
	}
	objects := p.objects
	for i, o := range objects {
		if o.Full != nil || usable(o) {
			continue
		}
		t, raw, _, err := s.object(o.ID)
		if err != nil {
			return nil, s.damaged(o.ID, err)
		}
		if &objects[0] == &p.objects[0] {
			objects = append([]*pack.Object(nil), p.objects...)
		}
		objects[i] = &pack.Object{ID: o.ID, Type: t, Size: len(raw), Full: s.deflate.Deflate(raw)}
	}
	s.stats.Packed += len(objects)
	return pack.NewStream(p.command.Request(capabilities), objects, usable), nil
}

// isPending reports whether only unpublished commits hold an object.
func (s *Store) isPending(id Hash) bool {
	return s.pending.objects[id] != nil && s.mem.objects[id] == nil && !s.disk.has(id)
}

// settle draws the store's own conclusions from a result.
func (s *Store) settle(p *push, res PushResult) PushResult {
	switch res.Outcome {
	case Accepted:
		res.Tip, res.TipKnown = p.command.New, true
		s.adopt(p.command.New)
	case Moved:
		s.hint = Hash{}
		if res.TipKnown {
			s.hint = res.Tip
		}
	}
	return res
}

// adopt makes a commit the base when it is one of the unpublished ones: the remote has it.
func (s *Store) adopt(tip Hash) {
	chain := s.pending.chain(tip)
	if !s.ready || len(chain) == 0 {
		return
	}
	for _, c := range chain {
		for _, o := range c.objects {
			if s.disk.has(o.ID) {
				continue
			}
			if o.Full != nil {
				o.Delta, o.Base, o.Depth = nil, Hash{}, 0
			}
			s.mem.add(o)
		}
	}
	// What was built on the new base stays; everything else was built on what is now the past.
	keep := map[Hash]bool{tip: true}
	var rest []*commit
	for _, c := range s.pending.commits {
		if keep[c.parent] && c.id != tip {
			keep[c.id] = true
			rest = append(rest, c)
		}
	}
	s.pending.set(rest)
	s.base = tip
	s.remote = Remote{Tip: tip, Exists: true, HeadBranch: s.remote.HeadBranch, Verified: true}
	if err := s.sweep(); err != nil {
		s.fresh = true // it cannot be walked: the next Fetch replaces it
	}
}
