// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package gitstore_test

import (
	"os"
	"path/filepath"

	. "github.com/onsi/gomega"
)

// writeRef writes a loose reference without starting git.
func writeRef(w *world, name, id string) {
	p := filepath.Join(w.repo.Dir, name)
	w.Expect(os.MkdirAll(filepath.Dir(p), 0o755)).To(Succeed())
	w.Expect(os.WriteFile(p, []byte(id+"\n"), 0o644)).To(Succeed())
}
