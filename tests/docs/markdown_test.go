// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/tests/harness"
)

func root(t *testing.T) string {
	t.Helper()
	r, err := harness.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pages are the Markdown files of the repository, relative to its root.
func pages(t *testing.T) []string {
	t.Helper()
	var out []string
	base := root(t)
	err := filepath.WalkDir(base, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(base, p)
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || rel == "bin") {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(p, ".md") {
			out = append(out, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, page string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(t), page))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// line is a line of a page with its number.
type line struct {
	number int
	text   string
}

// prose returns the lines outside of code fences; fences the blocks inside them, by language.
func split(text string) (prose []line, fences []fence) {
	open := ""
	var cur fence
	n := 0
	for l := range strings.SplitSeq(text, "\n") {
		n++
		trimmed := strings.TrimSpace(l)
		switch {
		case open == "" && strings.HasPrefix(trimmed, "```"):
			open = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
			cur = fence{language: strings.TrimSpace(strings.TrimLeft(trimmed, "`")), line: n + 1}
		case open != "" && trimmed == open:
			fences = append(fences, cur)
			open = ""
		case open != "":
			cur.text += l + "\n"
		default:
			prose = append(prose, line{n, l})
		}
	}
	return prose, fences
}

type fence struct {
	language, text string
	line           int
}

// row is one row of a table.
type row struct {
	number int
	cells  []string
}

// tables returns the rows of all tables of a page, heads and rulers left out.
func tables(t *testing.T, page string) []row {
	t.Helper()
	prose, _ := split(read(t, page))
	var out []row
	for i, l := range prose {
		text := strings.TrimSpace(l.text)
		if !strings.HasPrefix(text, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.ReplaceAll(text, `\|`, "\x00"), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(strings.ReplaceAll(cells[i], "\x00", "|"))
		}
		ruler := func(l line) bool { return strings.HasPrefix(strings.TrimSpace(l.text), "|---") }
		if ruler(l) || i+1 < len(prose) && ruler(prose[i+1]) {
			continue
		}
		out = append(out, row{l.number, cells})
	}
	return out
}

// plain returns a cell without the backticks around it.
func plain(cell string) string { return strings.Trim(cell, "`") }

var (
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	inline    = regexp.MustCompile("`[^`]*`")
	heading   = regexp.MustCompile(`^#{1,6} +(.*?) *#*$`)
	linkText  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	reference = regexp.MustCompile(`^\[[^\]]+\]: +(\S+)`)
)

// anchors are the fragments GitHub gives the headings of a page.
func anchors(text string) []string {
	var out []string
	prose, _ := split(text)
	seen := map[string]int{}
	for _, l := range prose {
		h := heading.FindStringSubmatch(l.text)
		if h == nil {
			continue
		}
		slug := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, linkText.ReplaceAllString(h[1], "$1"))
		if n := seen[slug]; n > 0 {
			out = append(out, fmt.Sprintf("%s-%d", slug, n))
		} else {
			out = append(out, slug)
		}
		seen[slug]++
	}
	return out
}

// TestRelativeLinksResolve follows every link of every page that stays inside the repository, headings included.
func TestRelativeLinksResolve(t *testing.T) {
	g := NewWithT(t)
	all := pages(t)
	g.Expect(all).To(ContainElements("README.md", "docs/README.md"))
	n := 0
	for _, page := range all {
		prose, _ := split(read(t, page))
		for _, l := range prose {
			found := link.FindAllStringSubmatch(inline.ReplaceAllString(l.text, ""), -1)
			if r := reference.FindStringSubmatch(l.text); r != nil {
				found = append(found, r)
			}
			for _, m := range found {
				if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
					continue
				}
				n++
				if err := follow(t, page, m[1]); err != "" {
					t.Errorf("%s:%d: %s: %s", page, l.number, m[1], err)
				}
			}
		}
	}
	g.Expect(n).To(BeNumerically(">", 20))
}

func follow(t *testing.T, page, target string) string {
	t.Helper()
	name, fragment, _ := strings.Cut(target, "#")
	to := page
	if name != "" {
		to = filepath.Join(filepath.Dir(page), name)
	}
	if strings.HasPrefix(to, "..") {
		return "it leaves the repository"
	}
	if _, err := os.Stat(filepath.Join(root(t), to)); err != nil {
		return "nothing is there"
	}
	if fragment != "" && !slices.Contains(anchors(read(t, to)), fragment) {
		return "the page has no such heading"
	}
	return ""
}

func TestAnchors(t *testing.T) {
	g := NewWithT(t)
	g.Expect(anchors("# A `b` c.d\n```\n# no\n```\n## A `b` c.d\n## [x](y) & z")).To(Equal([]string{"a-b-cd", "a-b-cd-1", "x--z"}))
	g.Expect(follow(t, "docs/README.md", "nowhere.md")).NotTo(BeEmpty())
	g.Expect(follow(t, "docs/README.md", "../README.md#nowhere")).NotTo(BeEmpty())
	g.Expect(follow(t, "docs/README.md", "../../x")).NotTo(BeEmpty())
}

// TestEveryPageIsListed keeps docs/README.md an index.
func TestEveryPageIsListed(t *testing.T) {
	index := read(t, "docs/README.md")
	for _, page := range pages(t) {
		rel, ok := strings.CutPrefix(page, "docs/")
		if !ok || rel == "README.md" {
			continue
		}
		if !strings.Contains(index, "]("+rel+")") {
			t.Errorf("docs/README.md does not list %s", page)
		}
	}
}
