// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// request is a CommitRequest and its controller.
type request struct {
	w     *world
	save  core.Save
	state core.SaveState
	final *core.Answer
	held  bool
	lost  bool // the worker that held it died
	life  int
}

func (r *request) poll() {
	if r.final != nil || r.lost || r.w.dead() || r.w.quiet { // final answers come by themselves
		return
	}
	r.life = r.w.life
	r.w.step(core.SaveOpened{Save: r.save})
	r.w.after(5*time.Second, r.poll)
}

func (r *request) answered(a core.Answer) {
	r.state = a.State
	r.held = a.State == core.SaveCollecting || a.State == core.SaveAwaitingPush
	if !a.State.Final() {
		return
	}
	if r.final == nil {
		r.final = &a
		r.truth(a)
	}
}

// truth checks a final answer against the branch.
func (r *request) truth(a core.Answer) {
	g := r.w.git
	switch a.State {
	case core.SaveCommitted:
		c := g.commits[a.Commit]
		if c == nil || (!g.holds(a.Commit) && r.w.check.resets == g.reset) {
			r.w.failf("save %s is Committed as %s, which is not on the branch", a.Save, a.Commit)
			return
		}
		if r.save.Message != "" && c.message != r.save.Message {
			r.w.failf("save %s is committed as %q", a.Save, c.message)
		}
		if r.save.Named && c.author != r.save.Username {
			r.w.failf("save %s of %s is committed as %s", a.Save, r.save.Username, c.author)
		}
	case core.SaveNoWindow:
		if r.save.CommitEmpty && (a.Commit.IsZero() || g.commits[a.Commit].message != r.save.Message) {
			r.w.failf("save %s recorded nothing", a.Save)
		}
	}
}

// never: a save reported failed or withdrawn is not on the branch. A push whose answer was lost while the worker
// stopped is the one thing nobody can know.
func (r *request) never() {
	if r.final == nil || r.save.Message == "" || strings.Contains(r.final.Text, "stopped") {
		return
	}
	if r.w.unknowable[r.save.Message] {
		return
	}
	if s := r.final.State; s != core.SaveFailed && s != core.SaveWithdrawn && s != core.SaveWindowMismatch {
		return
	}
	for id := r.w.git.tip; !id.IsZero(); id = r.w.git.commits[id].parent {
		if r.w.git.commits[id].message == r.save.Message {
			r.w.failf("save %s is %s, and its message is on the branch", r.save.ID, r.final.State)
		}
	}
}

func (r *request) restarted() {
	if r.final == nil && r.held {
		r.lost = true
	}
}

// found makes the world as it is at the start.
func (w *world) found() {
	switch w.rng.IntN(4) {
	case 0: // empty repository
	case 1:
		w.git.named = true
		w.git.main = w.git.add(commit{foreign: true, tree: map[string]string{"README": "parent"}})
	case 2:
		w.git.main = w.git.add(commit{foreign: true, tree: map[string]string{"README": "head"}})
	default:
		w.git.tip = w.git.add(commit{foreign: true, tree: map[string]string{"README": "old", "t0/configmaps/a": "x1"}})
	}
	for i := range 1 + w.rng.IntN(3) {
		t := &target{
			key: change.TargetKey{Namespace: "ns",
				Name: fmt.Sprintf("t%d", i), UID: "1"}, on: true, streams: map[change.Cell]*stream{},
			cells: slices.Clone(cells[:1+w.rng.IntN(len(cells))]),
		}
		t.cfg = core.TargetConfig{
			IdleTimeout: 5 * time.Second, MaxDuration: time.Minute, Prune: w.prune(), RenderGate: w.chance(60), Frozen: "f0",
			Revision: "0", Suspended: w.chance(10),
		}
		if w.chance(30) {
			t.cfg.IdleTimeout, t.cfg.MaxDuration = 0, 0
		}
		if w.chance(30) {
			t.cfg.Applier = "applier"
		}
		t.always = t.cfg.Prune == core.PruneAlways
		w.targets = append(w.targets, t)
	}
	for range w.rng.IntN(8) {
		w.edit()
	}
}

func (w *world) prune() core.PruneMode {
	return []core.PruneMode{core.PruneNever, core.PruneOnEvent, core.PruneAlways, core.PruneAlways, ""}[w.rng.IntN(5)]
}

func (w *world) prunes(k change.TargetKey) bool {
	for _, t := range w.targets {
		if t.key == k {
			return t.always
		}
	}
	return false
}

// edit changes one object in the cluster; the streams see it a little later.
func (w *world) edit() {
	id, name := cells[w.rng.IntN(len(cells))], names[w.rng.IntN(len(names))]
	value := w.value()
	if w.chance(15) {
		value = ""
	}
	w.cluster.set(id, name, value, authors[w.rng.IntN(len(authors))])
	w.notice(id)
}

func (w *world) notice(id change.Cell) {
	for _, t := range w.targets {
		if s := t.streams[id]; s != nil {
			w.after(w.upTo(300*time.Millisecond), func() { w.pump(s) })
		}
	}
}

func (w *world) someTarget() *target { return w.targets[w.rng.IntN(len(w.targets))] }

// act does one random thing and returns what it was.
func (w *world) act() {
	switch n := w.rng.IntN(100); {
	case n < 45:
		for range 1 + w.rng.IntN(4) {
			w.edit()
		}
	case n < 55:
		w.foreign()
	case n < 63:
		w.trouble()
	case n < 74:
		w.reconfigure()
	case n < 84:
		w.saveSomething()
	case n < 88:
		h := core.Hint{Source: []core.HintSource{core.HintPush, core.HintRefresh, core.HintApplier}[w.rng.IntN(3)]}
		if w.chance(50) {
			h.Tip = w.git.tip
		}
		w.step(h)
	case n < 91:
		t := w.someTarget()
		w.step(core.Recheck{Target: t.key, Token: fmt.Sprint("r", w.rng.IntN(1000))})
	case n < 93:
		w.step(core.ApplierSaid{
			Applier: "applier", Attempt: fmt.Sprint(w.rng.IntN(1000)), State: core.ApplierDue, Reasons: []string{"Refusal"},
		})
	case n < 95:
		w.atomic()
	case n < 97:
		w.kill()
	case n < 98:
		w.shutdown()
	default:
		w.step(core.Tick{})
	}
}

func (w *world) foreign() {
	t := w.someTarget()
	id, name := cells[w.rng.IntN(len(cells))], names[w.rng.IntN(len(names))]
	p := path(t.key, id, name)
	switch w.rng.IntN(7) {
	case 0, 1:
		w.git.foreignCommit(map[string]string{p: fmt.Sprint("f", w.rng.IntN(9))}, nil)
	case 2:
		w.git.foreignCommit(nil, []string{p})
	case 3:
		w.git.foreignCommit(map[string]string{"README": fmt.Sprint(w.rng.IntN(99))}, nil)
	case 4:
		w.git.foreignCommit(map[string]string{t.key.Name + "/JUNK": "1"}, nil)
	case 5:
		w.git.foreignCommit(map[string]string{t.key.Name + "/TEMPLATE": "1"}, nil)
	default:
		w.git.foreignCommit(nil, []string{t.key.Name + "/JUNK", t.key.Name + "/TEMPLATE"})
	}
	if w.chance(40) {
		w.step(core.Hint{Source: core.HintPush, Tip: w.git.tip})
	}
}

// trouble changes how the remote behaves.
func (w *world) trouble() {
	g := w.git
	w.note("trouble")
	switch w.rng.IntN(11) {
	case 10:
		g.racing = w.now.Add(w.upTo(7 * time.Minute))
	case 0, 1, 2:
		g.down = !g.down
	case 3:
		g.refuse = reject{author: authors[w.rng.IntN(3)].Username}
	case 4:
		g.refuse = reject{path: "/" + names[w.rng.IntN(len(names))]}
	case 5:
		g.refuse = reject{all: "protected"}
	case 6, 7:
		g.refuse = reject{}
	case 8: // the branch is deleted, or the whole repository wiped
		g.tip = core.Commit{}
		if w.chance(30) {
			g.main = core.Commit{}
		}
		g.reset++
	default: // forced back, or to an unrelated root
		g.reset++
		if c := g.commits[g.tip]; c != nil && !c.parent.IsZero() && w.chance(70) {
			g.tip = c.parent
		} else if !g.tip.IsZero() {
			g.tip = g.add(commit{foreign: true, tree: map[string]string{"README": "forced"}})
		}
	}
}

func (w *world) reconfigure() {
	t := w.someTarget()
	switch w.rng.IntN(9) {
	case 0, 1:
		t.cfg.Suspended = !t.cfg.Suspended
	case 2, 3:
		t.cfg.Prune = w.prune()
		t.always = t.always && t.cfg.Prune == core.PruneAlways
	case 4:
		t.cfg.ProviderSuspended = !t.cfg.ProviderSuspended
	case 5:
		t.cfg.Revision = fmt.Sprint(w.rng.IntN(100))
		t.cfg.Frozen = "f" + t.cfg.Revision
	case 6:
		t.cfg.RenderGate = !t.cfg.RenderGate
	case 7:
		if t.on {
			t.cells = slices.Clone(cells[:1+w.rng.IntN(len(cells))])
			w.declare(t, false)
		}
		return
	default:
		if t.on = !t.on; !t.on {
			t.gone++
			w.step(core.TargetGone{Target: t.key})
			return
		}
		t.key.UID += "'"
		t.streams = map[change.Cell]*stream{}
		t.always = t.cfg.Prune == core.PruneAlways
		w.set(t)
		w.declare(t, true)
		return
	}
	if t.on {
		w.set(t)
	}
}

func (w *world) saveSomething() {
	if len(w.saves) > 0 && w.chance(20) {
		if r := w.saves[w.rng.IntN(len(w.saves))]; r.final == nil && !r.lost {
			w.step(core.SaveClosed{ID: r.save.ID})
		}
		return
	}
	t := w.someTarget()
	a := authors[w.rng.IntN(len(authors))]
	s := core.Save{
		ID: fmt.Sprint("save", len(w.saves)), Target: t.key, Named: a.Username != "", Username: a.Username,
		AttachTimeout: w.upTo(20 * time.Second), MaxDuration: w.upTo(10 * time.Second), Next: w.chance(30),
	}
	if w.chance(70) {
		s.Message = "message of " + s.ID
		s.CommitEmpty = w.chance(40)
	}
	if w.chance(50) {
		d := w.upTo(3 * time.Second)
		s.IdleTimeout = &d
	}
	r := &request{w: w, save: s}
	w.saves = append(w.saves, r)
	r.poll()
}

func (w *world) atomic() {
	t := w.someTarget()
	if !t.on {
		return
	}
	c := change.Change{Target: t.key, Operation: change.Update, Item: change.Item{
		Object: change.ObjectID{Kind: "atomic",
			Name: "x"}, Desired: []byte(fmt.Sprint(w.rng.IntN(100))), ResourceVersion: "0",
	}}
	c.Cell = change.Cell{Resource: "atomic"}
	w.ask(func(k core.Ticket) core.Input { return core.Offered{Ticket: k, Atomic: []change.Change{c}} })
}

// kill ends the process at once; a push that was under way may still land.
func (w *world) kill() {
	if p, ok := w.lane.effect.(core.Push); ok && w.chance(50) && !w.git.down {
		w.receive(p)
	}
	w.note("kill")
	w.start()
}

// shutdown stops the worker gracefully and starts another.
func (w *world) shutdown() {
	until := w.now.Add(w.upTo(30 * time.Second))
	w.check.stopping = true
	w.step(core.Shutdown{Until: until})
	life := w.life
	w.after(until.Sub(w.now)+5*time.Second, func() {
		if w.life != life || w.dead() {
			return
		}
		s := w.m.Status()
		if !s.Stopped {
			w.failf("the machine did not stop in time")
		}
		for k := range w.check.snapped {
			if !w.check.settled[k] {
				w.failf("ticket %d was not settled when the worker stopped", k)
			}
		}
		w.start()
	})
}
