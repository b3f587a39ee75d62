// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"io"
	"strings"
)

// textLimit bounds the server's words kept from one answer, in bytes.
const textLimit = 16 << 10

// Text collects what a server says on the sideband, up to a bound.
type Text struct{ b strings.Builder }

func (t *Text) add(p []byte) {
	if room := textLimit - t.b.Len(); room > 0 {
		t.b.Write(p[:min(len(p), room)])
	}
}

// String returns what was said.
func (t *Text) String() string { return t.b.String() }

// Sideband reads the data channel of a multiplexed stream until its flush packet. Progress goes to Text; the error
// channel ends it with a *RemoteError.
type Sideband struct {
	r    *Reader
	text *Text
	rest []byte
	end  bool
}

// NewSideband demultiplexes r; text may be nil.
func NewSideband(r *Reader, text *Text) *Sideband {
	if text == nil {
		text = &Text{}
	}
	return &Sideband{r: r, text: text}
}

// Read implements io.Reader for the data channel.
func (s *Sideband) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.end {
			return 0, io.EOF
		}
		k, b, err := s.r.Next()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF // a multiplexed stream ends with a flush packet
		}
		if err != nil {
			return 0, err
		}
		if k != Data {
			s.end = true
			continue
		}
		if err := s.packet(b); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *Sideband) packet(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	switch b[0] {
	case 1:
		s.rest = b[1:]
	case 2:
		s.text.add(b[1:])
	case 3:
		s.text.add(b[1:])
		return &RemoteError{Text: strings.TrimSpace(string(b[1:min(len(b), textLimit)]))}
	default:
		return syntax("sideband %d", b[0])
	}
	return nil
}
