// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package compare

import "github.com/configbutler/gitops-reverser/internal/change"

// Equal reports whether what Git says is what the live object is, under the rules of the type (decisions 22, 23, 34
// and 39 to 41). Git comes first: a default Git leaves out is no difference, one that live lacks is.
func Equal(git, live any, o Options) bool {
	if o.Mask.Empty() && Same(git, live) {
		return true
	}
	if git == nil {
		return live == nil
	}
	return Same(Normalize(live, git, o), git)
}

// Normalize returns the value a document should hold so that it means the live object, given what it holds now: equal
// parts in Git's own spelling and order, masked paths as Git has them, defaults and optional paths only where Git has
// them, and everything else as live. With git nil it returns the content of a new document: masked and optional paths
// left out, defaults kept. Neither argument is modified; the result may share parts with both.
func Normalize(live, git any, o Options) any {
	mask := maskTree(o.Mask)
	if git == nil {
		v, _ := fresh(live, mask)
		return v
	}
	w := walk{builtIn: o.BuiltIn}
	return w.value(git, live, spot{schema: o.Schema, mask: mask})
}

// walk normalizes one pair of values.
type walk struct {
	builtIn bool
}

// spot is what is known of the place being compared.
type spot struct {
	schema *change.Schema
	mask   *paths
	field  string
}

func (w walk) value(git, live any, at spot) any {
	if at.mask.kept() {
		return git
	}
	switch g := git.(type) {
	case map[string]any:
		if l, ok := live.(map[string]any); ok {
			return w.object(g, l, at)
		}
	case []any:
		if l, ok := live.([]any); ok {
			return w.list(g, l, at)
		}
	default:
		if Same(git, live) || at.schema != nil && at.schema.Quantity && sameQuantity(git, live) {
			return git
		}
	}
	v, _ := fresh(live, at.mask)
	return v
}

func (w walk) object(git, live map[string]any, at spot) any {
	out := make(map[string]any, len(live))
	for k, lv := range live {
		if lv == nil {
			continue
		}
		in := spot{schema: at.schema.Field(k), mask: at.mask.child(k), field: k}
		gv, has := git[k]
		if gv != nil {
			out[k] = w.value(gv, lv, in)
			continue
		}
		v, ok := fresh(lv, in.mask)
		switch {
		case ok && !in.mask.reserved() && !w.isDefault(in.schema, v):
			out[k] = v
		case has:
			out[k] = nil
		}
	}
	for k, gv := range git {
		if live[k] != nil {
			continue
		}
		switch {
		case gv == nil, w.builtIn && isEmpty(gv):
			out[k] = gv
		default:
			if v, ok := remains(gv, at.mask.child(k)); ok {
				out[k] = v
			}
		}
	}
	return out
}

// isDefault reports whether a live value is what the API server fills in when the field is left out (decisions 39).
func (w walk) isDefault(s *change.Schema, live any) bool {
	if s == nil || s.Default == nil {
		return false
	}
	return Same(w.value(s.Default, live, spot{schema: s}), s.Default)
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

func (w walk) list(git, live []any, at spot) any {
	how := listOrder(at.schema, at.field, w.builtIn)
	if keys := ListKeys(at.schema, at.field, git, live); keys != nil && how != set {
		return w.keyed(git, live, keys, how, at)
	}
	if how == set && len(git)*len(live) <= maxPairs {
		return w.set(git, live, at)
	}
	return w.aligned(git, live, at)
}

// item normalizes live item j, given the item of Git it is matched with; git is nil for a new one.
func (w walk) item(git any, live []any, j int, at spot) any {
	mask := at.mask.index(j)
	if git == nil {
		v, _ := fresh(live[j], mask)
		return v
	}
	return w.value(git, live[j], spot{schema: at.schema.Item(), mask: mask})
}

// keyed matches items by merge key.
func (w walk) keyed(git, live []any, keys []string, how order, at spot) any {
	pairs := matchKeys(at.schema, keys, git, live)
	out := make([]any, 0, len(live))
	byGit := make([]any, len(git))
	present := make([]bool, len(git))
	for j, i := range pairs {
		switch {
		case i < 0:
			out = append(out, w.item(nil, live, j, at))
		case how == ordered:
			out = append(out, w.item(git[i], live, j, at))
		default:
			byGit[i], present[i] = w.item(git[i], live, j, at), true
		}
	}
	if how == ordered {
		return out
	}
	kept := make([]any, 0, len(live))
	for i, ok := range present {
		if ok {
			kept = append(kept, byGit[i])
		}
	}
	return append(kept, out...)
}

// set matches items by value.
func (w walk) set(git, live []any, at spot) any {
	used := make([]bool, len(live))
	out := make([]any, 0, len(live))
	for _, gv := range git {
		for j := range live {
			if !used[j] && Same(w.item(gv, live, j, at), gv) {
				used[j] = true
				out = append(out, gv)
				break
			}
		}
	}
	for j := range live {
		if !used[j] {
			out = append(out, w.item(nil, live, j, at))
		}
	}
	return out
}

// maxPairs bounds the comparisons by the rules of the type in one list without keys; maxCells those by bytes.
const (
	maxPairs = 40_000
	maxCells = 4_000_000
)

// aligned matches items by place: equal items first, as many as possible in sequence, then the ones between them.
func (w walk) aligned(git, live []any, at spot) any {
	same := func(i, j int) bool { return Same(w.item(git[i], live, j, at), git[i]) }
	out := make([]any, 0, len(live))
	for j, i := range matchPlaces(git, live, same) {
		if i < 0 || git[i] == nil {
			out = append(out, w.item(nil, live, j, at))
			continue
		}
		out = append(out, w.item(git[i], live, j, at))
	}
	return out
}
