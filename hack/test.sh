#!/usr/bin/env bash
# All tests. The end-to-end suite mostly waits for the real parts, so it runs as two halves beside everything else; each
# half has a control plane of its own.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
trust='secrets_test|trust_'
# Results of the end-to-end suite depend on the operator's binary, which go test does not see: never from the cache.
e2e=(go test -count=1 -timeout "${TEST_TIMEOUT:-25m}" ./tests/e2e)

pids=()
"${e2e[@]}" -ginkgo.skip-file="$trust" &
pids+=($!)
"${e2e[@]}" -ginkgo.focus-file="$trust" &
pids+=($!)
go list ./... | grep -v '/tests/e2e$' | grep -v '/tests/chaos$' |
	xargs go test -p "${TEST_PARALLEL:-2}" -timeout "${TEST_TIMEOUT:-25m}" ./tests/chaos &
pids+=($!)

rc=0
for pid in "${pids[@]}"; do wait "$pid" || rc=1; done
exit $rc
