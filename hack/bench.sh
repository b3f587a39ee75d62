#!/usr/bin/env bash
# Runs the Go benchmarks and hack/bench, which drives the real operator, and prints one table beside the committed one.
# BENCH_QUICK=1, BENCH_ONLY, BENCH_UPDATE=1 and BENCH_PROFILE are explained in hack/bench/main.go.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
results=$(mktemp)
trap 'rm -f "$results"' EXIT

# package, benchmarks, time
bench() {
	echo "== go test -bench $2 $1" >&2
	go test "$1" -run '^$' -bench "$2" -benchtime "$3" -benchmem -timeout 30m | tee -a "$results"
}

if [ -z "${BENCH_ONLY:-}" ]; then
	bench ./internal/watch '^BenchmarkStatusOnlyEvent$' 0.5s
	if [ "${BENCH_QUICK:-}" = 1 ]; then
		bench ./hack/bench '^Benchmark(Edit|Snapshot)$/^(one-value|1000)$' 3x
	else
		bench ./internal/cluster '^BenchmarkHead3KB$' 0.5s
		bench ./internal/manifest/inventory '^BenchmarkApplyOneChange$' 0.5s
		bench ./hack/bench '^Benchmark(Edit|Snapshot)$' 3x
		bench ./internal/gitstore '^BenchmarkCommit(AndPush)?$' 0.5s
		bench ./internal/gitstore '^Benchmark(CommitSnapshot|FetchFresh|FetchIncremental|FetchReadAllBlobs)$' 3x
		bench ./internal/gitstore '^BenchmarkFetchLargeHistory$' 1x
		bench ./internal/encryption '^Benchmark' 0.5s
	fi
fi
go run ./hack/bench -go-benchmarks "$results"
