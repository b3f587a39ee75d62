// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/configbutler/gitops-reverser/internal/gitstore/pack"
	"github.com/configbutler/gitops-reverser/internal/gitstore/transport"
	"github.com/configbutler/gitops-reverser/internal/gitstore/wire"
)

// errOutgrown ends an incremental fetch that is too large for memory.
var errOutgrown = errors.New("the fetch is larger than the overlay may be")

// Fetch makes want the base that Tree and Commit work on. The zero Hash means the tip a rejected push has named, else
// what one look says: the branch's tip, or its parent's while the branch is absent (Base is then the parent's tip, or
// zero for a root commit). A commit the remote does not have any more is replaced by the current tip; Base says which
// commit it became. Unpublished commits are forgotten unless the base stays.
//
// Errors: *TransportError, ErrParentMissing, and those of the disk as they are.
func (s *Store) Fetch(ctx context.Context, want Hash) error {
	x, err := s.client.Begin(ctx, "fetch")
	if err != nil {
		return err
	}
	if want.IsZero() {
		want = s.hint
	}
	if !want.IsZero() {
		s.hint = Hash{} // whatever happens, the next time looks
		err := s.fetch(ctx, x, want)
		if err == nil {
			if want != s.remote.Tip && want != s.remote.Parent { // not from a look: the next push proves it
				s.remote = Remote{Tip: want, Exists: true, HeadBranch: s.remote.HeadBranch}
			}
			return nil
		}
		if !gone(err) {
			return err
		}
	}
	r, err := s.look(ctx, x)
	if err != nil {
		return err
	}
	switch {
	case r.Exists:
		return s.fetch(ctx, x, r.Tip)
	case r.ParentState == ParentFound:
		return s.fetch(ctx, x, r.Parent)
	case r.ParentState == ParentMissing:
		return fmt.Errorf("%s: %w", s.o.ParentBranch, ErrParentMissing)
	}
	return s.unborn()
}

// gone reports whether the remote says that it does not have the wanted commit.
func gone(err error) bool {
	var remote *wire.RemoteError
	return errors.As(err, &remote) // upload-pack: not our ref, and other servers' words for it
}

// unborn makes the empty history the base.
func (s *Store) unborn() error {
	if s.disk != nil {
		s.disk.close()
		s.disk = nil
	}
	s.mem, s.fresh = newOverlay(), false
	s.trees = newTreeCache(treeCacheSize)
	s.rebase(Hash{})
	return nil
}

// rebase sets the base; unpublished commits belong to the old one.
func (s *Store) rebase(base Hash) {
	if base != s.base || !s.ready {
		s.pending.set(nil)
	}
	s.base, s.ready = base, true
}

// fetch brings one commit with its tree: as a thin pack on top of the base where possible, else whole.
func (s *Store) fetch(ctx context.Context, x *transport.Session, want Hash) error {
	outgrown := s.mem.bytes > s.o.OverlayLimit
	s.adopt(want)
	if s.ready && !s.fresh && !outgrown && want == s.base {
		return nil
	}
	if s.ready && !s.fresh && !outgrown && !s.base.IsZero() {
		err := s.incremental(ctx, x, want)
		if err == nil {
			s.rebase(want)
			return s.sweep()
		}
		var e *TransportError
		if errors.As(err, &e) && !errors.Is(err, errOutgrown) && !errors.Is(err, pack.ErrDamaged) {
			return err
		}
	}
	return s.refetch(ctx, x, want)
}

// incremental fetches what want's tree has and the base's tree has not, as a thin pack into memory.
func (s *Store) incremental(ctx context.Context, x *transport.Session, want Hash) error {
	var data bytes.Buffer
	err := s.transfer(ctx, x, wire.FetchRequest{Want: want, Have: s.base}, func(r io.Reader) error {
		n, err := data.ReadFrom(io.LimitReader(r, s.o.OverlayLimit+1))
		if err == nil && n > s.o.OverlayLimit {
			err = errOutgrown
		}
		return err
	})
	if err != nil {
		return err
	}
	objects, err := pack.ReadThin(data.Bytes(), s.object)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if !s.disk.has(o.ID) {
			s.mem.add(o)
		}
	}
	return s.holds(want)
}

// holds checks that a commit and its tree arrived.
func (s *Store) holds(id Hash) error {
	t, raw, _, err := s.object(id)
	if err == nil && t != plumbing.CommitObject {
		err = fmt.Errorf("it is a %s", t)
	}
	if err != nil {
		return fmt.Errorf("%w: commit %s did not come: %w", pack.ErrDamaged, id, err)
	}
	root, err := commitTree(raw)
	if err == nil {
		_, _, _, err = s.object(root)
	}
	if err != nil {
		return fmt.Errorf("%w: the tree of commit %s did not come: %w", pack.ErrDamaged, id, err)
	}
	return nil
}

// refetch fetches a commit with its whole tree into a new folder, which replaces the old one and the overlay.
func (s *Store) refetch(ctx context.Context, x *transport.Session, want Hash) error {
	s.stats.FreshFetches++
	d, err := newDisk(filepath.Join(s.o.Dir, strconv.Itoa(s.stats.FreshFetches)))
	if err != nil {
		return fmt.Errorf("making the store: %w", err)
	}
	if err := s.transfer(ctx, x, wire.FetchRequest{Want: want}, d.load); err != nil {
		d.close()
		return err
	}
	oldDisk, oldMem, oldTrees := s.disk, s.mem, s.trees
	s.disk, s.mem, s.trees = d, newOverlay(), newTreeCache(treeCacheSize)
	if err := s.holds(want); err != nil {
		s.disk, s.mem, s.trees = oldDisk, oldMem, oldTrees
		d.close()
		return &TransportError{Op: "fetch", Kind: Protocol, Text: err.Error(), Err: err}
	}
	if oldDisk != nil {
		oldDisk.close()
	}
	s.fresh = false
	s.rebase(want)
	return nil
}

// transfer asks for a pack in the protocol the server speaks and hands it to sink.
func (s *Store) transfer(
	ctx context.Context, x *transport.Session, req wire.FetchRequest, sink func(io.Reader) error,
) error {
	if s.client.SSH() {
		return s.transferSSH(ctx, x, req, sink)
	}
	if s.proto.version != v0 {
		err := post(ctx, x, transport.UploadPack, protocolV2, req.V2(), func(r io.Reader) error {
			p, err := wire.ReadV2(wire.NewReader(r), nil)
			if err != nil {
				return err
			}
			return sink(p)
		})
		if err == nil {
			s.proto.version = v2
		}
		if err == nil || gone(err) || !s.suspect(err) || errors.Is(err, errOutgrown) {
			return err
		}
		if _, err := s.discover(ctx, x, err); err != nil {
			return err
		}
	}
	if s.proto.upload == nil {
		a, err := s.advert(ctx, x, transport.UploadPack, "")
		if err != nil {
			return err
		}
		s.proto.upload = a.Capabilities
	}
	return post(ctx, x, transport.UploadPack, "", req.V0(s.proto.upload), func(r io.Reader) error {
		p, err := wire.ReadV0(r, nil)
		if err != nil {
			return err
		}
		return sink(p)
	})
}

func (s *Store) transferSSH(
	ctx context.Context, x *transport.Session, req wire.FetchRequest, sink func(io.Reader) error,
) error {
	return x.SSH(ctx, transport.UploadPack, func(in io.WriteCloser, out io.Reader) error {
		// The reader goes on behind the advertisement, so that nothing it has buffered is lost.
		br := bufio.NewReader(out)
		a, err := wire.ReadAdvert(wire.NewReader(br), false, s.wanted)
		if err != nil {
			return err
		}
		var p io.Reader
		if a.Version == 2 {
			if _, err = in.Write(req.V2()); err == nil {
				p, err = wire.ReadV2(wire.NewReader(br), nil)
			}
		} else if _, err = in.Write(req.V0(a.Capabilities)); err == nil {
			p, err = wire.ReadV0(br, nil)
		}
		if err != nil {
			return err
		}
		if err := sink(p); err != nil {
			return err
		}
		return in.Close()
	})
}

// Maintain replaces the base by a fresh fetch of the same commit when the overlay has outgrown its limit, and reports
// whether it did. Without that it costs nothing. Fetch does the same on its own.
func (s *Store) Maintain(ctx context.Context) (bool, error) {
	if !s.ready || s.base.IsZero() || s.mem.bytes <= s.o.OverlayLimit {
		return false, nil
	}
	x, err := s.client.Begin(ctx, "fetch")
	if err != nil {
		return false, err
	}
	if err := s.refetch(ctx, x, s.base); err != nil {
		return false, err
	}
	return true, nil
}

// sweep drops what the base does not reach from the overlay, once that is worth the time. Trees on disk reach only what
// is on disk, so the walk never leaves memory.
func (s *Store) sweep() error {
	if !s.mem.grown() || s.base.IsZero() {
		return nil
	}
	live, bases := map[Hash]bool{}, map[Hash]bool{}
	if err := s.mark(s.base, live, bases); err != nil {
		return err
	}
	maps.Copy(live, bases)
	s.mem.keep(live)
	return nil
}

// mark adds what an object reaches in the overlay to live, and what deltas of live objects need to bases: of those,
// only the bytes are needed, not what they reach.
func (s *Store) mark(id Hash, live, bases map[Hash]bool) error {
	o := s.mem.objects[id]
	if o == nil || live[id] {
		return nil
	}
	live[id] = true
	for b := o; b != nil && b.Full == nil; b = s.mem.objects[b.Base] {
		bases[b.Base] = true
	}
	switch o.Type {
	case plumbing.CommitObject:
		root, err := s.treeOf(id)
		if err != nil {
			return err
		}
		return s.mark(root, live, bases)
	case plumbing.TreeObject:
		t, err := s.tree(id)
		if err != nil {
			return err
		}
		for e, err := range pack.Entries(t.Raw) {
			if err == nil {
				err = s.mark(e.ID, live, bases)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
