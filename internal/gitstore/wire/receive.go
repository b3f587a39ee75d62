// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Command is one compare-and-swap of a reference.
type Command struct {
	Old, New plumbing.Hash
	Ref      string
}

// Request is the head of a receive-pack request; the pack follows it. report-status is always asked for: without it
// there is neither a report nor an error. capabilities are the server's.
func (c Command) Request(capabilities []string) []byte {
	caps := "report-status"
	for _, name := range []string{"side-band-64k", "quiet"} {
		if Has(capabilities, name) {
			caps += " " + name
		}
	}
	b := AppendRaw(nil, c.Old.String()+" "+c.New.String()+" "+c.Ref+"\x00"+caps)
	return AppendFlush(b)
}

// Report is the server's answer to a push.
type Report struct {
	// Unpack is "ok" or why the pack was refused; empty when the server sent no report.
	Unpack string
	// OK is true when the reference was updated.
	OK bool
	// Reason says why it was not, in the words of the status line.
	Reason string
	// Text is what the server and its hooks said on the sideband.
	Text string
}

// ReadReport reads the answer to a push of one reference. An empty answer is a Report without Unpack and no error; an
// answer that ends early is what was read, with the error.
func ReadReport(src io.Reader, ref string, sideband bool) (Report, error) {
	var rep Report
	var text Text
	r := NewReader(src)
	if sideband {
		r = NewReader(&Sideband{r: r, text: &text})
	}
	err := rep.read(r, ref)
	rep.Text = text.String()
	var remote *RemoteError
	if errors.As(err, &remote) && !strings.Contains(rep.Text, remote.Text) {
		rep.Text += remote.Text
	}
	return rep, err
}

func (rep *Report) read(r *Reader, ref string) error {
	for first := true; ; first = false {
		k, line, err := r.line()
		if first && (err == io.EOF || err == nil && k == Flush) {
			return nil
		}
		if err == io.EOF && rep.Unpack != "" {
			return nil // some servers leave out the flush packet
		}
		if err != nil {
			return err
		}
		if k != Data {
			return nil
		}
		switch {
		case strings.HasPrefix(line, "unpack "):
			rep.Unpack = line[len("unpack "):]
		case line == "ok "+ref, strings.HasPrefix(line, "ok "+ref+" "):
			rep.OK = true
		case line == "ng "+ref, strings.HasPrefix(line, "ng "+ref+" "):
			rep.Reason = strings.TrimSpace(strings.TrimPrefix(line, "ng "+ref))
			if rep.Reason == "" {
				rep.Reason = "no reason given"
			}
		case strings.HasPrefix(line, "option "):
		default:
			return syntax("line %q in the report", clip(line))
		}
	}
}
