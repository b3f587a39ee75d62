// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore

import (
	"context"
	"net/http"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/configbutler/gitops-reverser/internal/gitstore/transport"
)

// Hash is a Git object id (SHA-1). The zero Hash names nothing.
type Hash = plumbing.Hash

// DefaultDeadline bounds each network call (git-writer 10.6).
const DefaultDeadline = 2 * time.Minute

// DefaultOverlayLimit is the size of the overlay in memory above which a fresh fetch replaces the base, in bytes.
const DefaultOverlayLimit = 16 << 20

// Options say which branch a Store serves and how it reaches the remote.
type Options struct {
	// Dir is the store's own folder; New removes everything in it.
	Dir string
	// URL is the repository: http, https, ssh or the scp form user@host:path.
	URL string
	// Branch is the branch written to, without refs/heads/.
	Branch string
	// ParentBranch is where a missing Branch starts; empty = the remote's HEAD (git-writer 10.8).
	ParentBranch string
	// Credentials is asked once at the start of each call that uses the network. Nil = anonymous.
	Credentials func(context.Context) (Credentials, error)
	// Capabilities are those of an earlier receive-pack advertisement (ProbeResult.Capabilities); with them even the
	// first push is one request.
	Capabilities []string
	// Transport replaces the HTTP transport built from the credentials' TLS and Proxy; for tests.
	Transport http.RoundTripper
	// Hosts is shared by all stores and probes of a process, so that a pause a host asked for is kept by all; may be nil.
	Hosts *Hosts
	// Deadline bounds each network call; default DefaultDeadline.
	Deadline time.Duration
	// OverlayLimit replaces DefaultOverlayLimit, in bytes.
	OverlayLimit int64
	// OnRequest is told of every network round trip: an HTTP request or an SSH session.
	OnRequest func(RoundTrip)
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Hosts remembers which hosts asked for a pause.
type Hosts = transport.Hosts

// NewHosts returns one for all stores of a process.
func NewHosts() *Hosts { return transport.NewHosts() }

// RoundTrip describes one network round trip for metrics.
type RoundTrip = transport.RoundTrip

// Credentials are what a transport authenticates with. The zero value is anonymous.
type Credentials = transport.Credentials

// The states of the parent branch, in Remote.ParentState.
const (
	// ParentFound means that Remote.Parent is the commit a missing branch starts on.
	ParentFound = "Found"
	// ParentMissing means that the named parent branch does not exist: nothing may be written.
	ParentMissing = "Missing"
	// ParentUnborn means that there is no commit to start on: the first commit is a root commit.
	ParentUnborn = "Unborn"
)

// Remote is what the last answer said about the branch.
type Remote struct {
	// Tip is the branch's commit; zero = the branch is absent.
	Tip Hash
	// Exists is false while the branch is absent.
	Exists bool
	// Empty means that the remote showed neither HEAD nor the branch nor its parent: empty, wiped or a dangling HEAD.
	Empty bool
	// HeadBranch is the branch the remote's HEAD points to; empty when the server does not say.
	HeadBranch string
	// Parent is the commit a missing branch starts on.
	Parent Hash
	// ParentState is ParentFound, ParentMissing or ParentUnborn while the branch is absent, else empty.
	ParentState string
	// Verified is true when the remote itself said so, false for a tip learnt from a rejected push.
	Verified bool
}

// Entry is one child of a directory.
type Entry struct {
	Name string
	Mode uint32
	ID   Hash
}

// Edit is one file change of a commit.
type Edit struct {
	// Path is slash-separated, from the repository's root.
	Path string
	// Mode is 0100644 or 0100755; 0 keeps the existing file's mode and is 0100644 for a new one (decisions 45).
	Mode    uint32
	Content []byte
	// Delete removes the file; directories left empty go with it. A file that is not there is no error.
	Delete bool
}

// Signature names a person in a commit. The caller sanitizes (git-writer 9.3); characters Git cannot hold are dropped.
type Signature struct {
	Name, Email string
	When        time.Time
}

// Signer makes the gpgsig header: it gets the commit without signature and returns the armoured signature.
type Signer interface {
	Sign(commit []byte) ([]byte, error)
}

// Commit describes a commit besides its tree.
type Commit struct {
	Author, Committer Signature
	// Message is written as it is.
	Message string
	// Signer is optional.
	Signer Signer
	// AllowEmpty makes a commit although the tree does not change.
	AllowEmpty bool
}

// Outcome is how a push ended.
type Outcome string

// The outcomes of a push.
const (
	// Accepted means that the server reported the new tip.
	Accepted Outcome = "Accepted"
	// Moved means that the branch (or, for a branch to be created, its parent) is not at the expected commit any more.
	Moved Outcome = "Moved"
	// Rejected means that the server refused although the branch has not moved: for its content or by policy.
	Rejected Outcome = "Rejected"
	// Unknown means that nothing is proven: the answer was lost, empty, or not about this push. Look tells more.
	Unknown Outcome = "Unknown"
)

// PushResult is the answer to a push.
type PushResult struct {
	Outcome Outcome
	// Tip is the remote's tip when TipKnown.
	Tip      Hash
	TipKnown bool
	// Text holds the server's own words, without credentials, at most 1 KiB.
	Text string
	// RetryAfter is the pause the server asked for.
	RetryAfter time.Duration
}

// Stats count what a Store did since New.
type Stats struct {
	// Requests are network round trips; Sent and Received their body bytes.
	Requests       int
	Sent, Received int64
	// TreesRead and BlobsRead are objects read from the base or the overlay; CommitsRead likewise.
	TreesRead, BlobsRead, CommitsRead int
	// Packed are objects put into sent packs.
	Packed int
	// OverlayObjects and OverlayBytes are what the overlay holds now.
	OverlayObjects int
	OverlayBytes   int64
	// FreshFetches count whole depth-1 fetches into a new folder; Repairs those because of a damaged object.
	FreshFetches, Repairs int
}
