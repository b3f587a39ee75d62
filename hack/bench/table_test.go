// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestTableFlagsWhatChanged(t *testing.T) {
	g := NewWithT(t)
	tab := &table{old: map[string]row{"a": {value: 10}, "b": {value: 10}, "c": {value: 0}}}
	tab.add("a", 10.9, "ms", "<= 20")
	tab.add("b", 12, "ms", "")
	tab.add("c", 1, "requests", "0")
	tab.add("d", 1, "requests", "1")
	var out strings.Builder
	changed, err := tab.write(&out)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(changed).To(Equal(2))
	lines := strings.Split(out.String(), "\n")
	g.Expect(lines[1]).NotTo(ContainSubstring("!!"), "within 10 %%")
	g.Expect(lines[2]).To(ContainSubstring("!! +20 %"))
	g.Expect(lines[3]).To(ContainSubstring("!! was 0"))
	g.Expect(lines[4]).To(ContainSubstring("new"))
}

func TestTableUpdateKeepsWhatWasNotMeasured(t *testing.T) {
	g := NewWithT(t)
	name := filepath.Join(t.TempDir(), "results.tsv")
	g.Expect(os.WriteFile(name, []byte("# head\na\t1\tms\t<= 2\nb\t5\tMiB\t\n"), 0o600)).To(Succeed())
	tab := &table{}
	tab.add("b", 6.126, "MiB", "")
	tab.add("c", 7, "requests", "1")
	g.Expect(tab.update(name)).To(Succeed())
	rows, order, err := readTable(name)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(order).To(Equal([]string{"a", "b", "c"}))
	g.Expect(rows["a"]).To(Equal(row{"a", 1, "ms", "<= 2"}))
	g.Expect(rows["b"].value).To(Equal(6.13))

	g.Expect(os.WriteFile(name, []byte("a\t1\n"), 0o600)).To(Succeed())
	_, _, err = readTable(name)
	g.Expect(err).To(MatchError(ContainSubstring("results.tsv:1: 2 columns")))
}

func TestGoBenchmarksBecomeRows(t *testing.T) {
	g := NewWithT(t)
	tab := &table{}
	g.Expect(goBenchmarks(tab, strings.NewReader(`goos: linux
pkg: example.org/x/internal/watch
BenchmarkStatusOnlyEvent-2   	  100	     15000 ns/op	       0 B/op	       0 allocs/op
pkg: example.org/x/internal/gitstore
BenchmarkCommitAndPush/200-2 	    5	   2000000 ns/op	       812.5 sentB/op
PASS
`))).To(Succeed())
	g.Expect(tab.rows).To(Equal([]row{
		{"go/watch/StatusOnlyEvent/µs", 15, "µs/op", "<= 20"},
		{"go/watch/StatusOnlyEvent/allocs", 0, "allocs/op", "0"},
		{"go/gitstore/CommitAndPush/200/µs", 2000, "µs/op", ""},
		{"go/gitstore/CommitAndPush/200/sentB", 812.5, "sentB/op", "<= 2048"},
	}))
}

func TestMedian(t *testing.T) {
	g := NewWithT(t)
	g.Expect(median([]float64{3, 1, 2})).To(Equal(2.0))
	g.Expect(median([]float64{4, 1, 2, 3})).To(Equal(2.5))
}
