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
	index := make(map[string]int, len(git))
	for i, it := range git {
		id, _ := ItemKey(at.schema, it, keys)
		index[id] = i
	}
	out := make([]any, 0, len(live))
	byGit := make([]any, len(git))
	present := make([]bool, len(git))
	for j, it := range live {
		id, _ := ItemKey(at.schema, it, keys)
		i, ok := index[id]
		switch {
		case !ok:
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

// maxPairs bounds the comparisons of one list without keys.
const maxPairs = 40_000

// aligned matches items by place: equal items first, as many as possible in sequence, then the ones between them one
// by one.
func (w walk) aligned(git, live []any, at spot) any {
	same := func(i, j int) bool { return Same(w.item(git[i], live, j, at), git[i]) }
	out := make([]any, 0, len(live))
	i, j := 0, 0
	for _, p := range append(Align(len(git), len(live), same), [2]int{len(git), len(live)}) {
		for ; j < p[1]; j++ {
			if i < p[0] && git[i] != nil {
				out = append(out, w.item(git[i], live, j, at))
				i++
			} else {
				out = append(out, w.item(nil, live, j, at))
			}
		}
		if p[0] < len(git) && p[1] < len(live) {
			out = append(out, git[p[0]])
			i, j = p[0]+1, p[1]+1
		}
	}
	return out
}

// Align returns the longest common subsequence of two lists as pairs of indices, both ascending. Beyond a bound of
// work it falls back to the common head and tail.
func Align(n, m int, same func(i, j int) bool) [][2]int {
	var head, tail [][2]int
	lo := 0
	for lo < n && lo < m && same(lo, lo) {
		head = append(head, [2]int{lo, lo})
		lo++
	}
	for n > lo && m > lo && same(n-1, m-1) {
		n--
		m--
		tail = append(tail, [2]int{n, m})
	}
	rows, cols := n-lo, m-lo
	if rows > 0 && cols > 0 && rows*cols <= maxPairs {
		head = append(head, longest(rows, cols, lo, same)...)
	}
	for i := len(tail) - 1; i >= 0; i-- {
		head = append(head, tail[i])
	}
	return head
}

func longest(rows, cols, lo int, same func(i, j int) bool) [][2]int {
	equal := make([]bool, rows*cols)
	length := make([]int32, (rows+1)*(cols+1))
	for i := rows - 1; i >= 0; i-- {
		for j := cols - 1; j >= 0; j-- {
			at := i*(cols+1) + j
			if equal[i*cols+j] = same(lo+i, lo+j); equal[i*cols+j] {
				length[at] = length[at+cols+2] + 1
			} else {
				length[at] = max(length[at+1], length[at+cols+1])
			}
		}
	}
	var pairs [][2]int
	for i, j := 0, 0; i < rows && j < cols; {
		at := i*(cols+1) + j
		switch {
		case equal[i*cols+j]:
			pairs = append(pairs, [2]int{lo + i, lo + j})
			i++
			j++
		case length[at+1] >= length[at+cols+1]:
			j++
		default:
			i++
		}
	}
	return pairs
}
