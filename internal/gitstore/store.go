// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/configbutler/gitops-reverser/internal/gitstore/pack"
	"github.com/configbutler/gitops-reverser/internal/gitstore/transport"
)

// Store is the object store of one branch; see the package comment. One goroutine owns it.
type Store struct {
	o      Options
	client *transport.Client
	proto  protocol
	remote Remote
	// hint is the tip a rejected push named; the next Fetch takes it without looking.
	hint Hash

	base Hash
	// ready is false before the first Fetch and after damage.
	ready bool
	// fresh demands that the next Fetch replaces everything on disk.
	fresh bool

	disk    *disk
	mem     *overlay
	pending pending
	trees   *treeCache

	stats   Stats
	deflate pack.Deflater
	inflate pack.Inflater
}

// New makes a store and removes everything in its folder (decisions 95). It opens no connection.
func New(o Options) (*Store, error) {
	dir := filepath.Clean(o.Dir)
	if o.Dir == "" || dir == "." || filepath.Dir(dir) == dir {
		return nil, fmt.Errorf("the store needs a folder of its own, not %q", o.Dir)
	}
	if err := checkBranch(o.Branch); err != nil {
		return nil, err
	}
	if o.ParentBranch != "" {
		if err := checkBranch(o.ParentBranch); err != nil {
			return nil, fmt.Errorf("parent: %w", err)
		}
	}
	o.OverlayLimit = cmp.Or(o.OverlayLimit, DefaultOverlayLimit)
	s := &Store{o: o, mem: newOverlay(), trees: newTreeCache(treeCacheSize)}
	s.proto.receive = o.Capabilities
	var err error
	s.client, err = o.client(func(t RoundTrip) {
		s.stats.Requests++
		s.stats.Sent += t.Sent
		s.stats.Received += t.Received
	})
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(o.Dir); err != nil {
		return nil, fmt.Errorf("wiping the store: %w", err)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the store: %w", err)
	}
	return s, nil
}

// client makes the transport; count is told of every round trip before OnRequest.
func (o Options) client(count func(RoundTrip)) (*transport.Client, error) {
	return transport.New(transport.Options{
		URL: o.URL, Credentials: o.Credentials, RoundTripper: o.Transport, Now: o.Now, Hosts: o.Hosts,
		Deadline: cmp.Or(o.Deadline, time.Duration(DefaultDeadline)),
		OnRoundTrip: func(t RoundTrip) {
			count(t)
			if o.OnRequest != nil {
				o.OnRequest(t)
			}
		},
	})
}

// Remote returns what the last answer of the remote said about the branch.
func (s *Store) Remote() Remote { return s.remote }

// Base is the commit the last Fetch or accepted Push left; zero = the branch starts with a root commit.
func (s *Store) Base() Hash { return s.base }

// Stats returns what was counted since New.
func (s *Store) Stats() Stats {
	st := s.stats
	st.OverlayObjects = len(s.mem.objects) + len(s.pending.objects)
	st.OverlayBytes = s.mem.bytes + s.pending.bytes
	return st
}

// Drop forgets the unpublished commits above to, which is the base or an unpublished commit.
func (s *Store) Drop(to Hash) { s.pending.drop(to) }

// Close removes the store's folder and closes idle connections.
func (s *Store) Close() error {
	s.client.Close()
	s.ready, s.fresh = false, true
	s.pending.drop(Hash{})
	if s.disk != nil {
		s.disk.close()
		s.disk = nil
	}
	return os.RemoveAll(s.o.Dir)
}
