// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/manifest"
)

func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("git is required in CI")
	}
	t.Skip("git not found")
}

// git runs git in a folder without anybody's configuration.
func git(t *testing.T, dir string, stdin []byte, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.CombinedOutput()
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), "git %v: %s\n%s", args, out, stdin)
	return string(out)
}

// TestDiffsApply gives git apply what plan prints for created, changed and deleted files of every shape.
func TestDiffsApply(t *testing.T) {
	needGit(t)
	text := func(s string) *manifest.File { return &manifest.File{Mode: manifest.ModeFile, Content: []byte(s)} }
	exec := func(s string) *manifest.File {
		return &manifest.File{Mode: manifest.ModeExecutable, Content: []byte(s)}
	}
	var long strings.Builder
	for i := range 100 {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	for name, c := range map[string]struct{ was, now *manifest.File }{
		"new.yaml":               {nil, text("a\nb\nc\n")},
		"one line.yaml":          {nil, text("a\n")},
		"no-newline.yaml":        {nil, text("a\nb")},
		"empty-new.yaml":         {nil, text("")},
		"exec.yaml":              {nil, exec("a\n")},
		"gone.yaml":              {text("a\nb\nc\n"), nil},
		"gone-one.yaml":          {text("a\n"), nil},
		"gone-no-newline.yaml":   {text("a"), nil},
		"gone-empty.yaml":        {text(""), nil},
		"gone-exec.yaml":         {exec("a\n"), nil},
		"filled.yaml":            {text(""), text("a\nb\n")},
		"emptied.yaml":           {text("a\nb\n"), text("")},
		"newline-added.yaml":     {text("a\nb"), text("a\nb\n")},
		"newline-removed.yaml":   {text("a\nb\n"), text("a\nb")},
		"crlf.yaml":              {text("a\r\nb\r\nc\r\n"), text("a\r\nB\r\nc\r\n")},
		"bom.yaml":               {text("\xef\xbb\xbfa\nb\n"), text("\xef\xbb\xbfa\nc\n")},
		"two hunks.yaml":         {text(long.String()), text(strings.NewReplacer("line 10\n", "x\n", "line 90\n", "").Replace(long.String()))},
		"joined-hunk.yaml":       {text(long.String()), text(strings.NewReplacer("line 10\n", "x\n", "line 17\n", "").Replace(long.String()))},
		"dir/ümlaut ☃.yaml":      {nil, text("a\n")},
		"dir/q\"uote\\back.yaml": {text("a\n"), text("b\n")},
		"dir/tab\there.yaml":     {nil, text("a\n")},
		"-dash.yaml":             {nil, text("-- a\n++ b\n@@ c\n\\ d\n")},
		"-dash-gone.yaml":        {text("-- a\n++ b\n@@ c\n\\ d\n"), nil},
		"mode.yaml":              {text("a\n"), exec("a\n")},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			git(t, dir, nil, "init", "-q")
			at := filepath.Join(dir, filepath.FromSlash(name))
			if c.was != nil {
				g.Expect(os.MkdirAll(filepath.Dir(at), 0o755)).To(Succeed())
				g.Expect(os.WriteFile(at, c.was.Content, 0o600)).To(Succeed())
				g.Expect(os.Chmod(at, os.FileMode(uint32(c.was.Mode)&0o777))).To(Succeed())
			}
			git(t, dir, nil, "add", "-A")
			patch := []byte("# a line of the report\n" + unified(name, c.was, c.now))
			git(t, dir, patch, "apply", "--check", "-")
			git(t, dir, patch, "apply", "--index", "-")
			if c.now == nil {
				g.Expect(at).NotTo(BeAnExistingFile())
				return
			}
			got, err := os.ReadFile(at)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(got)).To(Equal(string(c.now.Content)))
			g.Expect(git(t, dir, nil, "ls-files", "-s")).To(HavePrefix(fmt.Sprintf("%o ", uint32(c.now.Mode))))
		})
	}
}

// TestDiffsOfOneRunApply gives git apply many differences at once, as plan prints them.
func TestDiffsOfOneRunApply(t *testing.T) {
	needGit(t)
	g := NewWithT(t)
	dir := t.TempDir()
	git(t, dir, nil, "init", "-q")
	var patch strings.Builder
	want := map[string]string{}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		name := fmt.Sprintf("d%d/f %d.yaml", i%3, i)
		var was, now *manifest.File
		if i%4 != 0 {
			was = &manifest.File{Mode: manifest.ModeFile, Content: []byte(someText(r))}
			g.Expect(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755)).To(Succeed())
			g.Expect(os.WriteFile(filepath.Join(dir, name), was.Content, 0o600)).To(Succeed())
		}
		if i%4 != 1 {
			now = &manifest.File{Mode: manifest.ModeFile, Content: []byte(someText(r))}
			want[name] = string(now.Content)
		}
		patch.WriteString(unified(name, was, now))
	}
	git(t, dir, []byte(patch.String()), "apply", "-")
	files, err := readDir(dir)
	g.Expect(err).NotTo(HaveOccurred())
	got := map[string]string{}
	for n, f := range files {
		got[n] = string(f.Content)
	}
	g.Expect(got).To(Equal(want))
}

// someText is a text of few different lines, so that equal lines stand in many places.
func someText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(40) {
		fmt.Fprintf(&b, "%c\n", 'a'+r.IntN(4))
	}
	if r.IntN(3) == 0 {
		b.WriteString("end")
	}
	return b.String()
}

// TestRegionsRebuildTheText: whatever two texts are, the regions turn one into the other.
func TestRegionsRebuildTheText(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		a, b := splitLines(someText(r)), splitLines(someText(r))
		rebuilt(t, a, b)
	}
}

// TestLargeDifferencesAreBounded: texts that share nothing, repeat one line or are long and far apart are compared in
// proportion to their size. The search for the smallest difference would need more memory than there is.
func TestLargeDifferencesAreBounded(t *testing.T) {
	g := NewWithT(t)
	many := func(n int, line func(int) string) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = line(i)
		}
		return out
	}
	numbered := many(100000, func(i int) string { return fmt.Sprintf("line %d\n", i) })
	for name, c := range map[string]struct {
		a, b    []string
		changed int
	}{
		"nothing shared":   {numbered, many(100000, func(i int) string { return fmt.Sprintf("other %d\n", i) }), 100000},
		"a block is gone":  {numbered, numbered[:10], 99990},
		"every second":     {numbered, many(50000, func(i int) string { return fmt.Sprintf("line %d\n", 2*i) }), 50000},
		"one line of many": {many(100000, func(int) string { return "same\n" }), many(50000, func(int) string { return "same\n" }), 50000},
		"two kinds": {many(60000, func(i int) string { return fmt.Sprintf("%d\n", i%2) }),
			many(60000, func(i int) string { return fmt.Sprintf("%d\n", i%3) }), 60000},
	} {
		t.Run(name, func(t *testing.T) {
			g.Expect(rebuilt(t, c.a, c.b)).To(BeNumerically("<=", c.changed))
		})
	}
}

// rebuilt checks the regions and returns how many old lines they take away.
func rebuilt(t *testing.T, a, b []string) int {
	t.Helper()
	g := NewWithT(t)
	var got []string
	at, gone := 0, 0
	for _, r := range (differ{}).lines(a, b) {
		g.Expect(r.a0).To(BeNumerically(">=", at))
		got = append(append(got, a[at:r.a0]...), b[r.b0:r.b1]...)
		gone += r.a1 - r.a0
		at = r.a1
	}
	got = append(got, a[at:]...)
	if strings.Join(got, "") != strings.Join(b, "") {
		t.Fatalf("not rebuilt: %d and %d lines", len(a), len(b))
	}
	return gone
}
