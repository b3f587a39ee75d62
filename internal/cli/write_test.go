// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// TestCaseY13_WriteIsAtomicPerFile: what a killed run staged is no content and is cleared away, the longest file name
// works, modes stay, and a file that cannot be written leaves every file as it was.
func TestCaseY13_WriteIsAtomicPerFile(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	long := strings.Repeat("n", 250) + ".yaml"
	before := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: x}\ndata: {k: v}\n"
	g.Expect(os.WriteFile(filepath.Join(dir, long), []byte(before), 0o600)).To(Succeed())
	g.Expect(os.MkdirAll(filepath.Join(dir, staging), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(dir, staging, "0"), []byte("half"), 0o600)).To(Succeed())
	live := filepath.Join(t.TempDir(), "live.yaml")
	g.Expect(os.WriteFile(live, []byte(strings.Replace(before, "k: v", "k: w", 1)+
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: x}\n"), 0o600)).To(Succeed())
	var out bytes.Buffer
	g.Expect(Main([]string{"gitops-reverser", "plan", dir, "--live", live, "--write"}, nil, &out, &out)).To(Equal(ExitDone), out.String())
	got, err := os.ReadFile(filepath.Join(dir, long))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(got)).To(Equal(strings.Replace(before, "k: v", "k: w", 1)))
	info, err := os.Stat(filepath.Join(dir, long))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
	g.Expect(filepath.Join(dir, staging)).NotTo(BeADirectory())

	// x/configmaps becomes a file in the meantime: nothing is written, the first file neither.
	blocked := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(blocked, "a.yaml"), []byte(before), 0o600)).To(Succeed())
	files, err := readDir(blocked)
	g.Expect(err).NotTo(HaveOccurred())
	next, err := readDir(dir)
	g.Expect(err).NotTo(HaveOccurred())
	next["a.yaml"] = next[long]
	delete(next, long)
	g.Expect(os.WriteFile(filepath.Join(blocked, "x"), []byte("in the way"), 0o600)).To(Succeed())
	g.Expect(write(blocked, files, next)).To(MatchError(ContainSubstring("x/configmaps")))
	got, err = os.ReadFile(filepath.Join(blocked, "a.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(got)).To(Equal(before))
	g.Expect(filepath.Join(blocked, staging)).NotTo(BeADirectory())
}
