// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"io"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Ref is one advertised reference.
type Ref struct {
	Name string
	ID   plumbing.Hash
}

// Advert is what a server says about itself and its references.
type Advert struct {
	// Version is the protocol version of the answer: 0 (also for 1) or 2.
	Version int
	// Capabilities are those of the first line (v0) or the capability lines (v2).
	Capabilities []string
	// Refs are the references the caller asked for.
	Refs []Ref
	// Any is true when the server showed any reference at all.
	Any bool
	// Head is the full name HEAD points to; empty when the server does not say.
	Head string
	// Shallow is true for a repository that is itself shallow.
	Shallow bool
}

// Has reports whether a capability (with any value) is advertised.
func (a *Advert) Has(name string) bool { return Has(a.Capabilities, name) }

// Has reports whether a capability (with any value) is in a list.
func Has(capabilities []string, name string) bool {
	return slices.ContainsFunc(capabilities, func(c string) bool {
		return c == name || strings.HasPrefix(c, name+"=")
	})
}

// Ref returns the id of a reference; zero when it was not advertised.
func (a *Advert) Ref(name string) plumbing.Hash {
	for _, r := range a.Refs {
		if r.Name == name {
			return r.ID
		}
	}
	return plumbing.ZeroHash
}

// ReadAdvert reads an advertisement of upload-pack or receive-pack. Over HTTP it begins with a service line. keep
// chooses the references to return; nil keeps all.
func ReadAdvert(r *Reader, http bool, keep func(name string) bool) (*Advert, error) {
	a := &Advert{}
	first := true
	for {
		k, line, err := r.line()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		switch {
		case http && first && k == Data && strings.HasPrefix(line, "# service="):
			if k, _, err = r.Next(); err != nil {
				return nil, err
			} else if k != Flush {
				return nil, syntax("no flush packet after the service line")
			}
			continue
		case k != Data:
			return a, a.format()
		case first && line == "version 2":
			a.Version = 2
			return a, a.readV2(r)
		case first && line == "version 1":
			continue
		}
		if err := a.ref(line, first, keep); err != nil {
			return nil, err
		}
		first = false
	}
}

func (a *Advert) readV2(r *Reader) error {
	for {
		k, line, err := r.line()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		if k != Data {
			return a.format()
		}
		a.Capabilities = append(a.Capabilities, line)
	}
}

// ref takes one line of a v0 advertisement.
func (a *Advert) ref(line string, first bool, keep func(string) bool) error {
	if first {
		var caps string
		line, caps, _ = strings.Cut(line, "\x00")
		a.Capabilities = strings.Fields(caps)
		for _, c := range a.Capabilities {
			if t, ok := strings.CutPrefix(c, "symref=HEAD:"); ok {
				a.Head = t
			}
		}
		if err := a.format(); err != nil {
			return err
		}
	}
	if strings.HasPrefix(line, "shallow ") {
		a.Shallow = true
		return nil
	}
	hex, name, ok := strings.Cut(line, " ")
	id, valid := ParseHash(hex)
	if !ok || !valid {
		return syntax("reference line %q", clip(line))
	}
	if name == "capabilities^{}" || strings.HasSuffix(name, "^{}") || name == ".have" {
		return nil
	}
	a.Any = true
	if keep == nil || keep(name) {
		a.Refs = append(a.Refs, Ref{Name: name, ID: id})
	}
	return nil
}

// format refuses what is not SHA-1.
func (a *Advert) format() error {
	for _, c := range a.Capabilities {
		if f, ok := strings.CutPrefix(c, "object-format="); ok && f != "sha1" {
			if !slices.Contains(a.Capabilities, "object-format=sha1") {
				return ErrObjectFormat
			}
		}
	}
	return nil
}

// ParseHash reads 40 hex digits.
func ParseHash(s string) (plumbing.Hash, bool) {
	if len(s) != 40 || strings.Trim(s, "0123456789abcdef") != "" {
		return plumbing.ZeroHash, false
	}
	return plumbing.NewHash(s), true
}

func clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}
