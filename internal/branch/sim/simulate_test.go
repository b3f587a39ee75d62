// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
)

// settle is how long after the last fault everything must have drained.
const settle = 30 * time.Minute

// history runs one seed and returns the digest of everything that happened.
func history(seed uint64, spoil func(*world, []core.Effect) []core.Effect) (*world, uint64) {
	w := newWorld(seed)
	w.spoil = spoil
	w.start()
	w.run(w.now.Add(time.Second))
	for range 40 + w.rng.IntN(60) {
		if w.dead() {
			break
		}
		w.act()
		pause := w.upTo(4 * time.Second)
		if w.chance(5) {
			pause = w.upTo(6 * time.Minute)
		}
		w.run(w.now.Add(pause))
	}
	w.calm()
	return w, w.digest.Sum64()
}

// calm ends the faults, lets everything drain and compares the folders with the cluster.
func (w *world) calm() {
	if w.check.stopping {
		w.run(w.now.Add(time.Minute))
		w.check.stopping = false
	}
	w.quiet = true
	g := w.git
	g.down, g.refuse, g.racing = false, reject{}, time.Time{}
	if g.named && g.main.IsZero() {
		g.main = g.add(commit{foreign: true, tree: map[string]string{"README": "found again"}})
	}
	var rubbish []string
	for _, t := range w.targets {
		rubbish = append(rubbish, t.key.Name+"/JUNK", t.key.Name+"/TEMPLATE")
	}
	if !g.tip.IsZero() || !g.main.IsZero() {
		g.foreignCommit(nil, rubbish)
	}
	for _, id := range cells {
		for _, n := range names {
			if o, ok := w.cluster.live[id][n]; ok && bad(o.value) {
				w.cluster.set(id, n, "good", authors[0])
			}
		}
		w.notice(id)
	}
	for _, t := range w.targets {
		t.cfg.Suspended, t.cfg.ProviderSuspended, t.cfg.Prune = false, false, core.PruneAlways
		if t.on {
			w.set(t)
		}
	}
	w.step(core.Hint{Source: core.HintPush})
	w.run(w.now.Add(settle))
	w.healed()
	for _, t := range w.targets {
		if t.on {
			w.step(core.Recheck{Target: t.key, Token: "final"})
		}
	}
	w.run(w.now.Add(settle))
	w.finalChecks()
}

// healed checks what must be well again without anybody's help.
func (w *world) healed() {
	if w.dead() {
		return
	}
	for _, t := range w.m.Status().Targets {
		switch {
		case t.Refusal != nil:
			w.failf("%s is still refused: %+v", t.Target, *t.Refusal)
		case t.WriteFailed != nil:
			w.failf("%s still fails: %+v", t.Target, *t.WriteFailed)
		case t.PushRejected != nil:
			w.failf("%s is still rejected: %+v", t.Target, *t.PushRejected)
		case t.Gate != core.GateOpen:
			w.failf("the gate of %s is %s", t.Target, t.Gate)
		case t.Held != 0 || t.Waiting != 0:
			w.failf("%s holds %d changes and %d writes", t.Target, t.Held, t.Waiting)
		}
	}
	if w.git.reset == 0 {
		w.equal(func(p string) bool { return w.git.foreignly[p] == 0 })
	}
}

func (w *world) finalChecks() {
	if w.dead() {
		return
	}
	s := w.m.Status()
	if s.Retained != 0 || s.SetAside != 0 || s.Bytes != 0 || s.Failing != nil || s.IntakePaused || s.Queue != 0 {
		w.failf("not drained: %+v failing %+v", s, s.Failing)
	}
	for k := range w.check.snapped {
		if !w.check.settled[k] {
			w.failf("ticket %d was never settled", k)
		}
	}
	w.check.conservation()
	for _, r := range w.saves {
		r.never()
		if r.final == nil && !r.lost && r.state != core.SaveNotAdmitted && r.state != "" && r.life == w.life {
			w.failf("save %s is still %s", r.save.ID, r.state)
		}
	}
	w.equal(func(string) bool { return true })
}

// equal compares the folders with the cluster, as far as the paths count.
func (w *world) equal(counts func(string) bool) {
	tree := w.git.tree(w.git.tip)
	if w.git.tip.IsZero() {
		tree = w.git.tree(w.git.main)
	}
	for _, t := range w.targets {
		if !t.on {
			continue
		}
		for _, id := range t.cells {
			for _, n := range names {
				p := path(t.key, id, n)
				got, has := tree[p]
				want, live := w.cluster.live[id][n]
				if !counts(p) {
					continue
				}
				if has != live || got != want.value {
					w.failf("%s: Git holds %q, the cluster %q", p, got, want.value)
				}
			}
		}
	}
}

func number64(t *testing.T, name string, def uint64) uint64 {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return def
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q is not a number", name, v)
	}
	return n
}

// TestSimulate runs SIM_N histories from SIM_SEED on, each twice.
func TestSimulate(t *testing.T) {
	seed, n := number64(t, "SIM_SEED", 1), number64(t, "SIM_N", 1000)
	failures := 0
	for i := range n {
		if err := try(seed + i); err != "" {
			t.Errorf("seed %d: %s", seed+i, err)
			if failures++; failures >= 3 {
				t.FailNow()
			}
		}
	}
	t.Logf("%d histories from seed %d", n, seed)
}

func try(seed uint64) (msg string) {
	defer func() {
		if p := recover(); p != nil {
			msg = fmt.Sprint("panic: ", p)
		}
	}()
	w, first := history(seed, nil)
	if w.dead() {
		return w.fail()
	}
	if _, second := history(seed, nil); second != first {
		return "two runs of the seed differ"
	}
	return ""
}
