// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"context"
	"slices"

	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/branch/message"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/gitstore"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
)

// Repository is the branch a target writes to and how it is reached.
type Repository struct {
	// URL as the GitProvider says; Identity is its normal form and names the worker together with Branch.
	URL, Identity string
	// HostPath is what all spellings of the repository have in common.
	HostPath string
	Branch   string
	// ParentBranch is where a missing branch starts; empty means the remote's HEAD.
	ParentBranch string
	// ProviderNamespace and ProviderName are labels of metrics and logs.
	ProviderNamespace, ProviderName string
	// Capabilities are those of the last probe of the repository; with them even the first push is one request.
	Capabilities []string
	// Credentials is asked once per network call, so a rotated Secret is used at once.
	Credentials func(context.Context) (gitstore.Credentials, error)
}

// key names the worker of a repository branch.
func (r Repository) key() string { return r.Identity + "#" + r.Branch + "#" + r.ParentBranch }

// labels are those of metrics.
func (r Repository) labels() [3]string {
	return [3]string{r.ProviderNamespace, r.ProviderName, r.Branch}
}

// place is what one worker at a time may write.
func (r Repository) place() string { return r.HostPath + "#" + r.Branch }

// Target is one GitTarget as a worker needs it.
type Target struct {
	Key        change.TargetKey
	Repository Repository
	// Machine is what the machine needs; Machine.Frozen is filled from Frozen, Machine.Revision must change with it.
	Machine core.TargetConfig
	Frozen  *Frozen
	// SourceCluster is the KubeProvider's name, a label of metrics.
	SourceCluster string
}

// Frozen is the configuration a write is decided with; a replay keeps it (git-writer 10.4).
type Frozen struct {
	// Name is the GitTarget's name, for messages.
	Name string
	// Path is the clean spec.path; empty is the repository root.
	Path      string
	Policy    plan.Policy
	Templates *message.Templates
	Committer message.Identity
	// Signer returns the signer of a commit; no function, or none returned, means that commits are not signed. An error
	// means no commit.
	Signer func(context.Context) (gitstore.Signer, error)
	Sealer plan.Sealer
	// Source answers for the source cluster at the moment of planning.
	Source func() (change.Kinds, change.Schemas)
}

// PlanReport is what core passes on as a report: a plan's answer without its bytes. Objects holds those about which
// there is something to say, and a sample of the others.
type PlanReport struct {
	plan.Report
	Layout layout.Summary
	// Unrendered is the number of documents that no build reads although the folder has a root; UnrenderedSample names
	// some of their files (decisions 47).
	Unrendered       int
	UnrenderedSample []string
	// tally counts all objects, for the metrics.
	tally map[tallied]int
}

// tallied is what objects are counted by.
type tallied struct {
	group, version, resource string
	outcome                  plan.Outcome
	sweep                    bool
	source, disposition      string
	reason                   string
}

// newReport reads the plan's report and keeps little of it: the report of a first snapshot is as large as the snapshot.
func newReport(r *plan.Result) *PlanReport {
	report := &PlanReport{
		Report: r.Report, Layout: r.Layout, Unrendered: r.UnreachedCount, UnrenderedSample: r.Unreached,
		tally: map[tallied]int{},
	}
	report.Objects = nil
	kept := map[plan.Outcome]int{}
	for i := range r.Report.Objects {
		o := &r.Report.Objects[i]
		report.tally[tallied{
			group: o.Type.Group, version: o.Type.Version, resource: o.Type.Resource, outcome: o.Outcome, sweep: o.Sweep,
			source: o.Source, disposition: o.Disposition, reason: o.Reason,
		}]++
		kept[o.Outcome]++
		if o.Outcome == plan.Refused || len(o.Notes) > 0 || o.Encryption != "" || sampled(o, kept[o.Outcome]) {
			report.Objects = append(report.Objects, *o)
		}
	}
	return report
}

// reportSample bounds the objects a report keeps per outcome once they are counted.
const reportSample = 20

// sampled reports whether the n-th object of its outcome is kept for the status.
func sampled(o *plan.ObjectReport, n int) bool {
	return n <= reportSample && o.Outcome != plan.Unchanged
}

// trim keeps the first objects of each outcome, so that a status does not hold on to a whole snapshot.
func (r *PlanReport) trim() {
	kept := map[plan.Outcome]int{}
	r.Objects = slices.DeleteFunc(r.Objects, func(o plan.ObjectReport) bool {
		kept[o.Outcome]++
		return !sampled(&o, kept[o.Outcome])
	})
	r.Objects = slices.Clone(r.Objects) // lets go of the whole list
}
