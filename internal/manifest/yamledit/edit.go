// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"bytes"
	"fmt"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// attempts bounds how often an edit climbs to a larger node before the document rung.
const attempts = 16

const crashed = "the editor failed on this text"

// Edit changes document index of a file so that it means desired: nothing when it already does, else the smallest
// splices that do (editing.md). The result was parsed again and means Result.Desired. Errors: *UneditableError when a
// construct forbids the edit (decisions 37), *yamldoc.SyntaxError when the document cannot be read, and a plain error
// for an index without a document. Lines in results and errors are lines of the file.
func Edit(file []byte, index int, desired any, o Options) (res Result, err error) {
	defer func() {
		// An editor that fails on a text must not end the process (decisions 94).
		if r := recover(); r != nil {
			res, err = Result{}, &UneditableError{Hazard: yamldoc.HazardUnmapped, Reason: crashed}
		}
	}()
	f := yamldoc.Split(file)
	if index < 0 || index >= len(f.Docs) {
		return Result{}, fmt.Errorf("the file has no document %d", index)
	}
	doc := f.Docs[index]
	body := f.Body(file, index)
	root, err := yamldoc.Parse(body)
	if err != nil {
		return Result{}, shiftLine(err, doc.Line-1)
	}
	if root == nil {
		return Result{}, &yamldoc.SyntaxError{Line: doc.Line, Msg: "the document is empty"}
	}
	cur, err := root.JSON()
	if err != nil {
		return Result{}, shiftLine(err, doc.Line-1)
	}
	want := compare.Normalize(desired, cur, o.Options)
	e := editor{
		canvas: &canvas{src: body, root: root, look: look{nl: lineBreak(f)}}, opts: o.Options, line: doc.Line - 1,
		forced: map[*yamldoc.Node]bool{}, ambiguous: ambiguousNodes(root),
	}
	same := compare.Same(cur, want)
	unchanged := Result{File: file, Outcome: NoChange, Desired: want, Parses: 1}
	if same && len(e.ambiguous) == 0 {
		return unchanged, nil
	}
	if yamldoc.ReadHead(root).Encrypted && !same {
		return Result{}, &UneditableError{Hazard: yamldoc.HazardEncrypted, Line: doc.Line, Path: "/sops"}
	}
	if h := blocking(root); h != nil {
		if same {
			return unchanged, nil
		}
		return Result{}, &UneditableError{Hazard: h.Kind, Line: h.Line + e.line, Path: h.Path, Key: h.Key}
	}
	e.look = measure(root, e.look.nl)
	text, outcome, err := e.edit(cur, want, o.AllowReplace)
	if err != nil {
		if same {
			return unchanged, nil
		}
		return Result{}, err
	}
	if outcome == NoChange {
		return unchanged, nil
	}
	out := replaceBytes(file, doc.Start, doc.End, text)
	if !framingHolds(f, file, out, index, text) {
		return Result{}, &UneditableError{Hazard: yamldoc.HazardUnmapped, Line: doc.Line}
	}
	return Result{File: out, Outcome: outcome, Notes: e.notes, Desired: want, Parses: 1 + e.parses}, nil
}

func lineBreak(f *yamldoc.File) string {
	if f.CRLF {
		return "\r\n"
	}
	return "\n"
}

func shiftLine(err error, by int) error {
	if e, ok := err.(*yamldoc.SyntaxError); ok && e.Line > 0 {
		return &yamldoc.SyntaxError{Line: e.Line + by, Column: e.Column, Msg: e.Msg}
	}
	return err
}

// blocking returns the first hazard that forbids every edit of the document.
func blocking(root *yamldoc.Node) *yamldoc.Hazard {
	for _, h := range root.Hazards() {
		if h.Kind.WholeDocument() {
			return &h
		}
	}
	return nil
}

func replaceBytes(src []byte, start, end int, text []byte) []byte {
	out := make([]byte, 0, len(src)-(end-start)+len(text))
	out = append(out, src[:start]...)
	out = append(out, text...)
	return append(out, src[end:]...)
}

// framingHolds checks that an edit left every other document where and as it was.
func framingHolds(f *yamldoc.File, before, after []byte, index int, text []byte) bool {
	g := yamldoc.Split(after)
	if len(g.Docs) != len(f.Docs) {
		return false
	}
	for i := range f.Docs {
		want := f.Body(before, i)
		if i == index {
			want = text
		}
		if !bytes.Equal(g.Body(after, i), want) {
			return false
		}
	}
	return true
}

// editor turns the difference between a document and a value into splices on its canvas.
type editor struct {
	*canvas
	opts compare.Options
	// line is how many lines of the file lie before the document.
	line int
	// forced holds nodes a smaller edit of which was not right: they are written anew.
	forced map[*yamldoc.Node]bool
	// ambiguous holds the nodes that are, or hold, ambiguous plain scalars (editing.md I7).
	ambiguous map[*yamldoc.Node]bool
	refused   *UneditableError
	// stuck is the node that could not be edited in place.
	stuck  *yamldoc.Node
	reason string
	notes  []Note
	parses int
}

// edit tries the rungs of editing.md I6 from the smallest on.
func (e *editor) edit(cur, want any, allowReplace bool) ([]byte, Outcome, error) {
	for range attempts {
		e.splices, e.stuck, e.reason = nil, nil, ""
		ok := e.node(e.root, cur, want, spot{schema: e.opts.Schema})
		if e.refused != nil {
			return nil, "", e.refused
		}
		var out []byte
		if ok {
			list := joinDeletions(e.src, e.splices, e.breakIsText)
			if len(list) == 0 {
				return e.src, NoChange, nil
			}
			if out, ok = apply(e.src, list); !ok {
				e.stuck, e.reason = e.root, "the edits overlap"
			}
		}
		if ok {
			got, err := e.decode(out)
			if err == nil && compare.Same(got, want) {
				return out, Patched, nil
			}
			e.stuck, e.reason = e.enclosing(got, want, err), "the smaller edit did not mean the value"
		}
		if e.stuck == nil || e.stuck == e.root || e.forced[e.stuck] {
			break
		}
		e.forced[e.stuck] = true
		e.notes = append(e.notes, Note{Rung: RungNode, Line: e.stuck.Line + e.line, Path: e.pathOf(e.stuck), Reason: e.reason})
	}
	return e.replaceAll(want, allowReplace)
}

// replaceAll is the last rung: the document written anew below its opening comments.
func (e *editor) replaceAll(want any, allowed bool) ([]byte, Outcome, error) {
	uneditable := &UneditableError{Hazard: yamldoc.HazardUnmapped, Line: e.root.Line + e.line, Reason: e.reason}
	if e.stuck != nil {
		uneditable.Line, uneditable.Path = e.stuck.Line+e.line, e.pathOf(e.stuck)
	}
	if !allowed {
		return nil, "", uneditable
	}
	for _, h := range e.root.Hazards() {
		return nil, "", &UneditableError{Hazard: h.Kind, Line: h.Line + e.line, Path: h.Path, Key: h.Key}
	}
	l := standard
	l.nl = e.look.nl
	text, err := emit(want, l)
	if err != nil {
		return nil, "", uneditable
	}
	head := e.src[:yamldoc.LineStart(e.src, e.root.Start)]
	text = append(bytes.Clone(head), text...)
	if err := means(text, want); err != nil {
		return nil, "", uneditable
	}
	e.notes = append(e.notes, Note{Rung: RungDocument, Line: e.root.Line + e.line, Reason: e.reason})
	return text, Replaced, nil
}

// decode reads a result back and counts it.
func (e *editor) decode(body []byte) (any, error) {
	e.parses++
	return decode(body)
}

func decode(body []byte) (any, error) {
	n, err := yamldoc.Parse(body)
	if err != nil {
		return nil, err
	}
	return n.JSON()
}

// refuse notes that a hazard lies on the path of the change.
func (e *editor) refuse(kind yamldoc.HazardKind, n *yamldoc.Node) bool {
	if e.refused == nil {
		e.refused = &UneditableError{Hazard: kind, Line: n.Line + e.line, Path: e.pathOf(n)}
	}
	return false
}

// fail notes that a node cannot be edited in place; it returns false.
func (e *editor) fail(n *yamldoc.Node, reason string) bool {
	if e.stuck == nil {
		e.stuck, e.reason = n, reason
	}
	return false
}

// enclosing returns the smallest node around the first difference between two values that was not written anew yet;
// the root when there is none.
func (e *editor) enclosing(got, want any, err error) *yamldoc.Node {
	if err != nil {
		return e.root
	}
	chain := []*yamldoc.Node{e.root}
	for _, seg := range difference(got, want, nil) {
		n := chain[len(chain)-1]
		var next *yamldoc.Node
		switch n.Kind {
		case yamldoc.Map:
			if p := findPair(n, seg); p != nil {
				next = p.Value
			}
		case yamldoc.Seq:
			var i int
			if _, err := fmt.Sscan(seg, &i); err == nil && i < len(n.Items) {
				next = n.Items[i]
			}
		}
		if next == nil {
			break
		}
		chain = append(chain, next)
	}
	for i := len(chain) - 1; i > 0; i-- {
		if !e.forced[chain[i]] {
			return chain[i]
		}
	}
	return e.root
}

// difference returns the path of the first difference.
func difference(a, b any, path []string) []string {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			for _, k := range rootOrder(a) {
				if w, ok := b[k]; ok && !compare.Same(a[k], w) {
					return difference(a[k], w, append(path, k))
				}
			}
		}
	case []any:
		if b, ok := b.([]any); ok && len(a) == len(b) {
			for i := range a {
				if !compare.Same(a[i], b[i]) {
					return difference(a[i], b[i], append(path, fmt.Sprint(i)))
				}
			}
		}
	}
	return path
}
