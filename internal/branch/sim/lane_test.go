// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
)

// words of servers; core never reads them, it must carry them through.
var words = []string{
	"cannot lock ref 'refs/heads/main': is at X but expected Y", "incorrect old value provided", "non-fast-forward",
	"fetch first", "stale info", "failed to update ref", "pre-receive hook declined", "protected branch hook declined",
}

// lane plays the runner's lane goroutine over the model store.
type lane struct {
	w    *world
	life int
	op   core.Op
	last core.Op
	// effect is the outstanding one; aborted that it was cancelled.
	effect  core.Effect
	aborted bool
	// readable are the commits that may be planned on: the fetched base and what was committed since.
	base     core.Commit
	readable map[core.Commit]bool
	// built mirrors the machine's chain: the writes committed on the base, in order.
	built []link
}

type link struct {
	seq    core.Seq
	commit core.Commit
}

func opOf(e core.Effect) (core.Op, time.Time) {
	switch e := e.(type) {
	case core.Look:
		return e.Op, e.Deadline
	case core.Fetch:
		return e.Op, e.Deadline
	case core.Write:
		return e.Op, e.Deadline
	case core.Push:
		return e.Op, e.Deadline
	}
	return 0, time.Time{}
}

// take starts a lane effect: its answer comes after a while.
func (l *lane) take(e core.Effect) {
	if a, ok := e.(core.Abort); ok {
		l.abort(a)
		return
	}
	op, deadline := opOf(e)
	switch {
	case l.effect != nil:
		l.w.failf("a lane effect started while op %d is outstanding", l.op)
	case op <= l.last:
		l.w.failf("op %d is not newer than %d", op, l.last)
	case !deadline.After(l.w.now) && !l.w.check.stopping:
		l.w.failf("op %d has no time left", op)
	}
	l.op, l.last, l.effect, l.aborted = op, op, e, false
	l.prepare(e)
	d := 5*time.Millisecond + l.w.upTo(300*time.Millisecond)
	switch {
	case l.w.quiet:
	case l.w.chance(3):
		d = l.w.upTo(20 * time.Second)
	case l.w.chance(2):
		d = 10 * time.Minute // the deadline comes first
	}
	if p, ok := e.(core.Push); ok && !l.w.quiet && l.w.chance(6) {
		l.lost(p, d)
		return
	}
	l.w.after(d, func() { l.finish(op) })
}

// prepare checks what a lane effect may rely on.
func (l *lane) prepare(e core.Effect) {
	switch e := e.(type) {
	case core.Fetch:
		l.built = nil
	case core.Write:
		l.truncate(e)
		l.w.check.planning(e)
	case core.Push:
		l.w.check.push(l, e)
	}
}

// truncate follows the machine in giving up local commits: the chain ends at Onto.
func (l *lane) truncate(e core.Write) {
	if l.readable == nil || (!l.readable[e.Onto] && !e.Onto.IsZero()) || (e.Onto.IsZero() && !l.base.IsZero()) {
		l.w.failf("write %d is planned on %s, which is neither the base nor a local commit", e.Seq, e.Onto)
	}
	if e.Dry {
		return
	}
	n := len(l.built)
	for n > 0 && l.head(n) != e.Onto {
		n--
	}
	if l.head(n) != e.Onto {
		l.w.failf("write %d is planned on %s, which the chain does not hold", e.Seq, e.Onto)
	}
	l.built = l.built[:n]
	l.built = slices.DeleteFunc(l.built, func(k link) bool { return k.commit.IsZero() && k.seq >= e.Seq })
}

func (l *lane) head(n int) core.Commit {
	for i := n - 1; i >= 0; i-- {
		if !l.built[i].commit.IsZero() {
			return l.built[i].commit
		}
	}
	return l.base
}

// lost loses the reply to a push, before or after the branch moved.
func (l *lane) lost(p core.Push, d time.Duration) {
	op := l.op
	landed := l.w.chance(60)
	l.w.after(d, func() {
		if l.w.life == l.life && l.op == op && l.effect != nil && !l.aborted && landed && !l.w.git.down {
			l.w.receiveUnheard(p)
		}
	})
	l.w.after(d+l.w.upTo(2*time.Second), func() {
		if l.current(op) {
			l.done(core.Pushed{Op: op, Outcome: core.PushUnknown, Text: "unexpected EOF"})
		}
	})
}

func (l *lane) current(op core.Op) bool {
	return l.w.life == l.life && l.op == op && l.effect != nil
}

func (l *lane) abort(a core.Abort) {
	if l.effect == nil || a.Op != l.op {
		l.w.failf("abort of op %d, which is not outstanding", a.Op)
		return
	}
	if l.aborted {
		l.w.failf("op %d is aborted twice", a.Op)
	}
	l.aborted = true
	op := l.op
	l.w.after(l.w.upTo(3*time.Second), func() {
		if !l.current(op) {
			return
		}
		if l.w.chance(30) {
			l.complete(op)
			return
		}
		f := &core.Failure{Reason: core.ReasonDeadline, Text: "cancelled"}
		switch e := l.effect.(type) {
		case core.Look:
			l.done(core.Looked{Op: op, Err: f})
		case core.Fetch:
			l.done(core.Fetched{Op: op, Err: f})
		case core.Write:
			l.w.check.unplanned(e)
			l.done(core.Written{Op: op, Seq: e.Seq, Outcome: core.WriteFailed, Err: &core.Failure{Reason: core.ReasonCancelled}})
		case core.Push:
			if l.w.chance(40) && !l.w.git.down {
				l.w.receiveUnheard(e)
			}
			l.done(core.Pushed{Op: op, Outcome: core.PushUnknown, Text: "context deadline exceeded"})
		}
	})
}

// finish answers an effect that was not aborted meanwhile.
func (l *lane) finish(op core.Op) {
	if l.current(op) && !l.aborted {
		l.complete(op)
	}
}

func (l *lane) done(in core.Input) {
	l.effect = nil
	if p, ok := in.(core.Pushed); ok {
		l.w.check.calls.last = l.w.now
		if p.Outcome == core.PushRejected {
			l.w.check.calls.pushes = 0 // no contention
		}
	}
	l.w.step(in)
}

func (l *lane) complete(op core.Op) {
	switch e := l.effect.(type) {
	case core.Look:
		if f := l.w.unreachable(); f != nil {
			l.done(core.Looked{Op: op, Err: f})
			return
		}
		l.done(core.Looked{Op: op, Remote: l.w.git.observe()})
	case core.Fetch:
		l.fetch(op, e)
	case core.Write:
		l.write(op, e)
	case core.Push:
		l.push(op, e)
	}
}

// unreachable fails a request while the remote is down, in several ways.
func (w *world) unreachable() *core.Failure {
	if !w.git.down {
		return nil
	}
	switch w.rng.IntN(4) {
	case 0:
		return &core.Failure{Reason: core.ReasonRateLimited, Text: "429", RetryAfter: w.upTo(3 * time.Minute)}
	case 1:
		return &core.Failure{Reason: core.ReasonAuthenticationFailed, Text: "401"}
	default:
		return &core.Failure{Reason: core.ReasonConnectionFailed, Text: "connection refused"}
	}
}

func (l *lane) fetch(op core.Op, e core.Fetch) {
	f := l.w.unreachable()
	if f == nil && !l.w.quiet && l.w.chance(3) {
		f = &core.Failure{Reason: core.ReasonStore, Text: "disk full"}
	}
	l.readable = nil
	if f != nil {
		l.done(core.Fetched{Op: op, Err: f})
		return
	}
	r := l.w.git.observe()
	if r.Exists && !e.Want.IsZero() && e.Want != r.Tip && l.w.git.holds(e.Want) && l.w.chance(50) {
		r.Tip = e.Want // asked for by id: older than the tip by now
	}
	l.base = r.Tip
	if !r.Exists {
		l.base = r.Parent
	}
	l.readable = map[core.Commit]bool{l.base: true}
	l.done(core.Fetched{Op: op, Remote: r, Base: l.base})
}

func (l *lane) push(op core.Op, e core.Push) {
	w := l.w
	if w.git.down {
		f := w.unreachable()
		out := core.PushFailed
		if w.chance(30) {
			out = core.PushUnknown
		}
		l.done(core.Pushed{Op: op, Outcome: out, Reason: f.Reason, Text: f.Text, RetryAfter: f.RetryAfter})
		return
	}
	if w.git.racing.After(w.now) && w.chance(90) {
		w.git.foreignCommit(map[string]string{"RACE": fmt.Sprint(w.rng.IntN(1000))}, nil)
	}
	out := w.receive(e)
	in := core.Pushed{Op: op, Outcome: out, Text: words[w.rng.IntN(len(words))]}
	switch out {
	case core.PushAccepted:
		in.Tip = e.Tip
	case core.PushMoved:
		if w.chance(50) {
			in.Tip = w.git.tip
		} else if w.chance(20) {
			in.Outcome = core.PushUnknown // a server whose answer says nothing
		}
	case core.PushRejected:
		in.Tip = e.Expected
	}
	l.done(in)
}

// receive lets the model remote decide, and checks what it was given.
func (w *world) receive(e core.Push) core.PushOutcome {
	before := w.git.tip
	out := w.git.receive(e)
	if cs, ok := w.git.chain(before, e.Tip); ok && out == core.PushAccepted {
		w.last = cs
	}
	w.note("  remote: %s", out)
	if out == core.PushAccepted {
		w.check.landed(before, e)
		if w.chance(30) { // the push receiver may be faster than the answer
			w.after(w.upTo(time.Second), func() { w.step(core.Hint{Source: core.HintPush, Tip: e.Tip}) })
		}
	}
	return out
}

// receiveUnheard receives a push whose answer is lost. Should a foreign push follow, nobody can know that it landed
// (decisions 95).
func (w *world) receiveUnheard(e core.Push) {
	w.last = nil
	w.receive(e)
	for _, c := range w.last {
		w.unknowable[c.message] = true
	}
}

// decision is the model's plan result.
type decision struct {
	actions []action
	message string
	author  string
}

// write plans as manifest/plan would, on trees of plain values.
func (l *lane) write(op core.Op, e core.Write) {
	w := l.w
	in := core.Written{Op: op, Seq: e.Seq, Outcome: core.WriteNothing}
	tree := w.git.tree(e.Onto)
	switch {
	case !w.quiet && w.chance(1):
		in.Outcome, in.Err = core.WriteFailed, &core.Failure{Reason: core.ReasonStore, Text: "object missing"}
	case e.Work.Kind != core.KindSave && folderRefused(tree, e.Work.Target):
		in.Outcome, in.Refusal = core.WriteRefused, &core.Refusal{Reason: "UnsupportedContent", Text: "JUNK"}
	case e.Work.Kind == core.KindTouch:
	case e.Decision != nil:
		l.apply(&in, e, tree, e.Decision.(*decision))
	default:
		l.decide(&in, e, tree)
	}
	w.check.written(e, in)
	if in.Outcome == core.WriteCommitted || (in.Outcome == core.WriteNothing && !e.Dry && e.Work.Save != "") {
		l.built = append(l.built, link{seq: e.Seq, commit: in.Commit})
	}
	l.done(in)
}

func folderRefused(tree map[string]string, t change.TargetKey) bool {
	_, junk := tree[t.Name+"/JUNK"]
	return junk
}

func (l *lane) decide(in *core.Written, e core.Write, tree map[string]string) {
	d := &decision{message: e.Work.Message, author: e.Work.Author.Username}
	if e.Work.Source != core.MessageRequest {
		d.message = string(e.Work.Source)
	}
	keep := e.Work.Save != ""
	add := func(id change.Cell, it change.Item, del bool) {
		a := action{path: path(
			e.Work.Target, id, it.Object.Name), value: string(it.Desired), del: del, rv: number(it.ResourceVersion)}
		old, has := tree[a.path]
		switch {
		case strings.Contains(a.value, "!skip"):
			in.Refused = append(in.Refused, it.Object)
			in.Counts.Refused++
		case del && e.Prune != core.PruneOnEvent && e.Prune != core.PruneAlways:
			in.Counts.Retained++
		case keep || (del && has) || (!del && (!has || old != a.value)):
			d.actions = append(d.actions, a)
		}
	}
	for _, c := range e.Work.Changes {
		if l.broken(in, string(c.Desired)) {
			return
		}
		add(c.Cell, c.Item, c.Operation == change.Delete)
	}
	if s := e.Work.Snapshot; s != nil {
		keep := map[string]bool{}
		for _, it := range s.Items {
			keep[path(s.Target, s.Cell, it.Object.Name)] = true
			if bad(string(it.Desired)) {
				in.Refused = append(in.Refused, it.Object)
				continue
			}
			add(s.Cell, it, false)
		}
		prefix := s.Target.Name + "/" + s.Cell.Resource + "/"
		for _, p := range slices.Sorted(maps.Keys(tree)) {
			if strings.HasPrefix(p, prefix) && !keep[p] && e.Prune == core.PruneAlways {
				d.actions = append(d.actions, action{path: p, del: true, sweep: true, rv: number(s.ResourceVersion)})
			}
		}
		in.Gate = core.GateClean
		if _, t := tree[s.Target.Name+"/TEMPLATE"]; t {
			in.Gate, in.GateText = core.GateDiverges, "${X}"
		}
	}
	in.Report = "planned"
	in.Bytes = int64(256 * (1 + len(d.actions)))
	l.apply(in, e, tree, d)
}

// broken plays a refused or failed plan.
func (l *lane) broken(in *core.Written, value string) bool {
	switch {
	case strings.Contains(value, "!refuse"):
		in.Outcome, in.Refusal = core.WriteRefused, &core.Refusal{Reason: "WriteBoundaryRefused", Text: value}
	case strings.Contains(value, "!fail"):
		in.Outcome, in.Err = core.WriteFailed, &core.Failure{Reason: core.ReasonWriteFailed, Text: value}
	default:
		return false
	}
	return true
}

// apply carries a decision out on a tree.
func (l *lane) apply(in *core.Written, e core.Write, tree map[string]string, d *decision) {
	in.Decision = d
	next := maps.Clone(tree)
	if next == nil {
		next = map[string]string{}
	}
	c := commit{parent: e.Onto, seq: e.Seq, author: d.author, message: d.message, life: l.life}
	for _, a := range d.actions {
		old, has := next[a.path]
		switch {
		case a.del && (!has || (a.sweep && e.Prune != core.PruneAlways) || (e.Prune != core.PruneOnEvent && e.Prune != core.PruneAlways)):
			continue
		case a.del:
			delete(next, a.path)
			in.Counts.Deleted++
		case has && old == a.value:
			in.Counts.Unchanged++
			continue
		default:
			next[a.path] = a.value
			in.Counts.Updated++
		}
		c.actions = append(c.actions, a)
	}
	if e.Dry || (len(c.actions) == 0 && !e.Work.CommitEmpty) {
		in.Outcome = core.WriteNothing
		return
	}
	c.tree = next
	in.Outcome, in.Commit = core.WriteCommitted, l.w.git.add(c)
	l.readable[in.Commit] = true
}

func number(rv string) int {
	n, _ := strconv.Atoi(rv)
	return n
}
