// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// TestAppendAndDelete: a document comes and goes, and the file is what it was.
func TestAppendAndDelete(t *testing.T) {
	doc := obj(t, `{"kind":"New","a":"x\ny"}`)
	for name, c := range map[string]struct{ file, want string }{
		"new file":                     {"", "kind: New\na: |-\n  x\n  y\n"},
		"comments only":                {"# licence\n", "# licence\nkind: New\na: |-\n  x\n  y\n"},
		"comments without line break":  {"# licence", "# licence\nkind: New\na: |-\n  x\n  y\n"},
		"byte order mark only":         {"\ufeff", "\ufeffkind: New\na: |-\n  x\n  y\n"},
		"one document":                 {"a: 1\n", "a: 1\n---\nkind: New\na: |-\n  x\n  y\n"},
		"blank lines at the end":       {"a: 1\n\n\n", "a: 1\n\n\n---\nkind: New\na: |-\n  x\n  y\n"},
		"no final line break":          {"a: 1", "a: 1\n---\nkind: New\na: |-\n  x\n  y"},
		"CRLF":                         {"a: 1\r\n", "a: 1\r\n---\r\nkind: New\r\na: |-\r\n  x\r\n  y\r\n"},
		"document end":                 {"a: 1\n...\n", "a: 1\n...\n---\nkind: New\na: |-\n  x\n  y\n"},
		"trailing marker":              {"a: 1\n---\n", "a: 1\n---\nkind: New\na: |-\n  x\n  y\n"},
		"leading marker":               {"---\na: 1\n", "---\na: 1\n---\nkind: New\na: |-\n  x\n  y\n"},
		"block with kept line breaks":  {"a: |+\n  x\n\n", "a: |+\n  x\n\n---\nkind: New\na: |-\n  x\n  y\n"},
		"block without its line break": {"a: |\n  x", "a: |-\n  x\n---\nkind: New\na: |-\n  x\n  y"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			out, err := Append([]byte(c.file), doc)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(out)).To(Equal(c.want))
			f := yamldoc.Split(out)
			rest, empty := DeleteDoc(out, len(f.Docs)-1)
			if len(f.Docs) == 1 {
				g.Expect(empty).To(BeTrue())
				return
			}
			g.Expect(empty).To(BeFalse())
			switch name {
			case "trailing marker":
				g.Expect(string(rest)).To(Equal("a: 1\n"))
			case "block without its line break":
				g.Expect(string(rest)).To(Equal("a: |-\n  x"))
			default:
				g.Expect(string(rest)).To(Equal(c.file))
			}
		})
	}
}

// TestAppendRaw: ready text, such as an encrypted document, is taken as it is but for framing and line breaks.
func TestAppendRaw(t *testing.T) {
	g := NewWithT(t)
	g.Expect(string(AppendRaw([]byte("a: 1\r\n"), []byte("---\n# c\nb: 'x'")))).To(Equal("a: 1\r\n---\r\n# c\r\nb: 'x'\r\n"))
	g.Expect(string(AppendRaw(nil, []byte("---\nb: 1\n")))).To(Equal("b: 1\n"))
	g.Expect(string(AppendRaw([]byte("a: 1"), []byte("b: |\n  x\n")))).To(Equal("a: 1\n---\nb: |\n  x\n"))
}

// TestScenario29_DeleteFirst: the new first document has no stray separator; comments of neighbours stay.
func TestScenario29_DeleteFirst(t *testing.T) {
	for name, c := range map[string]struct {
		file  string
		index int
		want  string
	}{
		"first of three":            {"a: 1\n---\nb: 2\n---\nc: 3\n", 0, "b: 2\n---\nc: 3\n"},
		"first behind a marker":     {"---\na: 1\n---\nb: 2\n", 0, "---\nb: 2\n"},
		"licence above the marker":  {"# licence\n---\na: 1\n---\nb: 2\n", 0, "# licence\n---\nb: 2\n"},
		"its own comments go":       {"# about a\na: 1\n---\n# about b\nb: 2\n", 0, "# about b\nb: 2\n"},
		"comment on the separator":  {"a: 1\n--- # about b\nb: 2\n", 0, "--- # about b\nb: 2\n"},
		"content on the separator":  {"a: 1\n--- {b: 2}\n", 0, "--- {b: 2}\n"},
		"directives of the next":    {"a: 1\n...\n%YAML 1.1\n---\nb: 2\n", 0, "%YAML 1.1\n---\nb: 2\n"},
		"document end":              {"a: 1\n...\n---\nb: 2\n", 0, "b: 2\n"},
		"comments before separator": {"a: 1\n...\n# about b\n---\nb: 2\n", 0, "# about b\n---\nb: 2\n"},
		"byte order mark":           {"\ufeffa: 1\n---\nb: 2\n", 0, "\ufeffb: 2\n"},
		"middle":                    {"a: 1\n---\n# b\nb: 2\n--- # c\nc: 3\n", 1, "a: 1\n--- # c\nc: 3\n"},
		"middle with document ends": {"a: 1\n...\n---\nb: 2\n...\n---\nc: 3\n", 1, "a: 1\n...\n---\nc: 3\n"},
		"last":                      {"a: 1\n---\nb: 2\n", 1, "a: 1\n"},
		"last, no line break":       {"a: 1\r\n---\r\nb: 2", 1, "a: 1"},
		"last, block before it":     {"a: |\n  x\n---\nb: 2", 1, "a: |\n  x\n"},
		"empty one":                 {"a: 1\n---\n# c\n---\nb: 2\n", 1, "a: 1\n---\nb: 2\n"},
		"hostile one":               {"a: 1\n---\nx: &x {y: *x}\n", 1, "a: 1\n"},
		"unreadable one":            {"a: [\n---\nb: 2\n", 0, "b: 2\n"},
		"no such document":          {"a: 1\n", 5, "a: 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			rest, empty := DeleteDoc([]byte(c.file), c.index)
			g.Expect(string(rest)).To(Equal(c.want))
			g.Expect(empty).To(BeFalse())
		})
	}
}

// TestScenario30_LastDocument: the file is to be removed.
func TestScenario30_LastDocument(t *testing.T) {
	g := NewWithT(t)
	rest, empty := DeleteDoc([]byte("# licence\n---\na: 1\n"), 0)
	g.Expect(empty).To(BeTrue())
	g.Expect(rest).To(BeEmpty())
}

// TestScenario31_DeleteAndUpdateInOneFile: indices are taken from the bytes of the moment.
func TestScenario31_DeleteAndUpdateInOneFile(t *testing.T) {
	g := NewWithT(t)
	rest, empty := DeleteDoc([]byte("kind: A\n---\nkind: B # b\n"), 0)
	g.Expect(empty).To(BeFalse())
	res, err := Edit(rest, 0, obj(t, `{"kind":"B","x":1}`), Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(res.File)).To(Equal("kind: B # b\nx: 1\n"))
}

// TestReplaceDoc: a re-encrypted document in place of the old one.
func TestReplaceDoc(t *testing.T) {
	for name, c := range map[string]struct {
		file  string
		index int
		doc   string
		want  string
	}{
		"alone":                 {"a: 1\n", 0, "b: 2\n", "b: 2\n"},
		"head comments stay":    {"# schema\n\na: 1\n", 0, "b: 2\n", "# schema\n\nb: 2\n"},
		"own head comments":     {"# old\na: 1\n", 0, "# new\nb: 2\n", "# new\nb: 2\n"},
		"in the middle":         {"x: 1\n--- # c\na: 1\n...\n---\ny: 1\n", 1, "---\nb: 2", "x: 1\n--- # c\nb: 2\n...\n---\ny: 1\n"},
		"CRLF":                  {"a: 1\r\n---\r\nx: 1\r\n", 0, "b: |\n  c\n", "b: |\r\n  c\r\n---\r\nx: 1\r\n"},
		"no final line break":   {"a: 1", 0, "b: 2\n", "b: 2"},
		"block at the end":      {"a: 1", 0, "b: |\n  x\n", "b: |\n  x\n"},
		"content on its marker": {"--- {a: 1}\n---\nx: 1\n", 0, "b: 2\n", "---\nb: 2\n---\nx: 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			out, err := ReplaceDoc([]byte(c.file), c.index, []byte(c.doc))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(out)).To(Equal(c.want))
		})
	}
	g := NewWithT(t)
	for _, doc := range []string{"", "# c\n", "a: 1\n---\nb: 2\n"} {
		_, err := ReplaceDoc([]byte("a: 1\n"), 0, []byte(doc))
		g.Expect(err).To(HaveOccurred())
	}
	_, err := ReplaceDoc([]byte("a: 1\n"), 1, []byte("b: 1\n"))
	g.Expect(err).To(HaveOccurred())
}
