// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
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
	// goal is "<= n", "< n" or the exact number; empty when the row only explains another one.
	goal string
}

// noteworthy is the share by which a row must differ from the committed table to be flagged.
const noteworthy = 0.10

// fewBytes is a difference that is never flagged.
const fewBytes = 256

// table collects rows and knows the committed ones.
type table struct {
	rows []row
	old  *results
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

// ratio adds how two rows relate when both were measured.
func (t *table) ratio(name, of, to, goal string) {
	i := slices.IndexFunc(t.rows, func(r row) bool { return r.name == of })
	j := slices.IndexFunc(t.rows, func(r row) bool { return r.name == to })
	if i >= 0 && j >= 0 {
		t.add(name, t.rows[i].value/t.rows[j].value, "times", goal)
	}
}

// write prints the table with the committed values beside the measured ones. Counts and bytes that changed are flagged
// with !!: they do not depend on the machine. Times and memory do; their changes are printed with ~.
func (t *table) write(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "MEASURED\tVALUE\tUNIT\tGOAL\tCOMMITTED\tCHANGE")
	flagged, noted, missed := 0, 0, 0
	for _, r := range t.rows {
		committed, change, goal := "new", "", r.goal
		if o, ok := t.old.rows[r.name]; ok {
			committed = number(o.value)
			switch c, far := difference(o.value, r.value); {
			case far && r.unit == "bytes" && math.Abs(r.value-o.value) <= fewBytes:
				// nothing: Git servers do not pack small objects the same way each time
			case far && r.counts():
				change = "!! " + c
				flagged++
			case far:
				change = "~ " + c
				noted++
			}
		}
		if r.missed() {
			goal += " MISSED"
			missed++
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", r.name, number(r.value), r.unit, goal, committed, change)
	}
	fmt.Fprintf(tw, "\n%d rows, %d goals missed; "+
		"against hack/bench/results.tsv %d counts (!!) and %d times or sizes in memory (~) "+
		"differ by more than 10 %%\n", len(t.rows), missed, flagged, noted)
	return tw.Flush()
}

// counts reports a row that is the same on every machine.
func (r row) counts() bool {
	switch strings.TrimSuffix(r.unit, "/op") {
	case "requests", "bytes", "sentB", "receivedB", "commits", "allocs", "full-renders", "marked-renders", "changed-lines",
		"blobs-read", "documents-parsed":
		return true
	}
	return false
}

// missed reports a value that its goal does not allow.
func (r row) missed() bool {
	sign, limit, ok := strings.Cut(r.goal, " ")
	if !ok {
		sign, limit = "", r.goal
	}
	n, err := strconv.ParseFloat(limit, 64)
	switch {
	case err != nil:
		return false // no goal
	case sign == "<=":
		return r.value > n
	case sign == "<":
		return r.value >= n
	}
	return r.value != n
}

// difference says how far a value is from the committed one, and whether that is worth a word.
func difference(old, value float64) (string, bool) {
	switch {
	case old == value:
		return "", false
	case old == 0:
		return "was 0", true
	}
	share := (value - old) / math.Abs(old)
	return fmt.Sprintf("%+.0f %%", 100*share), math.Abs(share) > noteworthy
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
