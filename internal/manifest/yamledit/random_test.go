// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"errors"
	"math/rand/v2"
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
