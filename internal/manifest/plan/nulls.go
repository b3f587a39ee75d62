// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// A null means "delete this field" in a patch and "absent" to the editor. While a patch is edited, words stand for its
// nulls, one per spelling, so that they are added, kept and removed like any other value.
var nullMarks = []struct{ word, text string }{
	{"gitops-reverser-deletes-null", "null"}, {"gitops-reverser-deletes-tilde", "~"},
}

// markFile puts words in place of the nulls of one document, and returns the file and the document's value.
func markFile(b []byte, index int, h yamldoc.Head) ([]byte, map[string]any) {
	f := yamldoc.Split(b)
	body := f.Body(b, index)
	n, err := yamldoc.Parse(body)
	if err != nil || n == nil {
		return b, nil
	}
	var spots []*yamldoc.Node
	var walk func(n *yamldoc.Node)
	walk = func(n *yamldoc.Node) {
		for _, p := range n.Pairs {
			walk(p.Value)
		}
		for _, e := range n.Items {
			walk(e)
		}
		if n.Kind == yamldoc.Scalar && n.Tag == "!!null" && n.End > n.Start {
			spots = append(spots, n)
		}
	}
	walk(n)
	out := bytes.Clone(body)
	for i := len(spots) - 1; i >= 0; i-- {
		s := spots[i]
		for _, m := range nullMarks {
			if string(body[s.Start:s.End]) == m.text {
				out = append(out[:s.Start], append([]byte(m.word), out[s.End:]...)...)
			}
		}
	}
	start, end := f.Docs[index].Start, f.Docs[index].End
	marked := append(append(bytes.Clone(b[:start]), out...), b[end:]...)
	return marked, documentOf(marked, rawID(h)).value()
}

// markNulls puts a word in place of every null of a value: the one the document has there, or the plain one.
func markNulls(next, have any) any {
	switch n := next.(type) {
	case nil:
		for _, m := range nullMarks {
			if have == m.word {
				return have
			}
		}
		return nullMarks[0].word
	case map[string]any:
		h, _ := have.(map[string]any)
		out := make(map[string]any, len(n))
		for key, v := range n {
			out[key] = markNulls(v, h[key])
		}
		return out
	case []any:
		out := make([]any, len(n))
		for i, v := range n {
			out[i] = markNulls(v, nil)
		}
		return out
	}
	return next
}

func unmark(b []byte) []byte {
	for _, m := range nullMarks {
		b = bytes.ReplaceAll(b, []byte(m.word), []byte(m.text))
	}
	return b
}
