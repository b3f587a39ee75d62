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

	"github.com/configbutler/gitops-reverser/internal/manifest"
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
	g.Expect(os.WriteFile(filepath.Join(blocked, "x"), []byte("in the way"), 0o600)).To(Succeed())
	changes := []fileChange{
		{"a.yaml", &manifest.File{Content: []byte(before)}, &manifest.File{Content: got}},
		{"x/configmaps/b.yaml", nil, &manifest.File{Content: got}},
	}
	stays := func(want string) {
		got, err := os.ReadFile(filepath.Join(blocked, "a.yaml"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(got)).To(Equal(want))
		g.Expect(filepath.Join(blocked, staging)).NotTo(BeADirectory())
	}
	root, err := os.OpenRoot(blocked)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(root.Close()).To(Succeed()) }()
	g.Expect(write(root, changes)).To(MatchError(ContainSubstring("x/configmaps")))
	stays(before)

	// Somebody edits a file after it was read: their text is not written over, and nothing else is written.
	g.Expect(os.Remove(filepath.Join(blocked, "x"))).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(blocked, "a.yaml"), []byte("theirs"), 0o600)).To(Succeed())
	changes[0], changes[1] = changes[1], changes[0]
	g.Expect(write(root, changes)).To(MatchError("write a.yaml: it changed since it was read; run the command again"))
	stays("theirs")
	g.Expect(filepath.Join(blocked, "x/configmaps/b.yaml")).NotTo(BeAnExistingFile())
	changes[1].was = nil
	g.Expect(write(root, changes[1:])).To(MatchError(ContainSubstring("it changed since")))
	stays("theirs")
}
