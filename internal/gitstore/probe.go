// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore

import (
	"context"
	"io"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/gitstore/transport"
	"github.com/configbutler/gitops-reverser/internal/gitstore/wire"
)

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

// Probe reads the receive-pack advertisement in one request: it proves that the credentials may write. Dir, Branch and
// ParentBranch are not needed.
func Probe(ctx context.Context, o Options) (ProbeResult, error) {
	c, err := o.client(func(RoundTrip) {})
	if err != nil {
		return ProbeResult{}, err
	}
	defer c.Close()
	x, err := c.Begin(ctx, "probe")
	if err != nil {
		return ProbeResult{}, err
	}
	var a *wire.Advert
	if c.SSH() {
		err = x.SSH(ctx, transport.ReceivePack, func(in io.WriteCloser, out io.Reader) (err error) {
			if a, err = wire.ReadAdvert(wire.NewReader(out), false, nil); err != nil {
				return err
			}
			if _, err = in.Write(wire.AppendFlush(nil)); err != nil {
				return err
			}
			return in.Close()
		})
	} else {
		err = x.Advertisement(ctx, transport.ReceivePack, "", func(r io.Reader) (err error) {
			a, err = wire.ReadAdvert(wire.NewReader(r), true, nil)
			return err
		})
	}
	if err != nil {
		return ProbeResult{}, err
	}
	p := ProbeResult{Refs: make(map[string]Hash, len(a.Refs)), Head: strings.TrimPrefix(a.Head, "refs/heads/"),
		Empty: !a.Any, Capabilities: a.Capabilities}
	for _, r := range a.Refs {
		p.Refs[r.Name] = r.ID
	}
	return p, nil
}
