// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/tools/txtar"
)

// TestOfflineCommands runs testdata/*.txtar: the header lines after "$ " are command lines run in a folder that holds
// the files; each is followed by its exit code after "? ". The file stdout-N is the standard output of the N-th
// command, err-N a part of its standard error; after/PATH is a file as it must be in the end, and gone names paths that
// must not exist. Mode bits are kept: files under exec/ are made executable.
func TestOfflineCommands(t *testing.T) {
	here, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(here, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal("no stories", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			a := txtar.Parse(b)
			runOffline(t, a)
			if *update {
				if err := os.WriteFile(f, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func runOffline(t *testing.T, a *txtar.Archive) {
	t.Helper()
	g := NewWithT(t)
	dir := t.TempDir()
	special := map[string]*txtar.File{}
	for i := range a.Files {
		f := &a.Files[i]
		if strings.HasPrefix(f.Name, "stdout-") || strings.HasPrefix(f.Name, "err-") || f.Name == "gone" || strings.HasPrefix(f.Name, "after/") {
			special[f.Name] = f
			continue
		}
		p := filepath.Join(dir, f.Name)
		g.Expect(os.MkdirAll(filepath.Dir(p), 0o755)).To(Succeed())
		mode := os.FileMode(0o640)
		if strings.Contains(f.Name, "exec/") {
			mode = 0o755
		}
		g.Expect(os.WriteFile(p, f.Data, mode)).To(Succeed())
		g.Expect(os.Chmod(p, mode)).To(Succeed())
	}
	t.Chdir(dir)
	n, code := 0, 0
	for line := range strings.Lines(string(a.Comment)) {
		line = strings.TrimSpace(line)
		if want, ok := strings.CutPrefix(line, "? "); ok {
			g.Expect(strconv.Itoa(code)).To(Equal(want), "exit code of command %d", n)
			continue
		}
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		n++
		var stdin, stdout, stderr bytes.Buffer
		if c, file, ok := strings.Cut(command, " < "); ok {
			in, err := os.ReadFile(file)
			g.Expect(err).NotTo(HaveOccurred())
			stdin.Write(in)
			command = c
		}
		code = Main(append([]string{"gitops-reverser"}, strings.Fields(command)...), &stdin, &stdout, &stderr)
		if f := special["stdout-"+strconv.Itoa(n)]; f != nil {
			if *update {
				f.Data = stdout.Bytes()
			}
			g.Expect(stdout.String()).To(Equal(string(f.Data)), "stdout of command %d; stderr: %s", n, stderr.String())
		}
		if f := special["err-"+strconv.Itoa(n)]; f != nil {
			g.Expect(stderr.String()).To(ContainSubstring(strings.TrimSpace(string(f.Data))))
		}
	}
	for name, f := range special {
		if p, ok := strings.CutPrefix(name, "after/"); ok {
			b, err := os.ReadFile(p)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(b)).To(Equal(string(f.Data)), p)
			info, err := os.Stat(p)
			g.Expect(err).NotTo(HaveOccurred())
			if strings.Contains(p, "exec/") {
				g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o755)), p)
			}
		}
	}
	if f := special["gone"]; f != nil {
		for _, p := range strings.Fields(string(f.Data)) {
			g.Expect(p).NotTo(BeAnExistingFile())
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*", ".*.tmp"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(BeEmpty(), "no temporary file stays")
}

// TestPlanIsAPatch applies what plan prints with git, and gets what --write writes.
func TestPlanIsAPatch(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("git is required in CI")
		}
		t.Skip("git not found")
	}
	g := NewWithT(t)
	setup := func() string {
		dir := t.TempDir()
		g.Expect(os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: x}\ndata: {k: v}"), 0o600)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(dir, "b.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: x}\n"), 0o600)).To(Succeed())
		return dir
	}
	live := filepath.Join(t.TempDir(), "live.yaml")
	g.Expect(os.WriteFile(live, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: x}\ndata: {k: w}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: x}\n"), 0o600)).To(Succeed())
	args := func(dir string, more ...string) []string {
		return append([]string{"gitops-reverser", "plan", dir, "--live", live, "--delete", "ConfigMap/x/b"}, more...)
	}
	patched, written := setup(), setup()
	var out, none bytes.Buffer
	g.Expect(Main(args(patched), nil, &out, &none)).To(Equal(ExitDone), none.String())
	cmd := exec.CommandContext(t.Context(), "git", "apply", "-")
	cmd.Dir, cmd.Stdin = patched, &out
	b, err := cmd.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(b))
	g.Expect(Main(args(written, "--write"), nil, &none, &none)).To(Equal(ExitDone))
	x, err := readDir(patched)
	g.Expect(err).NotTo(HaveOccurred())
	y, err := readDir(written)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(x).To(Equal(y))
	g.Expect(x).To(HaveKey("x/configmaps/c.yaml"))
	g.Expect(x).NotTo(HaveKey("b.yaml"))
}

// TestCaseP05_WriteNeverFollowsLinks: a folder link that leads outside is neither read nor written through.
func TestCaseP05_WriteNeverFollowsLinks(t *testing.T) {
	g := NewWithT(t)
	dir, outside := t.TempDir(), t.TempDir()
	g.Expect(os.Symlink(outside, filepath.Join(dir, "x"))).To(Succeed())
	live := filepath.Join(t.TempDir(), "live.yaml")
	g.Expect(os.WriteFile(live, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: x}\n"), 0o600)).To(Succeed())
	var out bytes.Buffer
	g.Expect(Main([]string{"gitops-reverser", "plan", dir, "--live", live, "--write"}, nil, &out, &out)).To(Equal(ExitRefused))
	g.Expect(out.String()).To(ContainSubstring("foreign-symlink"))
	left, err := os.ReadDir(outside)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(BeEmpty())
}

func TestIsCommand(t *testing.T) {
	g := NewWithT(t)
	for args, want := range map[string]bool{
		"gitops-reverser": false, "gitops-reverser --metrics-addr=:0": false, "gitops-reverser scan .": true,
		"/usr/bin/flux-reverser": true, "gitops-reverser help": true, "gitops-reverser nonsense": false,
	} {
		g.Expect(IsCommand(strings.Fields(args))).To(Equal(want), args)
	}
}
