// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sanitize

import (
	"slices"
	"strconv"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// paths collects a mask. Its JSON pointers go into the document as it is written.
type paths struct{ keep, ifPresent, unsure []string }

// settled returns the mask sorted and without doubles.
func (p paths) settled() change.Mask {
	tidy := func(s []string) []string {
		slices.Sort(s)
		return slices.Compact(s)
	}
	return change.Mask{Keep: tidy(p.keep), IfPresent: tidy(p.ifPresent), Unsure: tidy(p.unsure)}
}

var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// pointer returns the JSON pointer (RFC 6901) of a path.
func pointer(path ...string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteByte('/')
		b.WriteString(escaper.Replace(p))
	}
	return b.String()
}

func segments(p string) []string {
	out := strings.Split(strings.TrimPrefix(p, "/"), "/")
	for i := range out {
		out[i] = unescaper.Replace(out[i])
	}
	return out
}

// below reports whether pointer p is q or a descendant of it.
func below(p, q string) bool { return p == q || strings.HasPrefix(p, q+"/") }

// resolve returns the value that holds the last segment of a pointer, and that segment.
func resolve(v any, p string) (parent any, last string, ok bool) {
	segs := segments(p)
	for _, s := range segs[:len(segs)-1] {
		switch at := v.(type) {
		case map[string]any:
			v = at[s]
		case []any:
			i, err := strconv.Atoi(s)
			if err != nil || i < 0 || i >= len(at) {
				return nil, "", false
			}
			v = at[i]
		default:
			return nil, "", false
		}
	}
	return v, segs[len(segs)-1], true
}

// exists reports whether a pointer leads to a value.
func exists(v any, p string) bool {
	parent, last, ok := resolve(v, p)
	if !ok {
		return false
	}
	switch at := parent.(type) {
	case map[string]any:
		_, ok = at[last]
		return ok
	case []any:
		i, err := strconv.Atoi(last)
		return err == nil && i >= 0 && i < len(at)
	}
	return false
}

// remove deletes the field at a pointer and reports whether it was there. Items of lists stay: their place is the
// address of what follows them.
func remove(v any, p string) bool {
	parent, last, ok := resolve(v, p)
	m, isMap := parent.(map[string]any)
	if !ok || !isMap {
		return false
	}
	_, has := m[last]
	delete(m, last)
	return has
}

// cut removes a masked field. Labels, annotations and metadata that it empties go with it: empty ones mean nothing. Any
// other map it empties stays and counts only where Git has it.
func (w *work) cut(p string) {
	if !remove(w.obj, p) {
		return
	}
	for {
		i := strings.LastIndexByte(p, '/')
		if p = p[:i]; p == "" {
			return
		}
		parent, last, _ := resolve(w.obj, p)
		m, ok := parent.(map[string]any)
		if !ok {
			return
		}
		if emptied, ok := m[last].(map[string]any); !ok || len(emptied) > 0 {
			return
		}
		if last != "labels" && last != "annotations" && last != "metadata" {
			w.mask.ifPresent = append(w.mask.ifPresent, p)
			return
		}
		delete(m, last)
	}
}
