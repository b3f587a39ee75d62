// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// TestCorpus_RandomEdits changes every tenth document of the corpus in several random ways at once.
func TestCorpus_RandomEdits(t *testing.T) {
	var tried, patched, rungs, refused, hazards int
	n := 0
	eachDocument(t, func(path string, src []byte, f *yamldoc.File, index int) {
		if n++; n%10 != 0 && *more == 1 {
			return
		}
		cur, err := decode(f.Body(src, index))
		if err != nil || cur == nil {
			return
		}
		for seed := range 4 {
			rnd := rand.New(rand.NewPCG(uint64(seed), uint64(n)))
			desired := cur
			for range 1 + seed {
				desired = mutate(rnd, desired, []string{"x y", "yes", "a\nb\n", "it's"}[seed])
			}
			if m, isMap := desired.(map[string]any); !isMap || len(m) == 0 {
				continue // no object
			}
			tried++
			res, err := Edit(src, index, desired, Options{})
			var un *UneditableError
			switch {
			case errors.As(err, &un) && un.Hazard != yamldoc.HazardUnmapped:
				hazards++
			case err != nil:
				refused++
				t.Logf("%s document %d seed %d: %v", path, index, seed, err)
			default:
				checkFuzzed(t, src, f, index, cur, desired, res)
				if patched++; len(res.Notes) > 0 {
					rungs++
					t.Logf("%s document %d seed %d: %v", path, index, seed, res.Notes)
				}
			}
		}
	})
	t.Logf("%d tried, %d edited (%d with a larger node), %d refused, %d with a hazard", tried, patched, rungs, refused, hazards)
	if float64(rungs+refused) > 0.005*float64(tried) {
		t.Error("too many edits were not the smallest")
	}
}

// TestCorpus_CommentsSurvive changes scalars, adds keys and items and moves items in every document with comments:
// not one comment is lost or changed.
func TestCorpus_CommentsSurvive(t *testing.T) {
	var tried, moved int
	eachDocument(t, func(path string, src []byte, f *yamldoc.File, index int) {
		cur, err := decode(f.Body(src, index))
		if err != nil || cur == nil || len(comments(f.Body(src, index))) == 0 {
			return
		}
		for seed := range 3 {
			desired := grow(rand.New(rand.NewPCG(uint64(seed), uint64(len(src)))), cur)
			res, err := Edit(src, index, desired, Options{})
			if err != nil {
				continue
			}
			checkFuzzed(t, src, f, index, cur, desired, res)
			tried++
			before, after := comments(src), comments(res.File)
			if slices.Equal(before, after) {
				continue
			}
			moved++
			left := map[string]int{}
			for _, c := range after {
				left[c]++ // text of an added block may look like a comment
			}
			if slices.ContainsFunc(before, func(c string) bool { left[c]--; return left[c] < 0 }) {
				t.Errorf("%s document %d seed %d\n%s", path, index, seed, showDiff(src, res.File))
			}
		}
	})
	t.Logf("%d edits, in %d of them comments travelled with their items", tried, moved)
}

// comments returns the comment lines of a text.
func comments(b []byte) []string {
	var out []string
	for _, l := range lines(b) {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, "#") {
			out = append(out, l)
		}
	}
	return out
}

// grow returns a copy of a value with a one-line scalar changed, something added, or a list shuffled.
func grow(rnd *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := maps.Clone(v)
		keys := slices.Sorted(maps.Keys(m))
		if len(keys) == 0 || rnd.IntN(8) == 0 {
			m["added"] = map[string]any{"k": []any{"x", int64(1)}}
			return m
		}
		k := keys[rnd.IntN(len(keys))]
		m[k] = grow(rnd, m[k])
		return m
	case []any:
		l := slices.Clone(v)
		switch {
		case len(l) == 0:
			return []any{"x"}
		case rnd.IntN(4) == 0:
			rnd.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
		case rnd.IntN(4) == 0:
			l = slices.Insert(l, rnd.IntN(len(l)+1), otherItem(l[0]))
		default:
			k := rnd.IntN(len(l))
			l[k] = grow(rnd, l[k])
		}
		return l
	case string:
		if strings.Contains(v, "\n") {
			return v
		}
		return v + "-grown"
	case int64:
		return v + 1
	}
	return v
}
