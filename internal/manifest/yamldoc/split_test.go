// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamldoc

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v3"
)

// TestSplit lists files and the texts of their documents; "E" before a text marks an empty document.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"nothing", "", nil},
		{"comments only", "# a\n\n# b\n", nil},
		{"one without marker", "# head\na: 1\n", []string{"# head\na: 1\n"}},
		{"leading marker makes no document", "---\na: 1\n", []string{"a: 1\n"}},
		{"comment before the first marker is framing", "# licence\n---\na: 1\n", []string{"a: 1\n"}},
		{"trailing marker makes an empty document", "a: 1\n---\n", []string{"a: 1\n", "E"}},
		{"trailing marker without line break", "a: 1\n---", []string{"a: 1\n", "E"}},
		{"a marker alone", "---\n", []string{"E"}},
		{"comment-only document in the middle", "a: 1\n---\n# x\n---\nb: 2", []string{"a: 1\n", "E# x\n", "b: 2"}},
		{"marker with a comment", "--- # one\na: 1\n---\t# two\nb: 2\n", []string{"a: 1\n", "b: 2\n"}},
		{"marker with content", "--- {a: 1}\n--- |\n x\n", []string{"--- {a: 1}\n", "--- |\n x\n"}},
		{"Scenario13: marker in a block", "a: |\n  ---\n  x\n--- # y\nb: 2\n", []string{"a: |\n  ---\n  x\n", "b: 2\n"}},
		{"no blank behind the dashes", "a: 1\n---b: 2\n", []string{"a: 1\n---b: 2\n"}},
		{"document end", "a: 1\n...\n---\nb: 2\n...\n", []string{"a: 1\n", "b: 2\n"}},
		{"comment behind document end", "a: 1\n...\n# c\n---\nb: 2\n", []string{"a: 1\n", "b: 2\n"}},
		{"content behind document end", "a: 1\n...\nb: 2\n", []string{"a: 1\n", "...\nb: 2\n"}},
		{"directives", "%YAML 1.1\n# c\n---\na: 1\n...\n%YAML 1.1\n---\nb: 2\n",
			[]string{"%YAML 1.1\n# c\n---\na: 1\n", "%YAML 1.1\n---\nb: 2\n"}},
		{"percent sign that is no directive", "a: \"x\n%YAML\ny\"\n", []string{"a: \"x\n%YAML\ny\"\n"}},
		{"CRLF", "a: 1\r\n---\r\nb: 2\r\n", []string{"a: 1\r\n", "b: 2\r\n"}},
		{"BOM", "\ufeffa: 1\n---\nb: 2\n", []string{"a: 1\n", "b: 2\n"}},
		{"lone CR", "a: 1\r---\rb: 2\r", []string{"a: 1\r", "b: 2\r"}},
		{"NEL, LS and PS", "a: 1\u0085---\u2028b: 2\u2029--- #\u0085c: 3\n", []string{"a: 1\u0085", "b: 2\u2029", "c: 3\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			src := []byte(c.src)
			f := Split(src)
			var got []string
			for i, d := range f.Docs {
				mark := ""
				if d.Empty {
					mark = "E"
				}
				got = append(got, mark+string(f.Body(src, i)))
				g.Expect(d.Index).To(Equal(i))
				g.Expect(d.Line).To(Equal(lineOf(src, d.Start)))
				n, err := Parse(f.Body(src, i))
				if !strings.HasPrefix(string(f.Body(src, i)), "...") {
					g.Expect(err).NotTo(HaveOccurred())
					g.Expect(n == nil).To(Equal(d.Empty))
				} else {
					g.Expect(err).To(HaveOccurred())
				}
			}
			g.Expect(got).To(Equal(c.want))
			g.Expect(f.BOM).To(Equal(c.name == "BOM"))
			g.Expect(f.CRLF).To(Equal(c.name == "CRLF"))
		})
	}
}

// FuzzSplit: the cut covers the file in order, and where yaml v3 reads the whole file as one stream, it finds the same
// documents.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"", "a: 1\n---\nb: 2\n", "---\n---\n", "# c\n---\na: |\n  ---\n...\n", "%YAML 1.1\n---\na: 1\n", "--- |\n a\n",
		"a\r\n---\r\n", "\ufeff---\na", "a: 1\u0085---\u2028b", "'\n--- '", "--- &x\na: *x\n", "...\n", "...\na", "%\n%\n---\n",
		"a: \"\n%x\n\"\n--- #\n", "- a\n---\n- b\n--- !t\nx", "{a: 1}\n---\n[b]\n...\n---\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file := Split(src)
		pos := 0
		for _, d := range file.Docs {
			if d.Frame < pos || d.Start < d.Frame || d.End < d.Start || d.End > len(src) {
				t.Fatalf("document %d: frame %d start %d end %d after %d", d.Index, d.Frame, d.Start, d.End, pos)
			}
			pos = d.End
		}
		compareWithStream(t, src, file)
	})
}

func compareWithStream(t *testing.T, src []byte, file *File) {
	t.Helper()
	switch {
	case !utf8.Valid(src), bytes.Contains(bytes.TrimPrefix(src, []byte(bom)), []byte(bom)), len(src) > 1<<16:
		return // refused by Parse
	case bytes.Contains(src, []byte("%")):
		return // yaml v3 takes directives without the "..." before them that YAML asks for
	}
	var stream []*yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(src))
	for {
		var n yaml.Node
		err := dec.Decode(&n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return
		}
		stream = append(stream, n.Content[0])
	}
	if len(stream) != len(file.Docs) {
		t.Fatalf("%d documents, the stream has %d", len(file.Docs), len(stream))
	}
	for i, want := range stream {
		got, err := Parse(file.Body(src, i))
		if err != nil {
			var deep *SyntaxError
			if errors.As(err, &deep) && strings.HasPrefix(deep.Msg, "nested deeper") {
				continue
			}
			t.Fatalf("document %d: %v", i, err)
		}
		if got == nil {
			if want.Kind != yaml.ScalarNode || want.Value != "" {
				t.Fatalf("document %d is not empty", i)
			}
			continue
		}
		sameTree(t, got, want)
		// Odd spellings of tags, explicit keys and keys that are block scalars are not worth placing: what is not placed is
		// not edited.
		if got.facts.unmapped() && !bytes.ContainsAny(file.Body(src, i), "!?") && !blockKeys(want) {
			t.Fatalf("document %d: not placed", i)
		}
	}
}

// blockKeys reports a key that is a block scalar.
func blockKeys(n *yaml.Node) bool {
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && c.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || blockKeys(c) {
			return true
		}
	}
	return false
}

func (f *facts) unmapped() bool {
	for _, h := range f.hazards {
		if h.Kind == HazardUnmapped {
			return true
		}
	}
	return false
}

func sameTree(t *testing.T, got *Node, want *yaml.Node) {
	t.Helper()
	kinds := map[yaml.Kind]Kind{
		yaml.ScalarNode: Scalar, yaml.MappingNode: Map, yaml.SequenceNode: Seq, yaml.AliasNode: Alias,
	}
	if got.Kind != kinds[want.Kind] || got.Value != want.Value || got.Tag != want.Tag || got.Anchor != want.Anchor {
		t.Fatalf("line %d: %v %q, want %v %q", got.Line, got.Kind, got.Value, want.Kind, want.Value)
	}
	if len(want.Content) != len(got.Items)+2*len(got.Pairs) {
		t.Fatalf("line %d: %d children, want %d", got.Line, len(got.Items)+2*len(got.Pairs), len(want.Content))
	}
	for i, it := range got.Items {
		sameTree(t, it, want.Content[i])
	}
	for i, p := range got.Pairs {
		sameTree(t, p.Key, want.Content[2*i])
		sameTree(t, p.Value, want.Content[2*i+1])
	}
}
