// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package leakproof

// TB is what Expect needs of a testing.TB or a ginkgo.GinkgoT().
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Expect fails the test for every finding, and when nothing was searched.
func Expect(t TB, what string, r Report, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("leakproof: %s cannot be searched: %v", what, err)
		return
	}
	if r.Searched == 0 {
		t.Fatalf("leakproof: %s holds nothing, so the search proves nothing", what)
		return
	}
	for _, f := range r.Findings {
		t.Errorf("leakproof: %s", f)
	}
}
