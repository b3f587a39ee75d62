// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"container/heap"
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// world is one history.
type world struct {
	rng     *rand.Rand
	now     time.Time
	queue   schedule
	order   int
	git     *git
	cluster *cluster
	targets []*target
	saves   []*request
	cursors bool // resume cursors are stored
	quiet   bool // the faults are over

	m      *core.Machine
	life   int
	lane   *lane
	ticket core.Ticket
	answer change.Verdict
	check  *checker
	tickAt time.Time

	last       []*commit // brought by the last push that landed
	unknowable map[string]bool

	digest hash.Hash64
	trace  []string
	spoil  func(*world, []core.Effect) []core.Effect // sabotage, to see the invariants notice
	errs   []string
}

type scheduled struct {
	at    time.Time
	order int
	do    func()
}

type schedule []scheduled

func (s schedule) Len() int { return len(s) }
func (s schedule) Less(i, j int) bool {
	if !s[i].at.Equal(s[j].at) {
		return s[i].at.Before(s[j].at)
	}
	return s[i].order < s[j].order
}
func (s schedule) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *schedule) Push(x any)   { *s = append(*s, x.(scheduled)) }
func (s *schedule) Pop() any {
	old := *s
	x := old[len(old)-1]
	*s = old[:len(old)-1]
	return x
}

func newWorld(seed uint64) *world {
	w := &world{
		rng: rand.New(rand.NewPCG(seed, 0x5eed)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		git: newGit(), cluster: newCluster(), digest: fnv.New64a(),
		unknowable: map[string]bool{},
	}
	w.cursors = w.chance(60)
	w.check = newChecker(w)
	w.found()
	return w
}

func (w *world) chance(percent int) bool { return w.rng.IntN(100) < percent }

func (w *world) upTo(d time.Duration) time.Duration { return time.Duration(w.rng.Int64N(int64(d))) }

func (w *world) after(d time.Duration, do func()) {
	w.order++
	heap.Push(&w.queue, scheduled{at: w.now.Add(d), order: w.order, do: do})
}

// dead reports that an invariant broke: nothing more is worth doing.
func (w *world) dead() bool { return len(w.errs) > 0 }

func (w *world) failf(format string, args ...any) {
	if len(w.errs) < 5 {
		w.errs = append(w.errs, fmt.Sprintf(format, args...))
	}
}

func (w *world) note(format string, args ...any) {
	line := w.now.Format("15:04:05.000 ") + fmt.Sprintf(format, args...)
	w.digest.Write([]byte(line))
	if len(w.trace) >= 400 && os.Getenv("SIM_TRACE") == "" {
		w.trace = append(w.trace[:0], w.trace[200:]...)
	}
	w.trace = append(w.trace, line)
}

// run performs what is scheduled until the time, or until the queue is empty.
func (w *world) run(until time.Time) {
	for len(w.queue) > 0 && !w.dead() && !w.queue[0].at.After(until) {
		x := heap.Pop(&w.queue).(scheduled)
		if x.at.After(w.now) {
			w.now = x.at
		}
		x.do()
	}
	if until.After(w.now) {
		w.now = until
	}
}

// step feeds one input and carries out the effects.
func (w *world) step(in core.Input) {
	if w.dead() {
		return
	}
	w.note("> %s", describeInput(in))
	switch in.(type) {
	case core.TargetSet: // it may suspend the provider, which ends a cycle
		w.check.calls.revived, w.check.calls.pushes = true, 0
	case core.Recheck, core.Shutdown:
		w.check.calls.revived = true
	}
	effects := w.m.Step(w.now, in)
	if w.spoil != nil {
		effects = w.spoil(w, effects)
	}
	for _, e := range effects {
		w.note("  %s", describeEffect(e))
	}
	w.check.step(effects)
	for _, e := range effects {
		w.carry(e)
	}
	w.check.status()
	w.arm()
}

// ask feeds an input that is answered in the same Step.
func (w *world) ask(in func(core.Ticket) core.Input) change.Verdict {
	w.ticket++
	w.answer = ""
	w.step(in(w.ticket))
	if w.answer == "" && !w.dead() {
		w.failf("ticket %d was not admitted or refused", w.ticket)
	}
	return w.answer
}

// arm schedules the next Tick.
func (w *world) arm() {
	next := w.m.Next()
	if !next.IsZero() && !next.After(w.now) {
		w.failf("Next is %s, not after now: the runner would spin", next.Format("15:04:05.000"))
		return
	}
	if next.IsZero() || (next.Equal(w.tickAt) && w.tickAt.After(w.now)) {
		return
	}
	w.tickAt = next
	life := w.life
	w.after(next.Sub(w.now), func() {
		if w.life == life && w.m.Next().Equal(next) {
			w.tickAt = time.Time{}
			w.step(core.Tick{})
		}
	})
}

// carry does an immediate effect or gives a lane effect to the lane.
func (w *world) carry(e core.Effect) {
	switch e := e.(type) {
	case core.Admit:
		w.answer = e.Verdict
	case core.Request:
		if s := w.stream(e.Target, e.Cell); s != nil {
			s.snap = true
			w.after(w.upTo(200*time.Millisecond), func() { w.pump(s) })
		}
	case core.Advance:
		if s := w.stream(e.Target, e.Cell); s != nil {
			s.cursor = number(e.RV)
		}
	case core.Observe:
		if e.Observation.What == core.ObservedIntake {
			w.wakeAll()
		}
	case core.Ask:
		w.applier(e)
	case core.Look, core.Fetch, core.Write, core.Push, core.Abort:
		w.lane.take(e)
	}
}

func (w *world) applier(a core.Ask) {
	life := w.life
	say := func(d time.Duration, s core.ApplierState) {
		w.after(d, func() {
			if w.life == life {
				w.step(core.ApplierSaid{Applier: a.Applier, Attempt: a.Attempt, State: s})
			}
		})
	}
	say(time.Second, core.ApplierSent)
	say(time.Second+w.upTo(time.Minute), core.ApplierEnded)
}

// start boots a new machine: what a restart of the process does.
func (w *world) start() {
	w.life++
	w.note("== life %d", w.life)
	w.m = core.New(core.Config{
		Seed: 7, BufferMax: 24 << 10, QueueSlots: 30, RefreshInterval: 10 * time.Minute, HoldMax: time.Minute,
	})
	w.lane = &lane{w: w, life: w.life}
	w.check.born()
	w.tickAt = time.Time{}
	for _, t := range w.targets {
		t.declared = false
		if t.on {
			w.set(t)
			w.declare(t, true)
		}
	}
	for _, r := range w.saves {
		r.restarted()
	}
}

func (w *world) set(t *target) { w.step(core.TargetSet{Target: t.key, Config: t.cfg}) }

func (w *world) fail() string {
	if !w.dead() {
		return ""
	}
	tail := w.trace
	if len(tail) > 120 && os.Getenv("SIM_TRACE") == "" {
		tail = tail[len(tail)-120:]
	}
	return strings.Join(w.errs, "\n") + "\n--- trace\n" + strings.Join(tail, "\n")
}
