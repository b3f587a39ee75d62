// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the pack's checksum
	"encoding/binary"
	"hash"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
)

// Stream is a pack that is written while it is read. It can be opened again, and read by another goroutine (an HTTP
// transport may go on reading after it has returned): it refers to bytes that never change, not to objects.
type Stream struct {
	head    []byte
	entries []packed
	len     int64
}

// packed is one entry: its head and its deflated bytes.
type packed struct{ head, data []byte }

// NewStream prepares a pack. head goes before it (the receive-pack command); delta says whether an object is sent as
// its delta: its base is then in the pack or held by the receiver. Objects without Full are always sent as deltas.
func NewStream(head []byte, objects []*Object, delta func(*Object) bool) *Stream {
	s := &Stream{head: head, entries: make([]packed, 0, len(objects)), len: int64(len(head)) + 12 + sha1.Size}
	heads := make([]byte, 0, 8*len(objects))
	for _, o := range objects {
		from := len(heads)
		data := o.Full
		if o.Full == nil || o.Delta != nil && delta(o) {
			heads = appendEntryHead(heads, plumbing.REFDeltaObject, o.DeltaSize)
			heads = append(heads, o.Base[:]...)
			data = o.Delta
		} else {
			heads = appendEntryHead(heads, o.Type, o.Size)
		}
		e := packed{heads[from:len(heads):len(heads)], data}
		s.entries = append(s.entries, e)
		s.len += int64(len(e.head) + len(e.data))
	}
	return s
}

// Len is the number of bytes the stream gives.
func (s *Stream) Len() int64 { return s.len }

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
	head = binary.BigEndian.AppendUint32(head, uint32(len(s.entries))) //nolint:gosec // far below 2^32
	h.Write(head)
	return io.MultiReader(bytes.NewReader(s.head), bytes.NewReader(head), &reader{s: s, sum: h})
}

// reader gives the entries and the checksum.
type reader struct {
	s    *Stream
	sum  hash.Hash
	next int
	have [2][]byte
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		switch {
		case len(r.have[0]) > 0:
			m := copy(p[n:], r.have[0])
			r.have[0] = r.have[0][m:]
			n += m
		case len(r.have[1]) > 0:
			r.have = [2][]byte{r.have[1], nil}
		case r.next < len(r.s.entries):
			e := r.s.entries[r.next]
			r.sum.Write(e.head)
			r.sum.Write(e.data)
			r.have = [2][]byte{e.head, e.data}
			r.next++
		case r.sum != nil:
			r.have[0] = r.sum.Sum(nil)
			r.sum = nil
		case n > 0:
			return n, nil
		default:
			return 0, io.EOF
		}
	}
	return n, nil
}
