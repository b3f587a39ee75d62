// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package targets

import (
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/branch"
	"github.com/configbutler/gitops-reverser/internal/branch/core"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/controller/access"
	"github.com/configbutler/gitops-reverser/internal/controller/lifecycle"
	"github.com/configbutler/gitops-reverser/internal/manifest/layout"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/watch"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// world is everything a report is made from; healthy gives one in which all is well.
type world struct {
	obj   *v1alpha3.GitTarget
	valid validated
	enc   Encryption
	view  view
}

func healthy() *world {
	gp, kp := &v1alpha3.GitProvider{}, &v1alpha3.KubeProvider{}
	gp.Name, kp.Name = "infra", "default"
	conditions.MarkTrue(gp, meta.ReadyCondition, meta.SucceededReason, "ok")
	conditions.MarkTrue(kp, meta.ReadyCondition, meta.SucceededReason, "ok")
	w := &world{
		obj:   &v1alpha3.GitTarget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "live", UID: "1"}},
		valid: validated{grant: access.Grant{GitProvider: gp, KubeProvider: kp}},
		enc:   Encryption{Ready: true, Message: "sealed"},
	}
	w.obj.Spec.Branch, w.obj.Spec.ParentBranch = "live", "main"
	w.obj.Spec.Encryption = &v1alpha3.Encryption{}
	w.view.reach = cluster.Reachability{Status: "True", Reason: cluster.ReasonReachable, Message: "answers"}
	w.view.watch = watch.Status{
		Planned: true, Settled: true, Counts: watch.Counts{Total: 1, Ready: 1},
		Answer: watch.Answer{Running: "True", Reason: watch.ReasonAllStreamsReady, Message: "one"},
		Cells:  []watch.CellStatus{{Cell: change.Cell{Resource: "configmaps"}, Phase: watch.Streaming}},
		Types:  []watch.TypeStatus{{Resource: "configmaps", Phase: watch.Streaming}},
	}
	w.view.branch = branch.Status{
		Status: core.Status{Exists: true, Tip: core.Commit{1}, VerifiedAt: noon, VerifiedBy: "Fetch"},
		Target: core.TargetStatus{Gate: core.GateOpen,
			Report: &branch.PlanReport{Layout: layout.Summary{Mode: layout.Plain}}, ReportedOn: core.Commit{1}, ReportedAt: noon},
	}
	return w
}

func (w *world) report(t *testing.T) *lifecycle.Pass {
	t.Helper()
	var pass lifecycle.Pass
	r := &Reconciler{Keys: NewKeys()}
	r.Keys.Put(access.Key(w.obj))
	r.report(w.obj, w.valid, w.enc, w.view, &pass)
	return &pass
}

// trouble of each row of api 6.3, gravest first.
var troubles = []struct {
	name   string
	reason string
	spoil  func(*world)
}{
	{"encryption", v1alpha3.EncryptionNotConfiguredReason, func(w *world) {
		w.enc = Encryption{Reason: v1alpha3.MissingSecretReason, Message: "no Secret"}
	}},
	{"folder", v1alpha3.UnsupportedContentReason, func(w *world) {
		w.view.branch.Target.Refusal = &core.Refusal{Reason: v1alpha3.UnsupportedContentReason, Text: "foreign-file"}
	}},
	{"streams that may not run", v1alpha3.WatchNotPermittedReason, func(w *world) {
		block(w,
			watch.ReasonWatchNotPermitted)
	}},
	{"render", v1alpha3.RenderDoesNotMatchLiveReason, func(w *world) {
		w.view.branch.Target.Gate, w.view.branch.Target.GateText = core.GateDivergent, "field"
	}},
	{"parent branch", v1alpha3.ParentBranchNotFoundReason, func(w *world) {
		w.view.branch.Exists, w.view.branch.Parent = false, core.ParentMissing
		w.view.branch.Failing = &core.Trouble{Reason: core.ReasonParentBranchNotFound, Text: "x", Since: noon}
	}},
	{"GitProvider that is stalled", v1alpha3.GitProviderNotReadyReason, func(w *world) {
		conditions.MarkFalse(w.valid.grant.GitProvider, meta.ReadyCondition, "SecretNotFound", "x")
		conditions.MarkStalled(w.valid.grant.GitProvider, "SecretNotFound", "x")
	}},
	{"KubeProvider that is stalled", v1alpha3.KubeProviderNotReadyReason, func(w *world) {
		conditions.MarkFalse(w.valid.grant.KubeProvider, meta.ReadyCondition, "KubeConfigInvalid", "x")
		conditions.MarkStalled(w.valid.grant.KubeProvider, "KubeConfigInvalid", "x")
	}},
	{"source that refuses", v1alpha3.SourceClusterAuthenticationFailedReason, func(w *world) {
		w.view.reach = cluster.Reachability{Status: "False", Reason: cluster.ReasonAuthenticationFailed, Message: "401"}
	}},
	{"refused commit", v1alpha3.PushRejectedReason, func(w *world) {
		w.view.branch.Target.PushRejected = &core.Trouble{Reason: core.ReasonPushRejected, Text: "no", Since: noon}
	}},
	{"failed write", "WriteFailed", func(w *world) {
		w.view.branch.Target.WriteFailed = &core.Trouble{Reason: core.ReasonWriteFailed, Text: "no", Since: noon}
	}},
	{"publication that needs a person", v1alpha3.AuthenticationFailedReason, func(w *world) {
		w.view.branch.Failing = &core.Trouble{Reason: core.ReasonAuthenticationFailed, Text: "no", Since: noon}
	}},
	// From here on it heals by itself.
	{"GitProvider on its way", v1alpha3.GitProviderNotReadyReason, func(w *world) {
		conditions.MarkFalse(w.valid.grant.GitProvider, meta.ReadyCondition, "ConnectionFailed", "x")
		conditions.MarkReconciling(w.valid.grant.GitProvider, "ConnectionFailed", "x")
	}},
	{"source that does not answer", v1alpha3.SourceClusterUnreachableReason, func(w *world) {
		w.view.reach = cluster.Reachability{Status: "False", Reason: cluster.ReasonUnreachable, Message: "dial"}
	}},
	{"publication", meta.ProgressingReason, func(w *world) {
		w.view.branch.Failing = &core.Trouble{Reason: core.ReasonConnectionFailed, Text: "dial", Since: noon,
			Next: noon.Add(time.Minute)}
	}},
	{"source not contacted", v1alpha3.AwaitingDiscoveryReason, func(w *world) {
		w.view.reach = cluster.Reachability{Status: "Unknown", Reason: cluster.ReasonAwaitingDiscovery, Message: "not yet"}
	}},
	{"folder not compared", v1alpha3.RecheckingReason, func(w *world) { w.view.branch.Target.Gate = core.GatePending }},
	{"folder not read", v1alpha3.NotCheckedReason, func(w *world) { w.view.branch.Target.Report = nil }},
	{"streams that replay", meta.ProgressingReason, func(w *world) {
		w.view.watch.Answer = watch.Answer{Running: "False", Reason: watch.ReasonReplaying, Message: "reading"}
	}},
}

func block(w *world, reason string) {
	w.view.watch.Types = append(w.view.watch.Types, watch.TypeStatus{Resource: "pods", Phase: watch.Blocked,
		Reason: reason, Message: "403"})
	w.view.watch.Total, w.view.watch.Blocked = 2, 1
	w.view.watch.Answer = watch.Answer{Running: "False", Reason: reason, Message: "403"}
}

// TestContributionsInTheOrderOfTheAPI: of two troubles the one that stands earlier in api 6.3 is Ready's, and what stalls
// comes before what progresses.
func TestContributionsInTheOrderOfTheAPI(t *testing.T) {
	g := NewWithT(t)
	for i, a := range troubles {
		for _, b := range troubles[i:] {
			if strings.HasPrefix(a.name, "source") && strings.HasPrefix(b.name, "source") && a.name != b.name ||
				strings.HasPrefix(a.name, "GitProvider") && strings.HasPrefix(b.name, "GitProvider") && a.name != b.name ||
				a.name == "parent branch" && strings.HasPrefix(b.name, "publication") || strings.HasPrefix(a.name,
				"publication") && strings.HasPrefix(b.name, "publication") && a.name != b.name ||
				a.name == "render" && b.name == "folder not compared" || a.name == "streams that may not run" && b.name == "streams that replay" {
				continue // the same fact, twice
			}
			w := healthy()
			b.spoil(w)
			a.spoil(w)
			w.report(t)
			pass := w.report(t)
			reason, _, _ := readyOf(pass)
			g.Expect(reason).To(Equal(a.reason), "%s and %s", a.name, b.name)
		}
	}
}

// readyOf applies a pass to a scratch object.
func readyOf(p *lifecycle.Pass) (reason, message string, status metav1.ConditionStatus) {
	scratch := &v1alpha3.GitTarget{}
	p.Apply(scratch)
	c := conditions.Get(scratch, meta.ReadyCondition)
	return c.Reason, c.Message, c.Status
}

func TestEachTroubleAlone(t *testing.T) {
	for i, tt := range troubles {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			w := healthy()
			tt.spoil(w)
			pass := w.report(t)
			reason, _, status := readyOf(pass)
			g.Expect(reason).To(Equal(tt.reason))
			g.Expect(pass.IsStalled()).To(Equal(i < 11), "what needs a person")
			want := metav1.ConditionFalse
			if tt.name == "source not contacted" {
				want = metav1.ConditionUnknown // scenario 34
			}
			g.Expect(status).To(Equal(want))
		})
	}
}

// TestScenario32_ZeroTypesAreConverged: nothing measures the folder, and nothing is wrong.
func TestScenario32_ZeroTypesAreConverged(t *testing.T) {
	g := NewWithT(t)
	w := healthy()
	w.view.watch = watch.Status{Planned: true, Settled: true, Answer: watch.Answer{Running: "False",
		Reason: watch.ReasonNoResolvedTypes, Message: "none"}}
	w.view.branch.Target = core.TargetStatus{Gate: core.GateOpen}
	pass := w.report(t)
	g.Expect(pass.IsConverged()).To(BeTrue())
	g.Expect(w.obj.Status.Streams.Summary).To(Equal("0/0"))
	g.Expect(conditions.GetReason(w.obj, v1alpha3.StreamsRunningCondition)).To(Equal(v1alpha3.NoResolvedTypesReason))
	g.Expect(conditions.GetReason(w.obj, v1alpha3.GitPathAcceptedCondition)).To(Equal(v1alpha3.NotCheckedReason))
}

// TestConditionsOfTheFolder: scenarios 19, 20, 57 and 58 of git-writer as they show in the status. A refusal stays until
// it is cleared, a token that differs is named, and a folder that is not compared yet is Unknown.
func TestConditionsOfTheFolder(t *testing.T) {
	g := NewWithT(t)
	w := healthy()
	shows := func(kind string, status metav1.ConditionStatus, reason, text string) {
		t.Helper()
		c := conditions.Get(w.obj, kind)
		g.Expect(c).NotTo(BeNil(), kind)
		g.Expect([]string{string(c.Status), c.Reason}).To(Equal([]string{string(status), reason}), kind)
		g.Expect(c.Message).To(ContainSubstring(text))
	}
	path, render := v1alpha3.GitPathAcceptedCondition, v1alpha3.RenderMatchesLiveCondition
	w.report(t)
	shows(path, metav1.ConditionTrue, meta.SucceededReason, "")
	shows(render, metav1.ConditionTrue, meta.SucceededReason, "")

	w.view.branch.Target.Refusal = &core.Refusal{Reason: v1alpha3.UnsupportedContentReason, Text: "foreign-file foo.tgz"}
	w.report(t)
	shows(path, metav1.ConditionFalse, v1alpha3.UnsupportedContentReason, "foreign-file foo.tgz")
	w.view.branch.Target.Refusal = nil
	w.report(t)
	shows(path, metav1.ConditionTrue, meta.SucceededReason, "")

	w.view.branch.Target.Gate = core.GatePending
	w.report(t)
	shows(render, metav1.ConditionUnknown, v1alpha3.RecheckingReason, "")
	const text = "ConfigMap shop/a: /data/value has ${REGION}"
	w.view.branch.Target.Gate, w.view.branch.Target.GateText = core.GateDivergent, text
	_, message, _ := readyOf(w.report(t))
	shows(render, metav1.ConditionFalse, v1alpha3.RenderDoesNotMatchLiveReason, text)
	g.Expect(message).To(ContainSubstring(text), "Ready tells it too")
	w.view.branch.Target.Gate = core.GateOpen
	w.report(t)
	shows(render, metav1.ConditionTrue, meta.SucceededReason, "")
}

// TestScenario38_TheParentBranchComesBack: missing stalls, back is on its way, and then all is well without an edit.
func TestScenario38_TheParentBranchComesBack(t *testing.T) {
	g := NewWithT(t)
	w := healthy()
	w.view.branch.Exists, w.view.branch.Parent = false, core.ParentMissing
	w.view.branch.Failing = &core.Trouble{Reason: core.ReasonParentBranchNotFound, Since: noon}
	pass := w.report(t)
	reason, message, _ := readyOf(pass)
	g.Expect(reason).To(Equal(v1alpha3.ParentBranchNotFoundReason))
	g.Expect(message).To(And(ContainSubstring(`"live"`), ContainSubstring(`"main"`)))
	w.view.branch.Parent = core.ParentFound
	pass = w.report(t)
	reason, _, _ = readyOf(pass)
	g.Expect(reason).To(Equal(v1alpha3.RecoveringParentBranchReason))
	g.Expect(pass.IsStalled()).To(BeFalse())
	w.view.branch.Failing = nil
	g.Expect(w.report(t).IsConverged()).To(BeTrue())
}

// TestDecision60_AFailingWatchIsRetried and stalls nobody.
func TestDecision60_AFailingWatchIsRetried(t *testing.T) {
	g := NewWithT(t)
	w := healthy()
	block(w, watch.ReasonWatchError)
	pass := w.report(t)
	g.Expect(pass.IsStalled()).To(BeFalse())
	g.Expect(pass.IsConverged()).To(BeFalse())
	g.Expect(w.obj.Status.Streams.PendingSample).To(Equal([]string{"pods"}))
}

// TestDecision52_WithheldTypesStallByEncryptionAlone: the other types go on.
func TestDecision52_WithheldTypesStallByEncryptionAlone(t *testing.T) {
	g := NewWithT(t)
	w := healthy()
	w.obj.Spec.Encryption = nil
	w.enc = Encryption{Reason: v1alpha3.EncryptionRequiredReason, Message: "spec.encryption is not set"}
	g.Expect(w.report(t).IsConverged()).To(BeTrue(), "no sensitive type is selected")
	g.Expect(conditions.GetReason(w.obj, v1alpha3.EncryptionConfiguredCondition)).To(Equal(v1alpha3.NotRequiredReason))
	w.view.watch.Types = append(w.view.watch.Types, watch.TypeStatus{Resource: "secrets", Phase: watch.Blocked,
		Reason: v1alpha3.EncryptionRequiredReason})
	w.view.watch.Total, w.view.watch.Blocked = 2, 1
	w.view.watch.Answer = watch.Answer{Running: "False", Reason: v1alpha3.EncryptionRequiredReason}
	reason, message, _ := readyOf(w.report(t))
	g.Expect(reason).To(Equal(v1alpha3.EncryptionNotConfiguredReason))
	g.Expect(message).To(HavePrefix("secrets are not mirrored: "))
	g.Expect(conditions.GetReason(w.obj, v1alpha3.EncryptionConfiguredCondition)).To(Equal(v1alpha3.EncryptionRequiredReason))
}

// TestSuspensions: of the target, of its KubeProvider and of its GitProvider (decisions 61); a broken gate still shows.
func TestSuspensions(t *testing.T) {
	for name, tt := range map[string]struct {
		suspend func(*world)
		text    string
	}{
		"target": {func(w *world) { w.obj.Spec.Suspend = true }, "status.preview"},
		"KubeProvider": {func(w *world) {
			w.valid.grant.KubeProvider.Spec.Suspend = true
			w.view.reach = cluster.Reachability{Status: "Unknown", Reason: cluster.ReasonAwaitingDiscovery}
			w.view.watch.Answer = watch.Answer{Running: "False", Reason: watch.ReasonReplaying}
			w.view.branch.Target.Gate, w.view.branch.Target.Report = core.GatePending, nil
		}, "KubeProvider"},
		"GitProvider": {func(w *world) {
			w.view.branch.ProviderSuspended, w.view.branch.Target.Waiting = true, 3
			w.view.branch.Target.Gate, w.view.branch.Target.Report = core.GatePending, nil
		}, "3 writes wait"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := healthy()
			tt.suspend(w)
			reason, message, status := readyOf(w.report(t))
			g.Expect(status).To(Equal(metav1.ConditionTrue))
			g.Expect(reason).To(Equal(meta.SuspendedReason))
			g.Expect(message).To(ContainSubstring(tt.text))
			w.view.branch.Target.Refusal = &core.Refusal{Reason: v1alpha3.UnsupportedContentReason, Text: "foreign-file"}
			reason, _, _ = readyOf(w.report(t))
			g.Expect(reason).To(Equal(v1alpha3.UnsupportedContentReason))
		})
	}
}

// TestMessagesOfTrouble: absolute times, the server's words, the next attempt, and nothing that moves by itself.
func TestMessagesOfTrouble(t *testing.T) {
	g := NewWithT(t)
	w := healthy()
	w.view.branch.Failing = &core.Trouble{Reason: core.ReasonConnectionFailed, Text: "connection refused",
		Since: noon, Next: noon.Add(10*time.Second + 7*time.Millisecond)}
	w.view.branch.IntakePaused = true
	_, message, _ := readyOf(w.report(t))
	g.Expect(message).To(Equal("not published since 2026-05-01T12:00:00Z: ConnectionFailed: connection refused; " +
		"next attempt at 2026-05-01T12:00:10Z; intake is paused until a publication lands"))
	w.view.branch.Failing.Next, w.view.branch.IntakePaused = time.Time{}, false
	_, message, _ = readyOf(w.report(t))
	g.Expect(message).To(HaveSuffix("connection refused"))
}

// TestLayout: the condition, what no build reads, and the date that stays (git-writer 6.11, decisions 47).
func TestLayout(t *testing.T) {
	g := NewWithT(t)
	w := healthy()
	report := &branch.PlanReport{Layout: layout.Summary{Mode: layout.KustomizeRoot, Root: "apps", Roots: []string{"apps"}}}
	w.view.branch.Target.Report = report
	w.report(t)
	g.Expect(conditions.Get(w.obj, v1alpha3.LayoutResolvedCondition)).To(And(HaveField("Reason",
		"SingleKustomization"), HaveField("Message", "apps is the only root")))
	first := w.obj.Status.Placement.DeepCopy()
	g.Expect(first.ResolvedAt.Time).To(BeTemporally("==", noon))
	w.view.branch.Target.ReportedAt, w.view.branch.Target.ReportedOn = noon.Add(time.Hour), core.Commit{2}
	w.report(t)
	g.Expect(w.obj.Status.Placement).To(Equal(first), "nothing was resolved anew")

	report.Unrendered, report.UnrenderedSample = 5, []string{"a.yaml", "b.yaml", "c.yaml", "d.yaml"}
	w.report(t)
	g.Expect(conditions.GetMessage(w.obj, v1alpha3.LayoutResolvedCondition)).To(
		Equal("apps is the only root; 5 documents are read by no build: a.yaml, b.yaml, c.yaml and others"))
	g.Expect(w.obj.Status.Placement).To(And(HaveField("UnrenderedDocuments", BeEquivalentTo(5)),
		HaveField("ResolvedAtCommit", HavePrefix("02"))))

	for range 30 {
		report.UnrenderedSample = append(report.UnrenderedSample, "x.yaml")
	}
	for range 100 {
		report.Layout.ReadOnlyBases = append(report.Layout.ReadOnlyBases, "../base")
	}
	report.Layout.Ambiguous, report.Layout.Mode, report.Layout.Root, report.Layout.Roots = true, "", "", []string{"a", "b"}
	w.report(t)
	g.Expect(conditions.GetReason(w.obj, v1alpha3.LayoutResolvedCondition)).To(Equal(v1alpha3.AmbiguousReason))
	g.Expect(w.obj.Status.Placement.Mode).To(BeEmpty())
	g.Expect(w.obj.Status.Placement.UnrenderedSample).To(HaveLen(20), "the schema bounds it")
	g.Expect(w.obj.Status.Placement.ReadOnlyBases).To(HaveLen(64), "the schema bounds it")
	g.Expect(w.report(t).IsConverged()).To(BeTrue(), "it is an observation")
}

// TestScenario43_RemoteIsWrittenOnceAMinute, the first observation and another repository at once.
func TestScenario43_RemoteIsWrittenOnceAMinute(t *testing.T) {
	g := NewWithT(t)
	r := &Reconciler{Keys: NewKeys()}
	obj := &v1alpha3.GitTarget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "live", UID: "1"}}
	key := access.Key(obj)
	r.Keys.Put(key)
	g.Expect(r.Keys.moved(key, "one")).To(BeFalse())
	now := time.Now()
	seen := func(tip byte, at time.Time, by string) *lifecycle.Pass {
		var pass lifecycle.Pass
		b := branch.Status{Status: core.Status{Tip: core.Commit{tip}, Exists: tip != 0, VerifiedAt: at,
			VerifiedBy: by, Parent: core.ParentFound}}
		if tip != 0 {
			b.Parent = ""
		}
		r.reportRemote(obj, b, &pass)
		return &pass
	}
	seen(0, time.Time{}, "")
	g.Expect(obj.Status.Remote).To(BeNil(), "nothing was proved")
	seen(0, now.Add(-2*time.Minute), "Fetch")
	g.Expect(obj.Status.Remote).To(And(HaveField("Commit", ""), HaveField("Parent", "Found"),
		HaveField("VerifiedBy", "Fetch")))

	seen(1, now, "Push")
	g.Expect(obj.Status.Remote.Commit).To(BeEmpty(), "it was written a moment ago")
	r.Keys.writeRemote(key, now.Add(-30*time.Second))
	pass := seen(1, now, "Push")
	g.Expect(pass.Pause(5*time.Minute)).To(BeNumerically("~", 30*time.Second, 2*time.Second), "it comes back when it may")
	r.Keys.writeRemote(key, now.Add(-61*time.Second))
	seen(1, now, "Push")
	g.Expect(obj.Status.Remote).To(And(HaveField("Commit", HaveLen(40)), HaveField("VerifiedBy", "Push"),
		HaveField("Parent", "")))

	stored := obj.Status.Remote.DeepCopy()
	pass = seen(1, now.Add(10*time.Second), "Fetch")
	g.Expect(obj.Status.Remote).To(Equal(stored), "only the date would move")
	g.Expect(pass.Pause(time.Hour)).To(BeNumerically(">", 50*time.Minute), "and that is worth no pass")

	g.Expect(r.Keys.moved(key, "one")).To(BeFalse())
	g.Expect(r.Keys.moved(key, "two")).To(BeTrue(), "the repository changed")
	obj.Status.Remote = nil // as a pass does
	seen(2, now.Add(11*time.Second), "Fetch")
	g.Expect(obj.Status.Remote.Commit).To(HavePrefix("02"))
}

// TestScenario45_RetentionKeepsItsDate: an equal count keeps the date, a restart shows no half count, suspension hides it.
func TestScenario45_RetentionKeepsItsDate(t *testing.T) {
	g := NewWithT(t)
	w := healthy()
	kept := func(n int, at time.Time) core.CellReport {
		return core.CellReport{Counts: core.Counts{Retained: n}, At: at,
			Report: &branch.PlanReport{Report: plan.Report{RetainedNames: []change.ObjectID{{Kind: "ConfigMap", Name: "old"}}}}}
	}
	w.report(t)
	g.Expect(w.obj.Status.Retention).To(BeNil(), "never measured")
	w.view.branch.Target.Retention = []core.CellReport{kept(2, noon)}
	w.report(t)
	g.Expect(w.obj.Status.Retention).To(And(HaveField("RetainedDocuments", BeEquivalentTo(2)), HaveField("Mode",
		v1alpha3.PruneOnEvent), HaveField("Sample", HaveLen(1))))
	w.view.branch.Target.Retention = []core.CellReport{kept(2, noon.Add(time.Hour))}
	w.report(t)
	g.Expect(w.obj.Status.Retention.LastChangedAt.Time).To(BeTemporally("==", noon))

	// A restart: one of two collections has reported.
	w.view.watch.Cells = append(w.view.watch.Cells, watch.CellStatus{Cell: change.Cell{Resource: "services"},
		Phase: watch.Streaming})
	w.view.branch.Target.Retention = []core.CellReport{kept(1, noon.Add(2*time.Hour))}
	w.report(t)
	g.Expect(w.obj.Status.Retention.RetainedDocuments).To(BeEquivalentTo(2), "half a count is none")
	w.view.branch.Target.Retention = append(w.view.branch.Target.Retention, kept(0, noon.Add(2*time.Hour)))
	w.report(t)
	g.Expect(w.obj.Status.Retention).To(And(HaveField("RetainedDocuments", BeEquivalentTo(1)),
		HaveField("LastChangedAt.Time", BeTemporally("==", noon.Add(2*time.Hour)))))

	w.obj.Spec.Suspend = true
	w.report(t)
	g.Expect(w.obj.Status.Retention).To(BeNil())
}

func TestPreviewIsShownWhileSuspended(t *testing.T) {
	g := NewWithT(t)
	w := healthy()
	w.obj.Spec.Suspend = true
	var objects []plan.ObjectReport
	for range 30 {
		objects = append(objects, plan.ObjectReport{Outcome: plan.Created, Object: change.ObjectID{Kind: "ConfigMap",
			Name: "new"}})
	}
	w.view.branch.Target.Preview = []core.CellReport{{
		Counts: core.Counts{Created: 30, Refused: 1}, At: noon, Report: &branch.PlanReport{Report: plan.Report{Objects: objects}},
	}}
	w.report(t)
	g.Expect(w.obj.Status.Preview).To(And(HaveField("Created.Count", BeEquivalentTo(30)),
		HaveField("Created.Sample", HaveLen(20)),
		HaveField("Refused.Count", BeEquivalentTo(1)), HaveField("Deleted.Sample", BeEmpty())))
	w.obj.Spec.Suspend = false
	w.report(t)
	g.Expect(w.obj.Status.Preview).To(BeNil())
}

func TestKeysForgetWhatIsGone(t *testing.T) {
	g := NewWithT(t)
	k := NewKeys()
	one := change.TargetKey{Namespace: "shop", Name: "live", UID: "1"}
	two := change.TargetKey{Namespace: "shop", Name: "live", UID: "2"}
	_, replaced := k.Put(one)
	g.Expect(replaced).To(BeFalse())
	_, replaced = k.Put(one)
	g.Expect(replaced).To(BeFalse())
	k.moved(one, "a")
	old, replaced := k.Put(two)
	g.Expect(replaced).To(BeTrue())
	g.Expect(old).To(Equal(one))
	g.Expect(k.moved(two, "b")).To(BeFalse(), "another object has no history")
	k.writeRemote(one, noon)
	g.Expect(k.remoteWritten(two)).To(BeZero())
	got, ok := k.Take(nameOf(two))
	g.Expect(ok).To(BeTrue())
	g.Expect(got).To(Equal(two))
	_, ok = k.Take(nameOf(two))
	g.Expect(ok).To(BeFalse())
	g.Expect(k.targets).To(BeEmpty())
}
