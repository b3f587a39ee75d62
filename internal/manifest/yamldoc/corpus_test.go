// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamldoc

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/testshared"
)

// corpusFiles calls f for every YAML file of the corpus.
func corpusFiles(t *testing.T, f func(path string, src []byte)) {
	t.Helper()
	root := filepath.Join(testshared.Dir(t), "corpus")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !(strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")) {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		f(rel, src)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCorpus_SplitAndParse reads every document: the cut is complete, the parse does not depend on anything, and every
// node is placed.
func TestCorpus_SplitAndParse(t *testing.T) {
	g := NewWithT(t)
	var files, docs, empty, unreadable, unplaced int
	corpusFiles(t, func(path string, src []byte) {
		files++
		f := Split(src)
		pos := 0
		for i, d := range f.Docs {
			g.Expect(d.Frame).To(BeNumerically(">=", pos), path)
			g.Expect(d.Start).To(BeNumerically(">=", d.Frame), path)
			g.Expect(d.End).To(BeNumerically(">=", d.Start), path)
			pos = d.End
			docs++
			n, err := Parse(f.Body(src, i))
			if err != nil {
				unreadable++
				if !strings.HasPrefix(path, "helm-templates") {
					t.Logf("%s document %d: %v", path, i, err)
				}
				continue
			}
			g.Expect(n == nil).To(Equal(d.Empty), path)
			if n == nil {
				empty++
				continue
			}
			for _, h := range n.Hazards() {
				if h.Kind == HazardUnmapped {
					unplaced++
					t.Logf("%s document %d line %d: not placed", path, i, h.Line)
				}
			}
		}
	})
	t.Logf("%d files, %d documents, %d empty, %d unreadable, %d not placed", files, docs, empty, unreadable, unplaced)
	g.Expect(unplaced).To(BeZero())
	g.Expect(docs).To(BeNumerically(">", 7000))
}
