// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitauth_test

import (
	"os"
	"os/exec"
	"testing"
)

// tool looks for a command of the machine; without it the test is skipped, or fails with CI=true (decisions 86).
func tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is required in CI", name)
		}
		t.Skipf("%s not found", name)
	}
	return path
}
