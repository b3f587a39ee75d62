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
	tab := &table{old: &results{rows: map[string]row{"a": {value: 10}, "b": {value: 10}, "c": {value: 0}, "d": {value: 800}, "h": {value: 800}}}}
	tab.add("a", 10.9, "ms", "<= 20")
	tab.add("b", 12, "ms", "< 12")
	tab.add("c", 1, "requests", "0")
	tab.add("d", 1110, "bytes", "<= 1110")
	tab.add("e", 1, "requests", "1")
	tab.ratio("f", "b", "a", "<= 1.5")
	tab.ratio("g", "b", "unknown", "")
	tab.add("h", 1000, "bytes", "")
	var out strings.Builder
	g.Expect(tab.write(&out)).To(Succeed())
	lines := strings.Split(out.String(), "\n")
	g.Expect(lines[1]).NotTo(Or(ContainSubstring("~"), ContainSubstring("!!"), ContainSubstring("MISSED")), "within 10 %%")
	g.Expect(lines[2]).To(And(ContainSubstring("~ +20 %"), ContainSubstring("MISSED")), "a time depends on the machine")
	g.Expect(lines[3]).To(And(ContainSubstring("!! was 0"), ContainSubstring("MISSED")))
	g.Expect(lines[4]).To(And(ContainSubstring("!! +39 %"), Not(ContainSubstring("MISSED"))))
	g.Expect(lines[5]).To(And(ContainSubstring("new"), Not(ContainSubstring("MISSED"))))
	g.Expect(lines[6]).To(And(HavePrefix("f "), ContainSubstring("1.10")))
	g.Expect(lines[7]).NotTo(Or(ContainSubstring("~"), ContainSubstring("!!")), "few bytes")
	g.Expect(lines[9]).To(Equal("7 rows, 2 goals missed; against hack/bench/results.tsv 2 counts (!!) and 1 times or sizes in memory (~) " +
		"differ by more than 10 %"))
}

func TestUpdateKeepsWhatWasNotMeasured(t *testing.T) {
	g := NewWithT(t)
	name := filepath.Join(t.TempDir(), "results.tsv")
	g.Expect(os.WriteFile(name, []byte("# head\na\t1\tms\t<= 2\nb\t5\tMiB\t\n"), 0o600)).To(Succeed())
	tab := &table{}
	tab.add("b", 6.126, "MiB", "")
	tab.add("c", 7, "requests", "1")
	g.Expect(tab.update(name, false, "today, 2 cores")).To(Succeed())
	read, err := readTable(name)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.about).To(Equal("today, 2 cores"))
	g.Expect(read.order).To(Equal([]string{"a", "b", "c"}))
	g.Expect(read.rows["a"]).To(Equal(row{"a", 1, "ms", "<= 2"}))
	g.Expect(read.rows["b"].value).To(Equal(6.13))

	g.Expect(tab.update(name, true, "today, 2 cores")).To(Succeed())
	read, err = readTable(name)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.order).To(Equal([]string{"b", "c"}), "a whole run forgets what is measured no more")

	g.Expect(os.WriteFile(name, []byte("a\t1\n"), 0o600)).To(Succeed())
	_, err = readTable(name)
	g.Expect(err).To(MatchError(ContainSubstring("results.tsv:1: 2 columns")))
}

func TestThePageShowsTheCommittedTable(t *testing.T) {
	g := NewWithT(t)
	committed, err := readTable("results.tsv")
	g.Expect(err).NotTo(HaveOccurred())
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "performance.md"))
	g.Expect(err).NotTo(HaveOccurred())
	want, err := committed.into(string(page))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(page)).To(Equal(want), "BENCH_UPDATE=1 make bench writes both")

	told := map[string]bool{}
	for _, s := range quantities {
		for _, q := range s.list {
			g.Expect(committed.rows).To(HaveKey(q.row))
			told[q.row] = true
		}
	}
	for _, n := range committed.order {
		g.Expect(committed.rows[n].goal == "").To(Equal(!told[n]), "%s: rows with a goal, and no others, are explained", n)
	}
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
