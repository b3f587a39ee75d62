// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	"github.com/configbutler/gitops-reverser/internal/change"
)

// catalog is a Catalog of lines "group/version resource Kind scope [verdict [reason]]"; core has the group "-". The
// last version of a group in the list is the preferred one unless a line ends in "*".
type catalog struct {
	lines    []string
	degraded []string
	notReady bool
}

func (c catalog) Ready() bool        { return !c.notReady }
func (c catalog) Degraded() []string { return c.degraded }

func (c catalog) Each(yield func(t change.Type, preferred bool, verdict, reason string) bool) {
	for _, l := range c.lines {
		f := strings.Fields(l)
		group, version, _ := strings.Cut(f[0], "/")
		if group == "-" {
			group = ""
		}
		version, preferred := strings.CutSuffix(version, "*")
		f = append(f, "followable", "")
		verdict, reason := f[4], f[5]
		if reason == "followable" {
			reason = ""
		}
		t := change.Type{Group: group, Version: version, Resource: f[1], Kind: f[2], Namespaced: f[3] == "ns"}
		if !yield(t, preferred, verdict, reason) {
			return
		}
	}
}

var standard = catalog{lines: []string{
	"-/v1* configmaps ConfigMap ns",
	"-/v1* namespaces Namespace cluster",
	"-/v1* pods Pod ns refused denied-by-policy",
	"-/v1* bindings Binding ns refused missing-verb",
	"-/v1* events Event ns refused denied-by-policy",
	"-/v1* services Service ns",
	"apps/v1* deployments Deployment ns",
	"batch/v1* cronjobs CronJob ns followable named-only",
	"events.k8s.io/v1* events Event ns refused denied-by-policy",
	"rbac.authorization.k8s.io/v1* clusterroles ClusterRole cluster",
	"x.test/v1 boats Boat ns",
	"x.test/v2* boats Boat ns",
	"x.test/v1 rafts Raft ns",
	"y.test/v1* boats Boat ns",
	"z.test/v1* ghosts Ghost ns pending settling",
}}

// twins is a source in which two groups serve one kind.
var twins = catalog{lines: []string{
	"extensions/v1beta1* ingresses Ingress ns", "networking.k8s.io/v1* ingresses Ingress ns",
}}

var (
	target = types.NamespacedName{Namespace: "team", Name: "mirror"}
	open   = Access{TargetAdmitted: true, AllowAnySourceNamespace: true}
	day    = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

func rule(name string, age int, items ...Item) Rule {
	return Rule{
		Key: Key{Kind: WatchRule, Namespace: "team", Name: name}, Created: day.AddDate(0, 0, -age), Target: target, Items: items,
	}
}

func clusterRule(name string, items ...Item) Rule {
	return Rule{Key: Key{Kind: ClusterWatchRule, Name: name}, Created: day, Target: target, Items: items}
}

func compiled(t *testing.T, rr ...Rule) []*Compiled {
	t.Helper()
	var out []*Compiled
	for _, r := range rr {
		res := Compile(r, open, nil)
		if res.Effect != Replace {
			t.Fatalf("%s: %+v", r.Key, res)
		}
		out = append(out, res.Compiled)
	}
	return out
}

// text writes a collection in one line.
func text(c Collection) string {
	s := fmt.Sprintf("%s@%s/%s", c.Type.APIVersion(), c.Namespace, c.Type.Resource)
	if len(c.Operations) < 3 {
		s += fmt.Sprint(" ", c.Operations)
	}
	if c.Selector != "" {
		s += " {" + c.Selector + "}"
	}
	for _, cl := range c.Clauses {
		s += fmt.Sprintf(" <%s:%v>", cl.Selector, cl.Operations)
	}
	if !c.Named {
		s += " wild"
	}
	return s
}

func texts(r Resolution) []string {
	out := []string{}
	for _, c := range r.Collections {
		out = append(out, text(c))
	}
	return out
}

func named(resources ...string) Item { return Item{Resources: resources} }

func TestScenario16_PluralsInAnyCase(t *testing.T) {
	g := NewWithT(t)
	r := Resolve(compiled(t, rule("r", 0, named("Deployments"))), standard)
	g.Expect(texts(r)).To(Equal([]string{"apps/v1@team/deployments"}))
	g.Expect(r.Rules[0].Resolved).To(Equal(Answer{Status: True, Reason: ReasonSucceeded, Message: "watching 1 resource type(s)"}))
	g.Expect(r.Rules[0].Cells).To(Equal([]change.Cell{{Group: "apps", Resource: "deployments", Namespace: "team"}}))
}

func TestScenario17_AmbiguousResource(t *testing.T) {
	g := NewWithT(t)
	r := Resolve(compiled(t, rule("r", 0, named("boats", "configmaps"))), standard)
	g.Expect(texts(r)).To(Equal([]string{"v1@team/configmaps"}))
	g.Expect(r.Rules[0].Resolved).To(Equal(Answer{
		Status: False, Reason: ReasonAmbiguousResource, Stalled: true,
		Message: `"boats" is served by the groups x.test, y.test; name one in apiGroups.`,
	}))
	g.Expect(r.Rules[0].Unresolved).To(Equal([]string{"boats"}))

	r = Resolve(compiled(t, rule("r", 0, Item{Resources: []string{"boats"}, APIGroups: []string{"*"}})), standard)
	g.Expect(texts(r)).To(Equal([]string{"x.test/v2@team/boats", "y.test/v1@team/boats"}))
}

func TestScenario18_AllVersions(t *testing.T) {
	g := NewWithT(t)
	all := Item{Resources: []string{"*"}, APIVersions: []string{"*"}}
	one := Resolve(compiled(t, rule("r", 0, all)), standard)
	g.Expect(Resolve(compiled(t, rule("r", 0, all)), standard)).To(Equal(one), "a restart gives the same")
	g.Expect(texts(one)).To(ContainElement("x.test/v2@team/boats wild"))
}

func TestScenario19And20_OneCollectionPerType(t *testing.T) {
	g := NewWithT(t)
	x := []string{"x.test"}
	r := Resolve(compiled(t, rule("r", 0, Item{Resources: []string{"boats", "rafts"}, APIGroups: x})), standard)
	g.Expect(texts(r)).To(Equal([]string{"x.test/v2@team/boats", "x.test/v1@team/rafts"}), "the preferred version, else the lowest")
	pinned := rule("old", 2, Item{Resources: []string{"boats"}, APIGroups: x, APIVersions: []string{"v1"}})
	g.Expect(texts(Resolve(compiled(t, pinned), standard))).To(Equal([]string{"x.test/v1@team/boats"}))
	both := Resolve(compiled(t, pinned, rule("new", 1, Item{Resources: []string{"boats"}, APIGroups: x})), standard)
	g.Expect(texts(both)).To(Equal([]string{"x.test/v2@team/boats"}), "one stream at the preferred version")

	moved := catalog{lines: []string{"x.test/v1* boats Boat ns", "x.test/v2 boats Boat ns"}}
	r = Resolve(compiled(t, rule("r", 0, Item{Resources: []string{"boats"}, APIGroups: x})), moved)
	g.Expect(texts(r)).To(Equal([]string{"x.test/v1@team/boats"}))
}

func TestScenario21_ScopeOfWildcards(t *testing.T) {
	g := NewWithT(t)
	r := Resolve(compiled(t, rule("r", 0, named("*"))), standard)
	g.Expect(texts(r)).To(Equal([]string{
		"v1@team/configmaps wild", "v1@team/services wild", "apps/v1@team/deployments wild", "x.test/v2@team/boats wild",
		"x.test/v1@team/rafts wild", "y.test/v1@team/boats wild",
	}))
	r = Resolve(compiled(t, clusterRule("r", named("*"))), standard)
	g.Expect(texts(r)).To(Equal([]string{
		"v1@/namespaces wild", "rbac.authorization.k8s.io/v1@/clusterroles wild",
	}))
}

func TestScenario9_NamedCronJobs(t *testing.T) {
	g := NewWithT(t)
	r := Resolve(compiled(t, rule("r", 0, named("cronjobs"))), standard)
	g.Expect(texts(r)).To(Equal([]string{"batch/v1@team/cronjobs"}))
}

func TestScenario22_OperationsAreUnited(t *testing.T) {
	g := NewWithT(t)
	r := Resolve(compiled(t,
		rule("a", 1, Item{Resources: []string{"configmaps"}, Operations: []string{"UPDATE"}}),
		rule("b", 2, Item{Resources: []string{"configmaps"}, Operations: []string{"CREATE"}}),
	), standard)
	g.Expect(texts(r)).To(Equal([]string{"v1@team/configmaps [CREATE UPDATE]"}))
}

func TestScenario23_OverlapRefusesTheYounger(t *testing.T) {
	g := NewWithT(t)
	all := rule("all", 5, Item{Resources: []string{"configmaps"}, SourceNamespace: "*"})
	one := rule("one", 1, Item{Resources: []string{"configmaps", "services"}, SourceNamespace: "dock"})
	r := Resolve(compiled(t, one, all), standard)
	g.Expect(texts(r)).To(Equal([]string{"v1@/configmaps"}))
	g.Expect(r.Rules[0].Key).To(Equal(all.Key))
	g.Expect(r.Rules[0].Resolved.Status).To(Equal(True))
	g.Expect(r.Rules[1].Resolved).To(Equal(Answer{
		Status: False, Reason: ReasonCollectionOverlap, Stalled: true,
		Message: "configmaps in namespace dock of WatchRule team/one overlaps configmaps in all namespaces of WatchRule team/all, " +
			"which is older. An object would be watched twice.",
	}))
	g.Expect(r.Rules[1].Cells).To(BeEmpty(), "refused as a whole")
	g.Expect(texts(Resolve(compiled(t, one), standard))).To(Equal([]string{"v1@dock/configmaps", "v1@dock/services"}))

	// The older one keeps its collections, whichever is the wide one.
	all.Created = day
	r = Resolve(compiled(t, one, all), standard)
	g.Expect(texts(r)).To(Equal([]string{"v1@dock/configmaps", "v1@dock/services"}))
	g.Expect(r.Rules[1].Resolved.Reason).To(Equal(ReasonCollectionOverlap))

	// Other namespaces, other types and cluster-scoped types do not overlap.
	r = Resolve(compiled(t, rule("a", 1, Item{Resources: []string{"configmaps"}, SourceNamespace: "dock"}),
		rule("b", 1, Item{Resources: []string{"configmaps"}, SourceNamespace: "quay"}),
		rule("c", 1, Item{Resources: []string{"services"}, SourceNamespace: "*"}),
		clusterRule("d", named("namespaces")), clusterRule("e", named("*"))), standard)
	for _, a := range r.Rules {
		g.Expect(a.Resolved.Status).To(Equal(True), a.Key.String())
	}

	self := rule("self", 1, Item{Resources: []string{"configmaps"}, SourceNamespace: "*"}, named("configmaps"))
	r = Resolve(compiled(t, self), standard)
	g.Expect(r.Rules[0].Resolved.Message).To(ContainSubstring("of the same rule"))
}

func TestScenario24_OverlapThroughTheCatalog(t *testing.T) {
	g := NewWithT(t)
	rr := compiled(t, rule("old", 2, Item{Resources: []string{"boats"}, APIGroups: []string{"x.test"}}),
		rule("new", 1, Item{Resources: []string{"*"}, SourceNamespace: "*", APIGroups: []string{"x.test"}}))
	before := catalog{lines: []string{"x.test/v1 rafts Raft ns"}}
	g.Expect(texts(Resolve(rr, before))).To(Equal([]string{"x.test/v1@/rafts wild"}))
	r := Resolve(rr, standard)
	g.Expect(texts(r)).To(Equal([]string{"x.test/v2@team/boats"}))
	g.Expect(r.Rules[1].Resolved.Reason).To(Equal(ReasonCollectionOverlap))
}

func TestSelectorsOfOneCell(t *testing.T) {
	g := NewWithT(t)
	sel := func(v string, ops ...string) Item {
		return Item{Resources: []string{"configmaps"}, Operations: ops, ObjectSelector: &Selector{
			MatchLabels:      map[string]string{"b": v},
			MatchExpressions: []Requirement{{Key: "a", Operator: "In", Values: []string{"2", "1"}}},
		}}
	}
	same := Resolve(compiled(t, rule("a", 1, sel("x", "CREATE")), rule("b", 1, sel("x", "UPDATE"))), standard)
	g.Expect(texts(same)).To(Equal([]string{"v1@team/configmaps [CREATE UPDATE] {a in (1,2),b=x}"}))
	other := Resolve(compiled(t, rule("a", 1, sel("x", "CREATE")), rule("b", 1, sel("y"))), standard)
	g.Expect(texts(other)).To(Equal([]string{
		"v1@team/configmaps <a in (1,2),b=x:[CREATE]> <a in (1,2),b=y:[CREATE UPDATE DELETE]>",
	}))
	wide := Resolve(compiled(t, rule("a", 1, sel("x")), rule("b", 1, named("configmaps"))), standard)
	g.Expect(texts(wide)).To(Equal([]string{"v1@team/configmaps"}), "a rule for everything makes the selector void")
	part := Resolve(compiled(t, rule("a", 1, sel("x")), rule("b", 1, Item{Resources: []string{"configmaps"}, Operations: []string{"DELETE"}})), standard)
	g.Expect(texts(part)).To(Equal([]string{"v1@team/configmaps <:[DELETE]> <a in (1,2),b=x:[CREATE UPDATE DELETE]>"}))
}

func TestBadSelector(t *testing.T) {
	g := NewWithT(t)
	res := Compile(rule("r", 0, named("services"), Item{Resources: []string{"configmaps"}, ObjectSelector: &Selector{
		MatchExpressions: []Requirement{{Key: "a", Operator: "Near"}},
	}}), open, nil)
	g.Expect(res.Effect).To(Equal(Remove))
	g.Expect(res.Refused.Reason).To(Equal(ReasonObjectSelectorInvalid))
	g.Expect(res.Refused.Message).To(HavePrefix("rules[1].objectSelector: "))
	g.Expect(res.Refused.Stalled).To(BeTrue())
}

// TestCaseU04: a name that selects nothing is said, with what was probably meant. The case of letters does not matter, and
// a type that two groups serve is taken from neither before one is named.
func TestCaseU04_UnresolvedNames(t *testing.T) {
	for _, c := range []struct {
		name    string
		rule    Rule
		catalog catalog
		want    Answer
	}{
		{"typo of the singular", rule("r", 0, named("deployment")), standard, Answer{
			Status: False, Reason: ReasonResourceNotServed, Message: `"deployment" is not served. Did you mean "deployments"?`,
		}},
		{"the kind", rule("r", 0, named("ConfigMap")), standard, Answer{
			Status: False, Reason: ReasonResourceNotServed, Message: `"configmap" is not served. Did you mean "configmaps"?`,
		}},
		{"an irregular plural of the kind", rule("r", 0, named("Ingress")),
			catalog{lines: []string{"networking.k8s.io/v1* ingresses Ingress ns"}}, Answer{
				Status: False, Reason: ReasonResourceNotServed, Message: `"ingress" is not served. Did you mean "ingresses"?`,
			}},
		{"a group with a twin", rule("r", 0, named("ingresses")), twins, Answer{
			Status: False, Reason: ReasonAmbiguousResource, Stalled: true,
			Message: `"ingresses" is served by the groups extensions, networking.k8s.io; name one in apiGroups.`,
		}},
		{"the twin that is not served", rule("r", 0, Item{Resources: []string{"ingresses"}, APIGroups: []string{"extensions"}}),
			catalog{lines: twins.lines[1:]}, Answer{
				Status: False, Reason: ReasonResourceNotServed,
				Message: `"ingresses" is not served in extensions. It is served as networking.k8s.io/v1.`,
			}},
		{"unknown", rule("r", 0, named("submarines")), standard, Answer{
			Status: False, Reason: ReasonResourceNotServed, Message: `"submarines" is not served.`,
		}},
		{"wrong group", rule("r", 0, Item{Resources: []string{"deployments"}, APIGroups: []string{""}}), standard, Answer{
			Status: False, Reason: ReasonResourceNotServed,
			Message: `"deployments" is not served in core (""). It is served as apps/v1.`,
		}},
		{"wrong version", rule("r", 0, Item{Resources: []string{"deployments"}, APIVersions: []string{"v1beta1"}}), standard, Answer{
			Status: False, Reason: ReasonResourceNotServed,
			Message: `"deployments" is not served at v1beta1. It is served as apps/v1.`,
		}},
		{"cluster-scoped in a WatchRule", rule("r", 0, named("namespaces")), standard, Answer{
			Status: False, Reason: ReasonResourceNotServed,
			Message: `"namespaces" is cluster-scoped: a WatchRule selects namespaced types only.`,
		}},
		{"namespaced in a ClusterWatchRule", clusterRule("r", named("configmaps")), standard, Answer{
			Status: False, Reason: ReasonResourceNotServed,
			Message: `"configmaps" is namespaced: a ClusterWatchRule selects cluster-scoped types only.`,
		}},
		{"denied", rule("r", 0, named("pods")), standard, Answer{
			Status: False, Reason: ReasonResourceExcluded, Stalled: true,
			Message: "pods is never watched: the cluster writes it for itself.",
		}},
		{"verbs", rule("r", 0, named("bindings")), standard, Answer{
			Status: False, Reason: ReasonResourceExcluded, Stalled: true, Message: "bindings cannot be watched (missing-verb).",
		}},
		{"settling", rule("r", 0, named("ghosts")), standard, Answer{
			Status: Unknown, Reason: ReasonCatalogNotReady, Message: "z.test/ghosts is not settled yet (settling).",
		}},
		{"its group fails", rule("r", 0, Item{Resources: []string{"masts"}, APIGroups: []string{"m.test"}}),
			catalog{lines: standard.lines, degraded: []string{"m.test/v1"}}, Answer{
				Status: Unknown, Reason: ReasonCatalogNotReady, Message: `"masts" is not known: discovery of m.test/v1 fails.`,
			}},
		{"wildcard over nothing", rule("r", 0, Item{Resources: []string{"*"}, APIGroups: []string{"none.test"}}), standard, Answer{
			Status: True, Reason: ReasonSucceeded, Message: "watching 0 resource type(s)",
		}},
		{"no catalog", rule("r", 0, named("configmaps")), catalog{notReady: true}, Answer{
			Status: Unknown, Reason: ReasonCatalogNotReady, Message: "The source's types are not known yet.",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			r := Resolve(compiled(t, c.rule), c.catalog)
			g.Expect(r.Rules[0].Resolved).To(Equal(c.want))
			g.Expect(r.Collections).To(BeEmpty())
		})
	}
	for name, c := range map[string]struct {
		item Item
		want string
	}{
		"wrong case":        {Item{Resources: []string{"INGRESSES"}, APIGroups: []string{"extensions"}}, "extensions/v1beta1@team/ingresses"},
		"one of the twins":  {Item{Resources: []string{"ingresses"}, APIGroups: []string{"networking.k8s.io"}}, "networking.k8s.io/v1@team/ingresses"},
		"the other of them": {Item{Resources: []string{"ingresses"}, APIGroups: []string{"extensions"}}, "extensions/v1beta1@team/ingresses"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := Resolve(compiled(t, rule("r", 0, c.item)), twins)
			g.Expect(texts(r)).To(Equal([]string{c.want}))
			g.Expect(r.Rules[0].Resolved.Status).To(Equal(True))
		})
	}
}

func TestScenario10_RetainedTypes(t *testing.T) {
	g := NewWithT(t)
	c := catalog{lines: []string{
		"x.test/v1* boats Boat ns retained discovery-degraded", "x.test/v2 boats Boat ns",
		"y.test/v1* rafts Raft ns retained not-served",
		"z.test/v1* masts Mast ns retained not-served", "z.test/v2 masts Mast ns",
	}}
	r := Resolve(compiled(t, rule("r", 0, named("boats", "rafts", "masts"))), c)
	g.Expect(r.Retained).To(Equal([]string{"x.test/boats", "y.test/rafts"}))
	g.Expect(texts(r)).To(ContainElement("z.test/v2@team/masts"), "another served version takes over")
	g.Expect(Resolve(compiled(t, rule("r", 0, named("*"))), c).Retained).To(Equal([]string{"x.test/boats", "y.test/rafts"}))
	g.Expect(Resolve(compiled(t, rule("r", 0, Item{Resources: []string{"masts"}})), c).Retained).To(BeEmpty())
}

func TestCaseW08_TwoRulesNeverBecomeOneStream(t *testing.T) {
	g := NewWithT(t)
	all := rule("all", 2, Item{Resources: []string{"configmaps"}, SourceNamespace: "*"})
	dock := rule("dock", 1, Item{Resources: []string{"configmaps"}, SourceNamespace: "dock"})
	r := Resolve(compiled(t, all, dock), standard)
	g.Expect(r.Rules[1].Resolved.Reason).To(Equal(ReasonCollectionOverlap), "said, not silently merged")
	g.Expect(r.Rules[0].Resolved.Status).To(Equal(True))
	g.Expect(texts(r)).To(Equal([]string{"v1@/configmaps"}), "dock is watched all the same")
	r = Resolve(compiled(t, dock), standard)
	g.Expect(texts(r)).To(Equal([]string{"v1@dock/configmaps"}), "the second runs once the first is gone")
}

func TestResolveDoesNotDependOnOrder(t *testing.T) {
	g := NewWithT(t)
	rr := compiled(t,
		rule("a", 1, named("*")), rule("b", 1, Item{Resources: []string{"configmaps"}, SourceNamespace: "*"}),
		rule("c", 3, named("boats", "services")), clusterRule("d", named("*")),
		rule("e", 2, Item{Resources: []string{"services"}, ObjectSelector: &Selector{MatchLabels: map[string]string{"a": "b"}}}),
	)
	want := Resolve(rr, standard)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		rng.Shuffle(len(rr), func(i, j int) { rr[i], rr[j] = rr[j], rr[i] })
		g.Expect(Resolve(rr, standard)).To(Equal(want))
	}
}

// labels is a Namespaces.
type nsLabels struct {
	synced, forbidden bool
	m                 map[string]map[string]string
	read              *int
}

func (n nsLabels) State() (bool, bool) { *n.read++; return n.synced, n.forbidden }
func (n nsLabels) Labels(ns string) (map[string]string, bool) {
	l, ok := n.m[ns]
	return l, ok
}

func (n nsLabels) Names() []string {
	var out []string
	for k := range n.m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func TestScenario27To30_Gate(t *testing.T) {
	reads := 0
	snapshot := nsLabels{synced: true, read: &reads, m: map[string]map[string]string{
		"dock": {"team": "a"}, "quay": {"team": "b"}, "team": {"team": "a"},
	}}
	teamA := &Selector{MatchLabels: map[string]string{"team": "a"}}
	foreign := func(ns string) Item { return Item{Resources: []string{"configmaps"}, SourceNamespace: ns} }
	for _, c := range []struct {
		name   string
		items  []Item
		access Access
		ns     Namespaces
		effect Effect
		want   Answer
		scopes []string
	}{
		{"27 own namespace needs nothing", []Item{named("configmaps"), foreign("team")}, Access{Undecided: "read failed"}, nil,
			Replace, Answer{Status: True, Reason: ReasonLegacySourceNamespace}, []string{"team"}},
		{"28 foreign namespace, flag off", []Item{named("services"), foreign("dock")}, Access{TargetAdmitted: true}, nil,
			Remove, Answer{Status: False, Reason: ReasonNamespaceNotAllowed, Stalled: true, Message: "rules[1] (configmaps): " +
				`the source namespace "dock" needs allowAnySourceNamespace on the KubeProvider`}, nil},
		{"foreign namespace, target not admitted", []Item{foreign("*")}, Access{AllowAnySourceNamespace: true}, nil,
			Remove, Answer{Status: False, Reason: ReasonNamespaceNotAllowed, Stalled: true}, nil},
		{"all namespaces", []Item{foreign("*")}, open, nil, Replace, Answer{Status: True, Reason: ReasonNamespaceAllowed}, []string{""}},
		{"30 a read failed", []Item{foreign("dock")}, Access{Undecided: "reading KubeProvider: timeout"}, nil,
			Keep, Answer{Status: Unknown, Reason: ReasonProgressing}, nil},
		{"policy by name", []Item{foreign("dock")}, Access{TargetAdmitted: true, AllowAnySourceNamespace: true, Policy: &NamespacePolicy{
			Names: []string{"dock"}, Selector: teamA}}, nil, Replace, Answer{Status: True, Reason: ReasonNamespaceAllowed}, []string{"dock"}},
		{"policy by label", []Item{foreign("dock")}, Access{TargetAdmitted: true, AllowAnySourceNamespace: true, Policy: &NamespacePolicy{
			Selector: teamA}}, snapshot, Replace, Answer{Status: True, Reason: ReasonNamespaceAllowed}, []string{"dock"}},
		{"policy label does not match", []Item{foreign("quay")}, Access{TargetAdmitted: true, AllowAnySourceNamespace: true,
			Policy: &NamespacePolicy{Selector: teamA}}, snapshot, Remove, Answer{Status: False, Reason: ReasonNamespaceNotAllowed, Stalled: true}, nil},
		{"policy namespace missing", []Item{foreign("nowhere")}, Access{TargetAdmitted: true, AllowAnySourceNamespace: true,
			Policy: &NamespacePolicy{Selector: teamA}}, snapshot, Remove, Answer{Status: False, Reason: ReasonNamespaceNotAllowed, Stalled: true}, nil},
		{"policy fans * out", []Item{foreign("*")}, Access{TargetAdmitted: true, AllowAnySourceNamespace: true, Policy: &NamespacePolicy{
			Names: []string{"zoo", "dock"}, Selector: teamA}}, snapshot, Replace, Answer{Status: True, Reason: ReasonNamespaceAllowed},
			[]string{"dock", "team", "zoo"}},
		{"policy fans * out by names only", []Item{foreign("*")}, Access{TargetAdmitted: true, AllowAnySourceNamespace: true,
			Policy: &NamespacePolicy{Names: []string{"zoo", "dock"}}}, nil, Replace, Answer{Status: True, Reason: ReasonNamespaceAllowed},
			[]string{"dock", "zoo"}},
		{"empty policy allows nothing", []Item{foreign("*")}, Access{TargetAdmitted: true, AllowAnySourceNamespace: true,
			Policy: &NamespacePolicy{}}, nil, Replace, Answer{Status: True, Reason: ReasonNamespaceAllowed,
			Message: "The rule watches 0 namespaces."}, nil},
		{"no self exception", []Item{named("configmaps")}, Access{Policy: &NamespacePolicy{Names: []string{"dock"}}}, nil,
			Remove, Answer{Status: False, Reason: ReasonNamespaceNotAllowed, Stalled: true}, nil},
		{"policy with a bad name", []Item{named("configmaps")}, Access{Policy: &NamespacePolicy{Names: []string{"Dock"}}}, nil,
			Remove, Answer{Status: False, Reason: ReasonNamespacePolicyBad, Stalled: true}, nil},
		{"policy with a bad selector", []Item{named("configmaps")}, Access{Policy: &NamespacePolicy{Selector: &Selector{
			MatchExpressions: []Requirement{{Key: "a", Operator: "Near"}}}}}, nil,
			Remove, Answer{Status: False, Reason: ReasonNamespacePolicyBad, Stalled: true}, nil},
		{"labels not known yet", []Item{foreign("*")}, Access{TargetAdmitted: true, AllowAnySourceNamespace: true,
			Policy: &NamespacePolicy{Selector: teamA}}, nsLabels{read: &reads}, Keep, Answer{Status: Unknown, Reason: ReasonNamespacePolicyPending}, nil},
		{"labels forbidden", []Item{foreign("*")}, Access{TargetAdmitted: true, AllowAnySourceNamespace: true,
			Policy: &NamespacePolicy{Selector: teamA}}, nsLabels{read: &reads, forbidden: true}, Remove,
			Answer{Status: False, Reason: ReasonNamespacePolicyBad, Stalled: true}, nil},
		{"denied wins over undecided", []Item{foreign("*"), foreign("quay")}, Access{TargetAdmitted: true, AllowAnySourceNamespace: true,
			Policy: &NamespacePolicy{Names: []string{"Bad"}}}, nil, Remove, Answer{Status: False, Reason: ReasonNamespacePolicyBad, Stalled: true}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			r := Compile(rule("r", 0, c.items...), c.access, c.ns)
			g.Expect(r.Effect).To(Equal(c.effect), "%+v", r)
			if c.want.Message == "" {
				r.Authorized.Message = ""
			}
			g.Expect(r.Authorized).To(Equal(c.want))
			if r.Compiled == nil {
				return
			}
			var scopes []string
			for _, col := range Resolve([]*Compiled{r.Compiled}, standard).Collections {
				scopes = append(scopes, col.Namespace)
			}
			g.Expect(scopes).To(Equal(c.scopes))
		})
	}
}

func TestScenario29And32_RevokedRuleIsRemoved(t *testing.T) {
	g := NewWithT(t)
	s := NewStore()
	r := rule("r", 0, Item{Resources: []string{"configmaps"}, SourceNamespace: "*"})
	s.Put(Compile(r, open, nil).Compiled)
	g.Expect(s.ForTarget(target)).To(HaveLen(1))
	res := Compile(r, Access{TargetAdmitted: true}, nil)
	g.Expect(res.Effect).To(Equal(Remove))
	g.Expect(res.Compiled).To(BeNil(), "nothing to plan with after a restart either")
	at, ok := s.Remove(r.Key)
	g.Expect(ok).To(BeTrue())
	g.Expect(at).To(Equal(target))
	g.Expect(s.ForTarget(target)).To(BeEmpty())
}

func TestStore(t *testing.T) {
	g := NewWithT(t)
	s := NewStore()
	g.Expect(s.Loaded()).To(BeFalse())
	s.MarkLoaded()
	g.Expect(s.Loaded()).To(BeTrue())
	young, old := rule("young", 1, named("configmaps")), rule("old", 5, named("configmaps"))
	for _, c := range compiled(t, young, old) {
		g.Expect(s.Put(c)).To(Equal([]types.NamespacedName{target}))
	}
	g.Expect(s.ForTarget(target)[0].Rule.Name).To(Equal("old"))
	young.Target.Name = "other"
	g.Expect(s.Put(compiled(t, young)[0])).To(ConsistOf(target, young.Target), "both plans change when a rule moves")
	got, ok := s.Get(young.Key)
	g.Expect(ok).To(BeTrue())
	g.Expect(got.Rule.Target).To(Equal(young.Target))
	_, ok = s.Remove(Key{Name: "none"})
	g.Expect(ok).To(BeFalse())
	g.Expect(Compile(Rule{Key: young.Key, Suspended: true}, open, nil).Effect).To(Equal(Remove))
}
