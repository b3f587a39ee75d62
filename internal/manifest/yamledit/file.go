// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// Append adds a document at the end of a file, in the standard style and the file's line breaks (git-writer 4.7). An
// empty file becomes a file of that document.
func Append(file []byte, desired any) ([]byte, error) {
	doc, err := Emit(desired)
	if err != nil {
		return nil, err
	}
	return AppendRaw(file, doc), nil
}

// AppendRaw adds the text of a document at the end of a file: behind a "---" when the file holds a document already, in
// the file's line breaks, with a final line break exactly when the file has one. A trailing "---" is used, not doubled.
func AppendRaw(file, doc []byte) []byte {
	f := yamldoc.Split(file)
	nl := lineBreak(f)
	doc = inBreaks(bare(doc), nl)
	if len(f.Docs) == 0 {
		head := bytes.Clone(file)
		if len(head) > 0 && !endsInBreak(head) && !(f.BOM && len(head) == len("\ufeff")) {
			head = append(head, nl...)
		}
		return append(head, doc...)
	}
	last := f.Docs[len(f.Docs)-1]
	open := !endsInBreak(file)
	out := bytes.Clone(file)
	if open {
		out = append(sealed(file, last), nl...)
		if trimmed := bytes.TrimSuffix(doc, []byte(nl)); sameMeaning(doc, trimmed) {
			doc = trimmed
		}
	}
	if !(last.Empty && last.Marker >= 0 && len(bytes.TrimSpace(file[last.Start:])) == 0) {
		out = append(append(out, "---"...), nl...)
	}
	return append(out, doc...)
}

// bare returns the text of a document without a leading marker line, ending in a line break.
func bare(doc []byte) []byte {
	f := yamldoc.Split(doc)
	if len(f.Docs) == 1 {
		doc = f.Body(doc, 0)
	}
	if len(doc) > 0 && !endsInBreak(doc) {
		doc = append(sealed(doc, yamldoc.Doc{End: len(doc)}), '\n')
	}
	return doc
}

func sameMeaning(a, b []byte) bool {
	n, err := yamldoc.Parse(a)
	if err != nil {
		return false
	}
	v, err := n.JSON()
	return err == nil && means(b, v) == nil
}

// inBreaks returns a text with its line breaks in the form of a file.
func inBreaks(text []byte, nl string) []byte {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if nl == "\n" {
		return text
	}
	return bytes.ReplaceAll(text, []byte("\n"), []byte(nl))
}

// sealed returns a file whose last document ends without a line break, changed so that one can follow: a block scalar
// that would gain the line break gets the indicator against it.
func sealed(file []byte, last yamldoc.Doc) []byte {
	body := file[last.Start:last.End]
	root, err := yamldoc.Parse(body)
	if err != nil || root == nil || last.End != len(file) {
		return bytes.Clone(file)
	}
	c := canvas{src: body, root: root}
	c.seal(len(body))
	out, ok := apply(body, c.splices)
	if !ok {
		return bytes.Clone(file)
	}
	return replaceBytes(file, last.Start, last.End, out)
}

// DeleteDoc takes document index out of a file, with its comments and its framing. Comments of its neighbours and a
// comment on their marker lines stay. empty reports that no document is left: the file is to be removed. An index
// without a document changes nothing.
func DeleteDoc(file []byte, index int) (rest []byte, empty bool) {
	f := yamldoc.Split(file)
	if index < 0 || index >= len(f.Docs) {
		return file, len(f.Docs) == 0
	}
	if len(f.Docs) == 1 {
		return nil, true
	}
	start, end := frameStart(f, index), len(file)
	if index == len(f.Docs)-1 {
		if !endsInBreak(file) && start > 0 {
			start = openCut(f, file, start)
		}
		return replaceBytes(file, start, end, nil), false
	}
	next := f.Docs[index+1]
	end = frameStart(f, index+1)
	if index == 0 && f.Docs[0].Marker < 0 && next.Marker >= 0 && next.Start > next.Marker {
		line := bytes.TrimSpace(file[next.Marker:yamldoc.LineEnd(file, next.Marker)])
		if string(line) == "---" && len(bytes.TrimSpace(file[end:next.Marker])) == 0 {
			end = next.Start // no stray separator before the new first document
		}
	}
	return replaceBytes(file, start, end, nil), false
}

// frameStart returns where the framing and text of a document start; what stands before the first document's marker is
// the file's.
func frameStart(f *yamldoc.File, index int) int {
	d := f.Docs[index]
	switch {
	case index > 0:
		return d.Frame
	case d.Marker >= 0 && d.Marker < d.Start:
		return d.Marker
	}
	return d.Start
}

// openCut returns the start of a deletion that reaches the end of a file without final line break: the line break
// before it goes too, unless it is text of a block scalar.
func openCut(f *yamldoc.File, file []byte, start int) int {
	n := breakBefore(file, start)
	prev := f.Docs[len(f.Docs)-2]
	if n == 0 || prev.End != start {
		return start
	}
	before, after := file[prev.Start:prev.End-n], file[prev.Start:prev.End]
	if prev.Empty || !sameMeaning(after, before) {
		return start
	}
	return start - n
}

// ReplaceDoc puts another text in the place of document index: a re-encrypted document. The comments above the old
// document's first node stay when the new text brings none, and so do framing and line breaks. It is an error when the
// new text does not hold exactly one document.
func ReplaceDoc(file []byte, index int, doc []byte) ([]byte, error) {
	f := yamldoc.Split(file)
	if index < 0 || index >= len(f.Docs) {
		return nil, fmt.Errorf("the file has no document %d", index)
	}
	g := yamldoc.Split(doc)
	if len(g.Docs) != 1 || g.Docs[0].Empty {
		return nil, fmt.Errorf("the new text holds %d documents, want one", len(g.Docs))
	}
	old := f.Docs[index]
	text := inBreaks(bare(doc), lineBreak(f))
	if !strings.HasPrefix(string(text), "#") {
		text = append(bytes.Clone(headComments(f.Body(file, index))), text...)
	}
	if old.End == len(file) && !endsInBreak(file) {
		if trimmed := bytes.TrimSuffix(text, []byte(lineBreak(f))); sameMeaning(text, trimmed) {
			text = trimmed
		}
	}
	start := old.Start
	if old.Marker >= old.Start { // content on the marker line, or directives: the text brings its own line
		text = append([]byte("---"+lineBreak(f)), text...)
	}
	out := replaceBytes(file, start, old.End, text)
	if len(yamldoc.Split(out).Docs) != len(f.Docs) {
		return nil, fmt.Errorf("the new text changes the documents around it")
	}
	return out, nil
}

// headComments returns the comments and blank lines above the first node of a document.
func headComments(body []byte) []byte {
	pos := 0
	for pos < len(body) {
		end := yamldoc.LineEnd(body, pos)
		line := bytes.TrimLeft(body[pos:end], " \t")
		if len(line) > 0 && line[0] != '#' {
			break
		}
		pos = end + yamldoc.BreakLen(body, end)
	}
	return body[:pos]
}
