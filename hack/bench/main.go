// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench drives the real operator against a real API server and a real Git smart-HTTP server and prints one
// table: cost per change, memory, latency and the request ledger, beside their goals and the committed results.
// hack/bench.sh runs it after the Go benchmarks; docs/performance.md says what the rows mean.
//
//	BENCH_QUICK=1   a subset that ends within three minutes
//	BENCH_ONLY=re   only the scenarios whose name matches
//	BENCH_UPDATE=1  write the measured rows into hack/bench/results.tsv and docs/performance.md
//	BENCH_PROFILE=d write CPU and heap profiles of the operator into the folder d
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/configbutler/gitops-reverser/tests/harness"
)

// limit bounds a scenario: the longest takes four minutes on a busy machine of two cores.
const limit = 8 * time.Minute

// scenario measures some rows.
type scenario struct {
	name string
	// quick scenarios are part of BENCH_QUICK.
	quick bool
	run   func(context.Context, *world) error
}

func scenarios(quick bool) []scenario {
	sizes, commits, samples := []int{200, 1000, 5000, 20000}, 400, 6
	if quick {
		sizes, commits, samples = []int{200}, 50, 2
	}
	var out []scenario
	for _, n := range sizes {
		out = append(out, scenario{fmt.Sprintf("snapshot/%d", n), true, func(ctx context.Context, w *world) error {
			return snapshot(ctx, w, n, commits, samples)
		}})
	}
	return append(out,
		scenario{"spread/200", false, func(ctx context.Context, w *world) error { return spread(ctx, w, 200, commits) }},
		scenario{"spread/20000", false, func(ctx context.Context, w *world) error { return spread(ctx, w, 20000, commits) }},
		scenario{"ledger", true, ledger},
		scenario{"refresh", false, refresh},
		scenario{"writers", false, writers},
		scenario{"history", false, history},
		scenario{"streams", false, idleStreams},
		scenario{"stalled", false, stalledStreams},
	)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	results := flag.String("go-benchmarks", "", "a file with the output of go test -bench, to be part of the table")
	incomplete := flag.Bool("go-benchmarks-failed", false, "some of the Go benchmarks failed")
	flag.Parse()
	root, err := harness.ModuleRoot()
	if err != nil {
		return err
	}
	committed := filepath.Join(root, "hack", "bench", "results.tsv")
	t := &table{}
	if t.old, err = readTable(committed); err != nil {
		return err
	}
	if *results != "" {
		f, err := os.Open(*results)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := goBenchmarks(t, f); err != nil {
			return fmt.Errorf("%s: %w", *results, err)
		}
	}
	only, err := regexp.Compile(os.Getenv("BENCH_ONLY"))
	if err != nil {
		return fmt.Errorf("BENCH_ONLY: %w", err)
	}
	quick := os.Getenv("BENCH_QUICK") == "1"
	t.live = os.Stdout
	failed := play(ctx, t, only, quick)
	if *incomplete {
		failed = errors.Join(errors.New("a Go benchmark failed, see above"), failed)
	}
	t.ratio("commit/spread-20000-to-200/cpu", "commit/spread-20000/cpu", "commit/spread-200/cpu", "<= 1.5")
	fmt.Println()
	if err := t.write(os.Stdout); err != nil {
		return errors.Join(failed, err)
	}
	if os.Getenv("BENCH_UPDATE") != "1" || ctx.Err() != nil {
		return failed
	}
	// A whole run without a failure says what there is to measure: rows of earlier tables go.
	whole := failed == nil && !quick && os.Getenv("BENCH_ONLY") == ""
	if err := t.update(committed, whole, about()); err != nil {
		return errors.Join(failed, err)
	}
	return errors.Join(failed, renewPage(filepath.Join(root, "docs", "performance.md"), committed))
}

// play runs the scenarios. A failing one does not keep the others from running.
func play(ctx context.Context, t *table, only *regexp.Regexp, quick bool) error {
	w, err := newWorld(ctx, t)
	if w != nil {
		defer w.close()
	}
	if err != nil {
		return err
	}
	w.quick = quick
	var failed []error
	for _, s := range scenarios(quick) {
		if quick && !s.quick || !only.MatchString(s.name) || ctx.Err() != nil {
			continue
		}
		began := time.Now()
		fmt.Printf("== %s\n", s.name)
		err := w.bounded(ctx, s)
		fmt.Printf("   took %s\n", time.Since(began).Round(time.Second))
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", s.name, err))
			fmt.Println("   failed:", err)
		}
	}
	return errors.Join(append(failed, context.Cause(ctx))...)
}

func (w *world) bounded(ctx context.Context, s scenario) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the scenario did not end within %s", limit))
	defer cancel()
	return s.run(ctx, w)
}
