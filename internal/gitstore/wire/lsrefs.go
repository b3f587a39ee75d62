// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"io"
	"strings"
)

// LsRefsRequest is a v2 ls-refs command for the references that begin with the given prefixes. It sends no capability:
// a server refuses those it did not advertise, and nothing was read before.
func LsRefsRequest(prefixes ...string) []byte {
	b := AppendLine(nil, "command=ls-refs")
	b = AppendDelim(b)
	b = AppendLine(b, "symrefs")
	for _, p := range prefixes {
		b = AppendLine(b, "ref-prefix "+p)
	}
	return AppendFlush(b)
}

// ReadLsRefs reads the answer; keep as in ReadAdvert.
func ReadLsRefs(r *Reader, keep func(name string) bool) (*Advert, error) {
	a := &Advert{Version: 2}
	for {
		k, line, err := r.line()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		if k != Data {
			return a, nil
		}
		f := strings.Split(line, " ")
		if len(f) < 2 {
			return nil, syntax("reference line %q", clip(line))
		}
		if f[1] == "HEAD" {
			for _, attr := range f[2:] {
				if t, ok := strings.CutPrefix(attr, "symref-target:"); ok {
					a.Head = t
				}
			}
		}
		if f[0] == "unborn" {
			continue
		}
		id, ok := ParseHash(f[0])
		if !ok {
			if len(f[0]) == 64 {
				return nil, ErrObjectFormat
			}
			return nil, syntax("reference line %q", clip(line))
		}
		a.Any = true
		if keep == nil || keep(f[1]) {
			a.Refs = append(a.Refs, Ref{Name: f[1], ID: id})
		}
	}
}
