// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/getsops/sops/v3"
)

// treeOf turns a JSON object into SOPS' tree, in the key order of git-writer 1.6. Numbers keep their kind: SOPS knows int
// and float, so an integer outside int64 is an error rather than a rounded value.
func treeOf(object []byte) (sops.TreeBranch, error) {
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		return nil, errors.New("the object is no JSON object") // the decoder's own words quote the text
	}
	return branchOf(m, []string{"apiVersion", "kind", "metadata"})
}

// first keeps the keys of metadata in their usual order.
var metadataOrder = []string{"name", "namespace", "labels", "annotations"}

func branchOf(m map[string]any, first []string) (sops.TreeBranch, error) {
	keys := slices.Collect(maps.Keys(m))
	rank := func(k string) int {
		if i := slices.Index(first, k); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	out := make(sops.TreeBranch, 0, len(m))
	for _, k := range keys {
		var order []string
		if len(first) > 0 && k == "metadata" {
			order = metadataOrder
		}
		v, err := valueOf(m[k], order)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k, err)
		}
		out = append(out, sops.TreeItem{Key: k, Value: v})
	}
	return out, nil
}

func valueOf(v any, order []string) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		return branchOf(v, order)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			var err error
			if out[i], err = valueOf(x, nil); err != nil {
				return nil, err
			}
		}
		return out, nil
	case json.Number:
		return numberOf(v.String())
	default:
		return v, nil
	}
}

func numberOf(s string) (any, error) {
	if !strings.ContainsAny(s, ".eE") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, errors.New("SOPS cannot hold an integer of more than 64 bits")
		}
		return n, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, errors.New("SOPS cannot hold a number of this size")
	}
	return f, nil
}

// get returns the value of a key.
func get(b sops.TreeBranch, key string) (any, bool) {
	for _, it := range b {
		if it.Key == key {
			return it.Value, true
		}
	}
	return nil, false
}

func child(b sops.TreeBranch, key string) sops.TreeBranch {
	v, _ := get(b, key)
	c, _ := v.(sops.TreeBranch)
	return c
}

// put replaces the value of a key, or adds the key: before the first key that sorts behind it when the keys are sorted,
// else at the end.
func put(b sops.TreeBranch, key string, value any) sops.TreeBranch {
	at, sorted, last := -1, true, ""
	for i, it := range b {
		k, ok := it.Key.(string)
		if !ok {
			continue
		}
		if k == key {
			b[i].Value = value
			return b
		}
		sorted = sorted && last < k
		last = k
		if at < 0 && k > key {
			at = i
		}
	}
	item := sops.TreeItem{Key: key, Value: value}
	if at < 0 || !sorted {
		return append(b, item)
	}
	for at > 0 && isComment(b[at-1].Key) { // the comment belongs to the key behind it
		at--
	}
	return slices.Insert(b, at, item)
}

func isComment(v any) bool {
	_, ok := v.(sops.Comment)
	return ok
}

// clone copies a tree deeply: SOPS changes trees in place.
func clone(v any) any {
	switch v := v.(type) {
	case sops.TreeBranch:
		return cloneBranch(v)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = clone(x)
		}
		return out
	default:
		return v
	}
}

func cloneBranch(b sops.TreeBranch) sops.TreeBranch {
	out := make(sops.TreeBranch, len(b))
	for i, it := range b {
		out[i] = sops.TreeItem{Key: it.Key, Value: clone(it.Value)}
	}
	return out
}

// isVoid reports null, and for built-in types an empty map or list: what only Git has of these is no difference
// (decisions 41).
func isVoid(v any, builtIn bool) bool {
	switch v := v.(type) {
	case nil:
		return true
	case sops.TreeBranch:
		return builtIn && !slices.ContainsFunc(v, func(it sops.TreeItem) bool { return !isComment(it.Key) })
	case []any:
		return builtIn && len(v) == 0
	}
	return false
}

// equal compares a decrypted tree of Git with a wanted one. Comments do not count.
func equal(git, want any, builtIn bool) bool {
	switch w := want.(type) {
	case sops.TreeBranch:
		g, ok := git.(sops.TreeBranch)
		if !ok {
			return git == nil && isVoid(w, false)
		}
		return equalBranches(g, w, builtIn)
	case []any:
		g, ok := git.([]any)
		if !ok {
			return false
		}
		g, w = slices.DeleteFunc(slices.Clone(g), isComment), slices.DeleteFunc(slices.Clone(w), isComment)
		return slices.EqualFunc(g, w, func(a, b any) bool { return equal(a, b, builtIn) })
	default:
		return equalScalars(git, want)
	}
}

func equalBranches(git, want sops.TreeBranch, builtIn bool) bool {
	for _, it := range want {
		k, ok := it.Key.(string)
		if !ok || it.Value == nil {
			continue
		}
		if v, ok := get(git, k); !ok || !equal(v, it.Value, builtIn) {
			return false
		}
	}
	for _, it := range git {
		k, ok := it.Key.(string)
		if !ok {
			continue
		}
		if v, found := get(want, k); (!found || v == nil) && !isVoid(it.Value, builtIn) {
			return false
		}
	}
	return true
}

func equalScalars(a, b any) bool {
	if x, ok := asFloat(a); ok {
		y, ok := asFloat(b)
		return ok && x == y
	}
	switch a.(type) {
	case nil, string, bool, time.Time, int:
		return a == b
	}
	return false
}

// asFloat gives numbers of different kinds one form; two ints compare as they are.
func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		if int(float64(v)) == v {
			return float64(v), true
		}
	}
	return 0, false
}

// merge gives want in the layout of git: its key order, its comments and its void entries stay.
func merge(git, want any, builtIn bool) any {
	switch w := want.(type) {
	case sops.TreeBranch:
		if g, ok := git.(sops.TreeBranch); ok {
			return mergeBranches(g, w, builtIn)
		}
	case []any:
		if g, ok := git.([]any); ok {
			return mergeLists(g, w, builtIn)
		}
	default:
		if equalScalars(git, want) {
			return git // an int may stand for an equal float
		}
	}
	return clone(want)
}

func mergeBranches(git, want sops.TreeBranch, builtIn bool) sops.TreeBranch {
	var out sops.TreeBranch
	for _, it := range git {
		k, ok := it.Key.(string)
		if !ok {
			out = append(out, it)
			continue
		}
		w, found := get(want, k)
		switch {
		case found && (w != nil || it.Value == nil):
			out = append(out, sops.TreeItem{Key: k, Value: merge(it.Value, w, builtIn)})
		case isVoid(it.Value, builtIn):
			out = append(out, it)
		}
	}
	for _, it := range want {
		if _, ok := get(git, it.Key.(string)); !ok && it.Value != nil {
			out = put(out, it.Key.(string), clone(it.Value))
		}
	}
	return out
}

// mergeLists pairs items by position; a comment stays in front of the item at its position.
func mergeLists(git, want []any, builtIn bool) []any {
	out := make([]any, 0, len(want))
	i := 0
	for _, g := range git {
		if isComment(g) {
			if i < len(want) {
				out = append(out, g)
			}
			continue
		}
		if i >= len(want) {
			break
		}
		out = append(out, merge(g, want[i], builtIn))
		i++
	}
	for ; i < len(want); i++ {
		out = append(out, clone(want[i]))
	}
	return out
}
