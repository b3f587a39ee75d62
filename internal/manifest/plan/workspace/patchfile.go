// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"bytes"
	"errors"
	"reflect"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamledit"
)

// parsedFile is a file of patches as it was when it was parsed.
type parsedFile struct {
	content []byte
	docs    []*Document
}

// Patches returns the documents of a patch file; every object asks for them, so they are kept while the file is what it
// was.
func (w *Workspace) Patches(name string) ([]*Document, error) {
	b, err := w.Read(name)
	if err != nil {
		return nil, err
	}
	if f, ok := w.parsed[name]; ok && bytes.Equal(f.content, b) {
		return f.docs, nil
	}
	f := parsedFile{b, DocumentsIn(b)}
	w.parsed[name] = f
	return f.docs, nil
}

// EditPatch makes the document of a patch file that has an identity mean next.
func (w *Workspace) EditPatch(name string, h yamldoc.Head, next map[string]any) error {
	b, err := w.Read(name)
	if err != nil {
		return &ioError{err}
	}
	d := DocumentOf(b, RawID(h))
	if d == nil {
		return errors.New("the patch is gone from the file")
	}
	marked, have := markFile(b, d.Index, h)
	res, err := yamledit.Edit(marked, d.Index, markNulls(next, have), yamledit.Options{AllowReplace: true})
	if err != nil {
		return err
	}
	out := unmark(res.File)
	if got := DocumentOf(out, RawID(h)).Value(); !reflect.DeepEqual(got, next) {
		doc, err := yamledit.EmitPatch(next)
		if err != nil {
			return err
		}
		if out, err = yamledit.ReplaceDoc(b, d.Index, doc); err != nil {
			return err
		}
	}
	if err := w.Write(name, out); err != nil {
		return &ioError{err}
	}
	return nil
}

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
	return marked, DocumentOf(marked, RawID(h)).Value()
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
