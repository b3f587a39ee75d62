// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // Git's object identity, not a security boundary.
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// MaxDepth bounds chains of deltas that are kept for reading.
const MaxDepth = 50

// Object is one object in the form of a pack entry: its deflated bytes, a deflated delta, or both.
type Object struct {
	ID   plumbing.Hash
	Type plumbing.ObjectType
	// Size is the size of the object, in bytes.
	Size int
	// Full is the deflated object; nil when only the delta is kept.
	Full []byte
	// Base and Delta are the object as a delta of another one; DeltaSize is the delta's inflated size.
	Base      plumbing.Hash
	Delta     []byte
	DeltaSize int
	// Depth counts the deltas to apply until an object with Full (or one of the disk) is reached.
	Depth int
}

// overhead is what an Object costs beside its bytes.
const overhead = 160

// Cost is the memory an object holds, in bytes.
func (o *Object) Cost() int64 { return int64(len(o.Full)+len(o.Delta)) + overhead }

// ID computes the id of an object.
func ID(t plumbing.ObjectType, raw []byte) plumbing.Hash {
	h := sha1.New() //nolint:gosec // see the import
	var head [40]byte
	b := append(head[:0], t.String()...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(len(raw)), 10)
	h.Write(append(b, 0))
	h.Write(raw)
	var id plumbing.Hash
	h.Sum(id[:0])
	return id
}

// Deflater compresses; it keeps the compressor's tables from call to call.
type Deflater struct {
	w   *zlib.Writer
	buf bytes.Buffer
}

// Deflate returns the zlib form of raw.
func (d *Deflater) Deflate(raw []byte) []byte {
	d.buf.Reset()
	if d.w == nil {
		d.w = zlib.NewWriter(&d.buf)
	} else {
		d.w.Reset(&d.buf)
	}
	_, _ = d.w.Write(raw) // a bytes.Buffer does not fail
	_ = d.w.Close()
	return bytes.Clone(d.buf.Bytes())
}

// Inflater decompresses; it keeps the decompressor's tables from call to call.
type Inflater struct {
	r   io.ReadCloser
	src bytes.Reader
}

// Inflate returns the object of a zlib form, which must have exactly this size.
func (i *Inflater) Inflate(deflated []byte, size int) ([]byte, error) {
	i.src.Reset(deflated)
	out, err := i.read(&i.src, size)
	return out, err
}

// read inflates exactly size bytes from src, a ByteReader, and leaves it behind the compressed data.
func (i *Inflater) read(src io.Reader, size int) ([]byte, error) {
	var err error
	if i.r == nil {
		i.r, err = zlib.NewReader(src)
	} else {
		err = i.r.(zlib.Resetter).Reset(src, nil)
	}
	if err != nil {
		return nil, err
	}
	// The size is the peer's word: grow with what really comes.
	var b bytes.Buffer
	b.Grow(min(size, 1<<20) + bytes.MinRead)
	n, err := io.Copy(&b, io.LimitReader(i.r, int64(size)+1))
	if err != nil {
		return nil, err
	}
	if n != int64(size) {
		return nil, fmt.Errorf("an object of %d bytes inflates to another size", size)
	}
	return b.Bytes(), nil
}

// errDelta is what damaged deltas give.
var errDelta = errors.New("damaged delta")

// Patch applies an inflated delta.
func Patch(base, delta []byte) ([]byte, error) {
	out, err := packfile.PatchDelta(base, delta)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDelta, err)
	}
	return out, nil
}
