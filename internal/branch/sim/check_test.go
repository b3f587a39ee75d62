// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// fate is what became of an accepted change.
type fate string

const (
	open       fate = "open"
	planned    fate = "planned"
	finished   fate = "finished" // published or without a difference
	refused    fate = "refused"
	failed     fate = "failed"
	aside      fate = "set aside"
	superseded fate = "superseded by a snapshot"
)

// record follows one accepted change through the machine.
type record struct {
	target    change.TargetKey
	cell      change.Cell
	object    change.ObjectID
	rv        int
	del       bool
	author    string
	recovered bool
	at        time.Time
	taken     int // snapshots accepted before it
	seq       core.Seq
	fate      fate
}

// checker holds what the invariants need to remember of one machine's life.
type checker struct {
	w        *world
	stopping bool
	admitted map[core.Ticket]bool
	snapped  map[core.Ticket]*change.Snapshot
	settled  map[core.Ticket]bool
	records  []*record
	byRV     map[recordKey]*record
	works    map[core.Seq]*core.Write
	windows  map[core.Seq]time.Time
	dropped  map[change.TargetKey]int
	advanced map[string]int
	lastRV   map[string]int // per path, of our commits in this life
	resets   int
	answers  map[string]core.Answer
	asides   map[core.Seq]bool
	taken    []*change.Snapshot
	brought  map[core.Seq]bool
	gated    map[change.TargetKey]bool // its gate was pending at some time: windows may have gone back into the hold
	follow   map[core.Seq][]core.Seq
	pushed   []core.Seq // by the last push
	refused  map[core.Seq]bool
	calls    calls
}

// calls follows when the machine talks to the remote.
type calls struct {
	failing *core.Trouble // after the last step
	aside   int
	revived bool      // somebody changed something that may help since
	cycle   time.Time // when the first push of the present cycle began
	pushes  int
	last    time.Time
}

type recordKey struct {
	target change.TargetKey
	cell   change.Cell
	rv     int
}

func newChecker(w *world) *checker { return &checker{w: w} }

// born forgets what belonged to an earlier machine.
func (c *checker) born() {
	*c = checker{
		w: c.w, resets: c.w.git.reset,
		admitted: map[core.Ticket]bool{}, snapped: map[core.Ticket]*change.Snapshot{}, settled: map[core.Ticket]bool{},
		byRV: map[recordKey]*record{}, works: map[core.Seq]*core.Write{}, windows: map[core.Seq]time.Time{},
		dropped: map[change.TargetKey]int{}, gated: map[change.TargetKey]bool{}, advanced: map[string]int{},
		lastRV: map[string]int{}, answers: map[string]core.Answer{}, asides: map[core.Seq]bool{}, refused: map[core.Seq]bool{},
		brought: map[core.Seq]bool{}, follow: map[core.Seq][]core.Seq{},
	}
}

func (c *checker) offered(t *target, ch change.Change, recovered bool) {
	r := &record{
		target: t.key, cell: ch.Cell, object: ch.Object, rv: number(ch.ResourceVersion), del: ch.Operation == change.Delete,
		author: string(ch.Author.Kind) + ch.Author.Username, recovered: recovered, at: c.w.now,
		taken: len(c.taken), fate: open,
	}
	c.records = append(c.records, r)
	c.byRV[recordKey{t.key, ch.Cell, r.rv}] = r
}

// turnedAway forgets the last offer: it was refused.
func (c *checker) turnedAway() {
	r := c.records[len(c.records)-1]
	c.records = c.records[:len(c.records)-1]
	delete(c.byRV, recordKey{r.target, r.cell, r.rv})
}

// superseded notes an accepted snapshot: what was held of its cell is covered by it.
func (c *checker) superseded(t *target, s *change.Snapshot) {
	c.taken = append(c.taken, s)
	for _, r := range c.records {
		if r.target == t.key && r.cell == s.Cell && !r.recovered && r.fate == open {
			has := slices.ContainsFunc(s.Items, func(i change.Item) bool { return i.Object == r.object })
			if !r.del || has {
				r.fate = superseded
			}
		}
	}
}

// budget: during an outage nothing is accepted past the budget; the queue has its slots.
func (c *checker) budget(before core.Status, size int64) {
	after := c.w.m.Status()
	if before.Failing != nil && before.Bytes+size > 24<<10 {
		c.w.failf("accepted %d bytes over %d during an outage", size, before.Bytes)
	}
	if before.Queue >= 30 {
		c.w.failf("accepted with %d waiting", before.Queue)
	}
	if after.IntakePaused && !before.IntakePaused {
		c.w.failf("an accepted item paused the intake")
	}
}

// step checks the effects of one Step.
func (c *checker) step(effects []core.Effect) {
	lanes := 0
	for _, e := range effects {
		switch e := e.(type) {
		case core.Look, core.Fetch, core.Write, core.Push:
			lanes++
		case core.Admit:
			if c.admitted[e.Ticket] {
				c.w.failf("ticket %d answered twice", e.Ticket)
			}
			c.admitted[e.Ticket] = true
		case core.Settle:
			c.settle(e)
		case core.Advance:
			c.advance(e)
		case core.Answer:
			c.reply(e)
		case core.Observe:
			c.observe(e)
		}
	}
	c.alone(effects)
	c.patient(effects)
	if lanes > 1 {
		c.w.failf("%d lane effects in one step", lanes)
	}
}

func (c *checker) settle(e core.Settle) {
	if c.snapped[e.Ticket] == nil || c.settled[e.Ticket] {
		c.w.failf("ticket %d settled twice or never accepted", e.Ticket)
	}
	c.settled[e.Ticket] = true
}

func (c *checker) observe(e core.Observe) {
	o := e.Observation
	switch o.What {
	case core.ObservedDrop:
		c.dropped[e.Target] += o.Count
	case core.ObservedSetAside:
		c.asides[o.Seq] = true
		c.turn(o.Seq, aside)
	case core.ObservedCommit:
		c.w.lane.published(o.Seq, o.Commit)
		if !c.w.git.holds(o.Commit) && c.resets == c.w.git.reset {
			c.w.failf("commit %s of write %d is reported published and is not on the branch", o.Commit, o.Seq)
		}
		c.turn(o.Seq, finished)
	}
}

func (c *checker) turn(seq core.Seq, f fate) {
	for _, r := range c.records {
		if r.seq == seq && r.seq != 0 && r.fate == planned {
			r.fate = f
		}
	}
	if f == finished {
		after := c.follow[seq]
		delete(c.follow, seq)
		for _, s := range after {
			c.turn(s, finished)
		}
	}
}

// published drops what the remote holds from the mirror of the chain.
func (l *lane) published(seq core.Seq, id core.Commit) {
	for i, k := range l.built {
		if k.seq == seq {
			if k.commit != id {
				l.w.failf("write %d is published as %s, its commit is %s", seq, id, k.commit)
			}
			l.built = slices.Clone(l.built[i+1:])
			l.base = id
			return
		}
	}
	l.w.failf("write %d is published and was not in the chain", seq)
}

// planning checks a Write against what was accepted.
func (c *checker) planning(e core.Write) {
	w := e.Work
	first := c.works[e.Seq]
	st := c.w.m.Status()
	ts, on := st.Target(w.Target)
	if e.Decision == nil && on && !e.Dry {
		if ts.Suspended {
			c.w.failf("write %d is planned for a suspended target", e.Seq)
		}
		if ts.Gate != core.GateOpen && w.Kind != core.KindResync && !(ts.Gate == core.GatePending && w.Recovered) {
			c.w.failf("write %d is planned through a gate that is %s", e.Seq, ts.Gate)
		}
	}
	if st.ProviderSuspended && w.Kind != core.KindTouch {
		c.w.failf("write %d although the provider is suspended", e.Seq)
	}
	// a write set aside is planned anew
	retried := first != nil && c.asides[e.Seq]
	delete(c.asides, e.Seq)
	for i := range w.Changes {
		c.planChange(e, &w.Changes[i])
	}
	if first == nil || retried || e.Dry || first.Decision == nil {
		if !e.Dry {
			k := e
			c.works[e.Seq] = &k
		}
		return
	}
	same := first.Decision == e.Decision
	if e.Decision != nil && first.Decision != nil && !same {
		c.w.failf("write %d is replayed with another decision", e.Seq)
	}
	if e.Decision == nil && first.Decision != nil {
		c.w.failf("write %d is decided twice", e.Seq)
	}
	if e.Decision != nil && fmt.Sprint(keys(first.Work)) != fmt.Sprint(keys(w)) {
		c.w.failf("the content of write %d changed after its decision", e.Seq)
	}
}

// keys is what must not change about a decided write.
func keys(w core.PendingWrite) []string {
	out := []string{string(
		w.Kind), w.Target.Name, w.Author.Username, string(w.Source), w.Message, w.Save, fmt.Sprint(w.CommitEmpty, w.Frozen)}
	for _, ch := range w.Changes {
		out = append(out, ch.Object.String(), ch.ResourceVersion, string(ch.Desired))
	}
	return out
}

func (c *checker) planChange(e core.Write, ch *change.Change) {
	w := e.Work
	if w.Kind == core.KindAtomic {
		return
	}
	if ch.Target != w.Target {
		c.w.failf("write %d mixes targets", e.Seq)
	}
	if ch.Author.Username != w.Author.Username || ch.Author.Kind != w.Author.Kind {
		c.w.failf("write %d of %s carries a change of %s", e.Seq, w.Author.Username, ch.Author.Username)
	}
	r := c.byRV[recordKey{w.Target, ch.Cell, number(ch.ResourceVersion)}]
	if r == nil || r.object != ch.Object {
		c.w.failf("write %d carries a change that was never accepted", e.Seq)
		return
	}
	if e.Decision != nil {
		return
	}
	if r.seq != 0 && r.seq != e.Seq {
		c.w.failf("change %d of %s is in the writes %d and %d", r.rv, r.object, r.seq, e.Seq)
	}
	r.seq, r.fate = e.Seq, planned
	c.windows[e.Seq] = w.Since
}

// written follows the answers of the model plan.
func (c *checker) written(e core.Write, in core.Written) {
	if e.Dry {
		return
	}
	switch in.Outcome {
	case core.WriteNothing, core.WriteCommitted:
		if k := c.works[e.Seq]; k != nil && e.Decision == nil {
			k.Decision = in.Decision
		}
		if in.Outcome == core.WriteNothing && e.Work.Save == "" {
			// No difference from a tree that is not published yet proves nothing yet.
			if l := c.w.lane; len(l.built) > 0 {
				last := l.built[len(l.built)-1].seq
				c.follow[last] = append(c.follow[last], e.Seq)
			} else {
				c.turn(e.Seq, finished)
			}
		}
	case core.WriteRefused:
		c.turn(e.Seq, refused)
	case core.WriteFailed:
		if in.Err.Reason == core.ReasonWriteFailed {
			c.turn(e.Seq, failed)
			return
		}
		c.unplanned(e)
	}
}

// unplanned notes that a plan did not come about: the changes may go into another write.
func (c *checker) unplanned(e core.Write) {
	for _, r := range c.records {
		if r.seq != e.Seq || r.fate != planned || e.Decision != nil {
			continue
		}
		r.seq, r.fate = 0, open
		for _, s := range c.taken[r.taken:] {
			if s.Target == r.target && s.Cell == r.cell && c.gated[r.target] {
				r.fate = superseded // should it go back into the hold
			}
		}
	}
}

// push checks that a push stands on the known base and releases what it carries.
func (c *checker) push(l *lane, e core.Push) {
	if c.w.m.Status().ProviderSuspended {
		c.w.failf("push although the provider is suspended")
	}
	base := e.Expected
	if base.IsZero() {
		base = e.Parent
	}
	if l.readable == nil || base != l.base {
		c.w.failf("push from %s, the base is %s", base, l.base)
	}
	cs, ok := c.w.git.chain(base, e.Tip)
	if !ok {
		c.w.failf("pushed tip %s does not stand on %s", e.Tip, base)
	}
	c.pushed = nil
	for _, k := range cs {
		c.pushed = append(c.pushed, k.seq)
		c.pruned(k)
	}
	if e.Count < 1 || e.Count > len(l.built) || l.head(e.Count) != e.Tip {
		c.w.failf("push of %s counts %d of %d writes", e.Tip, e.Count, len(l.built))
	}
}

// pruned: no delete leaves that the target's prune mode does not allow any more.
func (c *checker) pruned(k *commit) {
	first := c.works[k.seq]
	if first == nil {
		return
	}
	mode := core.PruneNever
	for _, t := range c.w.targets {
		if t.on && t.key == first.Work.Target {
			mode = t.cfg.Prune
		}
	}
	for _, a := range k.actions {
		if a.del && (mode == core.PruneNever || (a.sweep && mode != core.PruneAlways)) {
			c.w.failf("write %d deletes %s although the prune mode is %s", k.seq, a.path, mode)
		}
	}
}

// alone: a write is set aside because the remote refused it by itself, unless everything is.
func (c *checker) alone(effects []core.Effect) {
	var set []core.Seq
	for _, e := range effects {
		if o, ok := e.(core.Observe); ok && o.Observation.What == core.ObservedSetAside {
			set = append(set, o.Observation.Seq)
		}
	}
	// One that was refused alone before may have to wait for its turn without another attempt.
	if len(set) == 1 && !slices.Equal(set, c.pushed) && !c.refused[set[0]] {
		c.w.failf("write %d is set aside, the push held %v", set[0], c.pushed)
	}
	for _, seq := range set {
		c.refused[seq] = true
	}
}

// patient: a failure is followed by its pause, and the pushes of a contended cycle by theirs (decisions 59).
func (c *checker) patient(effects []core.Effect) {
	k, now := &c.calls, c.w.now
	for _, e := range effects {
		switch e := e.(type) {
		case core.Push:
			if k.pushes == 0 {
				k.cycle = now
			}
			if k.pushes++; k.pushes > 3 && now.Sub(k.last) < 200*time.Millisecond && !c.stopping {
				c.w.failf("push %d of a cycle comes %s after the one before", k.pushes, now.Sub(k.last))
			}
		case core.Observe:
			if e.Observation.What == core.ObservedPush || e.Observation.What == core.ObservedSetAside {
				k.pushes = 0
				k.revived = k.revived || e.Observation.Reason == "pushed"
			}
			continue
		case core.Look, core.Fetch:
		default:
			continue
		}
		// When everything is rejected the status shows the next attempt of those writes, which new ones need not wait for.
		if f := k.failing; f != nil && f.Reason != core.ReasonPushRejected && f.Next.After(now) && !k.revived &&
			k.aside == 0 && !c.stopping {
			c.w.failf("%T although the next attempt is due at %s", e, f.Next.Format("15:04:05.000"))
		}
	}
	s := c.w.m.Status()
	if s.Failing == nil || k.failing == nil || !s.Failing.Next.Equal(k.failing.Next) {
		k.revived = false
	}
	if f := s.Failing; f != nil && f.Reason == core.ReasonContention && k.failing == nil && now.Sub(k.cycle) < 5*time.Minute {
		c.w.failf("contention counts as a failure after %s", now.Sub(k.cycle))
	}
	k.failing, k.aside = s.Failing, s.SetAside
}

// landed checks what a push brought to the branch.
func (c *checker) landed(before core.Commit, e core.Push) {
	base := before
	if base.IsZero() {
		base = e.Parent
	}
	cs, ok := c.w.git.chain(base, e.Tip)
	if !ok {
		c.w.failf("foreign commits fell out of the history")
	}
	if c.resets != c.w.git.reset {
		c.resets, c.lastRV = c.w.git.reset, map[string]int{}
	}
	var last core.Seq
	for _, k := range cs {
		if k.foreign {
			c.w.failf("a push carried a foreign commit")
		}
		if k.seq <= last {
			c.w.failf("commits of the writes %d and %d are out of order", last, k.seq)
		}
		last = k.seq
		// A lost reply followed by a foreign push brings a write a second time (decisions 95).
		again := c.brought[k.seq]
		c.brought[k.seq] = true
		for _, a := range k.actions {
			if again {
				continue
			}
			if a.rv < c.lastRV[a.path] {
				c.w.failf("%s goes back from version %d to %d", a.path, c.lastRV[a.path], a.rv)
			}
			c.lastRV[a.path] = a.rv
		}
	}
}

// reply checks that a save ends once and truthfully.
func (c *checker) reply(a core.Answer) {
	for _, r := range c.w.saves {
		if r.save.ID == a.Save {
			r.answered(a)
		}
	}
	if a.State.Final() {
		c.finishSave(a.Save)
	}
	old, ok := c.answers[a.Save]
	if ok && (old.State != a.State || old.Commit != a.Commit) && c.w.m.Status().Version > 0 {
		c.w.failf("save %s was %s and is %s", a.Save, old.State, a.State)
	}
	if a.State.Final() {
		c.answers[a.Save] = a
	}
}

func (c *checker) finishSave(id string) {
	for seq, k := range c.works {
		if k.Work.Save != id {
			continue
		}
		l := c.w.lane
		l.built = slices.DeleteFunc(l.built, func(x link) bool { return x.seq == seq && x.commit.IsZero() })
		c.turn(seq, finished)
	}
}

// advance checks that a cursor passes only what the remote holds.
func (c *checker) advance(e core.Advance) {
	key := e.Target.Name + "|" + e.Cell.String()
	rv := number(e.RV)
	if rv < c.advanced[key] {
		c.w.failf("cursor of %s goes back from %d to %d", key, c.advanced[key], rv)
	}
	c.advanced[key] = rv
	if c.w.git.reset > 0 || c.w.git.tip.IsZero() {
		return
	}
	last := map[string]event{}
	for _, ev := range c.w.cluster.logs[e.Cell] {
		if ev.rv <= rv {
			last[ev.name] = ev
		}
	}
	for _, name := range names {
		if ev, ok := last[name]; ok {
			c.mirrored(e, ev)
		}
	}
}

// mirrored: the branch holds the event's state or a later one, as far as the model can tell.
func (c *checker) mirrored(e core.Advance, ev event) {
	p := path(e.Target, e.Cell, ev.name)
	if c.w.git.foreignly[p] > 0 || bad(ev.value) {
		return
	}
	newest := 0
	for _, r := range c.records {
		if r.target == e.Target && r.cell == e.Cell && r.object.Name == ev.name && r.fate == finished {
			newest = max(newest, r.rv)
		}
	}
	for id := c.w.git.tip; !id.IsZero() && newest < ev.rv; id = c.w.git.commits[id].parent {
		for _, a := range c.w.git.commits[id].actions {
			if a.path == p {
				newest = max(newest, a.rv)
			}
		}
	}
	value, has := c.w.git.tree(c.w.git.tip)[p]
	switch {
	case newest >= ev.rv, value == ev.value && has, ev.del && !has:
	case ev.del && !c.w.prunes(e.Target):
	default:
		c.w.failf("cursor %s of %s passes %s at version %d, the branch holds %q of %d", e.RV, e.Cell, p, ev.rv, value, newest)
	}
}

// status checks the public picture after a step.
func (c *checker) status() {
	if c.w.dead() {
		return
	}
	s := c.w.m.Status()
	for _, t := range s.Targets {
		if t.Gate == core.GatePending {
			c.gated[t.Target] = true
		}
	}
	if s.Bytes < 0 || s.Retained < 0 || s.Queue < 0 {
		c.w.failf("negative counts: %d bytes, %d retained, %d queued", s.Bytes, s.Retained, s.Queue)
	}
	if s.SetAside > 12 { // half of the budget, at 1 KiB at least
		c.w.failf("%d writes are set aside", s.SetAside)
	}
	if s.Retained == 0 && s.SetAside == 0 && s.Failing != nil && s.Failing.Next.IsZero() {
		c.w.failf("a failure without work and without a next attempt")
	}
	if s.Failing != nil && s.Failing.Since.After(c.w.now) {
		c.w.failf("a failure in the future")
	}
}

// conservation: every accepted change has a fate, or was counted as dropped. It holds when nothing is left inside.
func (c *checker) conservation() {
	missing := map[change.TargetKey]int{}
	// Changes that one author made in a row may have met in a window that was dropped as a whole.
	author, run := map[change.TargetKey]string{}, map[change.TargetKey]map[change.ObjectID]bool{}
	for _, r := range c.records {
		if author[r.target] != r.author {
			author[r.target], run[r.target] = r.author, map[change.ObjectID]bool{}
		}
		if r.fate == open && !c.coalesced(r) && !run[r.target][r.object] {
			run[r.target][r.object] = true
			missing[r.target]++
		}
	}
	for _, t := range c.w.targets {
		if missing[t.key] > c.dropped[t.key] {
			for _, r := range c.records {
				if r.target == t.key && r.fate == open && !c.coalesced(r) {
					c.w.note("without a trace: %+v", *r)
				}
			}
			c.w.failf("%d changes of %s are lost without a trace, %d were counted as dropped",
				missing[t.key], t.key, c.dropped[t.key])
		}
	}
}

// coalesced: a later change of the object, by the same author and in a window open at that time, stands for this one.
func (c *checker) coalesced(r *record) bool {
	return slices.ContainsFunc(c.records, func(o *record) bool {
		return o.target == r.target && o.object == r.object && o.author == r.author && o.rv > r.rv &&
			(o.seq != 0 || o.fate == superseded) && (c.gated[r.target] || !c.windows[o.seq].After(r.at))
	})
}
