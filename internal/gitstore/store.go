// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore

import (
	"context"
	"errors"
)

var errSoon = errors.New("being built")

// Store is the object store of one branch; see the package comment. One goroutine owns it.
type Store struct{ o Options }

// New makes a store and removes everything in its folder (decisions 95). It opens no connection.
func New(o Options) (*Store, error) { return &Store{o: o}, nil }

// Look asks the remote for the branch: one request, no objects.
func (s *Store) Look(ctx context.Context) (Remote, error) { return Remote{}, errSoon }

// Fetch makes want the base that Tree and Commit work on.
func (s *Store) Fetch(ctx context.Context, want Hash) error { return errSoon }

// Remote returns what the last answer of the remote said about the branch.
func (s *Store) Remote() Remote { return Remote{} }

// Base is the commit the last Fetch or accepted Push left; zero = the branch starts with a root commit.
func (s *Store) Base() Hash { return Hash{} }

// Tree opens the tree of a commit the store holds; the zero Hash is the empty tree.
func (s *Store) Tree(commit Hash) (*TreeView, error) { return nil, errSoon }

// Commit builds a commit in memory onto a commit the store holds; the zero Hash makes a root commit. Without a changed
// tree (and without AllowEmpty) it returns onto and false.
func (s *Store) Commit(ctx context.Context, onto Hash, edits []Edit, c Commit) (id Hash, changed bool, err error) {
	return Hash{}, false, errSoon
}

// Push publishes the commits from expected to tip, if the remote branch is at expected (zero = absent).
func (s *Store) Push(ctx context.Context, expected, tip Hash) (PushResult, error) {
	return PushResult{}, errSoon
}

// Drop forgets the unpublished commits above to.
func (s *Store) Drop(to Hash) {}

// Maintain replaces the base by a fresh fetch when the overlay has outgrown its limit, and reports whether it did.
func (s *Store) Maintain(ctx context.Context) (bool, error) { return false, errSoon }

// Check verifies every object reachable from a commit.
func (s *Store) Check(commit Hash) error { return errSoon }

// Stats returns what was counted since New.
func (s *Store) Stats() Stats { return Stats{} }

// Close removes the store's folder and closes idle connections.
func (s *Store) Close() error { return nil }

// TreeView is a read-only view of one commit's files. It lives as long as the store holds the commit.
type TreeView struct{}

// Root is the id of the root directory; zero for the empty tree of no commit.
func (v *TreeView) Root() [20]byte { return [20]byte{} }

// Dir returns the children of a directory in Git's order; the zero id is the empty directory.
func (v *TreeView) Dir(id [20]byte) ([]Entry, error) { return nil, errSoon }

// Blob returns the bytes of a file. The caller must not modify them.
func (v *TreeView) Blob(id [20]byte) ([]byte, error) { return nil, errSoon }

// Normal is the normal form of a repository URL.
type Normal struct {
	// Identity names the worker's repository: https and ssh spellings differ (decisions 31).
	Identity string
	// HostPath is compared for ownership and for appliers: https and ssh spellings are equal (decisions 63, apply 1.4).
	HostPath     string
	Scheme, Host string
}

// NormalizeURL brings a repository URL into its normal form.
func NormalizeURL(raw string) (Normal, error) { return Normal{}, errSoon }

// ProbeResult is what the receive-pack advertisement says (decisions 57).
type ProbeResult struct {
	// Refs maps full ref names to their ids.
	Refs map[string]Hash
	// Head is the branch HEAD points to, when the server says so.
	Head string
	// Empty means that there is no ref.
	Empty bool
	// Capabilities may be given to stores of the same repository.
	Capabilities []string
}

// Probe reads the receive-pack advertisement: it proves that the credentials may write. Dir, Branch and ParentBranch
// are not needed.
func Probe(ctx context.Context, o Options) (ProbeResult, error) { return ProbeResult{}, errSoon }
