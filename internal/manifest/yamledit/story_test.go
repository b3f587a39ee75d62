// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/tools/txtar"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// TestStories plays testdata/*.txtar. A story holds the file before (in.yaml), the live object (live.yaml) and the
// file after (want.yaml; without it nothing may change), or an error. Its options, one a line:
//
//	index N        the document that is edited; default 0
//	builtin        the type is served by the API server itself
//	kustomization  the lists are those of a kustomization
//	keep P, ifpresent P   mask paths
//	replace        the document may be written anew
//	undo exact     taking the edit back gives the original bytes; "undo equal": an equal value
//	rung R         the note that is reported
//
// schema.json gives the facts of the type. Bytes an editor would drop are written as signs: ␠ a space, ␍ a carriage
// return, ␉ a tab, ∎ at the end: no final line break.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			playStory(t, a)
		})
	}
}

type story struct {
	files   map[string]string
	options Options
	index   int
	undo    string
	rung    string
}

func readStory(t *testing.T, a *txtar.Archive) story {
	t.Helper()
	s := story{files: map[string]string{}}
	signs := strings.NewReplacer("␠", " ", "␍", "\r", "␉", "\t", "∎\n", "")
	for _, f := range a.Files {
		s.files[f.Name] = signs.Replace(string(f.Data))
	}
	for _, line := range strings.Split(strings.TrimSpace(s.files["options"]), "\n") {
		word, arg, _ := strings.Cut(line, " ")
		switch word {
		case "":
		case "index":
			fmt.Sscan(arg, &s.index)
		case "builtin":
			s.options.BuiltIn = true
		case "kustomization":
			s.options.Schema = KustomizationSchema()
		case "keep":
			s.options.Mask.Keep = append(s.options.Mask.Keep, arg)
		case "ifpresent":
			s.options.Mask.IfPresent = append(s.options.Mask.IfPresent, arg)
		case "replace":
			s.options.AllowReplace = true
		case "undo":
			s.undo = arg
		case "rung":
			s.rung = arg
		default:
			t.Fatalf("unknown option %q", line)
		}
	}
	if text, ok := s.files["schema.json"]; ok {
		s.options.Schema = &change.Schema{}
		if err := json.Unmarshal([]byte(text), s.options.Schema); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func playStory(t *testing.T, a *txtar.Archive) {
	g := NewWithT(t)
	s := readStory(t, a)
	in := []byte(s.files["in.yaml"])
	desired := value(t, s.files["live.yaml"])
	res, err := Edit(in, s.index, desired, s.options)
	if want, ok := s.files["error"]; ok {
		g.Expect(err).To(HaveOccurred())
		g.Expect(err.Error()).To(Equal(strings.TrimSpace(want)))
		g.Expect(res.File).To(BeNil())
		return
	}
	g.Expect(err).NotTo(HaveOccurred())
	want, changes := s.files["want.yaml"]
	if !changes {
		want = s.files["in.yaml"]
	}
	g.Expect(string(res.File)).To(Equal(want))
	g.Expect(res.Outcome == NoChange).To(Equal(!changes))
	var rungs []string
	for _, n := range res.Notes {
		rungs = append(rungs, string(n.Rung))
		g.Expect(n.Reason).NotTo(BeEmpty())
	}
	g.Expect(strings.Join(rungs, " ")).To(Equal(s.rung))
	again, err := Edit(res.File, s.index, desired, s.options)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Outcome).To(Equal(NoChange))
	g.Expect(again.File).To(Equal(res.File))
	if s.undo != "" {
		f := yamldoc.Split(in)
		before, err := decode(f.Body(in, s.index))
		g.Expect(err).NotTo(HaveOccurred())
		back, err := Edit(res.File, s.index, before, Options{})
		g.Expect(err).NotTo(HaveOccurred())
		if s.undo == "exact" {
			g.Expect(string(back.File)).To(Equal(s.files["in.yaml"]))
		}
	}
}

// value decodes the first document of a YAML text.
func value(t *testing.T, text string) any {
	t.Helper()
	f := yamldoc.Split([]byte(text))
	if len(f.Docs) != 1 {
		t.Fatalf("the live object has %d documents", len(f.Docs))
	}
	v, err := decode(f.Body([]byte(text), 0))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
