// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// row is one measured number.
type row struct {
	// name is what is measured, words separated by slashes; it is the key in the committed table.
	name  string
	value float64
	unit  string
	// goal is the text of design/performance.md; empty when the row only explains another one.
	goal string
}

// noteworthy is the share by which a row must differ from the committed table to be flagged.
const noteworthy = 0.10

// table collects rows and knows the committed ones.
type table struct {
	rows []row
	old  map[string]row
	// live prints each row as it is measured.
	live io.Writer
}

func (t *table) add(name string, value float64, unit, goal string) {
	r := row{name: name, value: value, unit: unit, goal: goal}
	t.rows = append(t.rows, r)
	if t.live != nil {
		fmt.Fprintf(t.live, "   %s: %s %s\n", name, number(value), unit)
	}
}

// write prints the table with the committed values beside the measured ones.
func (t *table) write(w io.Writer) (changed int, err error) {
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "MEASURED\tVALUE\tUNIT\tGOAL\tCOMMITTED\tCHANGE")
	for _, r := range t.rows {
		committed, change := "", ""
		if o, ok := t.old[r.name]; ok {
			committed = number(o.value)
			if c, flag := difference(o.value, r.value); flag {
				change = c
				changed++
			}
		} else if t.old != nil {
			committed = "new"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", r.name, number(r.value), r.unit, r.goal, committed, change)
	}
	return changed, tw.Flush()
}

// difference says how far a value is from the committed one, and whether that is worth a flag.
func difference(old, value float64) (string, bool) {
	switch {
	case old == value:
		return "", false
	case old == 0:
		return "!! was 0", true
	}
	share := (value - old) / math.Abs(old)
	return fmt.Sprintf("!! %+.0f %%", 100*share), math.Abs(share) > noteworthy
}

// number prints three significant digits, and whole numbers whole.
func number(v float64) string {
	switch a := math.Abs(v); {
	case v == math.Trunc(v) && a < 1e15:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// readTable reads a committed table; a missing file is an empty one.
func readTable(name string) (map[string]row, []string, error) {
	f, err := os.Open(name)
	if os.IsNotExist(err) {
		return map[string]row{}, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	rows, order := map[string]row{}, []string(nil)
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		line := in.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c := strings.Split(line, "\t")
		if len(c) != 4 {
			return nil, nil, fmt.Errorf("%s:%d: %d columns, expected name, value, unit and goal", name, n, len(c))
		}
		v, err := strconv.ParseFloat(c[1], 64)
		if err != nil {
			return nil, nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		rows[c[0]] = row{name: c[0], value: v, unit: c[2], goal: c[3]}
		order = append(order, c[0])
	}
	return rows, order, in.Err()
}

// update writes the measured rows into the committed table; rows that were not measured stay, in their places.
func (t *table) update(name string) error {
	rows, order, err := readTable(name)
	if err != nil {
		return err
	}
	rows = maps.Clone(rows)
	for _, r := range t.rows {
		if _, known := rows[r.name]; !known {
			order = append(order, r.name)
		}
		rows[r.name] = r
	}
	var b strings.Builder
	b.WriteString("# Written by BENCH_UPDATE=1 make bench: name, value, unit, goal. docs/performance.md says what each row is.\n")
	seen := map[string]bool{}
	for _, n := range order {
		if r := rows[n]; !seen[n] {
			fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", r.name, number(r.value), r.unit, r.goal)
		}
		seen[n] = true
	}
	return os.WriteFile(name, []byte(b.String()), 0o644)
}

// median returns the middle of the values, which it sorts.
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}
