// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// results is a committed table.
type results struct {
	// about says when and on what it was measured.
	about string
	rows  map[string]row
	order []string
}

// Lines of the file that are no rows.
const (
	resultsHead  = "# Written by BENCH_UPDATE=1 make bench: name, value, unit, goal. docs/performance.md says what each row is."
	resultsAbout = "# Measured: "
)

// about describes this run.
func about() string {
	return fmt.Sprintf("%s, %d cores, %s/%s, %s", time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.GOOS,
		runtime.GOARCH, runtime.Version())
}

// readTable reads a committed table; a missing file is an empty one.
func readTable(name string) (*results, error) {
	t := &results{rows: map[string]row{}}
	f, err := os.Open(name)
	if os.IsNotExist(err) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		line := in.Text()
		if text, ok := strings.CutPrefix(line, resultsAbout); ok {
			t.about = text
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c := strings.Split(line, "\t")
		if len(c) != 4 {
			return nil, fmt.Errorf("%s:%d: %d columns, expected name, value, unit and goal", name, n, len(c))
		}
		v, err := strconv.ParseFloat(c[1], 64)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		t.put(row{name: c[0], value: v, unit: c[2], goal: c[3]})
	}
	return t, in.Err()
}

func (t *results) put(r row) {
	if _, known := t.rows[r.name]; !known {
		t.order = append(t.order, r.name)
	}
	t.rows[r.name] = r
}

// update writes the measured rows into the committed table. Rows that were not measured stay in their places, unless
// the run was a whole one.
func (t *table) update(name string, whole bool, about string) error {
	next, err := readTable(name)
	if err != nil {
		return err
	}
	if whole {
		next = &results{rows: map[string]row{}}
	}
	for _, r := range t.rows {
		next.put(r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s%s\n", resultsHead, resultsAbout, about)
	for _, n := range next.order {
		r := next.rows[n]
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", r.name, number(r.value), r.unit, r.goal)
	}
	return os.WriteFile(name, []byte(b.String()), 0o644)
}
