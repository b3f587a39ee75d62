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
	switch name + " " + unit {
	case "StatusOnlyEvent µs/op":
		return "<= 20"
	case "StatusOnlyEvent allocs/op":
		return "0"
	case "FetchIncremental/20000 receivedB/op":
		return "<= 50000"
	case "CommitAndPush/200 sentB/op", "CommitAndPush/20000 sentB/op":
		return "<= 2048"
	case "FetchLargeHistory rssMiB":
		return "<= 60"
	}
	return ""
}
