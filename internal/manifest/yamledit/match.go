// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
)

// match pairs the items of two versions of a list: for each wanted item the index of the current one, or -1. Merge
// keys decide where there are some, else equal items in sequence, else likeness between them.
func match(s *change.Schema, field string, cur, want []any) []int {
	pairs := make([]int, len(want))
	for j := range pairs {
		pairs[j] = -1
	}
	if keys := compare.ListKeys(s, field, cur, want); keys != nil {
		index := map[string]int{}
		for i, it := range cur {
			id, _ := compare.ItemKey(s, it, keys)
			index[id] = i
		}
		for j, it := range want {
			id, _ := compare.ItemKey(s, it, keys)
			if i, ok := index[id]; ok {
				pairs[j] = i
			}
		}
		return pairs
	}
	i, j := 0, 0
	same := func(i, j int) bool { return compare.Same(cur[i], want[j]) }
	for _, p := range append(compare.Align(len(cur), len(want), same), [2]int{len(cur), len(want)}) {
		for k, g := range alike(cur[i:p[0]], want[j:p[1]]) {
			if g >= 0 {
				pairs[j+k] = i + g
			}
		}
		if p[1] < len(want) {
			pairs[p[1]] = p[0]
		}
		i, j = p[0]+1, p[1]+1
	}
	return pairs
}

// alike pairs the items of a stretch where nothing is equal, in sequence: one by one when there are as many, else so
// that the likeness is largest.
func alike(cur, want []any) []int {
	pairs := make([]int, len(want))
	for j := range pairs {
		pairs[j] = -1
		if len(cur) == len(want) {
			pairs[j] = j
		}
	}
	if len(cur) == len(want) || len(cur) == 0 || len(want) == 0 || len(cur)*len(want) > 4096 {
		return pairs
	}
	cols := len(want) + 1
	score := make([]float64, (len(cur)+1)*cols)
	like := make([]float64, len(cur)*len(want))
	for i := len(cur) - 1; i >= 0; i-- {
		for j := len(want) - 1; j >= 0; j-- {
			l := likeness(cur[i], want[j])
			like[i*len(want)+j] = l
			score[i*cols+j] = max(score[(i+1)*cols+j], score[i*cols+j+1], score[(i+1)*cols+j+1]+l)
		}
	}
	for i, j := 0, 0; i < len(cur) && j < len(want); {
		l := like[i*len(want)+j]
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
			if hasSame(b, k, v) {
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
