// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watchrules

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/controller/access"
	"github.com/configbutler/gitops-reverser/internal/controller/lifecycle"
	"github.com/configbutler/gitops-reverser/internal/metrics"
	"github.com/configbutler/gitops-reverser/internal/rules"
	"github.com/configbutler/gitops-reverser/internal/watch"
	"github.com/configbutler/gitops-reverser/tests/kstatus"
)

var (
	liveName = types.NamespacedName{Namespace: "shop", Name: "live"}
	liveKey  = change.TargetKey{Namespace: "shop", Name: "live", UID: "1"}
	ruleName = types.NamespacedName{Namespace: "shop", Name: "rule"}
)

// bed is the reconciler over stored objects; no source is connected.
type bed struct {
	*GomegaWithT
	t *testing.T
	*Reconciler
	// changed are the targets whose rules changed, in order.
	changed []change.TargetKey
	// patched runs at each patch of a status.
	patched func()
	// away is the answer to reads of a kind while it is set.
	away map[string]error
	// asked counts questions for the namespaces of a source.
	asked      int
	namespaces *snapshot
}

// snapshot is a source's namespaces.
type snapshot struct {
	synced, forbidden bool
	labels            map[string]map[string]string
}

func (s *snapshot) State() (synced, forbidden bool) { return s.synced, s.forbidden }
func (s *snapshot) Labels(n string) (map[string]string, bool) {
	l, ok := s.labels[n]
	return l, ok
}

func (s *snapshot) Names() []string {
	var out []string
	for n := range s.labels {
		out = append(out, n)
	}
	return out
}

type keys map[types.NamespacedName]change.TargetKey

func (k keys) Get(n types.NamespacedName) (change.TargetKey, bool) { key, ok := k[n]; return key, ok }

type silent struct{}

func (silent) Eventf(_, _ runtime.Object, _, _, _, _ string, _ ...any) {}
func (silent) AnnotatedEventf(_, _ runtime.Object, _ map[string]string, _, _, _, _ string, _ ...any) {
}

func newBed(t *testing.T, objects ...client.Object) *bed {
	b := &bed{GomegaWithT: NewWithT(t), t: t, away: map[string]error{}}
	scheme := runtime.NewScheme()
	b.Expect(errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha3.AddToScheme(scheme))).To(Succeed())
	c := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1alpha3.WatchRule{}).WithObjects(objects...).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
				opts ...client.GetOption) error {
				gvk, _ := c.GroupVersionKindFor(o)
				if err := b.away[gvk.Kind]; err != nil {
					return err
				}
				return c.Get(ctx, key, o, opts...)
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch,
				opts ...client.SubResourcePatchOption) error {
				if b.patched != nil {
					b.patched()
				}
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		}).Build()
	sources := cluster.NewSources(cluster.Options{})
	store := rules.NewStore()
	b.Reconciler = &Reconciler{
		Runner: &lifecycle.Runner{Client: c, Recorder: silent{}, Metrics: metrics.New(prometheus.NewRegistry()),
			Kind: v1alpha3.WatchRuleKind, Owned: owned},
		Access: &access.Reader{Client: c, Unfiltered: c}, Store: store, Sources: sources,
		Watch:   watch.NewManager(watch.Options{Sources: sources, Planner: Planner{Store: store}}),
		Targets: keys{liveName: liveKey}, Changed: func(k change.TargetKey) { b.changed = append(b.changed, k) },
		Namespaces: func(string) rules.Namespaces {
			if b.asked++; b.namespaces == nil {
				return nil
			}
			return b.namespaces
		},
	}
	b.Runner.Forget = b.forget
	return b
}

func (b *bed) pass() *v1alpha3.WatchRule {
	b.t.Helper()
	_, err := b.Reconcile(b.t.Context(), ctrl.Request{NamespacedName: ruleName})
	b.Expect(err).NotTo(HaveOccurred())
	r := &v1alpha3.WatchRule{}
	b.Expect(b.Runner.Client.Get(b.t.Context(), ruleName, r)).To(Succeed())
	b.Expect(kstatus.Legal(b.t.Context(), r)).To(Succeed())
	return r
}

func (b *bed) change(o client.Object, edit func()) {
	b.t.Helper()
	b.Expect(b.Runner.Client.Get(b.t.Context(), client.ObjectKeyFromObject(o), o)).To(Succeed())
	edit()
	o.SetGeneration(o.GetGeneration() + 1)
	b.Expect(b.Runner.Client.Update(b.t.Context(), o)).To(Succeed())
}

func (b *bed) compiled() bool {
	_, ok := b.Store.Get(key(ruleName))
	return ok
}

func condition(r *v1alpha3.WatchRule, kind string) [2]string {
	c := conditions.Get(r, kind)
	if c == nil {
		return [2]string{}
	}
	return [2]string{string(c.Status), c.Reason}
}

func kube(any bool) *v1alpha3.KubeProvider {
	return &v1alpha3.KubeProvider{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: v1alpha3.KubeProviderSpec{
		AllowAnySourceNamespace: any, AccessFrom: &v1alpha3.NamespaceMatcher{Names: []string{"shop"}},
	}}
}

func git() *v1alpha3.GitProvider {
	return &v1alpha3.GitProvider{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "infra"},
		Spec:       v1alpha3.GitProviderSpec{URL: "https://git.example.org/a.git", AllowedBranches: []string{"main"}},
	}
}

// live is a GitTarget that is ready.
func live() *v1alpha3.GitTarget {
	t := &v1alpha3.GitTarget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "live", UID: "1"},
		Spec: v1alpha3.GitTargetSpec{GitProviderRef: meta.NamespacedObjectReference{Name: "infra"},
			Branch: "main", Path: "a"},
	}
	conditions.MarkTrue(t, meta.ReadyCondition, meta.SucceededReason, "ready")
	return t
}

func item(ns string, resources ...string) v1alpha3.WatchRuleItem {
	return v1alpha3.WatchRuleItem{ResourceSelection: v1alpha3.ResourceSelection{Resources: resources}, SourceNamespace: ns}
}

func rule(items ...v1alpha3.WatchRuleItem) *v1alpha3.WatchRule {
	return &v1alpha3.WatchRule{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "rule", UID: "r", Generation: 1,
			CreationTimestamp: metav1.Unix(1, 0)},
		Spec: v1alpha3.WatchRuleSpec{GitTargetRef: meta.LocalObjectReference{Name: "live"}, Rules: items},
	}
}

// TestGatesOfAWatchRule: which condition each situation gives, and whether the rule stays compiled (watch 5.1,
// source-namespace-gate).
func TestGatesOfAWatchRule(t *testing.T) {
	labels := &v1alpha3.SourceNamespaces{Names: []string{"named"},
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"mirror": "yes"}}}
	known := &snapshot{synced: true, labels: map[string]map[string]string{"green": {"mirror": "yes"}, "red": nil}}
	bounded := func(p *v1alpha3.SourceNamespaces) *v1alpha3.GitTarget {
		l := live()
		l.Spec.AllowedSourceNamespaces = p
		return l
	}
	everything := []client.Object{git(), kube(true), live()}
	for name, tt := range map[string]struct {
		objects    []client.Object
		rule       *v1alpha3.WatchRule
		namespaces *snapshot

		compiled   bool
		authorized [2]string
		resources  [2]string
		target     [2]string
		stalled    bool
		text       string
	}{
		"20: its own namespace needs no flag": {objects: []client.Object{git(), kube(false), live()},
			rule:     rule(item("shop", "configmaps"), item("", "services")),
			compiled: true, authorized: [2]string{"True", "LegacySourceNamespace"}, resources: [2]string{"Unknown",
				"CatalogNotReady"}, target: [2]string{"True", "Succeeded"}},
		"19: another one without the flag": {objects: []client.Object{git(), kube(false), live()},
			rule:       rule(item("elsewhere", "configmaps")),
			authorized: [2]string{"False", "SourceNamespaceNotAllowed"}, resources: [2]string{"Unknown",
				"Progressing"}, target: [2]string{"True", "Succeeded"}, stalled: true, text: "allowAnySourceNamespace"},
		"19: all of them without the flag": {objects: []client.Object{git(), kube(false), live()},
			rule:       rule(item("*", "configmaps")),
			authorized: [2]string{"False", "SourceNamespaceNotAllowed"}, resources: [2]string{"Unknown",
				"Progressing"}, target: [2]string{"True", "Succeeded"}, stalled: true},
		"19: another one with it": {objects: everything, rule: rule(item("elsewhere", "configmaps")),
			compiled: true, authorized: [2]string{"True", "SourceNamespaceAllowed"}, resources: [2]string{"Unknown",
				"CatalogNotReady"}, target: [2]string{"True", "Succeeded"}},
		"21: one of three is denied": {objects: []client.Object{git(), kube(true),
			bounded(&v1alpha3.SourceNamespaces{Names: []string{"shop"}})},
			rule: rule(item("shop", "configmaps"), item("red", "services", "secrets"), item("",
				"pods")), authorized: [2]string{"False", "SourceNamespaceNotAllowed"},
			resources: [2]string{"Unknown", "Progressing"}, target: [2]string{"True",
				"Succeeded"}, stalled: true, text: "rules[1] (services, secrets)"},
		"a policy admits nobody": {objects: []client.Object{git(), kube(true), bounded(&v1alpha3.SourceNamespaces{})},
			rule:       rule(item("", "configmaps")),
			authorized: [2]string{"False", "SourceNamespaceNotAllowed"}, resources: [2]string{"Unknown",
				"Progressing"}, target: [2]string{"True", "Succeeded"}, stalled: true},
		"a policy by name reads no labels": {objects: []client.Object{git(), kube(true), bounded(labels)},
			rule:     rule(item("named", "configmaps")),
			compiled: true, authorized: [2]string{"True", "SourceNamespaceAllowed"}, resources: [2]string{"Unknown",
				"CatalogNotReady"}, target: [2]string{"True", "Succeeded"}},
		"a policy by label": {objects: []client.Object{git(), kube(true), bounded(labels)}, rule: rule(item("green",
			"configmaps")), namespaces: known,
			compiled: true, authorized: [2]string{"True", "SourceNamespaceAllowed"}, resources: [2]string{"Unknown",
				"CatalogNotReady"}, target: [2]string{"True", "Succeeded"}},
		"a label that does not match": {objects: []client.Object{git(), kube(true), bounded(labels)},
			rule: rule(item("red", "configmaps")), namespaces: known,
			authorized: [2]string{"False", "SourceNamespaceNotAllowed"}, resources: [2]string{"Unknown",
				"Progressing"}, target: [2]string{"True", "Succeeded"}, stalled: true},
		"labels that are not known yet": {objects: []client.Object{git(), kube(true), bounded(labels)},
			rule:       rule(item("green", "configmaps")),
			authorized: [2]string{"Unknown", "CheckingSourceNamespacePolicy"}, resources: [2]string{"Unknown",
				"CatalogNotReady"}, target: [2]string{"True", "Succeeded"}},
		"labels that may not be read": {objects: []client.Object{git(), kube(true), bounded(labels)},
			rule: rule(item("green", "configmaps")), namespaces: &snapshot{forbidden: true},
			authorized: [2]string{"False", "SourceNamespacePolicyUnavailable"}, resources: [2]string{"Unknown",
				"Progressing"}, target: [2]string{"True", "Succeeded"}, stalled: true},
		"a selector that is none": {objects: everything,
			rule: rule(v1alpha3.WatchRuleItem{ResourceSelection: v1alpha3.ResourceSelection{
				Resources: []string{"configmaps"}, ObjectSelector: &v1alpha3.ObjectSelector{MatchLabels: map[string]string{"a": "not a value!"}},
			}}), authorized: [2]string{"Unknown", "Progressing"}, resources: [2]string{"False", "ObjectSelectorInvalid"}, target: [2]string{"True", "Succeeded"}, stalled: true},
		"no GitTarget": {objects: []client.Object{git(), kube(true)}, rule: rule(item("", "configmaps")),
			authorized: [2]string{"Unknown", "Progressing"}, resources: [2]string{"Unknown",
				"Progressing"}, target: [2]string{"False", "GitTargetNotFound"}, stalled: true, text: "shop/live"},
		"no GitProvider": {objects: []client.Object{kube(true), live()}, rule: rule(item("", "configmaps")),
			authorized: [2]string{"Unknown", "Progressing"}, resources: [2]string{"Unknown",
				"Progressing"}, target: [2]string{"False", "GitProviderNotFound"}, stalled: true},
		"no KubeProvider": {objects: []client.Object{git(), live()}, rule: rule(item("", "configmaps")),
			authorized: [2]string{"Unknown", "Progressing"}, resources: [2]string{"Unknown",
				"Progressing"}, target: [2]string{"False", "KubeProviderNotFound"}, stalled: true},
		"a branch that is not allowed": {objects: []client.Object{git(), kube(true),
			func() *v1alpha3.GitTarget { l := live(); l.Spec.Branch = "dev"; return l }()}, rule: rule(item("", "configmaps")),
			authorized: [2]string{"Unknown", "Progressing"}, resources: [2]string{"Unknown",
				"Progressing"}, target: [2]string{"False", "GitDestinationInvalid"}, stalled: true, text: "allowedBranches"},
		"suspended": {objects: everything, rule: func() *v1alpha3.WatchRule {
			r := rule(item("",
				"configmaps"))
			r.Spec.Suspend = true
			return r
		}(),
			authorized: [2]string{"Unknown", "Suspended"}, resources: [2]string{"Unknown",
				"Suspended"}, target: [2]string{"True", "Succeeded"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, append(tt.objects, tt.rule)...)
			b.namespaces = tt.namespaces
			r := b.pass()
			b.Expect(b.compiled()).To(Equal(tt.compiled))
			b.Expect(condition(r, v1alpha3.SourceNamespaceAuthorizedCondition)).To(Equal(tt.authorized))
			b.Expect(condition(r, v1alpha3.ResourcesResolvedCondition)).To(Equal(tt.resources))
			b.Expect(condition(r, v1alpha3.GitTargetReadyCondition)).To(Equal(tt.target))
			b.Expect(conditions.IsStalled(r)).To(Equal(tt.stalled))
			b.Expect(conditions.GetMessage(r, meta.ReadyCondition)).To(ContainSubstring(tt.text))
		})
	}
}

// TestNamespacesAreReadOnlyForALabelPolicy: asking starts a snapshot that is refreshed for ever.
func TestNamespacesAreReadOnlyForALabelPolicy(t *testing.T) {
	b := newBed(t, git(), kube(true), live(), rule(item("*", "configmaps")))
	b.pass()
	b.Expect(b.asked).To(BeZero())
}

// TestScenario19_EffectsComeBeforeTheCondition: a denied rule leaves the store and the plan before its status says so,
// and comes back by event.
func TestScenario19_EffectsComeBeforeTheCondition(t *testing.T) {
	kp := kube(true)
	b := newBed(t, git(), kp, live(), rule(item("elsewhere", "configmaps")))
	b.pass()
	b.Expect(b.compiled()).To(BeTrue())
	b.Expect(b.changed).To(Equal([]change.TargetKey{liveKey}))
	b.pass()
	b.Expect(b.changed).To(HaveLen(1), "an equal rule changes nothing")

	b.change(kp, func() { kp.Spec.AllowAnySourceNamespace = false })
	order := []string{}
	b.patched = func() {
		order = append(order, "status")
		b.Expect(b.compiled()).To(BeFalse())
		b.Expect(b.changed).To(HaveLen(2))
	}
	r := b.pass()
	b.Expect(order).NotTo(BeEmpty())
	b.Expect(condition(r, meta.ReadyCondition)).To(Equal([2]string{"False", "SourceNamespaceNotAllowed"}))
	b.patched = nil
	b.change(kp, func() { kp.Spec.AllowAnySourceNamespace = true })
	b.pass()
	b.Expect(b.compiled()).To(BeTrue())
}

// TestScenario22_ATargetThatLosesAdmissionTakesItsRulesAlong: also those that read their own namespace only.
func TestScenario22_ATargetThatLosesAdmissionTakesItsRulesAlong(t *testing.T) {
	kp := kube(true)
	b := newBed(t, git(), kp, live(), rule(item("", "configmaps")))
	b.pass()
	b.Expect(b.compiled()).To(BeTrue())
	b.change(kp, func() { kp.Spec.AccessFrom = nil })
	r := b.pass()
	b.Expect(b.compiled()).To(BeFalse())
	b.Expect(condition(r, v1alpha3.GitTargetReadyCondition)).To(Equal([2]string{"False", "NamespaceNotAuthorized"}))
	b.Expect(r.Status.Streams).To(BeNil())
}

// TestAReadErrorLeavesTheCompiledRule: nothing is known, nothing moves.
func TestAReadErrorLeavesTheCompiledRule(t *testing.T) {
	b := newBed(t, git(), kube(true), live(), rule(item("", "configmaps")))
	b.pass()
	for _, kind := range []string{"GitTarget", "GitProvider", "KubeProvider"} {
		b.away[kind] = errors.New("the API server is away")
		_, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: ruleName})
		b.Expect(err).To(MatchError(ContainSubstring("away")), kind)
		b.Expect(b.compiled()).To(BeTrue(), kind)
		delete(b.away, kind)
	}
}

// TestUndecidedKeepsOnlyARuleOfTheSameSpec: while labels are not known, what was compiled from this spec stays.
func TestUndecidedKeepsOnlyARuleOfTheSameSpec(t *testing.T) {
	l := live()
	l.Spec.AllowedSourceNamespaces = &v1alpha3.SourceNamespaces{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"mirror": "yes"}}}
	stored := rule(item("green", "configmaps"))
	b := newBed(t, git(), kube(true), l, stored)
	b.namespaces = &snapshot{synced: true, labels: map[string]map[string]string{"green": {"mirror": "yes"}}}
	b.pass()
	b.Expect(b.compiled()).To(BeTrue())
	b.namespaces = nil
	b.pass()
	b.Expect(b.compiled()).To(BeTrue(), "the same spec")
	b.change(stored, func() { stored.Spec.Rules = []v1alpha3.WatchRuleItem{item("red", "configmaps")} })
	b.pass()
	b.Expect(b.compiled()).To(BeFalse(), "another spec was never allowed")
}

func TestSuspendedAndDeletedRulesLeaveTheStore(t *testing.T) {
	stored := rule(item("", "configmaps"))
	b := newBed(t, git(), kube(true), live(), stored)
	b.pass()
	b.change(stored, func() { stored.Spec.Suspend = true })
	r := b.pass()
	b.Expect(b.compiled()).To(BeFalse())
	b.Expect(condition(r, meta.ReadyCondition)).To(Equal([2]string{"True", "Suspended"}))
	b.change(stored, func() { stored.Spec.Suspend = false })
	b.pass()
	b.Expect(b.compiled()).To(BeTrue())
	b.Expect(b.Runner.Client.Delete(t.Context(), stored)).To(Succeed())
	_, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: ruleName})
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(b.compiled()).To(BeFalse())
}

// TestScenario23_ARestartLetsNoRefusedRuleIn: the store opens although rules are refused or cannot be evaluated, and holds
// the others.
func TestScenario23_ARestartLetsNoRefusedRuleIn(t *testing.T) {
	denied := rule(item("elsewhere", "configmaps"))
	denied.Name = "denied"
	good := rule(item("", "configmaps"))
	orphan := rule(item("", "configmaps"))
	orphan.Name, orphan.Spec.GitTargetRef.Name = "orphan", "gone"
	bad := rule(item("", "configmaps"))
	bad.Namespace, bad.Name = "bad", "bad"
	badTarget := live()
	badTarget.Namespace, badTarget.Spec.GitProviderRef = "bad", meta.NamespacedObjectReference{Name: "bad",
		Namespace: "bad"}
	badProvider := git()
	badProvider.Namespace, badProvider.Name = "bad", "bad"
	badProvider.Spec.AccessFrom = &v1alpha3.NamespaceMatcher{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Nearly"}}}}
	b := newBed(t, git(), kube(false), live(), denied, good, orphan, bad, badTarget, badProvider)
	_, err := b.Planner().Plan(t.Context(), liveKey, nil)
	b.Expect(err).To(MatchError(ContainSubstring("still being read")), "no plan from half of the rules")
	b.Expect(b.Load(t.Context())).To(Succeed())
	b.Expect(b.Store.Loaded()).To(BeTrue())
	b.Expect(b.Store.ForTarget(liveName)).To(HaveLen(1))
	b.Expect(b.compiled()).To(BeTrue())
}

// Planner is the planner over the bed's store.
func (b *bed) Planner() Planner { return Planner{Store: b.Store} }

// TestLoadDoesNotBringADeletedRuleBack: a rule may go between the list and its turn.
func TestLoadDoesNotBringADeletedRuleBack(t *testing.T) {
	stored := rule(item("", "configmaps"))
	b := newBed(t, git(), kube(true), live(), stored)
	b.Expect(b.Runner.Client.Delete(t.Context(), stored)).To(Succeed())
	b.Expect(b.load(t.Context(), ruleName)).To(Succeed())
	b.Expect(b.compiled()).To(BeFalse())
}

// TestStalledRulesComeBackAtTheirInterval: every cause of a stall has a watch (api 7).
func TestStalledRulesComeBackAtTheirInterval(t *testing.T) {
	b := newBed(t, git(), kube(false), live(), rule(item("elsewhere", "configmaps")))
	result, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: ruleName})
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(result.RequeueAfter).To(Equal(v1alpha3.RuleRequeueInterval))
	b = newBed(t, git(), kube(false), live(), rule(item("", "configmaps")))
	result, err = b.Reconcile(t.Context(), ctrl.Request{NamespacedName: ruleName})
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(result.RequeueAfter).To(Equal(10*time.Second), "it is on its way")
}

// TestTargetOfARule projects the GitTarget's Ready; only what a person must cure there stalls the rule (api 7).
func TestTargetOfARule(t *testing.T) {
	for name, tt := range map[string]struct {
		mark    func(*v1alpha3.GitTarget)
		want    [2]string
		ready   string
		stalled bool
	}{
		"ready": {func(t *v1alpha3.GitTarget) {}, [2]string{"True", "Succeeded"}, "CatalogNotReady", false},
		"suspended": {func(t *v1alpha3.GitTarget) { conditions.MarkTrue(t, meta.ReadyCondition, "Suspended", "s") },
			[2]string{"True", "Succeeded"}, "CatalogNotReady", false},
		"no word": {func(t *v1alpha3.GitTarget) { t.Status.Conditions = nil }, [2]string{"Unknown", "NotReady"},
			"CatalogNotReady", false},
		"on its way": {func(t *v1alpha3.GitTarget) {
			conditions.MarkFalse(t, meta.ReadyCondition, "Progressing", "p")
			conditions.MarkReconciling(t, "Progressing", "p")
		}, [2]string{"False", "Progressing"}, "CatalogNotReady", false},
		"dark": {func(t *v1alpha3.GitTarget) {
			conditions.MarkUnknown(t, meta.ReadyCondition, "AwaitingDiscovery", "p")
			conditions.MarkReconciling(t, "AwaitingDiscovery", "p")
		}, [2]string{"Unknown", "AwaitingDiscovery"}, "CatalogNotReady", false},
		"stalled": {func(t *v1alpha3.GitTarget) {
			conditions.MarkFalse(t, meta.ReadyCondition, "TargetConflict", "p")
			conditions.MarkStalled(t, "TargetConflict", "p")
		}, [2]string{"False", "TargetConflict"}, "TargetConflict", true},
	} {
		t.Run(name, func(t *testing.T) {
			l := live()
			tt.mark(l)
			b := newBed(t, git(), kube(false), l, rule(item("", "configmaps")))
			r := b.pass()
			b.Expect(condition(r, v1alpha3.GitTargetReadyCondition)).To(Equal(tt.want))
			b.Expect(conditions.GetReason(r, meta.ReadyCondition)).To(Equal(tt.ready))
			b.Expect(conditions.IsStalled(r)).To(Equal(tt.stalled))
		})
	}
}

// TestCellsOfARule: a watch that fails is retried; what else blocks needs a person (decisions 60).
func TestCellsOfARule(t *testing.T) {
	for name, tt := range map[string]struct {
		status  watch.Status
		reason  string
		stalled bool
		ready   bool
	}{
		"all run": {watch.Status{Counts: watch.Counts{Total: 1, Ready: 1},
			Answer: watch.Answer{Running: "True", Reason: "AllStreamsReady"}}, "AllStreamsReady", false, true},
		"nothing selected": {watch.Status{Answer: watch.Answer{Running: "False", Reason: "NoResolvedTypes"}},
			"NoResolvedTypes", false, true},
		"no plan yet": {watch.Status{Answer: watch.Answer{Running: "Unknown"}, Counts: watch.Counts{Total: 1}},
			"NotReady", false, false},
		"one is read":        {blockedStatus(watch.Replaying, "InitialReplay"), "InitialReplay", false, false},
		"one fails":          {blockedStatus(watch.Blocked, "WatchError"), "WatchError", false, false},
		"one is forbidden":   {blockedStatus(watch.Blocked, "WatchNotPermitted"), "WatchNotPermitted", true, false},
		"one is a Secret":    {blockedStatus(watch.Blocked, "EncryptionRequired"), "EncryptionRequired", true, false},
		"there are too many": {blockedStatus(watch.Blocked, "TooManyStreams"), "TooManyStreams", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var s lifecycle.Summary
			r := rule()
			reportCells(r, tt.status)
			weighCells(tt.status, &s)
			g.Expect(conditions.GetReason(r, v1alpha3.StreamsRunningCondition)).To(Equal(tt.reason))
			g.Expect(s.IsStalled()).To(Equal(tt.stalled))
			g.Expect(s.IsConverged()).To(Equal(tt.ready))
			g.Expect(r.Status.Streams.Total).To(BeEquivalentTo(tt.status.Total))
		})
	}
}

func blockedStatus(p watch.Phase, reason string) watch.Status {
	return watch.Status{
		Planned: true, Counts: watch.Counts{Total: 1, Blocked: 1}, Answer: watch.Answer{Running: "False",
			Reason: reason, Message: "m"},
		Types: []watch.TypeStatus{{Group: "apps", Resource: "deployments", Phase: p, Reason: reason, Message: "m"}},
	}
}

func TestPendingTypesAreNamedWithTheirGroup(t *testing.T) {
	g := NewWithT(t)
	r := rule()
	reportCells(r, blockedStatus(watch.Blocked, "WatchError"))
	g.Expect(r.Status.Streams.PendingSample).To(Equal([]string{change.Type{Group: "apps",
		Resource: "deployments"}.GroupResource()}))
}

func TestRulesOfATarget(t *testing.T) {
	b := newBed(t, rule(item("", "configmaps")))
	b.Expect(b.feeding(t.Context(), liveName)).To(HaveLen(1))
	b.Expect(b.feeding(t.Context(), types.NamespacedName{Namespace: "other", Name: "live"})).To(BeEmpty())
}
