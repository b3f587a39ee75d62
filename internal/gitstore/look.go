// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/gitstore/transport"
	"github.com/configbutler/gitops-reverser/internal/gitstore/wire"
)

// version is what a server speaks.
type version uint8

const (
	unknown version = iota
	v2
	v0
)

// protocol is what the store has learnt about the server.
type protocol struct {
	version version
	// upload are the capabilities of a v0 upload-pack.
	upload []string
	// receive are those of the last receive-pack advertisement.
	receive []string
	// whole is set once the server could not use our deltas.
	whole bool
}

// protocolV2 is the header that asks for version 2.
const protocolV2 = "version=2"

// Look asks the remote for the branch: one request, no objects (git-writer 10.7).
func (s *Store) Look(ctx context.Context) (Remote, error) {
	x, err := s.client.Begin(ctx, "look")
	if err != nil {
		return Remote{}, err
	}
	return s.look(ctx, x)
}

func (s *Store) look(ctx context.Context, x *transport.Session) (Remote, error) {
	a, err := s.refs(ctx, x)
	if err != nil {
		return Remote{}, err
	}
	s.remote = s.o.remote(a)
	s.hint = Hash{}
	s.adopt(s.remote.Tip) // a push whose answer was lost
	return s.remote, nil
}

// refs lists HEAD, the branch and its parent in the cheapest way the server allows.
func (s *Store) refs(ctx context.Context, x *transport.Session) (*wire.Advert, error) {
	switch {
	case s.client.SSH():
		return s.advertSSH(ctx, x)
	case s.proto.version == v0:
		a, err := s.advert(ctx, x, transport.UploadPack, "")
		if err == nil {
			s.proto.upload = a.Capabilities
		}
		return a, err
	}
	var a *wire.Advert
	err := post(ctx, x, transport.UploadPack, protocolV2, wire.LsRefsRequest(s.prefixes()...), func(r io.Reader) (err error) {
		a, err = wire.ReadLsRefs(wire.NewReader(r), s.wanted)
		return err
	})
	if err == nil {
		s.proto.version = v2
		return a, nil
	}
	if !s.suspect(err) {
		return nil, err
	}
	return s.discover(ctx, x, err)
}

// prefixes are those of the references that matter.
func (s *Store) prefixes() []string {
	prefixes := []string{"HEAD"}
	for _, b := range s.o.branches() {
		prefixes = append(prefixes, "refs/heads/"+b)
	}
	return prefixes
}

// suspect reports whether a failed v2 request may only mean that the server does not speak v2.
func (s *Store) suspect(err error) bool {
	var e *TransportError
	if !errors.As(err, &e) || e.Kind == UnsupportedFormat {
		return false
	}
	switch {
	case e.Kind == Protocol, e.Kind == Connection && e.Sent && errors.Is(err, io.ErrUnexpectedEOF):
		return true // old servers end without a word
	case s.proto.version == v2:
		return false
	}
	return e.Status != 0 && (e.Kind == Refused || e.Kind == NotFound || e.Kind == Server)
}

// discover reads the advertisement to learn what the server speaks. When that is v2 after all, cause stands.
func (s *Store) discover(ctx context.Context, x *transport.Session, cause error) (*wire.Advert, error) {
	s.proto.version = unknown
	a, err := s.advert(ctx, x, transport.UploadPack, protocolV2)
	switch {
	case err != nil:
		return nil, err
	case a.Version == 2:
		return nil, cause
	}
	s.proto.version, s.proto.upload = v0, a.Capabilities
	return a, nil
}

// advert reads info/refs of a service.
func (s *Store) advert(ctx context.Context, x *transport.Session, service, protocol string) (*wire.Advert, error) {
	var a *wire.Advert
	err := x.Advertisement(ctx, service, protocol, func(r io.Reader) (err error) {
		a, err = wire.ReadAdvert(wire.NewReader(r), true, s.wanted)
		return err
	})
	return a, err
}

// advertSSH lists the references in one session: by version 2 where the server speaks it, else from the advertisement.
func (s *Store) advertSSH(ctx context.Context, x *transport.Session) (*wire.Advert, error) {
	var a *wire.Advert
	err := x.SSH(ctx, transport.UploadPack, func(in io.WriteCloser, out io.Reader) (err error) {
		r := wire.NewReader(out)
		if a, err = wire.ReadAdvert(r, false, s.wanted); err != nil {
			return err
		}
		if a.Version == 2 {
			if _, err = in.Write(wire.LsRefsRequest(s.prefixes()...)); err != nil {
				return err
			}
			if a, err = wire.ReadLsRefs(r, s.wanted); err != nil {
				return err
			}
		}
		if _, err = in.Write(wire.AppendFlush(nil)); err != nil {
			return err
		}
		return in.Close()
	})
	return a, err
}

// post sends a small request.
func post(
	ctx context.Context, x *transport.Session, service, protocol string, body []byte, read func(io.Reader) error,
) error {
	open := func() io.Reader { return bytes.NewReader(body) }
	return x.Post(ctx, service, protocol, transport.Body{Len: int64(len(body)), Open: open}, read)
}

// branches are the branches that matter to this store.
func (o Options) branches() []string {
	if o.ParentBranch == "" || o.ParentBranch == o.Branch {
		return []string{o.Branch}
	}
	return []string{o.Branch, o.ParentBranch}
}

// wanted chooses the references of an advertisement to keep.
func (s *Store) wanted(ref string) bool {
	if ref == "HEAD" || ref == "refs/heads/"+s.remote.HeadBranch {
		return true
	}
	for _, b := range s.o.branches() {
		if ref == "refs/heads/"+b {
			return true
		}
	}
	return false
}

// remote is what an upload-pack's references mean for the branch (git-writer 10.8).
func (o Options) remote(a *wire.Advert) Remote {
	r := Remote{Tip: a.Ref("refs/heads/" + o.Branch), Empty: !a.Any, Verified: true}
	r.HeadBranch = strings.TrimPrefix(a.Head, "refs/heads/")
	r.Exists = !r.Tip.IsZero()
	if r.Exists {
		return r
	}
	parent := "HEAD"
	if o.ParentBranch != "" {
		parent = "refs/heads/" + o.ParentBranch
	}
	r.Parent = a.Ref(parent)
	switch {
	case !r.Parent.IsZero():
		r.ParentState = ParentFound
	case o.ParentBranch != "":
		r.ParentState = ParentMissing
	default:
		r.ParentState = ParentUnborn
	}
	return r
}
