// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package pack

// maxCopy is the longest copy instruction every Git implementation reads.
const maxCopy = 0x10000

// Delta builds a Git delta from instructions given in the order of the target.
type Delta struct {
	base []byte
	ops  []byte
	size int
	// the copy that has not been written yet
	from, to int
}

// NewDelta starts a delta of base.
func NewDelta(base []byte) *Delta { return &Delta{base: base} }

// Copy appends base[from:to] to the target.
func (d *Delta) Copy(from, to int) {
	if from == to {
		return
	}
	d.size += to - from
	if d.to == from && d.to > d.from {
		d.to = to
		return
	}
	d.flush()
	d.from, d.to = from, to
}

// Insert appends new bytes to the target.
func (d *Delta) Insert(p []byte) {
	d.flush()
	d.size += len(p)
	for len(p) > 0 {
		n := min(len(p), 127)
		d.ops = append(d.ops, byte(n))
		d.ops = append(d.ops, p[:n]...)
		p = p[n:]
	}
}

func (d *Delta) flush() {
	for d.from < d.to {
		n := min(d.to-d.from, maxCopy)
		at := len(d.ops)
		d.ops = append(d.ops, 0x80)
		for i, v := uint(0), d.from; i < 4; i, v = i+1, v>>8 {
			if v&0xff != 0 {
				d.ops[at] |= 1 << i
				d.ops = append(d.ops, byte(v))
			}
		}
		if n != maxCopy {
			for i, v := uint(0), n; i < 2; i, v = i+1, v>>8 {
				if v&0xff != 0 {
					d.ops[at] |= 0x10 << i
					d.ops = append(d.ops, byte(v))
				}
			}
		}
		d.from += n
	}
	d.from, d.to = 0, 0
}

// Bytes returns the delta.
func (d *Delta) Bytes() []byte {
	d.flush()
	out := appendSize(make([]byte, 0, len(d.ops)+12), len(d.base))
	out = appendSize(out, d.size)
	return append(out, d.ops...)
}

func appendSize(b []byte, n int) []byte {
	for n >= 0x80 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n))
}

// Diff is the delta that keeps the common beginning and end of two files.
func Diff(base, target []byte) []byte {
	n := min(len(base), len(target))
	head := 0
	for head < n && base[head] == target[head] {
		head++
	}
	tail := 0
	for tail < n-head && base[len(base)-1-tail] == target[len(target)-1-tail] {
		tail++
	}
	d := NewDelta(base)
	d.Copy(0, head)
	d.Insert(target[head : len(target)-tail])
	d.Copy(len(base)-tail, len(base))
	return d.Bytes()
}
