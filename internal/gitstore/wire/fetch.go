// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// FetchRequest asks for one commit with its tree, given what the client has.
type FetchRequest struct {
	Want plumbing.Hash
	// Have is a commit the client holds with its whole tree, but without its parents; zero = nothing.
	Have plumbing.Hash
}

// V2 is the request as a v2 fetch command. With done the server sends the pack without negotiating.
func (f FetchRequest) V2() []byte {
	b := AppendLine(nil, "command=fetch")
	b = AppendDelim(b)
	b = AppendLine(b, "thin-pack")
	b = AppendLine(b, "no-progress")
	b = AppendLine(b, "ofs-delta")
	if !f.Have.IsZero() {
		b = AppendLine(b, "shallow "+f.Have.String())
	}
	b = AppendLine(b, "deepen 1")
	b = AppendLine(b, "want "+f.Want.String())
	if !f.Have.IsZero() {
		b = AppendLine(b, "have "+f.Have.String())
	}
	b = AppendLine(b, "done")
	return AppendFlush(b)
}

// ReadV2 reads the answer up to the pack and returns a reader of the pack.
func ReadV2(r *Reader, text *Text) (io.Reader, error) {
	for {
		k, line, err := r.line()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		switch {
		case k == Flush:
			return nil, syntax("the answer holds no pack")
		case k != Data:
			continue
		case line == "packfile":
			return NewSideband(r, text), nil
		case line == "acknowledgments", line == "shallow-info", line == "wanted-refs", line == "packfile-uris":
		case strings.HasPrefix(line, "shallow "), strings.HasPrefix(line, "unshallow "),
			strings.HasPrefix(line, "ACK "), line == "NAK", line == "ready":
		default:
			return nil, syntax("line %q in the answer to fetch", clip(line))
		}
	}
}

// V0 is the request for a v0 upload-pack with the server's capabilities. multi_ack is taken when offered: some servers
// (Azure DevOps, case G01) refuse clients without it.
func (f FetchRequest) V0(capabilities []string) []byte {
	caps := make([]string, 0, 8)
	for _, c := range []string{"multi_ack_detailed", "side-band-64k", "thin-pack", "no-progress", "ofs-delta"} {
		if Has(capabilities, c) {
			caps = append(caps, c)
		}
	}
	if !Has(capabilities, "multi_ack_detailed") && Has(capabilities, "multi_ack") {
		caps = append(caps, "multi_ack")
	}
	if !Has(capabilities, "side-band-64k") && Has(capabilities, "side-band") {
		caps = append(caps, "side-band")
	}
	shallow := Has(capabilities, "shallow")
	b := AppendLine(nil, "want "+f.Want.String()+" "+strings.Join(caps, " "))
	if shallow {
		if !f.Have.IsZero() {
			b = AppendLine(b, "shallow "+f.Have.String())
		}
		b = AppendLine(b, "deepen 1")
	}
	b = AppendFlush(b)
	if !f.Have.IsZero() {
		b = AppendLine(b, "have "+f.Have.String())
	}
	return AppendLine(b, "done")
}

// ReadV0 reads the answer of a v0 upload-pack up to the pack and returns a reader of the pack. Shallow lines come
// first when the request deepened; then acknowledgements in whatever dialect; then the pack, multiplexed or not.
func ReadV0(src io.Reader, text *Text) (io.Reader, error) {
	br := bufio.NewReaderSize(src, 16<<10)
	r := NewReader(br)
	for {
		head, err := br.Peek(5)
		if len(head) < 4 {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if bytes.HasPrefix(head, []byte("PACK")) {
			return br, nil // no sideband
		}
		if len(head) == 5 && head[4] >= 1 && head[4] <= 3 && !bytes.HasPrefix(head, []byte("0000")) {
			return NewSideband(r, text), nil
		}
		k, line, err := r.line()
		if err != nil {
			return nil, err
		}
		switch {
		case k != Data:
		case strings.HasPrefix(line, "shallow "), strings.HasPrefix(line, "unshallow "),
			strings.HasPrefix(line, "ACK "), line == "NAK":
		default:
			return nil, syntax("line %q in the answer to fetch", clip(line))
		}
	}
}
