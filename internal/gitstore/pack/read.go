// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the pack's checksum
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// MaxInflated bounds what one thin pack may inflate to, in bytes; a larger one is fetched to disk instead.
const MaxInflated = 64 << 20

// ErrTooLarge means that a pack is too large to be read in memory.
var ErrTooLarge = errors.New("the pack is too large for memory")

// ErrDamaged means that a pack is not what it should be.
var ErrDamaged = errors.New("damaged pack")

// entry is one entry of a pack being read.
type entry struct {
	typ      plumbing.ObjectType
	raw      []byte // the object once resolved
	delta    []byte // inflated
	deflated []byte
	base     int // offset of the base entry, for ofs-deltas
	ref      plumbing.Hash
	id       plumbing.Hash
	offset   int
	depth    int
	whole    bool // came as a delta, is kept whole
	done     bool
}

// Outside finds an object that a pack refers to, with the depth of its own chain of deltas.
type Outside func(plumbing.Hash) (t plumbing.ObjectType, raw []byte, depth int, err error)

// ReadThin reads a pack whose deltas may refer to objects outside of it. Entries that came as deltas stay deltas while
// their chain is short.
func ReadThin(data []byte, outside Outside) ([]*Object, error) {
	if len(data) < 12+sha1.Size || string(data[:4]) != "PACK" {
		return nil, fmt.Errorf("%w: no pack", ErrDamaged)
	}
	if v := binary.BigEndian.Uint32(data[4:8]); v != 2 && v != 3 {
		return nil, fmt.Errorf("%w: version %d", ErrDamaged, v)
	}
	body, sum := data[:len(data)-sha1.Size], data[len(data)-sha1.Size:]
	if right := sha1.Sum(body); !bytes.Equal(right[:], sum) { //nolint:gosec // see the import
		return nil, fmt.Errorf("%w: wrong checksum", ErrDamaged)
	}
	r := &thin{body: body, outside: outside, byOffset: map[int][]*entry{}, byID: map[plumbing.Hash][]*entry{}}
	if err := r.scan(binary.BigEndian.Uint32(data[8:12])); err != nil {
		return nil, err
	}
	if err := r.resolve(); err != nil {
		return nil, err
	}
	return r.objects(), nil
}

type thin struct {
	body    []byte
	outside Outside
	inflate Inflater
	total   int
	list    []*entry
	queue   []*entry
	// deltas by the base they wait for
	byOffset map[int][]*entry
	byID     map[plumbing.Hash][]*entry
}

// scan reads all entries; whole objects are resolved at once.
func (r *thin) scan(count uint32) error {
	src := bytes.NewReader(r.body)
	at := 12
	for range count {
		start := at
		e := &entry{offset: start}
		size, n, err := r.head(e, at)
		if err != nil {
			return err
		}
		at += n
		src.Reset(r.body[at:])
		raw, err := r.inflate.read(src, size)
		if err != nil {
			return fmt.Errorf("%w: entry at %d: %w", ErrDamaged, start, err)
		}
		if r.total += size; r.total > MaxInflated {
			return ErrTooLarge
		}
		end := len(r.body) - src.Len()
		e.deflated = r.body[at:end]
		at = end
		switch {
		case !e.typ.IsDelta():
			r.finish(e, e.typ, raw, 0)
		case e.base != 0:
			e.delta = raw
			r.byOffset[e.base] = append(r.byOffset[e.base], e)
		default:
			e.delta = raw
			r.byID[e.ref] = append(r.byID[e.ref], e)
		}
		r.list = append(r.list, e)
	}
	if at != len(r.body) {
		return fmt.Errorf("%w: %d bytes behind the last entry", ErrDamaged, len(r.body)-at)
	}
	return nil
}

// head reads the head of the entry at an offset and returns the inflated size and the head's length.
func (r *thin) head(e *entry, at int) (size, n int, err error) {
	short := fmt.Errorf("%w: it ends early", ErrDamaged)
	b := r.body[at:]
	next := func() (byte, bool) {
		if n >= len(b) {
			return 0, false
		}
		n++
		return b[n-1], true
	}
	c, ok := next()
	if !ok {
		return 0, 0, short
	}
	e.typ = plumbing.ObjectType(c >> 4 & 7)
	size = int(c & 0x0f)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, ok = next(); !ok {
			return 0, 0, short
		}
		if shift > 32 {
			return 0, 0, ErrTooLarge
		}
		size |= int(c&0x7f) << shift
	}
	if size > MaxInflated {
		return 0, 0, ErrTooLarge
	}
	switch e.typ {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	case plumbing.REFDeltaObject:
		if n+20 > len(b) {
			return 0, 0, short
		}
		copy(e.ref[:], b[n:])
		n += 20
	case plumbing.OFSDeltaObject:
		if c, ok = next(); !ok {
			return 0, 0, short
		}
		off := int(c & 0x7f)
		for c&0x80 != 0 {
			if c, ok = next(); !ok || off > len(r.body) {
				return 0, 0, short
			}
			off = (off+1)<<7 | int(c&0x7f)
		}
		if off <= 0 || off >= at {
			return 0, 0, fmt.Errorf("%w: a delta's base lies outside", ErrDamaged)
		}
		e.base = at - off
	default:
		return 0, 0, fmt.Errorf("%w: object type %d", ErrDamaged, e.typ)
	}
	return size, n, nil
}

// finish records a resolved entry; whoever waits for it is next.
func (r *thin) finish(e *entry, t plumbing.ObjectType, raw []byte, depth int) {
	e.typ, e.raw, e.depth, e.done = t, raw, depth, true
	e.id = ID(t, raw)
	r.queue = append(r.queue, e)
}

// resolve applies the deltas. A delta may come before its base.
func (r *thin) resolve() error {
	if err := r.drain(); err != nil {
		return err
	}
	var missing error
	for _, e := range r.list {
		if e.done || e.base != 0 {
			continue
		}
		t, raw, depth, err := r.outside(e.ref)
		if err != nil {
			missing = err // an entry resolved later may turn out to be the base
			continue
		}
		if err := r.apply(e, t, raw, e.ref, depth); err != nil {
			return err
		}
		if err := r.drain(); err != nil {
			return err
		}
	}
	for _, e := range r.list {
		if !e.done {
			return fmt.Errorf("%w: the base of a delta is missing: %w", ErrDamaged, errors.Join(missing, errDelta))
		}
	}
	return nil
}

func (r *thin) drain() error {
	for len(r.queue) > 0 {
		b := r.queue[len(r.queue)-1]
		r.queue = r.queue[:len(r.queue)-1]
		waiting := append(r.byOffset[b.offset], r.byID[b.id]...)
		delete(r.byOffset, b.offset)
		delete(r.byID, b.id)
		for _, e := range waiting {
			if e.done {
				continue
			}
			if err := r.apply(e, b.typ, b.raw, b.id, b.depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *thin) apply(e *entry, t plumbing.ObjectType, base []byte, id plumbing.Hash, depth int) error {
	raw, err := Patch(base, e.delta)
	if err != nil {
		return err
	}
	if r.total += len(raw); r.total > MaxInflated {
		return ErrTooLarge
	}
	e.ref = id
	if depth++; depth > MaxDepth {
		e.whole, depth = true, 0
	}
	r.finish(e, t, raw, depth)
	return nil
}

func (r *thin) objects() []*Object {
	var d Deflater
	out := make([]*Object, 0, len(r.list))
	for _, e := range r.list {
		o := &Object{ID: e.id, Type: e.typ, Size: len(e.raw)}
		switch {
		case e.delta == nil:
			o.Full = bytes.Clone(e.deflated)
		case e.whole:
			o.Full = d.Deflate(e.raw)
		default:
			o.Base, o.Delta, o.DeltaSize, o.Depth = e.ref, bytes.Clone(e.deflated), len(e.delta), e.depth
		}
		out = append(out, o)
	}
	return out
}
