// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamldoc

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// bomb is a document whose aliases expand to 9^10 nodes.
func bomb() string {
	var b strings.Builder
	b.WriteString("a: &a [x,x,x,x,x,x,x,x,x]\n")
	for c := 'b'; c < 'k'; c++ {
		fmt.Fprintf(&b, "%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
	}
	return b.String()
}

// TestHostile_RefusedByParse: depth, encodings and control characters are errors with words, never a panic.
func TestHostile_RefusedByParse(t *testing.T) {
	r := strings.Repeat
	var nested strings.Builder
	for i := range 2000 {
		nested.WriteString(r(" ", i) + "a:\n")
	}
	for name, c := range map[string]struct{ src, want string }{
		"10000 open brackets":       {r("[", 10_000), ""},
		"10000 closed brackets":     {r("[", 10_000) + r("]", 10_000), ""},
		"20000 brackets":            {r("[", 20_000), "exceeded max depth"},
		"10000 flow maps":           {r("{a: ", 10_000) + r("}", 10_000), "deeper than 1000"},
		"10000 dashes":              {r("- ", 10_000), "deeper than 1000"},
		"10000 explicit keys":       {r("? ", 10_000), "deeper than 1000"},
		"2000 nested maps":          {nested.String(), "line 1001: nested deeper than 1000 levels"},
		"invalid UTF-8":             {"a: 1\nb: \"\xff\"\n", "line 2: the text is not valid UTF-8"},
		"truncated character":       {"a: \xe2\x82", "line 1: the text is not valid UTF-8"},
		"UTF-16":                    {"\xff\xfea\x00:\x00", "not valid UTF-8"},
		"byte order mark inside":    {"a: 1\n\ufeffb: 2\n", "line 2: a byte order mark inside the text"},
		"NUL":                       {"a: \x00", "control characters"},
		"tab for indentation":       {"a:\n\tb: 1\n", "cannot start any token"},
		"tab indents a block":       {"a: |\n\tb\n", "tab character"},
		"second document":           {"a: 1\n---\nb: 2\n", "a second document starts here"},
		"garbage behind a document": {"{a: 1}\nb: 2\n", "expected <document start>"},
		"unknown anchor":            {"a: *b\n", "unknown anchor"},
		"megabyte of quotes":        {r("\"", 1<<20+1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			n, err := Parse([]byte(c.src))
			g.Expect(err).To(BeAssignableToTypeOf(&SyntaxError{}))
			g.Expect(err.Error()).To(ContainSubstring(c.want))
			g.Expect(n).To(BeNil())
		})
	}
}

// TestHostile_Readable: large texts are read in one piece.
func TestHostile_Readable(t *testing.T) {
	r := strings.Repeat
	for name, src := range map[string]string{
		"megabyte plain":      "a: " + r("x", 1<<20),
		"megabyte words":      "a: " + r("x ", 1<<19),
		"megabyte lines":      "a: " + r("x\n ", 1<<18),
		"megabyte quoted":     "a: \"" + r("é", 1<<19) + "\"",
		"megabyte literal":    "a: |+\n" + r("  x\n\n", 1<<18),
		"megabyte folded":     "a: >\n" + r(" x\n", 1<<18),
		"100000 keys":         r("k", 3) + ": v\n" + "m:\n" + keys(100_000),
		"one line of flow":    "[" + r("{a: b}, ", 50_000) + "]",
		"900 levels":          r("- ", 900) + "x",
		"comments":            "a: 1\n" + r("#\n", 100_000),
		"tabs that are legal": "a:\t1\t# x\nb: [\t1,\n\t2 ]\nc: |\n  x\n  \ty\n",
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			n, err := Parse([]byte(src))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(n.Hazards()).To(BeEmpty())
			_, err = n.JSON()
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
}

func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  k%d: v\n", i)
	}
	return b.String()
}

// TestScenario18_AliasBomb: a bomb parses without being expanded, keeps its identity, and is refused where it would be
// expanded.
func TestScenario18_AliasBomb(t *testing.T) {
	g := NewWithT(t)
	src := []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: boom}\n" + bomb())
	n, err := Parse(src)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(ReadHead(n).Name).To(Equal("boom"))
	g.Expect(n.Hazards()).NotTo(BeEmpty())
	_, err = n.JSON()
	g.Expect(err).To(MatchError(ContainSubstring("more than 100000 nodes")))
	g.Expect(CheckAliases(src)).To(MatchError(ContainSubstring("more than 100000 nodes")))
}

// TestErrorsHoldNoText: what does not parse can be a Secret that somebody types.
func TestErrorsHoldNoText(t *testing.T) {
	const planted = "pl-hunter2"
	for _, value := range []string{"*" + planted, "[*" + planted, "@" + planted, "`" + planted, "%" + planted, `"` + planted, "'" + planted,
		`"` + planted + `\q"`, "{" + planted, "&" + planted + " &" + planted, "!<" + planted, "!a!" + planted, "|" + planted, planted + ": " + planted} {
		t.Run(value, func(t *testing.T) {
			g := NewWithT(t)
			src := []byte("data:\n  password: " + value + "\n")
			_, err := Parse(src)
			g.Expect(err).To(HaveOccurred())
			g.Expect(err.Error()).NotTo(ContainSubstring(planted))
			if err := CheckAliases(src); err != nil {
				g.Expect(err.Error()).NotTo(ContainSubstring(planted))
			}
		})
	}
}

// TestCheckAliases lists files that must never reach kustomize, and files that may.
func TestCheckAliases(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"no alias":             {"a: '*'\nb: '&'\n", ""},
		"honest alias":         {"a: &a {b: 1}\nc: *a\nd: {<<: *a}\n", ""},
		"cycle through a map":  {"x: &x {y: *x}\n", "line 1: an alias stands inside its own anchor"},
		"cycle through a list": {"a: 1\nx: &x\n- *x\n", "line 3: an alias stands inside its own anchor"},
		"cycle through a key":  {"x: &x\n  ? [*x]\n  : 1\n", "an alias stands inside its own anchor"},
		"cycle through merges": {"x: &x {<<: *x}\n", "an alias stands inside its own anchor"},
		"second document":      {"a: 1\n---\n# c\nx: &x {y: *x}\n", "line 4: an alias stands inside"},
		"anchor set twice":     {"a: &a 1\nb: &a [1]\nc: *a\n", ""},
		"bomb":                 {bomb(), "more than 100000 nodes"},
		"unreadable":           {"a: [*x, &y\n", "unknown anchor"},
		// kustomize cuts at every line that starts with three dashes, also inside a quoted text.
		"kustomize's own cut": {"a: \"\n---x\nb: &b {c: *b}\n---x\n\"\n", "unexpected end"},
		"inline patch": {"patches:\n- patch: |\n    a: &a {b: *a}\n  target: {kind: X}\n",
			"line 2: an alias stands inside its own anchor"},
		"inline strategic merge": {"patchesStrategicMerge:\n- |\n  x: &x [*x]\n", "an alias stands inside its own anchor"},
		"text of a ConfigMap":    {"kind: ConfigMap\ndata:\n  x: |\n    a: &a {b: *a}\n", ""},
		"inline patch, honest":   {"patches:\n- patch: |\n    a: &a {b: 1}\n    c: *a\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			err := CheckAliases([]byte(c.src))
			if c.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(c.want)))
		})
	}
}

// TestJSON_Cycle: decoding refuses what CheckAliases refuses.
func TestJSON_Cycle(t *testing.T) {
	g := NewWithT(t)
	for _, src := range []string{"x: &x {y: *x}\n", "x: &x [[*x]]\n", "x: &x {<<: *x, a: 1}\n", "x: &x {<<: [*x]}\n"} {
		n, err := Parse([]byte(src))
		g.Expect(err).NotTo(HaveOccurred())
		_, err = n.JSON()
		g.Expect(err).To(MatchError(ContainSubstring("an alias stands inside its own anchor")), src)
	}
}
