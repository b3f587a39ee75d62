// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/cluster/clustertest"
	"github.com/configbutler/gitops-reverser/internal/rules"
)

func TestScenario33_OneSettledPass(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps))
		w.manager.Declare(w.spec)
		for range 4 {
			w.pass(500 * time.Millisecond)
			w.manager.Trigger(key, TriggerRuleChange)
		}
		w.pass(1900 * time.Millisecond)
		g.Expect(w.status().Planned).To(BeFalse(), "no empty plan before the silence")
		g.Expect(w.status().Running).To(Equal("Unknown"))
		g.Expect(w.rec.get("dirty")).To(Equal(1))
		w.pass(200 * time.Millisecond)
		g.Expect(w.status().Planned).To(BeTrue())
		g.Expect(w.rec.get("plan completed")).To(Equal(1))
		g.Expect(w.rec.get("dirty")).To(Equal(0))
		g.Expect(w.rec.get("trigger rule_change true")).To(Equal(4))
	})
}

func TestScenario34_PassAtTheCap(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps))
		w.manager.Declare(w.spec)
		for range 9 {
			w.pass(time.Second)
			w.manager.Trigger(key, TriggerRuleChange)
		}
		w.pass(0)
		g.Expect(w.rec.get("plan completed")).To(Equal(0))
		w.pass(time.Second)
		g.Expect(w.rec.get("plan completed")).To(Equal(1))
	})
}

func TestScenario35_TriggerDuringAPass(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		var passes atomic.Int32
		w.planned(func(context.Context, *cluster.Catalog) (Plan, error) {
			if passes.Add(1) == 1 {
				w.manager.Trigger(key, TriggerRuleChange)
				return Plan{}, nil
			}
			return Plan{Collections: []Collection{col(configMaps)}}, nil
		})
		w.manager.Declare(w.spec)
		w.pass(2 * time.Second)
		w.pass(100 * time.Millisecond)
		g.Expect(passes.Load()).To(Equal(int32(2)), "planned again at once")
		g.Expect(w.status().Total).To(Equal(1))
	})
}

func TestScenario36_PassThatTimesOut(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps))
		w.up()
		w.planned(func(ctx context.Context, _ *cluster.Catalog) (Plan, error) {
			<-ctx.Done()
			return Plan{}, nil
		})
		w.manager.Trigger(key, TriggerRuleChange)
		other := w.spec
		other.Key.Name, other.Key.UID = "other", "t-2"
		w.pass(40 * time.Second)
		g.Expect(w.rec.get("plan timed_out")).To(Equal(1))
		st := w.status()
		g.Expect(st.Running).To(Equal("True"), "the old plan stays")
		g.Expect(st.Settled).To(BeFalse())
		g.Expect(st.PlanProblem).To(Equal("planning took longer than 30s"))
		g.Expect(w.rec.get("dirty")).To(Equal(1))
		since := w.rec.oldest
		w.pass(time.Minute)
		g.Expect(w.rec.oldest).To(Equal(since), "the oldest stays the oldest")
		w.watch(col(configMaps))
		w.pass(2 * time.Minute)
		g.Expect(w.status().Settled).To(BeTrue())
	})
}

func TestScenario10_RetainedAbortsAndRetries(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps))
		w.up()
		w.planned(func(context.Context, *cluster.Catalog) (Plan, error) {
			return Plan{Retained: []string{"x.test/boats"}}, nil
		})
		w.manager.Trigger(key, TriggerRuleChange)
		var at []time.Duration
		began := time.Now()
		for n := 0; len(at) < 6; {
			w.pass(100 * time.Millisecond)
			if failed := w.rec.get("plan failed"); failed > n {
				n = failed
				at = append(at, time.Since(began).Round(time.Second))
			}
		}
		second := time.Second
		g.Expect(at).To(Equal([]time.Duration{2 * second, 4 * second, 9 * second, 19 * second, 49 * second, 109 * second}))
		g.Expect(w.status().Running).To(Equal("True"), "streams stay")
		g.Expect(w.status().PlanProblem).To(ContainSubstring("x.test/boats"))
		g.Expect(w.server.Calls("watch=true")).To(HaveLen(1))
	})
}

func TestScenario37_AddedTypeOpensOneStream(t *testing.T) {
	bubble(t, []change.Type{configMaps, services}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps))
		w.up()
		w.watch(col(configMaps), col(services))
		w.manager.Trigger(key, TriggerRuleChange)
		w.pass(3 * time.Second)
		g.Expect(w.server.Calls("watch=true")).To(HaveExactElements(ContainSubstring("configmaps"), ContainSubstring("services")))
		g.Expect(w.sink.declared).To(Equal([]string{"1 [configmaps]", "2 [configmaps services]"}))
		g.Expect(w.status().Total).To(Equal(2))

		w.watch(col(services))
		w.manager.Trigger(key, TriggerRuleChange)
		w.pass(3 * time.Second)
		g.Expect(w.server.Calls("watch=true")).To(HaveLen(2))
		g.Expect(w.rec.get("open")).To(Equal(1))
	})
}

func TestScenario38_WidenedOperationsReplay(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps, change.Update))
		w.up()
		w.server.Apply(configMaps, configMap("boat", "a", "1"))
		w.pass(time.Second)
		g.Expect(w.sink.names()).To(BeEmpty())
		w.watch(col(configMaps, change.Create, change.Update))
		w.manager.Trigger(key, TriggerRuleChange)
		w.pass(3 * time.Second)
		g.Expect(w.sink.names()).To(Equal([]string{"boat"}))
		g.Expect(w.sink.lastSnapshot().initial).To(BeFalse(), "this collection was settled before")
	})
}

func TestScenario39_LoosenedPruneSnapshotsOnce(t *testing.T) {
	bubble(t, []change.Type{configMaps, services}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps), col(services))
		w.up()
		w.sink.take()
		w.spec.PruneMode = "Always"
		w.manager.Declare(w.spec)
		w.pass(3 * time.Second)
		g.Expect(w.sink.take()).To(ConsistOf("SNAPSHOT configmaps 0", "SNAPSHOT services 0"))
		w.spec.PruneMode = "Never"
		w.manager.Declare(w.spec)
		w.pass(time.Minute)
		g.Expect(w.sink.take()).To(BeEmpty())
	})
}

func TestScenario40And41_RulesAndTargetsGo(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Apply(configMaps, configMap("boat"))
		w.sink.always = true
		w.watch(col(configMaps))
		w.up()
		w.watch()
		w.manager.Trigger(key, TriggerRuleChange)
		w.pass(3 * time.Second)
		g.Expect(w.sink.names()).To(Equal([]string{"boat"}), "closing a stream changes nothing")
		st := w.status()
		g.Expect([]any{st.Running, st.Reason, st.Total}).To(Equal([]any{"False", ReasonNoResolvedTypes, 0}))
		g.Expect(w.sink.cells).To(BeEmpty())

		w.watch(col(configMaps))
		w.manager.Trigger(key, TriggerRuleChange)
		w.pass(3 * time.Second)
		w.manager.Forget(key)
		w.pass(time.Second)
		_, ok := w.manager.Status(key)
		g.Expect(ok).To(BeFalse())
		g.Expect(w.rec.get("forgotten")).To(Equal(1))
		_, held := w.sources.Get("default")
		g.Expect(held).To(BeFalse(), "the source is released")
		calls, offered := len(w.server.Calls()), w.sink.take()
		w.server.Apply(configMaps, configMap("buoy"))
		w.pass(10 * time.Minute)
		g.Expect(w.server.Calls()).To(HaveLen(calls), "no storm after the end")
		g.Expect(w.sink.take()).To(BeEmpty())
		_ = offered
	})
}

func TestScenario23_NamedStreamStartsAfterTheWideOneEnded(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		rule := func(name, ns string, at int) rules.Rule {
			return rules.Rule{
				Key:     rules.Key{Kind: rules.WatchRule, Namespace: "team", Name: name},
				Created: time.Date(2026, 1, at, 0, 0, 0, 0, time.UTC), Target: types.NamespacedName{Namespace: "team", Name: "mirror"},
				Items: []rules.Item{{Resources: []string{"configmaps"}, SourceNamespace: ns}},
			}
		}
		// The wide watch is slow to notice that it is over.
		ended := make(chan struct{})
		release := make(chan struct{})
		w.server.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.Contains(r.URL.Path, "/namespaces/dock/configmaps") {
				select {
				case <-ended:
				default:
					t.Error("the named stream opened before the wide one ended")
				}
			}
			return false
		})
		// An attributor that ignores its context holds the wide stream back.
		w.spec.Attributor = slowAttributor{release}
		w.rules(rule("all", "*", 1), rule("dock", "dock", 2))
		w.up()
		g.Expect(w.status().Cells).To(HaveLen(1))
		w.server.Apply(configMaps, configMap("boat"))
		w.pass(time.Second)
		// Also when a pass without any stream lies between.
		w.watch()
		w.manager.Trigger(key, TriggerRuleChange)
		w.pass(5 * time.Second)
		g.Expect(w.status().Total).To(BeZero())
		w.rules(rule("dock", "dock", 2))
		w.manager.Trigger(key, TriggerRuleChange)
		w.pass(5 * time.Second)
		g.Expect(w.server.Calls("/namespaces/dock/")).To(BeEmpty())
		close(ended)
		close(release)
		w.pass(time.Second)
		g.Expect(w.server.Calls("/namespaces/dock/")).To(HaveLen(1))
		g.Expect(w.status().Running).To(Equal("True"))
	})
}

// slowAttributor answers when released.
type slowAttributor struct{ release <-chan struct{} }

func (a slowAttributor) Attribute(context.Context, *change.Change) change.Author {
	<-a.release
	return change.Author{Kind: change.AuthorUser, Username: "ada"}
}

func TestRestartGuard(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.planned(func(context.Context, *cluster.Catalog) (Plan, error) {
			return Plan{}, errors.New("rules are still being read")
		})
		w.manager.Declare(w.spec)
		w.pass(20 * time.Second)
		st := w.status()
		g.Expect([]any{st.Planned, st.Running, st.Message}).To(Equal([]any{false, "Unknown", "rules are still being read"}))
		g.Expect(w.sink.declared).To(BeEmpty(), "no empty declaration either")
	})
}

func TestTooManyStreams(t *testing.T) {
	bubble(t, []change.Type{configMaps, services, deployments}, func(w *world) {
		g := NewWithT(w.T)
		w.manager.o.MaxStreams = 2
		w.watch(col(configMaps), col(services), col(deployments))
		w.manager.Declare(w.spec)
		w.pass(3 * time.Second)
		st := w.status()
		g.Expect([]any{st.Running, st.Reason, st.Blocked, st.Ready}).To(Equal([]any{"False", ReasonTooManyStreams, 1, 2}))
		g.Expect(w.server.Calls("watch=true")).To(HaveLen(2))
	})
}

func TestWithheldTypesOpenNothing(t *testing.T) {
	bubble(t, []change.Type{configMaps, services}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps), col(services))
		w.spec.Withheld = []Withheld{{Resource: "services", Reason: "EncryptionRequired", Message: "no key"}}
		w.manager.Declare(w.spec)
		w.pass(3 * time.Second)
		st := w.status()
		g.Expect([]any{st.Running, st.Reason, st.Message, st.Ready}).To(Equal([]any{"False", "EncryptionRequired", "no key", 1}))
		g.Expect(w.server.Calls("services")).To(BeEmpty())
		g.Expect(w.sink.declared).To(Equal([]string{"1 [configmaps]"}))
		w.spec.Withheld = nil
		w.manager.Declare(w.spec)
		w.pass(3 * time.Second)
		g.Expect(w.status().Running).To(Equal("True"))
	})
}

func TestRecheck(t *testing.T) {
	bubble(t, []change.Type{configMaps, services}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps), col(services))
		w.up()
		w.sink.take()
		w.manager.Recheck(key, "now")
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(ConsistOf("SNAPSHOT configmaps 0", "SNAPSHOT services 0"))
		g.Expect(w.status().Rechecked).To(Equal("now"))
		w.manager.Recheck(key, "now")
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(BeEmpty())

		w.sink.refuse(func(_ *change.Change, s *change.Snapshot) change.Verdict {
			if s.Cell.Resource == "services" {
				return change.IntakePaused
			}
			return change.Accepted
		})
		w.manager.Recheck(key, "later")
		w.pass(time.Second)
		g.Expect(w.status().Rechecked).To(Equal("now"), "not every collection was accepted")
		w.sink.reopen()
		w.pass(time.Second)
		g.Expect(w.status().Rechecked).To(Equal("later"))
	})
}

func TestSnapshotRequests(t *testing.T) {
	bubble(t, []change.Type{configMaps, services}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps), col(services))
		w.up()
		w.sink.take()
		w.asked.Post(SnapshotRequest{Target: key, Cell: cell})
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 0"}))
		g.Expect(w.dirty.Take()).To(Equal([]change.TargetKey{key}))
	})
}

func TestAnotherSinkTakesFreshSnapshots(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Apply(configMaps, configMap("boat"))
		w.watch(col(configMaps))
		w.up()
		next := newFakeSink()
		w.spec.Sink = next
		w.manager.Declare(w.spec)
		w.pass(3 * time.Second)
		g.Expect(next.take()).To(Equal([]string{"SNAPSHOT configmaps 1"}))
		g.Expect(next.lastSnapshot().initial).To(BeTrue())
		g.Expect(next.declared).To(HaveLen(1))
		w.server.Apply(configMaps, configMap("buoy"))
		w.pass(time.Second)
		g.Expect(w.sink.names()).To(Equal([]string{"boat"}), "the old worker hears no more")
		g.Expect(next.names()).To(Equal([]string{"boat", "buoy"}))
	})
}

func TestChangedIgnoreRulesReplaceTheContent(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Apply(configMaps, configMap("boat"))
		w.server.Apply(configMaps, configMap("kube-root-ca.crt"))
		w.watch(col(configMaps))
		w.up()
		g.Expect(w.sink.names()).To(Equal([]string{"boat"}))
		protected := ""
		for _, it := range w.sink.lastSnapshot().Items {
			protected += it.Protected
		}
		g.Expect(protected).To(Equal("cluster-made"), "present, so that no sweep takes its document")
		w.spec.Ignore.DisableDefaults = []string{"cluster-made"}
		w.manager.Declare(w.spec)
		w.pass(3 * time.Second)
		g.Expect(w.sink.names()).To(Equal([]string{"boat", "kube-root-ca.crt"}))
		w.spec.Ignore.DisableDefaults = []string{"no-such-rule"}
		w.manager.Declare(w.spec)
		w.pass(3 * time.Second)
		g.Expect(w.status().PlanProblem).To(ContainSubstring("no-such-rule"))
		w.spec.Ignore.DisableDefaults = nil
		w.manager.Declare(w.spec)
		w.pass(3 * time.Second)
		g.Expect(w.status().Running).To(Equal("True"), "cured without a restart")
	})
}

func TestScenario2_TypeBackInsideItsGraceKeepsItsStream(t *testing.T) {
	bubble(t, []change.Type{configMaps, boats}, func(w *world) {
		g := NewWithT(w.T)
		w.rules(rules.Rule{
			Key: rules.Key{Kind: rules.WatchRule, Namespace: "team", Name: "r"}, Target: types.NamespacedName{Namespace: "team", Name: "mirror"},
			Items: []rules.Item{{Resources: []string{"boats"}, SourceNamespace: "dock"}},
		})
		w.server.Apply(boats, configMap("skiff"))
		w.up()
		w.sink.take()
		w.server.SetTypes(clustertest.Resource{Type: configMaps})
		w.pass(40 * time.Second)
		g.Expect(w.status().Running).To(Equal("True"))
		w.server.SetTypes(clustertest.Resource{Type: configMaps}, clustertest.Resource{Type: boats})
		w.pass(2 * time.Minute)
		g.Expect(w.server.Calls("boats", "sendInitialEvents")).To(HaveLen(1), "the same stream and no replay")

		w.server.SetTypes(clustertest.Resource{Type: configMaps})
		w.pass(5 * time.Minute)
		g.Expect(w.status().Reason).To(Equal(ReasonNoResolvedTypes))
		g.Expect(w.sink.names()).To(Equal([]string{"skiff"}), "Git keeps the documents")
		g.Expect(w.sink.take()).To(BeEmpty())
	})
}

func TestCaseW01_DegradedGroup(t *testing.T) {
	rafts := change.Type{Group: "y.test", Version: "v1", Kind: "Raft", Resource: "rafts", Namespaced: true}
	bubble(t, []change.Type{configMaps, boats, rafts}, func(w *world) {
		g := NewWithT(w.T)
		w.sink.always = true
		w.rules(rules.Rule{
			Key: rules.Key{Kind: rules.WatchRule, Namespace: "team", Name: "r"}, Target: types.NamespacedName{Namespace: "team", Name: "mirror"},
			Items: []rules.Item{{Resources: []string{"*"}, APIGroups: []string{"", "x.test"}, SourceNamespace: "dock"}},
		})
		w.server.Apply(boats, configMap("skiff"))
		w.server.Apply(configMaps, configMap("boat"))
		w.up()
		w.sink.take()
		// The aggregated API goes away: discovery fails, its watch breaks and cannot be opened again.
		w.server.FailGroupVersion("x.test/v1", true)
		w.server.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/boats") {
				clustertest.Fail(rw, http.StatusServiceUnavailable, "ServiceUnavailable", "no endpoints")
				return true
			}
			return false
		})
		w.server.EndWatches()
		w.pass(time.Hour)
		w.server.Apply(configMaps, configMap("boat", "a", "1"))
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"UPDATE boat"}), "other kinds go on, nothing is swept")
		g.Expect(w.sink.names()).To(Equal([]string{"boat", "skiff"}))
		st := w.status()
		g.Expect(st.Reason).To(Equal(ReasonWatchError))
		g.Expect(st.Message).To(Equal("Watching x.test/boats fails: no endpoints"))
		g.Expect(st.Ready).To(Equal(1))
		src, _ := w.sources.Get("default")
		g.Expect(src.Catalog().Degraded()).To(Equal([]string{"x.test/v1"}), "status can say which group")

		// Another broken group, which nothing of this target is in, takes nothing with it.
		w.server.FailGroupVersion("y.test/v1", true)
		w.pass(time.Hour)
		w.server.Apply(configMaps, configMap("boat", "a", "2"))
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"UPDATE boat"}))
		g.Expect(w.status().Message).To(Equal("Watching x.test/boats fails: no endpoints"))
		g.Expect(src.Catalog().Degraded()).To(Equal([]string{"x.test/v1", "y.test/v1"}))

		w.server.FailGroupVersion("x.test/v1", false)
		w.server.Intercept(nil)
		w.pass(2 * time.Minute)
		g.Expect(w.status().Running).To(Equal("True"))
		g.Expect(w.sink.take()).To(BeEmpty(), "back without a change")
	})
}
