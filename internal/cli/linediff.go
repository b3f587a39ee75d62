// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import "slices"

// region is a changed stretch: lines a0..a1 of the old text became lines b0..b1 of the new one.
type region struct{ a0, a1, b0, b1 int }

// maxSteps bounds the shortest-path search. It needs maxSteps² memory; texts that differ by more are cut at lines that
// stand once in both, and what has no such line is replaced as a whole.
const maxSteps = 400

// differ compares two texts by line. Time and memory stay in proportion to the texts whatever they hold.
type differ struct {
	a, b []int
	out  []region
}

// lines returns the changed regions in order; between them the texts are equal.
func (d differ) lines(old, next []string) []region {
	ids := map[string]int{}
	intern := func(lines []string) []int {
		out := make([]int, len(lines))
		for i, l := range lines {
			id, ok := ids[l]
			if !ok {
				id = len(ids)
				ids[l] = id
			}
			out[i] = id
		}
		return out
	}
	d.a, d.b = intern(old), intern(next)
	d.compare(region{0, len(old), 0, len(next)})
	return d.out
}

// compare adds the differences inside a region.
func (d *differ) compare(r region) {
	for r.a0 < r.a1 && r.b0 < r.b1 && d.a[r.a0] == d.b[r.b0] {
		r.a0, r.b0 = r.a0+1, r.b0+1
	}
	for r.a0 < r.a1 && r.b0 < r.b1 && d.a[r.a1-1] == d.b[r.b1-1] {
		r.a1, r.b1 = r.a1-1, r.b1-1
	}
	switch {
	case r.a0 == r.a1 && r.b0 == r.b1:
	case r.a0 == r.a1 || r.b0 == r.b1:
		d.add(r)
	case d.shortest(r):
	default:
		d.anchored(r)
	}
}

func (d *differ) add(r region) {
	if n := len(d.out); n > 0 && d.out[n-1].a1 == r.a0 && d.out[n-1].b1 == r.b0 {
		d.out[n-1].a1, d.out[n-1].b1 = r.a1, r.b1
		return
	}
	d.out = append(d.out, r)
}

// shortest finds the smallest set of changed lines (Myers); false when it takes more than maxSteps.
func (d *differ) shortest(r region) bool {
	n, m := r.a1-r.a0, r.b1-r.b0
	limit := min(n+m, maxSteps)
	v := make([]int, 2*limit+2)
	var trace [][]int
	for step := 0; step <= limit; step++ {
		for k := -step; k <= step; k += 2 {
			x := 0
			switch down := k == -step || k != step && v[limit+k-1] < v[limit+k+1]; {
			case step == 0:
			case down:
				x = v[limit+k+1]
			default:
				x = v[limit+k-1] + 1
			}
			y := x - k
			for x < n && y < m && d.a[r.a0+x] == d.b[r.b0+y] {
				x, y = x+1, y+1
			}
			v[limit+k] = x
			if x >= n && y >= m {
				d.walkBack(r, trace, limit)
				return true
			}
		}
		trace = append(trace, slices.Clone(v[max(0, limit-step-1):min(len(v), limit+step+2)]))
	}
	return false
}

// walkBack turns the furthest points of each step into regions.
func (d *differ) walkBack(r region, trace [][]int, limit int) {
	x, y := r.a1-r.a0, r.b1-r.b0
	var back []region
	for step := len(trace); step > 0; step-- {
		v := trace[step-1]
		base := max(0, limit-step) // where the kept part of that step begins
		at := func(k int) int {
			if i := limit + k - base; i >= 0 && i < len(v) {
				return v[i]
			}
			return -1
		}
		k := x - y
		down := k == -step || k != step && at(k-1) < at(k+1)
		px := 0
		if down {
			px = at(k + 1)
			back = append(back, region{r.a0 + px, r.a0 + px, r.b0 + px - k - 1, r.b0 + px - k})
			x, y = px, px-k-1
		} else {
			px = at(k - 1)
			back = append(back, region{r.a0 + px, r.a0 + px + 1, r.b0 + px - k + 1, r.b0 + px - k + 1})
			x, y = px, px-k+1
		}
	}
	for _, e := range slices.Backward(back) {
		d.add(e)
	}
}

// anchored cuts a region at the lines that stand once in both texts, in the longest order they share; without such a
// line it is one change.
func (d *differ) anchored(r region) {
	type count struct{ a, b, ai, bi int }
	seen := map[int]*count{}
	for i := r.a0; i < r.a1; i++ {
		c := seen[d.a[i]]
		if c == nil {
			c = &count{}
			seen[d.a[i]] = c
		}
		c.a, c.ai = c.a+1, i
	}
	for i := r.b0; i < r.b1; i++ {
		if c := seen[d.b[i]]; c != nil {
			c.b, c.bi = c.b+1, i
		}
	}
	var pairs [][2]int
	for i := r.a0; i < r.a1; i++ {
		if c := seen[d.a[i]]; c.a == 1 && c.b == 1 {
			pairs = append(pairs, [2]int{i, c.bi})
		}
	}
	pairs = ascending(pairs)
	if len(pairs) == 0 {
		d.add(r)
		return
	}
	a, b := r.a0, r.b0
	for _, p := range pairs {
		d.compare(region{a, p[0], b, p[1]})
		a, b = p[0]+1, p[1]+1
	}
	d.compare(region{a, r.a1, b, r.b1})
}

// ascending returns the longest run of pairs, ordered by their first number, whose second numbers ascend.
func ascending(pairs [][2]int) [][2]int {
	var tops []int
	before := make([]int, len(pairs))
	for i, p := range pairs {
		at, _ := slices.BinarySearchFunc(tops, p[1], func(t, want int) int { return pairs[t][1] - want })
		before[i] = -1
		if at > 0 {
			before[i] = tops[at-1]
		}
		if at == len(tops) {
			tops = append(tops, i)
		} else {
			tops[at] = i
		}
	}
	var out [][2]int
	if len(tops) > 0 {
		for i := tops[len(tops)-1]; i >= 0; i = before[i] {
			out = append(out, pairs[i])
		}
	}
	slices.Reverse(out)
	return out
}
