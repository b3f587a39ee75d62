// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// EventType is the type of a watch frame.
type EventType string

// The event types.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
	Bookmark EventType = "BOOKMARK"
	Failed   EventType = "ERROR"
)

// Frame is one watch event. Object aliases the reader's buffer and is valid until the next call of Next.
type Frame struct {
	Type   EventType
	Object []byte
}

const (
	firstBuffer = 4 << 10
	// keepBuffer is what an idle stream may hold on to after a large frame.
	keepBuffer = 32 << 10
	// maxFrame bounds one event; the API server's own limit for an object is 3 MiB.
	maxFrame = 32 << 20
)

// FrameReader cuts a watch response into frames: one JSON object per line. It allocates only when a frame outgrows its
// buffer.
type FrameReader struct {
	r   io.Reader
	buf []byte
	// start and end bound the unread bytes in buf; scanned says up to where no line break was found.
	start, end, scanned int
	err                 error
}

// NewFrameReader returns a reader of frames.
func NewFrameReader(r io.Reader) *FrameReader {
	return &FrameReader{r: r, buf: make([]byte, firstBuffer)}
}

// Next returns the next frame, io.EOF at the orderly end, io.ErrUnexpectedEOF when the last frame is cut.
func (f *FrameReader) Next() (Frame, error) {
	for {
		line, err := f.line()
		if err != nil {
			return Frame{}, err
		}
		if len(line) > 0 {
			return parseFrame(line)
		}
	}
}

// line returns the next line without its break.
func (f *FrameReader) line() ([]byte, error) {
	for {
		if i := bytes.IndexByte(f.buf[f.scanned:f.end], '\n'); i >= 0 {
			line := bytes.TrimSpace(f.buf[f.start : f.scanned+i])
			f.start = f.scanned + i + 1
			f.scanned = f.start
			return line, nil
		}
		f.scanned = f.end
		if f.err != nil {
			return f.last()
		}
		f.makeRoom()
		if f.end-f.start > maxFrame {
			f.err = fmt.Errorf("a watch event is larger than %d bytes", maxFrame)
			f.start = f.end
			return nil, f.err
		}
		n, err := f.r.Read(f.buf[f.end:])
		f.end += n
		f.err = err
	}
}

// last answers after the reader's end: a complete frame needs no line break behind it.
func (f *FrameReader) last() ([]byte, error) {
	rest := bytes.TrimSpace(f.buf[f.start:f.end])
	f.start, f.scanned = f.end, f.end
	if len(rest) == 0 {
		return nil, f.err
	}
	if end, ok := skipValue(rest, 0); ok && end == len(rest) && rest[0] == '{' {
		return rest, nil
	}
	if errors.Is(f.err, io.EOF) {
		f.err = io.ErrUnexpectedEOF
	}
	return nil, f.err
}

// makeRoom ensures free space behind end: it moves the unread bytes to the front, grows a full buffer, and gives a large
// one back when nothing is in it.
func (f *FrameReader) makeRoom() {
	if f.start == f.end {
		f.start, f.end, f.scanned = 0, 0, 0
		if len(f.buf) > keepBuffer {
			f.buf = make([]byte, firstBuffer)
		}
		return
	}
	if f.start > 0 && f.end == len(f.buf) {
		copy(f.buf, f.buf[f.start:f.end])
		f.end -= f.start
		f.scanned -= f.start
		f.start = 0
	}
	if f.end == len(f.buf) {
		grown := make([]byte, 2*len(f.buf))
		copy(grown, f.buf[:f.end])
		f.buf = grown
	}
}

// parseFrame finds the type and the object of an event without decoding them.
func parseFrame(line []byte) (Frame, error) {
	var f Frame
	end, ok := members(line, 0, func(key []byte, from, to int) bool {
		switch string(key) {
		case "type":
			f.Type = eventType(line[from:to])
		case "object":
			f.Object = line[from:to]
		}
		return true
	})
	if !ok || end != len(line) || f.Type == "" || f.Object == nil {
		return Frame{}, fmt.Errorf("a watch event is not what the watch protocol allows: %q", line[:min(len(line), 60)])
	}
	return f, nil
}

// eventType returns the constant for a quoted type, so that nothing is allocated.
func eventType(quoted []byte) EventType {
	for _, t := range [...]EventType{Added, Modified, Deleted, Bookmark, Failed} {
		if len(quoted) == len(t)+2 && string(quoted[1:len(quoted)-1]) == string(t) {
			return t
		}
	}
	return ""
}
