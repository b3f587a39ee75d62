// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"strconv"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// paths is a set of JSON pointers as a tree.
type paths struct {
	keep, ifPresent bool
	children        map[string]*paths
}

func maskTree(m change.Mask) *paths {
	if m.Empty() {
		return nil
	}
	root := &paths{}
	for _, p := range m.Keep {
		root.at(p).keep = true
	}
	for _, p := range m.IfPresent {
		root.at(p).ifPresent = true
	}
	return root
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

func (p *paths) at(pointer string) *paths {
	for _, seg := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		seg = unescape.Replace(seg)
		c := p.children[seg]
		if c == nil {
			c = &paths{}
			if p.children == nil {
				p.children = map[string]*paths{}
			}
			p.children[seg] = c
		}
		p = c
	}
	return p
}

func (p *paths) child(key string) *paths {
	if p == nil {
		return nil
	}
	return p.children[key]
}

func (p *paths) index(i int) *paths {
	if p == nil {
		return nil
	}
	return p.children[strconv.Itoa(i)]
}

func (p *paths) kept() bool { return p != nil && p.keep }

// reserved reports a path that is written only where the file already has it.
func (p *paths) reserved() bool { return p != nil && (p.keep || p.ifPresent) }

// fresh returns a live value as it is written where Git has nothing: without what a mask below it reserves for the
// file, and without nulls. ok is false when the mask leaves nothing of it to write.
func fresh(v any, p *paths) (out any, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			c := p.child(k)
			if e == nil || c.reserved() {
				continue
			}
			if f, ok := fresh(e, c); ok {
				m[k] = f
			}
		}
		return m, p == nil || len(m) > 0 || len(v) == 0
	case []any:
		list := make([]any, 0, len(v))
		for i, e := range v {
			c := p.index(i)
			if c.reserved() {
				continue
			}
			f, _ := fresh(e, c)
			list = append(list, f)
		}
		return list, true
	}
	return v, true
}

// remains returns what stays of a value only Git has: what the mask keeps below it. ok is false when nothing does.
func remains(v any, p *paths) (out any, ok bool) {
	if p == nil {
		return nil, false
	}
	if p.keep {
		return v, true
	}
	m, isMap := v.(map[string]any)
	if !isMap {
		return nil, false
	}
	left := map[string]any{}
	for k, e := range m {
		if r, ok := remains(e, p.child(k)); ok {
			left[k] = r
		}
	}
	return left, len(left) > 0
}
