// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/getsops/sops/v3"
)

// settle finds the object that the document is to hold. What a mask or a default says depends on what Git has in clear
// (decisions 34, 39): of a document that nothing here opens these are only the fields that are no secret.
func (w *sealing) settle() error {
	if w.desired = w.r.Desired; w.r.Settle == nil || w.git.state == absent {
		return nil
	}
	tree := w.git.tree
	if w.git.state == locked {
		tree = slices.DeleteFunc(slices.Clone(tree), func(it sops.TreeItem) bool {
			field, ok := it.Key.(string)
			return !ok || w.kind.sensitive(field)
		})
		for _, p := range w.r.Masked {
			field, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
			if w.kind.sensitive(unescapePointer.Replace(field)) && holds(w.git.tree, p) {
				w.hidden = p
			}
		}
	}
	git, err := json.Marshal(plainOf(tree))
	if err != nil {
		return errors.New(unreadable) // the encoder's own words quote the value
	}
	w.desired, err = w.r.Settle(git)
	return err
}

var unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")

// holds reports whether a tree has something at a JSON pointer. Pointers into lists speak of the live object's items, so
// that any item counts.
func holds(v any, pointer string) bool {
	field, rest, more := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	if list, ok := v.([]any); ok {
		return slices.ContainsFunc(list, func(x any) bool { return !isComment(x) && (!more || holds(x, rest)) })
	}
	b, _ := v.(sops.TreeBranch)
	x, ok := get(b, unescapePointer.Replace(field))
	return ok && (!more || holds(x, rest))
}

// plainOf turns a tree into what encoding/json writes; comments are left out.
func plainOf(v any) any {
	switch v := v.(type) {
	case sops.TreeBranch:
		m := make(map[string]any, len(v))
		for _, it := range v {
			if k, ok := it.Key.(string); ok {
				m[k] = plainOf(it.Value)
			}
		}
		return m
	case []any:
		list := make([]any, 0, len(v))
		for _, x := range v {
			if !isComment(x) {
				list = append(list, plainOf(x))
			}
		}
		return list
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	return v
}
