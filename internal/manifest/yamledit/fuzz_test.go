// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// FuzzEdit changes a random document at random places: the result means the object, a second run changes nothing,
// every other document and all framing keep their bytes, and a file that is not edited is the same bytes.
func FuzzEdit(f *testing.F) {
	stories, _ := filepath.Glob("testdata/*.txtar")
	for i, path := range stories {
		a, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		signs := strings.NewReplacer("␠", " ", "␍", "\r", "␉", "\t", "∎\n", "")
		for _, file := range a.Files {
			if file.Name == "in.yaml" {
				f.Add([]byte(signs.Replace(string(file.Data))), uint64(i), "text")
			}
		}
	}
	for i, s := range []string{
		"a: |\n  x\nb: >-\n  y\n  z\n", "a:\r\n- 1\r\n- b: 2\r\n", "- - a\n  - b\n- - c\n", "a: [b, {c: d}, e: f]\n",
		"{a: 1, b: [x,\n  y], c}\n", "a: |+\n  x\n\n", "a: 'x\n  y'\n", "? a\n: b\n? c\n", "a: &x {b: 1}\nc: *x\n",
		"a:\n  # c\n  b: 1 # d\n\n  e: 2\n# f\n", "a: \"\\u00e9 \\\n  x\"\n", "a:\n-\n- ~\n-   b: 1\n    c: 2", "a: |2\n   x\n  y",
		"a: !!str 1\nb: !!int \"2\"\n", "k: v\u0085l: w\u2028", "\ufeffa: 1\n---\nb: 2\n---\n# c\n", "a: b\n\tc: d\n",
	} {
		f.Add([]byte(s), uint64(i), "a\nb\n")
		f.Add([]byte(s), uint64(i+100), "yes")
	}
	f.Fuzz(func(t *testing.T, src []byte, seed uint64, text string) {
		if !utf8.ValidString(text) || len(src) > 1<<14 || len(text) > 1<<10 {
			return
		}
		rnd := rand.New(rand.NewPCG(seed, 1))
		file := yamldoc.Split(src)
		for i := range file.Docs {
			cur, err := decode(file.Body(src, i))
			if err != nil || cur == nil {
				continue
			}
			fuzzDocument(t, rnd, src, file, i, cur, text)
		}
	})
}

func fuzzDocument(t *testing.T, rnd *rand.Rand, src []byte, file *yamldoc.File, i int, cur any, text string) {
	t.Helper()
	desired := cur
	for range 1 + rnd.IntN(3) {
		desired = mutate(rnd, desired, text)
	}
	for _, o := range []Options{{}, {AllowReplace: true}} {
		res, err := Edit(src, i, desired, o)
		var un *UneditableError
		if errors.As(err, &un) {
			if un.Reason == crashed || res.File != nil {
				t.Fatalf("the editor failed\n%q\n%s", src, compare.Canonical(desired))
			}
			continue
		}
		if err != nil {
			t.Fatalf("%v\n%q", err, src)
		}
		checkFuzzed(t, src, file, i, cur, desired, res)
		again, err := Edit(res.File, i, desired, o)
		if err != nil || again.Outcome != NoChange || !bytes.Equal(again.File, res.File) {
			t.Fatalf("again: %v %v\n%q\n%q\n%q\n%s", again.Outcome, err, src, res.File, again.File, compare.Canonical(desired))
		}
	}
}

func checkFuzzed(t *testing.T, src []byte, file *yamldoc.File, i int, cur, desired any, res Result) {
	t.Helper()
	if res.Outcome == NoChange && !bytes.Equal(res.File, src) {
		t.Fatalf("no change, but other bytes")
	}
	want := compare.Normalize(desired, cur, compare.Options{})
	after := yamldoc.Split(res.File)
	if len(after.Docs) != len(file.Docs) {
		t.Fatalf("%d documents became %d\n%q\n%q", len(file.Docs), len(after.Docs), src, res.File)
	}
	got, err := decode(after.Body(res.File, i))
	if err != nil || !compare.Same(got, want) || !compare.Same(res.Desired, want) {
		t.Fatalf("%v\n%q\n%q\n%s\n%s", err, src, res.File, compare.Canonical(got), compare.Canonical(want))
	}
	head, tail := file.Docs[i].Start, len(src)-file.Docs[i].End
	if !bytes.Equal(res.File[:head], src[:head]) || !bytes.Equal(res.File[len(res.File)-tail:], src[len(src)-tail:]) {
		t.Fatalf("bytes of other documents changed")
	}
}

// mutate returns a copy of a value with one thing changed.
func mutate(rnd *rand.Rand, v any, text string) any {
	leaf := func() any {
		return []any{text, "plain", int64(rnd.IntN(100)), true, 1.5, map[string]any{"k": text}, []any{text, "x"},
			map[string]any{}, []any{}}[rnd.IntN(9)]
	}
	switch v := v.(type) {
	case map[string]any:
		m := maps.Clone(v)
		keys := slices.Sorted(maps.Keys(m))
		if len(keys) == 0 || rnd.IntN(5) == 0 {
			m[[]string{"added", text, "y", "zz"}[rnd.IntN(4)]] = leaf()
			return m
		}
		k := keys[rnd.IntN(len(keys))]
		switch rnd.IntN(4) {
		case 0:
			delete(m, k)
		case 1:
			m[k] = leaf()
		default:
			m[k] = mutate(rnd, m[k], text)
		}
		return m
	case []any:
		l := slices.Clone(v)
		if len(l) == 0 {
			return []any{leaf()}
		}
		k := rnd.IntN(len(l))
		switch rnd.IntN(5) {
		case 0:
			return slices.Delete(l, k, k+1)
		case 1:
			return slices.Insert(l, k, leaf())
		case 2:
			rnd.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
			return l
		}
		l[k] = mutate(rnd, l[k], text)
		return l
	case string:
		if rnd.IntN(2) == 0 {
			return v + text
		}
	}
	return leaf()
}
