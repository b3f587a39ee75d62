// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"bytes"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// splice writes the values of a document SOPS emitted into the document in Git, so that a file somebody formatted
// differently keeps its bytes. It gives up (false) when more than single values differ.
func splice(old, emitted []byte) ([]byte, bool) {
	a, errA := yamldoc.Parse(old)
	b, errB := yamldoc.Parse(emitted)
	if errA != nil || errB != nil || a == nil || b == nil || len(a.Hazards()) > 0 {
		return nil, false
	}
	// Comments of encrypted fields are ciphertext and would have to change, too.
	s := &splicer{old: old, emitted: emitted}
	if !slices.Equal(comments(old), comments(emitted)) || !s.node(a, b, false, true) {
		return nil, false
	}
	slices.SortFunc(s.edits, func(x, y edit) int { return x.start - y.start })
	var out bytes.Buffer
	at := 0
	for _, e := range s.edits {
		out.Write(old[at:e.start])
		out.WriteString(e.text)
		at = e.end
	}
	out.Write(old[at:])
	if !bytes.HasSuffix(old, []byte("\n")) {
		out.WriteString("\n")
	}
	return out.Bytes(), true
}

type edit struct {
	start, end int
	text       string
}

type splicer struct {
	old, emitted []byte
	edits        []edit
}

// node walks both documents; top marks the root, where the sops block may have more in the old one.
func (s *splicer) node(a, b *yamldoc.Node, flow, top bool) bool {
	if a.Kind != b.Kind || a.Anchor != "" || a.Kind == yamldoc.Alias {
		return false
	}
	flow = flow || a.Style == yamldoc.Flow
	switch a.Kind {
	case yamldoc.Map:
		if len(a.Pairs) != len(b.Pairs) {
			return false
		}
		for i := range a.Pairs {
			if a.Pairs[i].Key.Value != b.Pairs[i].Key.Value {
				return false
			}
			ok := false
			if top && a.Pairs[i].Key.Value == "sops" {
				ok = s.metadata(a.Pairs[i].Value, b.Pairs[i].Value, flow)
			} else {
				ok = s.node(a.Pairs[i].Value, b.Pairs[i].Value, flow, false)
			}
			if !ok {
				return false
			}
		}
		return true
	case yamldoc.Seq:
		if len(a.Items) != len(b.Items) {
			return false
		}
		for i := range a.Items {
			if !s.node(a.Items[i], b.Items[i], flow, false) {
				return false
			}
		}
		return true
	default:
		return a.Tag == b.Tag && a.Value == b.Value || s.scalar(a, b, flow)
	}
}

// metadata compares the sops blocks by key: older versions of SOPS wrote empty lists for kinds of keys that are not used.
func (s *splicer) metadata(a, b *yamldoc.Node, flow bool) bool {
	if a.Kind != yamldoc.Map || b.Kind != yamldoc.Map || a.Anchor != "" {
		return false
	}
	seen := 0
	for _, p := range a.Pairs {
		v := b.Get(p.Key.Value)
		switch {
		case v != nil:
			seen++
			if !s.node(p.Value, v, flow || a.Style == yamldoc.Flow, false) {
				return false
			}
		case p.Value.Kind == yamldoc.Seq && len(p.Value.Items) == 0, p.Value.Kind == yamldoc.Scalar && p.Value.Tag == "!!null":
		default:
			return false
		}
	}
	return seen == len(b.Pairs)
}

// comments lists the encrypted comments of a document.
func comments(text []byte) []string {
	var out []string
	for line := range strings.Lines(string(text)) {
		if i := strings.Index(line, "#ENC["); i >= 0 {
			out = append(out, strings.TrimSpace(line[i:]))
		}
	}
	return out
}

// scalar replaces one value by another that fits on one line.
func (s *splicer) scalar(a, b *yamldoc.Node, flow bool) bool {
	if a.Content != a.Start || a.Start == a.End || a.Style == yamldoc.Literal || a.Style == yamldoc.Folded {
		return false
	}
	text := string(s.emitted[b.Start:b.End])
	plain := b.Style == yamldoc.Plain
	switch {
	case b.Style == yamldoc.Literal || b.Style == yamldoc.Folded || strings.Contains(text, "\n"):
		return false
	case plain && (flow || a.Style != yamldoc.Plain) && isCiphertext(b.Value):
		text = `"` + b.Value + `"` // neither quotes nor backslashes in it
	case plain && flow:
		return false
	}
	s.edits = append(s.edits, edit{a.Start, a.End, text})
	return true
}
