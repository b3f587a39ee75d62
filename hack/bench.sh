#!/usr/bin/env bash
# Runs the Go benchmarks and hack/bench, which drives the real operator, and prints one table beside the committed one.
# BENCH_QUICK=1, BENCH_ONLY, BENCH_UPDATE=1 and BENCH_PROFILE are explained in hack/bench/main.go.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
results=$(mktemp)
trap 'rm -f "$results"' EXIT
failed=0

# package, benchmarks, time. A failing one does not keep the others from running.
bench() {
	echo "== go test -bench $2 $1" >&2
	go test "$1" -run '^$' -bench "$2" -benchtime "$3" -benchmem -timeout 10m | tee -a "$results" || failed=1
}

if [ -z "${BENCH_ONLY:-}" ]; then
	bench ./internal/watch '^BenchmarkStatusOnlyEvent$' 0.5s
	if [ "${BENCH_QUICK:-}" = 1 ]; then
		bench ./hack/bench '^Benchmark(Edit|Snapshot|KustomizeFlush)$/^(one-value|1000|1-of-100)$' 3x
	else
		bench ./internal/cluster '^BenchmarkHead3KB$' 0.5s
		bench ./internal/manifest/inventory '^BenchmarkApplyOneChange$' 0.5s
		bench ./hack/bench '^BenchmarkEdit$' 0.5s
		bench ./hack/bench '^Benchmark(Snapshot|KustomizeFlush|ForeignPush)$' 5x
		bench ./internal/gitstore '^BenchmarkCommit(AndPush)?$' 0.5s
		bench ./internal/gitstore '^Benchmark(CommitSnapshot|FetchFresh|FetchIncremental|FetchReadAllBlobs)$' 3x
		bench ./internal/gitstore '^BenchmarkFetchLargeHistory$' 1x
		bench ./internal/encryption '^Benchmark' 0.5s
	fi
fi
go run ./hack/bench -go-benchmarks "$results" -go-benchmarks-failed="$failed"
