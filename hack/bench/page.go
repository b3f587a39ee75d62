// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// quantity names a row that has a goal.
type quantity struct{ what, row string }

// quantities are the goals in the order of the page.
var quantities = []struct {
	title string
	list  []quantity
}{
	{"Requests and bytes", []quantity{
		{"first commit, empty repository: look, advertisement, push", "ledger/first-base-empty/requests"},
		{"first commit in a repository with content: look, fetch, push", "ledger/first-base-populated/requests"},
		{"one changed object: requests", "ledger/one-object/requests"},
		{"one changed object: bytes both ways", "ledger/one-object/bytes"},
		{"the same in a folder of 200: bytes sent", "go/gitstore/CommitAndPush/200/sentB"},
		{"the same in a folder of 20 000: bytes sent", "go/gitstore/CommitAndPush/20000/sentB"},
		{"rejected once, then accepted", "ledger/rejected-once/requests"},
		{"rejected twice, then accepted", "ledger/rejected-twice/requests"},
		{"snapshot with a commit", "ledger/snapshot-with-commit/requests"},
		{"requested recheck, nothing moved", "ledger/recheck-unchanged/requests"},
		{"refresh, nothing moved: requests", "ledger/look-unchanged/requests"},
		{"refresh, nothing moved: bytes both ways", "ledger/look-unchanged/bytes"},
		{"somebody else changed one file of 200: bytes received", "ledger/foreign-push-of-1-in-200/received"},
		{"somebody else changed one file of 20 000: bytes received", "ledger/foreign-push-of-1-in-20000/received"},
		{"the same, the store alone", "go/gitstore/FetchIncremental/20000/receivedB"},
		{"somebody else changed three files of 20 000: files read again", "go/bench/ForeignPush/3-of-20000/blobs-read"},
		{"documents parsed again", "go/bench/ForeignPush/3-of-20000/documents-parsed"},
		{"half a minute of idling, 200 objects: Git requests", "idle/200/git-requests"},
		{"half a minute of idling, 1 000 objects: Git requests", "idle/1000/git-requests"},
		{"half a minute of idling, 20 000 objects: Git requests", "idle/20000/git-requests"},
	}},
	{"CPU and time", []quantity{
		{"first snapshot of 1 000 ConfigMaps, CPU per object", "snapshot/1000/cpu-per-object"},
		{"first snapshot of 20 000 ConfigMaps, CPU per object", "snapshot/20000/cpu-per-object"},
		{"one-object commit, folder of 200, CPU", "commit/spread-200/cpu"},
		{"one-object commit, folder of 20 000 in directories of 1 000, CPU", "commit/spread-20000/cpu"},
		{"the latter by the former", "commit/spread-20000-to-200/cpu"},
		{"one-object commit, one directory of 200, CPU", "commit/flat-200/cpu"},
		{"one-object commit, one directory of 20 000, CPU", "commit/flat-20000/cpu"},
		{"answer of the API server to push at the Git server, 200 objects", "latency/200/event-to-push"},
		{"answer of the API server to push at the Git server, 20 000 objects", "latency/20000/event-to-push"},
		{"status-only update of a 3 KB object", "go/watch/StatusOnlyEvent/µs"},
		{"allocations of it", "go/watch/StatusOnlyEvent/allocs"},
		{"idle, 200 objects, CPU", "idle/200/cpu"},
		{"idle, 1 000 objects, CPU", "idle/1000/cpu"},
		{"idle, 20 000 objects, CPU", "idle/20000/cpu"},
		{"kustomize folder of 100 documents, one edit: full renders", "go/bench/KustomizeFlush/1-of-100/full-renders"},
		{"marked renders", "go/bench/KustomizeFlush/1-of-100/marked-renders"},
		{"time per document of the folder", "go/bench/KustomizeFlush/1-of-100/µs/document"},
		{"the same with 50 edits in one flush: full renders", "go/bench/KustomizeFlush/50-of-100/full-renders"},
		{"marked renders", "go/bench/KustomizeFlush/50-of-100/marked-renders"},
		{"time per document of the folder", "go/bench/KustomizeFlush/50-of-100/µs/document"},
		{"five writers, 20 commits each, one branch", "writers/5x20/wall"},
		{"commits of them that landed", "writers/5x20/landed"},
		{"one changed value of an encrypted Secret of three: lines of the diff", "go/encryption/Seal/one_value/changed-lines"},
	}},
	{"Memory", []quantity{
		{"1 000 objects mirrored", "memory/1000/rss"},
		{"highest during the first snapshot of 1 000", "snapshot/1000/rss-peak"},
		{"20 000 objects mirrored", "memory/20000/rss"},
		{"highest during the first snapshot of 20 000", "snapshot/20000/rss-peak"},
		{"what 504 idle streams hold", "streams/idle/held"},
		{"what 50 stalled streams hold", "streams/stalled/held"},
		{"repository of 20 000 files and 50 000 commits: highest over the start", "history/rss-peak-over-start"},
	}},
}

// The generated part of the page lies between these lines.
const (
	pageBegin = "<!-- begin of the part that BENCH_UPDATE=1 make bench writes -->"
	pageEnd   = "<!-- end of the part that BENCH_UPDATE=1 make bench writes -->"
)

// renewPage writes the committed table into the page.
func renewPage(page, committed string) error {
	t, err := readTable(committed)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	text, err := t.into(string(b))
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, []byte(text), 0o644)
}

// into replaces the generated part of a page.
func (t *results) into(page string) (string, error) {
	before, rest, ok := strings.Cut(page, pageBegin)
	_, after, ok2 := strings.Cut(rest, pageEnd)
	if !ok || !ok2 {
		return "", fmt.Errorf("the line %q or %q is missing", pageBegin, pageEnd)
	}
	return before + pageBegin + "\n\n" + t.markdown() + pageEnd + after, nil
}

// markdown is the table as people read it: rows with goals by what they measure, then the others.
func (t *results) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s.\n", t.about)
	told := map[string]bool{}
	for _, s := range quantities {
		fmt.Fprintf(&b, "\n### %s\n\n| Quantity | Row | Goal | Measured | Met |\n|---|---|---|---|---|\n", s.title)
		for _, q := range s.list {
			told[q.row] = true
			r, ok := t.rows[q.row]
			if !ok {
				fmt.Fprintf(&b, "| %s | `%s` | | not measured | |\n", q.what, q.row)
				continue
			}
			met := "yes"
			if r.missed() {
				met = "**no**"
			}
			fmt.Fprintf(&b, "| %s | `%s` | %s | %s %s | %s |\n", q.what, q.row, r.goal, number(r.value), r.unit, met)
		}
	}
	b.WriteString("\n### Beside the goals\n\n| Row | Measured |\n|---|---|\n")
	for _, n := range slices.Sorted(slices.Values(t.order)) {
		if r := t.rows[n]; !told[n] {
			fmt.Fprintf(&b, "| `%s` | %s %s |\n", n, number(r.value), r.unit)
		}
	}
	b.WriteString("\n")
	return b.String()
}
