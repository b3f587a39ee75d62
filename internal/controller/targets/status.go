// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package targets

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/branch"
	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/controller/access"
	"github.com/configbutler/gitops-reverser/internal/controller/lifecycle"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/watch"
)

// remotePause is how often status.remote is written at most (api 6.2).
const remotePause = time.Minute

// maxBases bounds status.placement.readOnlyBases; the schema does, too.
const maxBases = 64

// sampleSize bounds the names in status.preview and status.retention.
const sampleSize = 20

func (r *Reconciler) reportStatus(obj *v1alpha3.GitTarget, w view, pass *lifecycle.Pass) {
	r.reportRemote(obj, w.branch, pass)
	reportPlacement(obj, w.branch.Target)
	obj.Status.Preview = nil
	if obj.Spec.Suspend {
		obj.Status.Retention, obj.Status.Preview = nil, preview(w.branch.Target)
		return
	}
	reportRetention(obj, w)
}

// reportRemote writes the branch's tip, at most once a minute; the first observation of a repository at once.
func (r *Reconciler) reportRemote(obj *v1alpha3.GitTarget, b branch.Status, pass *lifecycle.Pass) {
	if b.VerifiedAt.IsZero() {
		return
	}
	now := &v1alpha3.RemoteStatus{
		Commit: b.Tip.String(), VerifiedBy: b.VerifiedBy, LastVerifiedAt: &metav1.Time{Time: b.VerifiedAt.UTC().Truncate(time.Second)},
	}
	if !b.Exists {
		now.Parent = string(b.Parent)
	}
	old := obj.Status.Remote
	switch {
	case old == nil || old.LastVerifiedAt == nil:
	case equality.Semantic.DeepEqual(old, now):
		return
	default:
		since := old.LastVerifiedAt.Time
		if at := r.Keys.remoteWritten(access.Key(obj)); at.After(since) {
			since = at
		}
		if wait := remotePause - time.Since(since); wait > 0 {
			if old.Commit != now.Commit || old.Parent != now.Parent {
				pass.Within(wait)
			}
			return
		}
	}
	obj.Status.Remote = now
	r.Keys.writeRemote(access.Key(obj), time.Now())
}

func reportPlacement(obj *v1alpha3.GitTarget, t core.TargetStatus) {
	report, ok := t.Report.(*branch.PlanReport)
	if !ok {
		return
	}
	l := report.Layout
	now := &v1alpha3.PlacementStatus{
		Mode: v1alpha3.LayoutMode(l.Mode), RenderRoot: l.Root, ReadOnlyBases: l.ReadOnlyBases[:min(len(l.ReadOnlyBases), maxBases)],
		UnrenderedDocuments: int32(report.Unrendered), UnrenderedSample: report.UnrenderedSample[:min(len(report.UnrenderedSample), sampleSize)],
	}
	if old := obj.Status.Placement; old != nil {
		now.ResolvedAtCommit, now.ResolvedAt = old.ResolvedAtCommit, old.ResolvedAt
		if equality.Semantic.DeepEqual(old, now) {
			// The date is that of the resolution, not of the last look (git-writer 6.11).
			return
		}
	}
	now.ResolvedAtCommit, now.ResolvedAt = t.ReportedOn.String(), &metav1.Time{Time: t.ReportedAt.UTC().Truncate(time.Second)}
	obj.Status.Placement = now
}

// reportRetention counts what the last sweeps kept. While snapshots are under way, as after every start, the count is not
// whole and the last one stays.
func reportRetention(obj *v1alpha3.GitTarget, w view) {
	t := w.branch.Target
	if len(t.Retention) == 0 || w.watch.Replaying > 0 || len(t.Retention) < len(w.watch.Cells)-unread(w.watch) {
		return
	}
	now := &v1alpha3.RetentionStatus{Mode: obj.GetPruneMode()}
	var at time.Time
	for _, c := range t.Retention {
		now.RetainedDocuments += int32(c.Counts.Retained)
		if c.At.After(at) {
			at = c.At
		}
		if report, ok := c.Report.(*branch.PlanReport); ok {
			now.Sample = sample(now.Sample, report.RetainedNames)
		}
	}
	now.LastChangedAt = &metav1.Time{Time: at.UTC().Truncate(time.Second)}
	if old := obj.Status.Retention; old != nil && old.Mode == now.Mode && old.RetainedDocuments == now.RetainedDocuments {
		now.LastChangedAt = old.LastChangedAt
	}
	obj.Status.Retention = now
}

// unread counts the cells that deliver no snapshot: they may not be read.
func unread(w watch.Status) int {
	n := 0
	for i := range w.Cells {
		if w.Cells[i].Phase == watch.Blocked {
			n++
		}
	}
	return n
}

func preview(t core.TargetStatus) *v1alpha3.PreviewStatus {
	if len(t.Preview) == 0 {
		return nil
	}
	p := &v1alpha3.PreviewStatus{Commit: t.ReportedOn.String()}
	var at time.Time
	for _, c := range t.Preview {
		p.Created.Count += int32(c.Counts.Created)
		p.Updated.Count += int32(c.Counts.Updated)
		p.Deleted.Count += int32(c.Counts.Deleted)
		p.Refused.Count += int32(c.Counts.Refused)
		if c.At.After(at) {
			at = c.At
		}
		report, ok := c.Report.(*branch.PlanReport)
		if !ok {
			continue
		}
		for _, o := range report.Objects {
			into := map[plan.Outcome]*v1alpha3.PreviewCount{
				plan.Created: &p.Created, plan.Updated: &p.Updated, plan.Deleted: &p.Deleted, plan.Refused: &p.Refused,
			}[o.Outcome]
			if into != nil {
				into.Sample = sample(into.Sample, []change.ObjectID{o.Object})
			}
		}
	}
	p.PlannedAt = &metav1.Time{Time: at.UTC().Truncate(time.Second)}
	return p
}

func sample(list []string, more []change.ObjectID) []string {
	for _, o := range more {
		if len(list) >= sampleSize {
			break
		}
		list = append(list, o.String())
	}
	return list
}

// splitGroupResource reads "resource" or "group/resource".
func splitGroupResource(s string) (group, resource string) {
	if g, r, ok := strings.Cut(s, "/"); ok {
		return g, r
	}
	return "", s
}
