// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"fmt"

	"github.com/go-logr/logr"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
)

// outlets are the backward edges and the counters of a worker. Nothing in here blocks.
type outlets struct{ m *Manager }

func (o outlets) advance(e core.Advance) {
	if o.m.o.Published != nil {
		o.m.o.Published.Post(Published{Target: e.Target, Cell: e.Cell, RV: e.RV})
	}
}

func (o outlets) fetching(w *worker, why core.Why) {
	r := w.repository
	o.m.o.Metrics.Git.Fetches.WithLabelValues(r.ProviderNamespace, r.ProviderName, r.Branch, string(why)).Inc()
}

// answered counts the writes that failed for the store's sake; the machine keeps those.
func (o outlets) answered(w *worker, in core.Input) {
	a, ok := in.(core.Written)
	if !ok || a.Err == nil || a.Err.Reason != core.ReasonStore {
		return
	}
	r := w.repository
	o.m.o.Metrics.Git.MaterializationFailures.WithLabelValues(r.ProviderNamespace, r.ProviderName, r.Branch, "store").Inc()
}

func (o outlets) request(e core.Request) {
	if o.m.o.Requests != nil {
		o.m.o.Requests.Post(SnapshotRequest{Target: e.Target, Cell: e.Cell})
	}
}

// dirty tells the controllers that a target's condition may have changed; a change of the whole branch touches all.
func (o outlets) dirty(w *worker, k change.TargetKey) {
	if o.m.o.Dirty == nil {
		return
	}
	if k != (change.TargetKey{}) {
		o.m.o.Dirty.Post(k)
		return
	}
	// The machine's own list, not the manager's: this runs in the stepping goroutine, which must not wait for a lock
	// that Set may hold while it sends to this worker.
	for _, t := range w.machine.Status().Targets {
		o.m.o.Dirty.Post(t.Target)
	}
}

// observe counts an observation and writes the log lines a person looks for.
func (o outlets) observe(w *worker, e core.Observe) {
	git, r := &o.m.o.Metrics.Git, w.repository
	k, ob := e.Target, e.Observation
	l := r.labels()
	branch := l[:]
	with := func(more ...string) []string { return append(branch[:3:3], more...) }
	log := w.log.WithValues("gitTarget", k.String())
	_, ours := w.targets[k]
	switch ob.What {
	case core.ObservedWindow:
		if !ours {
			return
		}
		source := "target"
		if ob.BySave {
			source = "commit_request"
		}
		git.CommitWindows.WithLabelValues(k.Namespace, k.Name, ob.Reason, source).Inc()
		git.WindowDuration.WithLabelValues(k.Namespace, k.Name, ob.Reason, source).Observe(w.clock.Since(ob.Since).Seconds())
	case core.ObservedPlan:
		if report, ok := ob.Report.(*PlanReport); ok {
			if ob.Reason == "" && ours {
				o.countPlan(k, log, report)
			}
			report.trim()
		}
	case core.ObservedCommit:
		git.Commits.WithLabelValues(with(string(ob.Author), string(ob.Source))...).Inc()
		log.Info("published", "commit", ob.Commit.String(), "kind", string(ob.Kind))
	case core.ObservedPush:
		git.Pushes.WithLabelValues(with(ob.Reason)...).Inc()
		if !ob.Since.IsZero() {
			// Without a start no push was tried: a look or a fetch failed, or nothing was to be pushed.
			git.PushDuration.WithLabelValues(branch...).Observe(w.clock.Since(ob.Since).Seconds())
		}
	case core.ObservedRetry:
		git.PushRetries.WithLabelValues(with("remote_moved")...).Inc()
	case core.ObservedLost:
		git.CommitFailures.WithLabelValues(with(string(ob.Kind), ob.Reason)...).Inc()
		if ob.Kind == core.KindResync && ours {
			git.ResyncFailures.WithLabelValues(k.Namespace, k.Name).Inc()
		}
		log.Info("a write could not be made", "kind", string(ob.Kind), "reason", ob.Reason, "cause", ob.Text)
	case core.ObservedSetAside:
		log.Info("the remote refuses a write; it is set aside", "kind", string(ob.Kind), "cause", ob.Text)
	case core.ObservedDrop:
		if !ours {
			log.V(1).Info("changes of a GitTarget that is gone are dropped", "count", ob.Count)
			return
		}
		git.WritesDropped.WithLabelValues(k.Namespace, k.Name, ob.Reason).Add(float64(ob.Count))
	case core.ObservedRefusal:
		git.QueueRefusals.WithLabelValues(with(ob.Reason)...).Inc()
	}
}

// endTarget ends the series of a target that this worker no longer serves.
func (o outlets) endTarget(k change.TargetKey) { o.m.o.Metrics.ForgetTarget(k.Namespace, k.Name) }

// endBranch ends the series of a branch without a worker.
func (o outlets) endBranch(w *worker) {
	l := w.repository.labels()
	o.m.o.Metrics.ForgetBranch(l[0], l[1], l[2])
}

// countPlan counts the documents of a first decision.
func (o outlets) countPlan(k change.TargetKey, log logr.Logger, report *PlanReport) {
	git := &o.m.o.Metrics.Git
	for x, n := range report.tally {
		of := []string{x.group, x.version, x.resource}
		git.Documents.WithLabelValues(append([]string{k.Namespace, k.Name}, append(of, documentOutcome(x))...)...).Add(float64(n))
		switch {
		case x.outcome == plan.Created && x.source != "":
			git.Placements.WithLabelValues(append([]string{x.source, x.disposition, k.Namespace, k.Name}, of...)...).Add(float64(n))
		case x.outcome == plan.Refused && x.source != "":
			git.PlacementRefusals.WithLabelValues(append([]string{x.reason, k.Namespace, k.Name}, of...)...).Add(float64(n))
		}
	}
	for i := range report.Objects {
		x := &report.Objects[i]
		if x.Outcome == plan.Refused {
			log.Info("an object is not written", "object", x.Object.String(), "path", x.Path, "reason", x.Reason,
				"cause", x.Message)
			if o.m.o.Warn != nil && x.Encryption != "" {
				o.m.o.Warn(k, "SensitiveContent", fmt.Sprintf("%s is not written: %s", x.Object, x.Message))
			}
		}
		for _, note := range x.Notes {
			log.Info(note, "object", x.Object.String(), "path", x.Path)
			// What concerns a secret is for everybody who looks at the GitTarget; the rest is for the log.
			if o.m.o.Warn != nil && x.Encryption != "" {
				o.m.o.Warn(k, "SensitiveContent", fmt.Sprintf("%s: %s", x.Object, note))
			}
		}
		if x.Encryption != "" {
			git.SecretEncryptions.WithLabelValues(x.Encryption).Inc()
		}
	}
	for outcome, n := range report.Registrations {
		git.KustomizationEntries.WithLabelValues(outcome, k.Namespace, k.Name).Add(float64(n))
	}
}

func documentOutcome(x tallied) string {
	switch x.outcome {
	case plan.Created, plan.Updated:
		return "written"
	case plan.Deleted:
		if x.sweep {
			return "deleted_sweep"
		}
		return "deleted_live"
	case plan.Unchanged, plan.Skipped:
		return "unchanged"
	case plan.Retained:
		return "retained"
	default:
		return "refused"
	}
}
