// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package encryption_test

import (
	"slices"
	"strings"
	"testing"
)

func BenchmarkSeal(b *testing.B) {
	x := newBench(b)
	first := x.request(nil, pair)
	doc := x.seal(first).Document
	unchanged := x.request(doc, pair)
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			x.restart()
			x.seal(first)
		}
	})
	b.Run("unchanged, after a restart", func(b *testing.B) {
		for b.Loop() {
			x.restart()
			x.seal(unchanged)
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			x.seal(unchanged)
		}
	})
	b.Run("one value", func(b *testing.B) {
		a, c := x.request(doc, map[string]string{"a": "x", "b": pair["b"], "c": pair["c"]}), 0
		var sealed []byte
		for b.Loop() {
			a.UID = string(rune('a' + c%20000)) // no replay
			c++
			sealed = x.seal(a).Document
		}
		before := strings.Split(string(doc), "\n")
		changed := slices.DeleteFunc(strings.Split(string(sealed), "\n"), func(l string) bool { return slices.Contains(before, l) })
		b.ReportMetric(float64(len(changed)), "changed-lines/op")
	})
}
