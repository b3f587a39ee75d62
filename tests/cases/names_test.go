// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/tools/txtar"

	"github.com/configbutler/gitops-reverser/internal/testshared"
)

// proofs are the numbers that names of tests carry, with the places of the names.
type proofs struct {
	cases     map[string][]string
	scenarios map[int][]string
	// tests are the Go tests by "folder TestName".
	tests map[string]bool
}

// writeSide are the folders whose scenarios are those of git-writer 12. Elsewhere "scenario 24" is another chapter's.
var writeSide = []string{
	"internal/branch/", "internal/cli/", "internal/encryption/", "internal/gitauth/", "internal/gitstore/",
	"internal/manifest/", "tests/cases/", "tests/e2e/", "tests/roundtrip/",
}

var (
	goCase       = regexp.MustCompile(`(?:Cases?|And)([A-Z][0-9]{2})`)
	goScenarios  = regexp.MustCompile(`Scenarios?[0-9]+(?:(?:And|To)[0-9]+)*`)
	fileCase     = regexp.MustCompile(`(?:^|[_-])([ykpsgewua][0-9]{2})(?:[_.-]|$)`)
	fileScenario = regexp.MustCompile(`(?:^|_)s([0-9]{3})(?:_|\.|$)`)
	partScenario = regexp.MustCompile(`scenario([0-9]{1,3})(?:[_-]|$)`)
	textCase     = regexp.MustCompile(`\b([YKPSGEWUA][0-9]{2})\b`)
	textScenario = regexp.MustCompile(`[Ss]cenarios? ([0-9]+(?:(?:, and |, | and )[0-9]+)*)`)
	number       = regexp.MustCompile(`[0-9]+`)
)

// readProofs goes through the repository.
func readProofs(t *testing.T) *proofs {
	t.Helper()
	g := NewWithT(t)
	root := testshared.ModuleRoot(t)
	p := &proofs{cases: map[string][]string{}, scenarios: map[int][]string{}, tests: map[string]bool{}}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, name)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case d.IsDir() && rel != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case strings.HasSuffix(name, "_test.go"):
			return p.goFile(name, rel)
		case strings.HasSuffix(name, ".txtar"):
			return p.story(name, rel)
		}
		return nil
	})
	g.Expect(err).NotTo(HaveOccurred())
	return p
}

func (p *proofs) addCase(n, place string)         { p.cases[n] = append(p.cases[n], place) }
func (p *proofs) addScenario(n int, place string) { p.scenarios[n] = append(p.scenarios[n], place) }

func (p *proofs) goFile(name, rel string) error {
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && strings.HasPrefix(n.Name.Name, "Test") {
				p.tests[path.Dir(rel)+" "+n.Name.Name] = true
				p.testName(n.Name.Name, rel)
			}
		case *ast.CallExpr:
			if text, ok := nodeText(n); ok {
				p.text(text, rel)
			}
		}
		return true
	})
	return nil
}

// nodeText is the text of a subtest or a Ginkgo node.
func nodeText(c *ast.CallExpr) (string, bool) {
	name := ""
	switch f := c.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	if !slices.Contains([]string{"It", "Describe", "Context", "Entry", "Run"}, name) || len(c.Args) == 0 {
		return "", false
	}
	lit, ok := c.Args[0].(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// testName reads TestCaseY01AndY02_..., TestScenario27To30_..., TestScenario17AndCaseP05_....
func (p *proofs) testName(name, rel string) {
	place := rel + " " + name
	for _, m := range goCase.FindAllStringSubmatch(name, -1) {
		p.addCase(m[1], place)
	}
	if !isWriteSide(rel) {
		return
	}
	for _, m := range goScenarios.FindAllString(name, -1) {
		from := 0
		for _, part := range regexp.MustCompile(`(And|To)?([0-9]+)`).FindAllStringSubmatch(m, -1) {
			n, _ := strconv.Atoi(part[2])
			if part[1] != "To" {
				from = n
			}
			for ; from <= n; from++ {
				p.addScenario(from, place)
			}
		}
	}
}

// text reads the words of a story's heading or of a node: "Case K13", "Scenarios 59, 61 and 108".
func (p *proofs) text(text, place string) {
	for _, m := range textCase.FindAllStringSubmatch(text, -1) {
		p.addCase(m[1], place)
	}
	if !isWriteSide(place) {
		return
	}
	for _, m := range textScenario.FindAllStringSubmatch(text, -1) {
		for _, s := range number.FindAllString(m[1], -1) {
			n, _ := strconv.Atoi(s)
			p.addScenario(n, place)
		}
	}
}

func (p *proofs) story(name, rel string) error {
	a, err := txtar.ParseFile(name)
	if err != nil {
		return err
	}
	base := path.Base(rel)
	for _, m := range fileCase.FindAllStringSubmatch(base, -1) {
		p.addCase(strings.ToUpper(m[1]), rel)
	}
	if isWriteSide(rel) {
		for _, m := range slices.Concat(fileScenario.FindAllStringSubmatch(base, -1), partScenario.FindAllStringSubmatch(base, -1)) {
			n, _ := strconv.Atoi(m[1])
			p.addScenario(n, rel)
		}
	}
	p.text(string(a.Comment), rel)
	for _, f := range a.Files {
		first, _, _ := strings.Cut(f.Name, "/")
		for _, m := range fileCase.FindAllStringSubmatch(first, -1) {
			p.addCase(strings.ToUpper(m[1]), rel+" "+first)
		}
		for _, m := range partScenario.FindAllStringSubmatch(first, -1) {
			if n, _ := strconv.Atoi(m[1]); isWriteSide(rel) {
				p.addScenario(n, rel+" "+first)
			}
		}
	}
	return nil
}

func isWriteSide(rel string) bool {
	return slices.ContainsFunc(writeSide, func(p string) bool { return strings.HasPrefix(rel, p) })
}

// The ledger is worth as much as what reads the names.
func TestNamesAreRead(t *testing.T) {
	g := NewWithT(t)
	p := &proofs{cases: map[string][]string{}, scenarios: map[int][]string{}}
	p.testName("TestCaseY01AndK02_Something2", "internal/manifest/x_test.go")
	p.testName("TestScenario17AndCaseP05_Links", "internal/manifest/x_test.go")
	p.testName("TestScenario27To29_Gate", "internal/branch/x_test.go")
	p.testName("TestScenario56AndSection62_Named", "internal/manifest/x_test.go")
	p.testName("TestScenario99_OfAnotherChapter", "internal/watch/x_test.go")
	p.text("Scenarios 59, 61 and 108: with case S04.", "internal/manifest/x.txtar")
	g.Expect(slices.Sorted(maps.Keys(p.cases))).To(Equal([]string{"K02", "P05", "S04", "Y01"}))
	g.Expect(slices.Sorted(maps.Keys(p.scenarios))).To(Equal([]int{17, 27, 28, 29, 56, 59, 61, 108}))
}
