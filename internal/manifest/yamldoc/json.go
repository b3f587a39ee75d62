// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamldoc

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// JSON decodes the node to JSON values: map[string]any, []any, string, bool, nil, int64, float64, and json.Number for
// integers that only uint64 holds. Scalars are read as kustomize and Flux read them: "yes" is text, a timestamp is its
// own text. Aliases are expanded and merge keys applied. A duplicate key keeps its last value. It is an error when an
// alias holds itself, when aliases expand to more than MaxExpanded nodes, and when a value has no JSON form.
func (n *Node) JSON() (any, error) {
	if n == nil {
		return nil, nil
	}
	d := decoder{}
	return d.value(n)
}

type decoder struct {
	// open holds the anchored nodes being expanded.
	open map[*Node]bool
	// expanded counts the nodes visited inside aliases.
	depth, expanded int
}

func (d *decoder) value(n *Node) (any, error) {
	if d.depth > 0 {
		if d.expanded++; d.expanded > MaxExpanded {
			return nil, &SyntaxError{Line: n.Line, Msg: errExpansion}
		}
	}
	switch n.Kind {
	case Alias:
		leave, err := d.enter(n)
		if err != nil {
			return nil, err
		}
		defer leave()
		return d.value(n.Alias)
	case Map:
		m := make(map[string]any, len(n.Pairs))
		return m, d.fill(m, n, nil)
	case Seq:
		list := make([]any, len(n.Items))
		for i, it := range n.Items {
			v, err := d.value(it)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	}
	return scalarValue(n)
}

const (
	errExpansion = "aliases expand to more than 100000 nodes"
	errCycle     = "an alias stands inside its own anchor"
)

// enter notes that an alias is being expanded.
func (d *decoder) enter(n *Node) (leave func(), err error) {
	if d.open == nil {
		d.open = map[*Node]bool{}
	}
	target := n.Alias
	if target == nil || d.open[target] || encloses(target, n) {
		return nil, &SyntaxError{Line: n.Line, Msg: errCycle}
	}
	d.open[target] = true
	d.depth++
	return func() {
		delete(d.open, target)
		d.depth--
	}, nil
}

// encloses reports whether an alias stands inside the node it refers to.
func encloses(target, alias *Node) bool {
	return target.Kind != Scalar && target.Start <= alias.Start && alias.End <= target.End && target.End > target.Start
}

// fill adds the entries of map n to m. skip holds keys that may not be set; nil allows all.
func (d *decoder) fill(m map[string]any, n *Node, skip map[string]bool) error {
	var merge *Node
	for _, p := range n.Pairs {
		if p.Merge() {
			merge = p.Value
			continue
		}
		if p.Key.Kind != Scalar {
			return &SyntaxError{Line: p.Key.Line, Msg: "a key that is not text"}
		}
		if skip[p.Key.Value] {
			continue
		}
		v, err := d.value(p.Value)
		if err != nil {
			return err
		}
		m[p.Key.Value] = v
	}
	if merge == nil {
		return nil
	}
	taken := make(map[string]bool, len(m))
	for k := range m {
		taken[k] = true
	}
	for k := range skip {
		taken[k] = true
	}
	sources := []*Node{merge}
	if merge.Kind == Seq {
		sources = merge.Items
	}
	for _, s := range sources {
		if err := d.merge(m, s, taken); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) merge(m map[string]any, s *Node, taken map[string]bool) error {
	if s.Kind == Alias {
		leave, err := d.enter(s)
		if err != nil {
			return err
		}
		defer leave()
		s = s.Alias
	}
	if s.Kind != Map {
		return &SyntaxError{Line: s.Line, Msg: "a merge key needs a map or a list of maps"}
	}
	if err := d.fill(m, s, taken); err != nil {
		return err
	}
	for k := range m {
		taken[k] = true
	}
	return nil
}

func scalarValue(n *Node) (any, error) {
	switch n.Tag {
	case "!!null":
		return nil, nil
	case "!!bool":
		switch n.Value {
		case "true", "True", "TRUE":
			return true, nil
		case "false", "False", "FALSE":
			return false, nil
		}
	case "!!int":
		if v, ok := readInt(n.Value); ok {
			return v, nil
		}
	case "!!float":
		if v, ok := readFloat(n.Value); ok {
			return v, nil
		}
	case "!!binary":
		if b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Value), "")); err == nil {
			return string(b), nil
		}
	default:
		return n.Value, nil
	}
	return nil, &SyntaxError{Line: n.Line, Msg: fmt.Sprintf("the value has no JSON form as %s", n.Tag)}
}

// readInt reads an integer in any notation yaml v3 knows.
func readInt(s string) (any, bool) {
	s = strings.ReplaceAll(s, "_", "")
	base, digits := 0, s
	switch {
	case strings.HasPrefix(s, "0b"), strings.HasPrefix(s, "-0b"):
		base, digits = 2, strings.Replace(s, "0b", "", 1)
	case strings.HasPrefix(s, "0o"), strings.HasPrefix(s, "-0o"):
		base, digits = 8, strings.Replace(s, "0o", "", 1)
	}
	if v, err := strconv.ParseInt(digits, base, 64); err == nil {
		return v, true
	}
	if v, err := strconv.ParseUint(digits, base, 64); err == nil {
		return json.Number(strconv.FormatUint(v, 10)), true
	}
	return nil, false
}

func readFloat(s string) (any, bool) {
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, false
	}
	return f, true
}

var timestamps = regexp.MustCompile(`^\d{4}-\d\d?-\d\d?` +
	`(?:(?:[Tt]|[ \t]+)\d\d?:\d\d?:\d\d?(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::?\d\d)?))?)?$`)

// Ambiguous reports whether a plain scalar is a word or a timestamp that YAML 1.1 and 1.2 readers take differently
// (editing.md I7): yes, no, on, off, y, n in any case, and dates.
func Ambiguous(plain string) bool {
	switch len(plain) {
	case 1:
		return strings.EqualFold(plain, "y") || strings.EqualFold(plain, "n")
	case 2:
		return strings.EqualFold(plain, "no") || strings.EqualFold(plain, "on")
	case 3:
		return strings.EqualFold(plain, "yes") || strings.EqualFold(plain, "off")
	}
	return len(plain) >= 8 && plain[4] == '-' && plain[0] >= '0' && plain[0] <= '9' && timestamps.MatchString(plain)
}

// Ambiguous reports whether the node is a plain scalar whose text is Ambiguous.
func (n *Node) Ambiguous() bool {
	return n.Kind == Scalar && n.Style == Plain && n.Tag != "!!null" && Ambiguous(n.Value)
}
