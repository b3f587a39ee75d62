// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/features"
	"github.com/configbutler/gitops-reverser/internal/manifest/acceptance"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
)

// TestMetricsMatchTheGoldenFile compares the metrics table with internal/metrics/testdata/metrics.golden, both ways.
func TestMetricsMatchTheGoldenFile(t *testing.T) {
	g := NewWithT(t)
	want := map[string]string{}
	for l := range strings.Lines(read(t, "internal/metrics/testdata/metrics.golden")) {
		name, labels, ok := strings.Cut(strings.TrimSpace(l), " ")
		g.Expect(ok).To(BeTrue(), l)
		want[name] = strings.Trim(labels, "{}")
	}
	groups := map[string]string{
		"*branch*": "provider_namespace,provider_name,branch", "*target*": "gittarget_namespace,gittarget_name",
		"*type*": "group,version,resource",
	}
	got := map[string]string{}
	for _, r := range tables(t, "docs/README.md") {
		name := plain(r.cells[0])
		if !strings.HasPrefix(name, "gitopsreverser_") {
			continue
		}
		g.Expect(r.cells).To(HaveLen(3), name)
		g.Expect(got).NotTo(HaveKey(name), "documented twice")
		g.Expect(r.cells[2]).NotTo(BeEmpty(), name)
		var labels []string
		for c := range strings.SplitSeq(r.cells[1], ",") {
			c = strings.TrimSpace(c)
			if long, ok := groups[c]; ok {
				labels = append(labels, long)
			} else if c != "" {
				labels = append(labels, plain(c))
			}
		}
		got[name] = strings.Join(labels, ",")
	}
	// The order of labels has no meaning for a reader.
	for _, m := range []map[string]string{want, got} {
		for k, v := range m {
			list := strings.Split(v, ",")
			slices.Sort(list)
			m[k] = strings.Join(list, ",")
		}
	}
	g.Expect(got).To(Equal(want))
}

// constants collects the string constants of the given folders whose names match.
func constants(t *testing.T, name *regexp.Regexp, dirs ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(root(t), dir), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), p, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				spec, ok := n.(*ast.ValueSpec)
				if !ok {
					return true
				}
				for i, v := range spec.Values {
					lit, ok := v.(*ast.BasicLit)
					typed, _ := spec.Type.(*ast.Ident)
					reason := name.MatchString(spec.Names[i].Name) || typed != nil && name.MatchString(typed.Name)
					if ok && lit.Kind == token.STRING && reason {
						s, _ := strconv.Unquote(lit.Value)
						out[spec.Names[i].Name] = s
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

const troubleshooting = "docs/guides/troubleshooting.md"

// reasonRows are the rows of the table condition, reason, cause, cure.
func reasonRows(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, r := range tables(t, troubleshooting) {
		if len(r.cells) == 4 {
			for reason := range strings.SplitSeq(r.cells[1], ",") {
				out[plain(strings.TrimSpace(reason))] = r.cells
			}
		}
	}
	return out
}

var usesConstant = regexp.MustCompile(`\bv1alpha3\.([A-Z]\w*Reason)\b`)

// TestReasonsAreExplained: every reason the controllers write has a row with cause and cure, and no row invents one.
func TestReasonsAreExplained(t *testing.T) {
	g := NewWithT(t)
	rows := reasonRows(t)
	api := constants(t, regexp.MustCompile(`Reason$`), "api/v1alpha3")
	g.Expect(len(api)).To(BeNumerically(">", 80))
	// A negative or waiting reason needs a row; these say that all is well.
	fine := []string{"InCluster", "LocalCluster", "AllStreamsReady", "SingleKustomization", "None", "LegacySourceNamespace",
		"SourceNamespaceAllowed", "NotRequired"}
	err := filepath.WalkDir(filepath.Join(root(t), "internal", "controller"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return err
		}
		rel, _ := filepath.Rel(root(t), p)
		for _, m := range usesConstant.FindAllStringSubmatch(read(t, rel), -1) {
			if value := api[m[1]]; value != "" && !slices.Contains(fine, value) && rows[value] == nil {
				t.Errorf("%s writes the reason %s, which %s does not explain", rel, value, troubleshooting)
			}
		}
		return nil
	})
	g.Expect(err).NotTo(HaveOccurred())
	values := reasons(t)
	for reason, cells := range rows {
		g.Expect(values).To(ContainElement(reason), "%s explains a reason that no code writes", troubleshooting)
		g.Expect(cells[2]).NotTo(BeEmpty(), reason)
		g.Expect(cells[3]).NotTo(BeEmpty(), reason)
	}
}

// reasons are those that some code can write.
func reasons(t *testing.T) []string {
	t.Helper()
	known := constants(t, regexp.MustCompile(`Reason`), "api/v1alpha3", "internal/branch/core", "internal/gitauth", "internal/rules",
		"internal/watch", "internal/cluster", "internal/encryption")
	return append(slices.Collect(maps.Values(known)), "Suspended", "Progressing", "Succeeded", "Failed") // Flux's own
}

var status = regexp.MustCompile(`^(True|False|Unknown)(, Stalled)?$`)

// TestReasonsOfThePagesExist: the page of a kind lists no reason that nobody writes.
func TestReasonsOfThePagesExist(t *testing.T) {
	g := NewWithT(t)
	values := reasons(t)
	for _, page := range []string{"gitproviders", "kubeproviders", "gittargets", "watchrules"} {
		n := 0
		for _, r := range tables(t, "docs/"+page+".md") {
			i := slices.IndexFunc(r.cells, status.MatchString)
			if i < 0 || i+1 >= len(r.cells) {
				continue
			}
			list, _, _ := strings.Cut(r.cells[i+1], ":")
			for _, reason := range inline.FindAllString(list, -1) {
				n++
				g.Expect(values).To(ContainElement(plain(reason)), "docs/%s.md", page)
			}
		}
		g.Expect(n).To(BeNumerically(">", 5), page)
	}
}

// TestRefusalsAreExplained: every kind of folder refusal has a row.
func TestRefusalsAreExplained(t *testing.T) {
	g := NewWithT(t)
	list := constants(t, regexp.MustCompile(`^Kind$`), "internal/manifest/acceptance")
	g.Expect(list).To(HaveKeyWithValue("ForeignFile", string(acceptance.ForeignFile)))
	text := read(t, troubleshooting) + read(t, "docs/guides/kustomize.md")
	for _, kind := range list {
		g.Expect(text).To(ContainSubstring("`"+kind+"`"), "no page explains the refusal %s", kind)
	}
}

// TestNoiseRulesAreExplained: every default noise rule is on the page of GitTarget.
func TestNoiseRulesAreExplained(t *testing.T) {
	g := NewWithT(t)
	for _, name := range sanitize.Defaults {
		g.Expect(read(t, "docs/gittargets.md")).To(ContainSubstring("| `"+name+"` |"), name)
	}
}

// TestGatesAreListed: every feature gate is in docs/README.md with its default.
func TestGatesAreListed(t *testing.T) {
	g := NewWithT(t)
	for name, on := range features.FeatureGates() {
		g.Expect(read(t, "docs/README.md")).To(ContainSubstring("| `"+name+"` | `"+strconv.FormatBool(on)+"` |"), name)
	}
}
