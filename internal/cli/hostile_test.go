// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// asCommand makes the test binary a process that runs one command.
const asCommand = "GITOPS_REVERSER_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// run starts a command as a process of its own and returns its exit code, its output and the most memory it had.
func run(t *testing.T, stdin string, args ...string) (code int, out, stderr string, peak int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	self, err := os.Executable()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	cmd.Stdin = strings.NewReader(stdin)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	NewWithT(t).Expect(ctx.Err()).NotTo(HaveOccurred(), "the command does not end")
	if cmd.ProcessState == nil {
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
	}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		peak = u.Maxrss << 10
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String(), peak
}

// hostile are files that a careless reader dies of, with what the commands say about a change of their object. An
// empty word means that the object is written.
func hostile() map[string]struct{ content, scan, plan string } {
	const cm = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: x}\n"
	bomb := cm + "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 12; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	return map[string]struct{ content, scan, plan string }{
		"alias cycle":   {cm + "data: &d\n  self: *d\n", "non-editable", "not_editable"},
		"alias bomb":    {bomb, "non-editable", "not_editable"},
		"10 000 levels": {cm + "data: " + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + "\n", "invalid-yaml", "invalid-yaml"},
		"levels by indent": {cm + "data:\n" + func() string {
			var b strings.Builder
			for i := 1; i < 3000; i++ {
				b.WriteString(strings.Repeat(" ", i) + "a:\n")
			}
			return b.String()
		}(), "invalid-yaml", "invalid-yaml"},
		"open brackets":    {strings.Repeat("[", 1<<20), "invalid-yaml", "invalid-yaml"},
		"question marks":   {strings.Repeat("? ", 1<<17), "invalid-yaml", "invalid-yaml"},
		"a megabyte":       {cm + "data:\n  k: " + strings.Repeat("x", 1<<20) + "\n", "accepted", ""},
		"a megabyte block": {cm + "data:\n  k: |\n" + many(100000, "    line %d\n"), "accepted", ""},
		"100 000 keys":     {cm + "data:\n" + many(100000, "  k%d: v\n"), "accepted", ""},
		"100 000 dashes":   {strings.Repeat("---\n", 100000), "accepted", ""},
		"40 megabytes":     {cm + "data:\n" + many(40, "  k%d: "+strings.Repeat("x", 1<<20)+"\n"), "invalid-yaml", "invalid-yaml"},
		"invalid UTF-8":    {cm + "data: {k: \"\xff\xfe\"}\n", "invalid-yaml", "invalid-yaml"},
		"UTF-16":           {"\xff\xfea\x00:\x00", "invalid-yaml", "invalid-yaml"},
		"null bytes":       {strings.Repeat("\x00", 1000), "invalid-yaml", "invalid-yaml"},
	}
}

// TestHostileFilesOnTheProcess: whatever a file holds, the process ends by itself, says what is wrong, stays below a
// bound of memory and prints little.
func TestHostileFilesOnTheProcess(t *testing.T) {
	const bound = 700 << 20
	live := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: x}\ndata: {k: v2}\n"
	for name, h := range hostile() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			g.Expect(os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(h.content), 0o600)).To(Succeed())
			code, out, stderr, peak := run(t, "", "scan", dir)
			g.Expect(strings.Contains(out, h.scan)).To(BeTrue(), "%.2000s", out+stderr)
			g.Expect(len(out)).To(BeNumerically("<", 20000))
			g.Expect(peak).To(BeNumerically("<", bound))
			want := ExitDone
			if strings.HasPrefix(h.scan, "invalid") {
				want = ExitRefused
			}
			g.Expect(code).To(Equal(want))

			code, out, stderr, peak = run(t, live, "plan", dir, "--live", "-")
			g.Expect(peak).To(BeNumerically("<", bound))
			if h.plan != "" {
				g.Expect(strings.Contains(out, h.plan)).To(BeTrue(), "%.2000s", out+stderr)
				g.Expect(code).To(Equal(ExitRefused))
				return
			}
			g.Expect(code).To(Equal(ExitDone), "%.2000s", stderr)
		})
	}
}

// TestHostileInputOnTheProcess: the same files as live objects are misuse, named by file and document.
func TestHostileInputOnTheProcess(t *testing.T) {
	for name, h := range hostile() {
		if h.plan == "" || name == "40 megabytes" { // a list of many objects is large, too
			continue
		}
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			for _, args := range [][]string{{"plan", dir, "--live", "-"}, {"neat"}} {
				code, out, stderr, peak := run(t, h.content, args...)
				g.Expect(code).To(Equal(ExitMisuse), "%.2000s", out)
				g.Expect(stderr).To(ContainSubstring("-, document 1: "))
				g.Expect(len(stderr)).To(BeNumerically("<", 500))
				g.Expect(peak).To(BeNumerically("<", 700<<20))
			}
		})
	}
}
