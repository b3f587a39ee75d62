// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Packet is the kind of one packet line.
type Packet uint8

// The packets of the protocol.
const (
	Data Packet = iota
	Flush
	Delim
	ResponseEnd
)

// maxPayload is the longest payload of one packet line.
const maxPayload = 65516

// ErrObjectFormat means that the repository does not use SHA-1.
var ErrObjectFormat = errors.New("the repository uses an object format other than SHA-1, which is not supported yet")

// SyntaxError means that the peer does not speak the protocol.
type SyntaxError struct{ Msg string }

// Error implements error.
func (e *SyntaxError) Error() string { return "not Git's protocol: " + e.Msg }

func syntax(format string, args ...any) error { return &SyntaxError{Msg: fmt.Sprintf(format, args...)} }

// RemoteError is an error the server reports within the protocol (an ERR packet or sideband 3).
type RemoteError struct{ Text string }

// Error implements error.
func (e *RemoteError) Error() string { return e.Text }

// Reader reads packet lines.
type Reader struct {
	r   *bufio.Reader
	buf []byte
}

// NewReader reads packet lines from r.
func NewReader(r io.Reader) *Reader {
	if b, ok := r.(*bufio.Reader); ok {
		return &Reader{r: b}
	}
	return &Reader{r: bufio.NewReaderSize(r, 16<<10)}
}

// Next returns the next packet. The payload is valid until the next call. At the end of the input the error is io.EOF,
// in the middle of a packet io.ErrUnexpectedEOF; an ERR packet is a *RemoteError.
func (r *Reader) Next() (Packet, []byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return 0, nil, err
	}
	var raw [2]byte
	if _, err := hex.Decode(raw[:], head[:]); err != nil {
		return 0, nil, syntax("packet length %q", head[:])
	}
	n := int(raw[0])<<8 | int(raw[1])
	switch n {
	case 0:
		return Flush, nil, nil
	case 1:
		return Delim, nil, nil
	case 2:
		return ResponseEnd, nil, nil
	case 3:
		return 0, nil, syntax("packet length 3")
	}
	n -= 4
	if n > maxPayload {
		return 0, nil, syntax("packet of %d bytes", n)
	}
	if cap(r.buf) < n {
		r.buf = make([]byte, max(n, 1024))
	}
	p := r.buf[:n]
	if _, err := io.ReadFull(r.r, p); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	if strings.HasPrefix(string(p[:min(n, 4)]), "ERR ") {
		return 0, nil, &RemoteError{Text: strings.TrimSpace(string(p[4:]))}
	}
	return Data, p, nil
}

// line is Next for text: the payload without its line break.
func (r *Reader) line() (Packet, string, error) {
	k, p, err := r.Next()
	return k, strings.TrimSuffix(string(p), "\n"), err
}

// AppendLine adds a packet with this text and a line break.
func AppendLine(b []byte, text string) []byte {
	b = fmt.Appendf(b, "%04x", len(text)+5)
	b = append(b, text...)
	return append(b, '\n')
}

// AppendRaw adds a packet with exactly this payload.
func AppendRaw(b []byte, payload string) []byte {
	b = fmt.Appendf(b, "%04x", len(payload)+4)
	return append(b, payload...)
}

// AppendFlush adds a flush packet.
func AppendFlush(b []byte) []byte { return append(b, "0000"...) }

// AppendDelim adds a delimiter packet.
func AppendDelim(b []byte) []byte { return append(b, "0001"...) }
