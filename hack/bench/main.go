// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench drives the real operator against a real API server and a real Git smart-HTTP server and prints one
// table: cost per change, memory, latency and the request ledger, beside their goals and the committed results.
// hack/bench.sh runs it after the Go benchmarks.
//
//	BENCH_QUICK=1   a subset that ends within two minutes
//	BENCH_ONLY=re   only the scenarios whose name matches
//	BENCH_UPDATE=1  write the measured rows into hack/bench/results.tsv
//	BENCH_PROFILE=d write CPU and heap profiles of the operator into the folder d
package main

import (
	"context"
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

// scenario measures some rows.
type scenario struct {
	name string
	// quick scenarios are part of BENCH_QUICK.
	quick bool
	run   func(context.Context, *world) error
}

func scenarios(quick bool) []scenario {
	sizes, commits, samples := []int{200, 1000, 5000, 20000}, 400, 8
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
	flag.Parse()
	root, err := harness.ModuleRoot()
	if err != nil {
		return err
	}
	committed := filepath.Join(root, "hack", "bench", "results.tsv")
	t := &table{}
	if t.old, _, err = readTable(committed); err != nil {
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
	t.live = os.Stdout
	failed := play(ctx, t, only, os.Getenv("BENCH_QUICK") == "1")
	fmt.Println()
	changed, err := t.write(os.Stdout)
	if err != nil {
		return err
	}
	fmt.Printf("\n%d of %d rows differ from hack/bench/results.tsv by more than 10 %%\n", changed, len(t.rows))
	if failed != nil {
		return failed
	}
	if os.Getenv("BENCH_UPDATE") == "1" {
		return t.update(committed)
	}
	return nil
}

// play runs the scenarios. A failing one ends the run; what was measured before is printed.
func play(ctx context.Context, t *table, only *regexp.Regexp, quick bool) error {
	w, err := newWorld(ctx, t)
	if w != nil {
		defer w.close()
	}
	if err != nil {
		return err
	}
	w.quick = quick
	for _, s := range scenarios(quick) {
		if quick && !s.quick || !only.MatchString(s.name) {
			continue
		}
		began := time.Now()
		fmt.Printf("== %s\n", s.name)
		if err := s.run(ctx, w); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Printf("   took %s\n", time.Since(began).Round(time.Second))
	}
	return nil
}
