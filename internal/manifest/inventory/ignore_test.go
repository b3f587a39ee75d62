// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// ignoreTable pairs rules with paths; a path that ends in "/" is a directory. What is right is asked of git itself.
var ignoreTable = []struct {
	name, rules string
	paths       []string
}{
	{"plain name at any depth", "foo.yaml\n", []string{"foo.yaml", "a/foo.yaml", "a/b/foo.yaml", "xfoo.yaml", "foo.yaml/x"}},
	{"leading slash anchors", "/foo.yaml\n", []string{"foo.yaml", "a/foo.yaml"}},
	{"middle slash anchors", "a/foo.yaml\n", []string{"a/foo.yaml", "b/a/foo.yaml"}},
	{"directory only", "tmp/\n", []string{"tmp", "tmp/", "tmp/x.yaml", "a/tmp/x.yaml", "a/tmp"}},
	{"last match wins", "*.bak.yaml\n!keep.bak.yaml\n", []string{"x.bak.yaml", "keep.bak.yaml", "a/keep.bak.yaml"}},
	{"order matters", "!keep.bak.yaml\n*.bak.yaml\n", []string{"x.bak.yaml", "keep.bak.yaml"}},
	{"no way back below a hidden directory", "tmp/\n!tmp/keep.yaml\n", []string{"tmp/keep.yaml", "tmp/x.yaml"}},
	{"way back when only the content is hidden", "tmp/*\n!tmp/keep.yaml\n", []string{"tmp/keep.yaml", "tmp/x.yaml", "tmp/d/x.yaml"}},
	{"star stays in its segment", "a/*.yaml\n", []string{"a/x.yaml", "a/b/x.yaml", "x.yaml"}},
	{"leading double star", "**/foo\n", []string{"foo", "a/foo", "a/b/foo/", "a/foob"}},
	{"trailing double star", "abc/**\n", []string{"abc", "abc/", "abc/x", "abc/d/x", "x/abc/y"}},
	{"middle double star", "a/**/b\n", []string{"a/b", "a/x/b", "a/x/y/b", "a/x/y/bc", "b"}},
	{"double star in a name", "a**b\n", []string{"ab", "axb", "a/b", "x/axxb"}},
	{"two double stars", "**/x/**/y\n", []string{"x/y", "a/x/b/y", "x/a/b/y", "a/y"}},
	{"question mark", "f?o\n", []string{"foo", "fo", "f/o", "fxo"}},
	{"class", "f[a-c]o\n", []string{"fao", "fco", "fdo", "f-o"}},
	{"negated class", "f[!a-c]o\nf[^x]z\n", []string{"fao", "fdo", "fxz", "fyz"}},
	{"class holds a bracket", "f[]]o\n", []string{"f]o", "fo"}},
	{"posix class", "f[[:digit:]x]o\n", []string{"f1o", "fxo", "fao"}},
	{"open bracket", "f[o\n", []string{"f[o", "fo"}},
	{"escaped star", `f\*o` + "\n", []string{"f*o", "fxo"}},
	{"escaped hash and bang", `\#x` + "\n" + `\!y` + "\n", []string{"#x", "x", "!y", "y", `\#x`}},
	{"comment and blanks", "# x\n\n   \nx\n", []string{"x", "# x", " "}},
	{"trailing spaces", "x  \ny\\ \n", []string{"x", "x  ", "y ", "y"}},
	{"lone backslash", "x\\\n", []string{"x", `x\`}},
	{"slash alone", "/\n", []string{"x", "a/x"}},
	{"star alone", "*\n", []string{"x", "a/x"}},
	{"star then back", "*\n!*.yaml\n", []string{"x.yaml", "a/x.yaml", "x.txt"}},
	{"star then back with directories", "*\n!*/\n!*.yaml\n", []string{"x.yaml", "a/x.yaml", "x.txt", "a/"}},
	{"many stars", "a*a*a*a*a*a*a*a*b\n", []string{"aaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaab"}},
	{"wide characters", "fünf?\nß[à-é]\n", []string{"fünf€", "fünf", "ßâ", "ßz"}},
	{"byte order mark", "\xef\xbb\xbffoo\n", []string{"foo"}},
	{"bang alone", "x\n!\n", []string{"x"}},
	{"double negation", "x\n!!x\n", []string{"x", "!x"}},
	{"slash star", "/*\n!/keep\n", []string{"a", "keep", "keep/x", "a/x"}},
	{"directory pattern with a slash", "a/b/\n", []string{"a/b", "a/b/", "a/b/c", "x/a/b/"}},
}

// TestIgnoreAgreesWithGit asks git check-ignore for every row.
func TestIgnoreAgreesWithGit(t *testing.T) {
	for _, row := range ignoreTable {
		t.Run(row.name, func(t *testing.T) {
			g := NewWithT(t)
			want := askGit(t, row.rules, row.paths)
			ig := ParseIgnore([]byte(row.rules))
			for _, p := range row.paths {
				got := ig.Match(strings.TrimSuffix(p, "/"), strings.HasSuffix(p, "/"))
				g.Expect(got).To(Equal(want[p]), "%q", p)
			}
		})
	}
}

// askGit returns which paths git itself hides.
func askGit(t *testing.T, rules string, paths []string) map[string]bool {
	t.Helper()
	dir := t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+dir)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil && errs.Len() > 0 {
			t.Fatalf("git %v: %v %s", args, err, errs.String())
		}
		return string(out)
	}
	run("init", "-q")
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	hidden := map[string]bool{}
	for _, p := range paths {
		// What git asks of the file system, a directory must really be.
		name := strings.TrimSuffix(p, "/")
		made := filepath.Dir(filepath.Join(dir, name))
		if name != p {
			made = filepath.Join(dir, name)
		}
		if err := os.MkdirAll(made, 0o700); err != nil {
			t.Fatal(err)
		}
		hidden[p] = run("check-ignore", "--no-index", "--", name) != ""
		top, _, _ := strings.Cut(name, "/")
		if err := os.RemoveAll(filepath.Join(dir, top)); err != nil {
			t.Fatal(err)
		}
	}
	return hidden
}

func TestScenario91_CRLFAndLastMatchWins(t *testing.T) {
	g := NewWithT(t)
	ig := ParseIgnore([]byte("# comment\r\n*.bak.yaml\r\n!keep.bak.yaml\r\n"))
	g.Expect(ig.Match("x.bak.yaml", false)).To(BeTrue())
	g.Expect(ig.Match("keep.bak.yaml", false)).To(BeFalse())
	g.Expect(ig.Match("sub/x.bak.yaml", false)).To(BeTrue())
	g.Expect(ig.Match("x.yaml", false)).To(BeFalse())
}

func TestIgnoreCatastrophic(t *testing.T) {
	for _, p := range []string{"*", "**", "/", "*.yaml", "*.yml", "**/*", "**/*.yaml", "**/*.yml", "/*", "/**", "*.y*ml", "[!a]*"} {
		t.Run(p, func(t *testing.T) {
			g := NewWithT(t)
			got := ParseIgnore([]byte("# first\r\n" + p + "\r\n")).Catastrophic()
			g.Expect(got).To(Equal([]Catastrophic{{Line: 2, Pattern: p}}))
		})
	}
	for _, p := range []string{"*.bak.yaml", "docs/", "/*.yaml", "*/", "a/**", "!*", "values*.yaml", "**/charts/**"} {
		t.Run("fine "+p, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(ParseIgnore([]byte(p)).Catastrophic()).To(BeEmpty())
		})
	}
}

// FuzzIgnore looks for panics, endless matching and verdicts that depend on how a path was reached.
func FuzzIgnore(f *testing.F) {
	for _, row := range ignoreTable {
		f.Add(row.rules, row.paths[0])
	}
	f.Add("[[:alpha:]-\n[a-\n\\\n**/**/**/**/x\n", "a/b/c")
	f.Fuzz(func(t *testing.T, rules, p string) {
		ig := ParseIgnore([]byte(rules))
		ig.Catastrophic()
		hidden := ig.Match(p, false)
		if dir := filepath.Dir(p); dir != "." && dir != "/" && p == filepath.Clean(p) && !hidden && ig.Match(dir, true) {
			t.Fatalf("%q is visible below the hidden %q with %q", p, dir, rules)
		}
		if ParseIgnore([]byte(strings.ReplaceAll(rules, "\n", "\r\n"))).Match(p, false) != hidden &&
			!strings.Contains(rules, "\r") {
			t.Fatalf("CRLF changes the verdict of %q with %q", p, rules)
		}
	})
}
