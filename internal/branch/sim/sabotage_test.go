// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"strconv"
	"testing"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// spoils are machines with one fault each: the invariants must notice every one.
var spoils = map[string]func(*world, core.Effect) core.Effect{
	"a change is lost between its acceptance and its write": func(w *world, e core.Effect) core.Effect {
		if k, ok := e.(core.Write); ok && k.Decision == nil && len(k.Work.Changes) > 1 {
			k.Work.Changes = k.Work.Changes[1:]
			return k
		}
		return e
	},
	"an author carries another's change": func(w *world, e core.Effect) core.Effect {
		if k, ok := e.(core.Write); ok && k.Work.Author.Username == "alice" {
			k.Work.Author.Username = "bob"
			return k
		}
		return e
	},
	"a write is decided again on each replay": func(w *world, e core.Effect) core.Effect {
		if k, ok := e.(core.Write); ok {
			k.Decision = nil
			return k
		}
		return e
	},
	"the expected id follows the remote instead of the base": func(w *world, e core.Effect) core.Effect {
		if k, ok := e.(core.Push); ok && !w.git.tip.IsZero() {
			k.Expected = w.git.tip
			return k
		}
		return e
	},
	"a push releases one write too many": func(w *world, e core.Effect) core.Effect {
		if k, ok := e.(core.Push); ok {
			k.Count++
			return k
		}
		return e
	},
	"commits are not chained": func(w *world, e core.Effect) core.Effect {
		if k, ok := e.(core.Write); ok && !k.Dry && !w.lane.base.IsZero() {
			k.Onto = w.lane.base
			return k
		}
		return e
	},
	"a cursor follows acceptance": func(w *world, e core.Effect) core.Effect {
		if k, ok := e.(core.Advance); ok {
			k.RV = strconv.Itoa(w.cluster.rv)
			return k
		}
		return e
	},
	"a save is reported before its push": func(w *world, e core.Effect) core.Effect {
		if k, ok := e.(core.Answer); ok && k.State == core.SaveAwaitingPush {
			k.State = core.SaveCommitted
			if l := w.lane.built; len(l) > 0 {
				k.Commit = l[len(l)-1].commit
			}
			return k
		}
		return e
	},
	"a failed save is committed nevertheless": func(w *world, e core.Effect) core.Effect {
		if k, ok := e.(core.Answer); ok && k.State == core.SaveCommitted {
			k.State = core.SaveFailed
			return k
		}
		return e
	},
	"a suspended target is written": func(w *world, e core.Effect) core.Effect {
		if k, ok := e.(core.Write); ok {
			k.Dry = false
			return k
		}
		return e
	},
	"dropped changes are not counted": func(w *world, e core.Effect) core.Effect {
		if k, ok := e.(core.Observe); ok && k.Observation.What == core.ObservedDrop {
			k.Observation.Count = 0
			return k
		}
		return e
	},
	"every refusal is an acceptance": func(w *world, e core.Effect) core.Effect {
		if k, ok := e.(core.Admit); ok && k.Verdict != change.Stopped {
			k.Verdict = change.Accepted
			return k
		}
		return e
	},
	"a snapshot is never settled": func(w *world, e core.Effect) core.Effect {
		if _, ok := e.(core.Settle); ok {
			return nil
		}
		return e
	},
	"a wanted snapshot is not asked for": func(w *world, e core.Effect) core.Effect {
		if _, ok := e.(core.Request); ok {
			return nil
		}
		return e
	},
}

// TestSimulationNotices spoils the machine's effects in one way at a time.
func TestSimulationNotices(t *testing.T) {
	for name, spoil := range spoils {
		t.Run(name, func(t *testing.T) {
			all := func(w *world, effects []core.Effect) []core.Effect {
				var out []core.Effect
				for _, e := range effects {
					if e = spoil(w, e); e != nil {
						out = append(out, e)
					}
				}
				return out
			}
			for seed := range uint64(60) {
				if noticed(seed, all) {
					return
				}
			}
			t.Fatal("60 histories with this fault broke no invariant")
		})
	}
}

func noticed(seed uint64, spoil func(*world, []core.Effect) []core.Effect) (broken bool) {
	defer func() {
		if recover() != nil {
			broken = true
		}
	}()
	w, _ := history(seed, spoil)
	return w.dead()
}

// TestSeedsDiffer guards the guard: other seeds make other histories.
func TestSeedsDiffer(t *testing.T) {
	var seen []uint64
	for seed := range uint64(10) {
		_, sum := history(seed+1, nil)
		if slices.Contains(seen, sum) {
			t.Fatal("two seeds made the same history")
		}
		seen = append(seen, sum)
	}
}
