// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"io"
	"path"
	"strconv"
	"strings"
)

// goBenchmarks takes the results of go test -bench into the table: time and allocations of one operation, and what
// the benchmark itself reports.
func goBenchmarks(t *table, in io.Reader) error {
	pkg := ""
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := lines.Text()
		if p, ok := strings.CutPrefix(line, "pkg: "); ok {
			pkg = path.Base(p)
			continue
		}
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(f[0], "Benchmark")
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			if _, err := strconv.Atoi(name[i+1:]); err == nil {
				name = name[:i]
			}
		}
		for i := 2; i+1 < len(f); i += 2 {
			v, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				return err
			}
			unit := f[i+1]
			switch unit {
			case "B/op", "MB/s":
				continue
			case "ns/op":
				v, unit = v/1000, "µs/op"
			}
			t.add("go/"+pkg+"/"+name+"/"+strings.ReplaceAll(unit, "/op", ""), v, unit, goalOf(name, unit))
		}
	}
	return lines.Err()
}

// goalOf is the goal of the few Go benchmarks that measure a row of the goals directly.
func goalOf(name, unit string) string {
	return map[string]string{
		"StatusOnlyEvent µs/op":                      "<= 20",
		"StatusOnlyEvent allocs/op":                  "0",
		"ForeignPush/3-of-20000 blobs-read/op":       "3",
		"ForeignPush/3-of-20000 documents-parsed/op": "3",
		"FetchIncremental/20000 receivedB/op":        "<= 51200",
		"CommitAndPush/200 sentB/op":                 "<= 2048",
		"CommitAndPush/20000 sentB/op":               "<= 2048",
		"KustomizeFlush/1-of-100 full-renders/op":    "<= 1",
		"KustomizeFlush/50-of-100 full-renders/op":   "<= 1",
		"KustomizeFlush/1-of-100 marked-renders/op":  "<= 1",
		"KustomizeFlush/50-of-100 marked-renders/op": "<= 1",
		"KustomizeFlush/1-of-100 µs/document":        "<= 1000",
		"KustomizeFlush/50-of-100 µs/document":       "<= 1000",
		"Seal/one_value changed-lines/op":            "<= 3",
	}[name+" "+unit]
}
