// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the pack's checksum
	"encoding/binary"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
)

// Stream is a pack that is written while it is read. It can be opened again.
type Stream struct {
	head    []byte
	objects []*Object
	delta   func(*Object) bool
	len     int64
}

// NewStream prepares a pack. head goes before it (the receive-pack command); delta says whether an object is sent as
// its delta: its base is then in the pack or held by the receiver. Objects without Full are always sent as deltas.
func NewStream(head []byte, objects []*Object, delta func(*Object) bool) *Stream {
	s := &Stream{head: head, objects: objects, delta: delta}
	s.len = int64(len(head)) + 12 + sha1.Size
	for _, o := range objects {
		h, data := s.entry(nil, o)
		s.len += int64(len(h) + len(data))
	}
	return s
}

// Len is the number of bytes the stream gives.
func (s *Stream) Len() int64 { return s.len }

// entry returns the head of an object's pack entry, appended to b, and its deflated bytes.
func (s *Stream) entry(b []byte, o *Object) (head, data []byte) {
	if o.Full == nil || o.Delta != nil && s.delta(o) {
		b = appendEntryHead(b, plumbing.REFDeltaObject, o.DeltaSize)
		return append(b, o.Base[:]...), o.Delta
	}
	return appendEntryHead(b, o.Type, o.Size), o.Full
}

func appendEntryHead(b []byte, t plumbing.ObjectType, size int) []byte {
	c := byte(t)<<4 | byte(size&0x0f)
	for size >>= 4; size > 0; size >>= 7 {
		b = append(b, c|0x80)
		c = byte(size & 0x7f)
	}
	return append(b, c)
}

// Open returns a reader of the whole stream.
func (s *Stream) Open() io.Reader {
	h := sha1.New() //nolint:gosec // see the import
	head := append([]byte("PACK"), 0, 0, 0, 2)
	head = binary.BigEndian.AppendUint32(head, uint32(len(s.objects))) //nolint:gosec // far below 2^32
	h.Write(head)
	var next int
	var scratch []byte
	var sum bool
	pack := &chunks{next: func() [][]byte {
		if next == len(s.objects) {
			if sum {
				return nil
			}
			sum = true
			return [][]byte{h.Sum(nil)}
		}
		var data []byte
		scratch, data = s.entry(scratch[:0], s.objects[next])
		next++
		h.Write(scratch)
		h.Write(data)
		return [][]byte{scratch, data}
	}}
	return io.MultiReader(bytes.NewReader(s.head), bytes.NewReader(head), pack)
}

// chunks reads byte slices one after the other.
type chunks struct {
	next func() [][]byte
	have [][]byte
}

// Read implements io.Reader.
func (c *chunks) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		for len(c.have) > 0 && len(c.have[0]) == 0 {
			c.have = c.have[1:]
		}
		if len(c.have) == 0 {
			if n > 0 {
				return n, nil // the next call goes on; entries share a scratch buffer
			}
			if c.have = c.next(); c.have == nil {
				return 0, io.EOF
			}
			continue
		}
		m := copy(p[n:], c.have[0])
		c.have[0] = c.have[0][m:]
		n += m
	}
	return n, nil
}
