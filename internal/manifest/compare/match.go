// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"slices"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// Match pairs the items of two versions of a list: for each item of want the index of its counterpart in cur, or -1.
// Merge keys decide where there are some; what they leave over is paired when it is a renamed item. Without keys,
// equal items are paired in sequence, and the ones between them by likeness.
func Match(s *change.Schema, field string, cur, want []any) []int {
	if keys := ListKeys(s, field, cur, want); keys != nil {
		return matchKeys(s, keys, cur, want)
	}
	return matchPlaces(cur, want, func(i, j int) bool { return Same(cur[i], want[j]) })
}

func none(n int) []int {
	pairs := make([]int, n)
	for j := range pairs {
		pairs[j] = -1
	}
	return pairs
}

// matchKeys pairs items by merge key, then renamed ones: of what is left over, in sequence, items that agree in most
// of their other fields.
func matchKeys(s *change.Schema, keys []string, cur, want []any) []int {
	pairs := none(len(want))
	index := make(map[string]int, len(cur))
	for i, it := range cur {
		id, _ := ItemKey(s, it, keys)
		index[id] = i
	}
	used := make([]bool, len(cur))
	var left, fresh []int
	for j, it := range want {
		id, _ := ItemKey(s, it, keys)
		if i, ok := index[id]; ok {
			pairs[j], used[i] = i, true
		} else {
			fresh = append(fresh, j)
		}
	}
	for i := range cur {
		if !used[i] {
			left = append(left, i)
		}
	}
	for k, g := range alike(len(left), len(fresh), func(i, j int) float64 {
		return renamed(cur[left[i]], want[fresh[j]], keys, len(cur) == len(want) && left[i] == fresh[j])
	}) {
		if g >= 0 {
			pairs[fresh[k]] = left[g]
		}
	}
	return pairs
}

// renamed says how much an item looks like another one under a new name: the share of its fields beside the keys that
// are the same, when that is half of them or more. An item of nothing but keys is only renamed in its place.
func renamed(cur, want any, keys []string, inPlace bool) float64 {
	a, _ := cur.(map[string]any)
	b, _ := want.(map[string]any)
	fields, same := 0, 0
	for k, v := range a {
		if slices.Contains(keys, k) {
			continue
		}
		fields++
		if w, ok := b[k]; ok && Same(v, w) {
			same++
		}
	}
	switch {
	case fields == 0 && inPlace && len(b) <= len(keys):
		return 0.5
	case fields == 0 || 2*same < fields:
		return 0
	}
	return float64(same) / float64(fields)
}

// matchPlaces pairs equal items in sequence, then equal items that moved, then what is left between the first ones:
// one by one when there is as much on both sides, else by likeness.
func matchPlaces(cur, want []any, same func(i, j int) bool) []int {
	if len(cur)*len(want) > maxPairs {
		same = exactly(cur, want)
	}
	pairs := none(len(want))
	used := make([]bool, len(cur))
	fixed := Align(len(cur), len(want), same)
	for _, p := range fixed {
		pairs[p[1]], used[p[0]] = p[0], true
	}
	matchMoved(pairs, used, same)
	i, j := 0, 0
	for _, p := range append(fixed, [2]int{len(cur), len(want)}) {
		var left, fresh []int
		for ; i < p[0]; i++ {
			if !used[i] {
				left = append(left, i)
			}
		}
		for ; j < p[1]; j++ {
			if pairs[j] < 0 {
				fresh = append(fresh, j)
			}
		}
		i, j = i+1, j+1
		if len(left) == len(fresh) {
			for k := range fresh {
				pairs[fresh[k]] = left[k]
			}
			continue
		}
		like := func(a, b int) float64 { return likeness(cur[left[a]], want[fresh[b]]) }
		for k, g := range alike(len(left), len(fresh), like) {
			if g >= 0 {
				pairs[fresh[k]] = left[g]
			}
		}
	}
	return pairs
}

// exactly compares the items of two long lists by their canonical bytes, written once.
func exactly(a, b []any) func(i, j int) bool {
	texts := func(items []any) []string {
		out := make([]string, len(items))
		for i, it := range items {
			out[i] = string(Canonical(it))
		}
		return out
	}
	x, y := texts(a), texts(b)
	return func(i, j int) bool { return x[i] == y[j] }
}

// matchMoved pairs equal items that stand in another place.
func matchMoved(pairs []int, used []bool, same func(i, j int) bool) {
	var left, fresh []int
	for i, u := range used {
		if !u {
			left = append(left, i)
		}
	}
	for j, i := range pairs {
		if i < 0 {
			fresh = append(fresh, j)
		}
	}
	if len(left)*len(fresh) > maxPairs {
		return
	}
	for _, j := range fresh {
		for _, i := range left {
			if !used[i] && same(i, j) {
				pairs[j], used[i] = i, true
				break
			}
		}
	}
}

// alike pairs n items with m items in sequence so that the sum of their likeness is largest. It returns for each of
// the m the index of its counterpart, or -1. Long lists are not paired.
func alike(n, m int, like func(i, j int) float64) []int {
	pairs := none(m)
	if n == 0 || m == 0 || n*m > 4096 {
		return pairs
	}
	cols := m + 1
	score := make([]float64, (n+1)*cols)
	likes := make([]float64, n*m)
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			l := like(i, j)
			likes[i*m+j] = l
			score[i*cols+j] = max(score[(i+1)*cols+j], score[i*cols+j+1], score[(i+1)*cols+j+1]+l)
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		l := likes[i*m+j]
		switch at := score[i*cols+j]; {
		case l > 0 && at == score[(i+1)*cols+j+1]+l:
			pairs[j] = i
			i++
			j++
		case at == score[(i+1)*cols+j]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// likeness says how much two items have in common, from 0 to 1.
func likeness(a, b any) float64 {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return 0
		}
		same := 0
		for k, v := range a {
			if w, ok := b[k]; ok && Same(v, w) {
				same++
			}
		}
		return float64(2*same) / float64(len(a)+len(b)+1)
	case string:
		b, ok := b.(string)
		if !ok {
			return 0
		}
		p := 0
		for p < len(a) && p < len(b) && a[p] == b[p] {
			p++
		}
		if l := float64(2*p) / float64(len(a)+len(b)+1); l > 0.4 {
			return l
		}
	}
	return 0
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
	if rows > 0 && cols > 0 && rows*cols <= maxCells {
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
