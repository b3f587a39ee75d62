// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamldoc

import (
	"bytes"
	"regexp"
)

// CheckAliases refuses a file that would make a library expand aliases without bound: an alias inside its own anchor,
// or aliases that expand to more than MaxExpanded nodes (decisions 94). Every file must pass it before kustomize reads
// it. A text that cannot be parsed is refused too: what we cannot read, nobody may expand.
//
// The file is checked as yaml v3 cuts it and as kustomize cuts it (at every line that starts with three dashes), and
// so are the patches a kustomization holds as text.
func CheckAliases(src []byte) error {
	if !bytes.ContainsRune(src, '*') || !bytes.ContainsRune(src, '&') {
		return nil
	}
	f := Split(src)
	for i := range f.Docs {
		if err := checkPiece(f.Body(src, i), f.Docs[i].Line-1); err != nil {
			return err
		}
	}
	if !looseSeparator.Match(src) {
		return nil
	}
	text := bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	line := 0
	for _, piece := range kustomizeSeparator.Split(string(text), -1) {
		if err := checkPiece([]byte(piece), line); err != nil {
			return err
		}
		line += bytes.Count([]byte(piece), []byte("\n")) + 2
	}
	return nil
}

var (
	looseSeparator     = regexp.MustCompile(`(?m)^---[^\s]`)
	kustomizeSeparator = regexp.MustCompile(`\n---.*\n`)
)

func checkPiece(body []byte, line int) error {
	n, err := Parse(body)
	if err == nil {
		err = expansion(n, embedded)
	}
	if e, ok := err.(*SyntaxError); ok && e.Line > 0 {
		e.Line += line
	}
	return err
}

// embedded is how deep texts that hold YAML are followed.
const embedded = 2

// expansion checks the aliases of a document without expanding them.
func expansion(n *Node, depth int) error {
	if n == nil {
		return nil
	}
	if n.facts == nil || len(n.facts.uses) > 0 {
		s := sizer{sizes: map[*Node]int{}, open: map[*Node]bool{}}
		full, err := s.size(n)
		if err != nil {
			return err
		}
		if full-s.plain > MaxExpanded {
			return &SyntaxError{Line: n.Line, Msg: errExpansion}
		}
	}
	if depth == 0 || n.Kind != Map {
		return nil
	}
	for _, key := range []string{
		"patches", "patchesStrategicMerge", "patchesJson6902", "transformers", "generators", "validators",
	} {
		if err := patchTexts(n.Get(key), depth-1); err != nil {
			return err
		}
	}
	return nil
}

// patchTexts checks the YAML a kustomization holds as text.
func patchTexts(n *Node, depth int) error {
	if n == nil || depth < 0 {
		return nil
	}
	switch n.Kind {
	case Seq:
		for _, it := range n.Items {
			if err := patchTexts(it, depth); err != nil {
				return err
			}
		}
	case Map:
		for _, p := range n.Pairs {
			if err := patchTexts(p.Value, depth); err != nil {
				return err
			}
		}
	case Scalar:
		text := []byte(n.Value)
		f := Split(text)
		for i := range f.Docs {
			inner, err := Parse(f.Body(text, i))
			if err != nil {
				continue // not YAML: kustomize will not read it either
			}
			if err := expansion(inner, depth); err != nil {
				return &SyntaxError{Line: n.Line, Msg: err.(*SyntaxError).Msg}
			}
		}
	}
	return nil
}

// sizer counts the nodes of a document as if its aliases were expanded.
type sizer struct {
	sizes map[*Node]int
	open  map[*Node]bool
	// plain counts the nodes that are written out.
	plain int
}

func (s *sizer) size(n *Node) (int, error) {
	if n.Kind == Alias {
		s.plain++
		target := n.Alias
		if target == nil || s.open[target] {
			return 0, &SyntaxError{Line: n.Line, Msg: errCycle}
		}
		return min(s.sizes[target], 1<<40), nil
	}
	s.plain++
	if n.Anchor != "" {
		s.open[n] = true
		defer delete(s.open, n)
	}
	total := 1
	add := func(c *Node) error {
		v, err := s.size(c)
		total = min(total+v, 1<<40)
		return err
	}
	for _, p := range n.Pairs {
		if err := add(p.Key); err != nil {
			return 0, err
		}
		if err := add(p.Value); err != nil {
			return 0, err
		}
	}
	for _, it := range n.Items {
		if err := add(it); err != nil {
			return 0, err
		}
	}
	if n.Anchor != "" {
		s.sizes[n] = total
	}
	return total, nil
}
