// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/cluster/clustertest"
)

func TestScenario55_StatusUpdates(t *testing.T) {
	bubble(t, []change.Type{deployments}, func(w *world) {
		g := NewWithT(w.T)
		dep := func(ready int, image string) clustertest.Object {
			o := configMap("boat")
			delete(o, "data")
			o["spec"] = clustertest.Object{"image": image}
			o["status"] = clustertest.Object{"ready": ready}
			o["metadata"].(clustertest.Object)["managedFields"] = []any{clustertest.Object{"time": ready}}
			return o
		}
		w.server.Apply(deployments, dep(0, "a"))
		w.watch(col(deployments))
		w.up()
		w.sink.take()
		for i := range 50 {
			w.server.Apply(deployments, dep(i+1, "a"))
		}
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(BeEmpty())
		g.Expect(w.rec.get("event unchanged")).To(Equal(50))
		g.Expect(w.rec.get("handled")).To(Equal(0), "nothing was decoded")
		w.server.Apply(deployments, dep(51, "b"))
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"UPDATE boat"}))

		// The mark moved with the events that carried nothing.
		rv := w.server.Apply(deployments, dep(52, "b"))["metadata"].(clustertest.Object)["resourceVersion"].(string)
		w.pass(time.Second)
		w.server.EndWatches()
		w.pass(time.Second)
		g.Expect(w.server.Calls("resourceVersion=" + rv)).To(HaveLen(1))
	})
}

func TestScenario56_FinalizerHoldsADeletion(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Apply(configMaps, configMap("boat"))
		w.watch(col(configMaps))
		w.up()
		w.sink.take()
		w.server.Apply(configMaps, terminating(configMap("boat")))
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"DELETE boat"}), "at the request, not at the end")
		for i := range 3 {
			w.server.Apply(configMaps, terminating(configMap("boat", "beat", strconv.Itoa(i))))
		}
		w.server.Delete(configMaps, "dock", "boat")
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(BeEmpty())
		w.server.Apply(configMaps, configMap("boat"))
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"CREATE boat"}), "a successor is another object")
	})
}

func TestScenario57_UpdateOnlyRule(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps, change.Update))
		w.up()
		w.sink.take()
		w.server.Apply(configMaps, configMap("boat", "a", "1"))
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(BeEmpty())
		g.Expect(w.rec.get("event operation_filtered")).To(Equal(1))
		w.server.Apply(configMaps, configMap("boat", "a", "1"))
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"UPDATE boat"}), "Git does not have it yet")
		w.server.Delete(configMaps, "dock", "boat")
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(BeEmpty())
	})
}

func TestScenario58_RefusedUpdateIsOfferedAgain(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Apply(configMaps, configMap("boat", "a", "1"))
		w.watch(col(configMaps))
		w.up()
		w.sink.take()
		w.sink.refuse(func(*change.Change, *change.Snapshot) change.Verdict { return change.QueueFull })
		w.server.Apply(configMaps, configMap("boat", "a", "2"))
		w.server.Apply(configMaps, configMap("buoy", "a", "1"))
		w.server.Apply(configMaps, configMap("boat", "a", "1"))
		w.pass(30 * time.Second)
		g.Expect(w.sink.take()).To(BeEmpty())
		g.Expect(w.sink.refused).To(BeNumerically("~", 11, 3), "100 ms doubling to 5 s")
		g.Expect(w.rec.get("refused write QueueFull")).To(Equal(w.sink.refused))
		w.server.EndWatches()
		w.pass(time.Second)
		w.sink.reopen()
		w.pass(5 * time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"UPDATE boat", "CREATE buoy", "UPDATE boat"}), "in order, none lost")
		g.Expect(w.server.Calls("sendInitialEvents")).To(HaveLen(1))
	})
}

func TestScenario58_MarkStaysWhenTheStreamEndsInARefusal(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Apply(configMaps, configMap("boat", "a", "1"))
		w.watch(col(configMaps))
		w.up()
		rv := w.sink.lastSnapshot().ResourceVersion
		w.sink.take()
		w.sink.refuse(func(*change.Change, *change.Snapshot) change.Verdict { return change.Stopped })
		w.server.Apply(configMaps, configMap("boat", "a", "2"))
		w.pass(time.Second)
		w.sink.reopen()
		w.pass(10 * time.Second)
		g.Expect(w.server.Calls("resourceVersion="+rv)).NotTo(BeEmpty(), "redelivered from the old mark")
		g.Expect(w.sink.take()).To(Equal([]string{"UPDATE boat"}))
	})
}

func TestScenario59And63_RefusedSnapshot(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Apply(configMaps, configMap("boat", "a", strings.Repeat("x", 5000)))
		w.sink.refuse(func(*change.Change, *change.Snapshot) change.Verdict { return change.TooLarge })
		w.watch(col(configMaps))
		w.manager.Declare(w.spec)
		w.pass(5 * time.Minute)
		g.Expect(w.sink.refused).To(BeNumerically("<=", 6), "gathered again once a minute, not in a loop")
		st := w.status()
		g.Expect([]any{st.Running, st.Reason, st.Blocked}).To(Equal([]any{"False", ReasonBranchIntakePaused, 0}))
		g.Expect(st.Message).To(MatchRegexp(`The snapshot of configmaps holds 7\d\d\d bytes`))
		g.Expect(w.sink.take()).To(BeEmpty())
		w.sink.reopen()
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 1"}), "one wake-up is enough")
		g.Expect(w.server.Calls("watch=true")).To(HaveEach(ContainSubstring("sendInitialEvents")))
	})
}

func TestScenario60_BaselineFromTheSnapshot(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Apply(configMaps, configMap("boat", "a", "X"))
		w.watch(col(configMaps))
		w.up()
		w.sink.take()
		var away atomic.Bool
		w.server.Intercept(onWatch(func(rw http.ResponseWriter, _ *http.Request) bool {
			return away.Load() && refuseWith(503, "ServiceUnavailable", "away")(rw, nil)
		}))
		away.Store(true)
		w.server.EndWatches()
		w.pass(time.Second)
		w.server.Apply(configMaps, configMap("boat", "a", "Z"))
		w.server.Apply(configMaps, configMap("boat", "a", "X"))
		w.server.Compact()
		away.Store(false)
		w.pass(20 * time.Second)
		w.server.Apply(configMaps, configMap("boat", "a", "Z"))
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 1", "UPDATE boat"}))
	})
}

func TestScenario62_IntakePaused(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps))
		w.up()
		w.sink.take()
		w.sink.refuse(func(*change.Change, *change.Snapshot) change.Verdict { return change.IntakePaused })
		w.server.Apply(configMaps, configMap("boat"))
		w.pass(10 * time.Minute)
		st := w.status()
		g.Expect([]any{st.Running, st.Reason, st.Blocked, st.Replaying}).To(Equal([]any{"False", ReasonBranchIntakePaused, 0, 1}))
		refused := w.sink.refused
		w.sink.reopen()
		w.pass(time.Millisecond)
		g.Expect(w.sink.take()).To(Equal([]string{"CREATE boat"}), "woken without an edit and without its turn of the clock")
		g.Expect(w.sink.refused).To(Equal(refused))
		g.Expect(w.status().Running).To(Equal("True"))
	})
}

func TestScenario64_ForgetDuringAPause(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps))
		w.up()
		w.sink.refuse(func(*change.Change, *change.Snapshot) change.Verdict { return change.IntakePaused })
		w.server.Apply(configMaps, configMap("boat"))
		w.pass(time.Second)
		w.manager.Forget(key)
		w.pass(time.Millisecond)
		g.Expect(w.rec.get("forgotten")).To(Equal(1), "a paused stream ends at once")
	})
}

func TestScenario65_SourcesAreApart(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps))
		servers := []*clustertest.Server{w.server}
		sinks := []*fakeSink{w.sink}
		specs := []TargetSpec{w.spec}
		for i := range 2 {
			s := clustertest.New(configMaps)
			servers = append(servers, s)
			name := fmt.Sprintf("remote-%d", i)
			g.Expect(w.sources.Set(name, cluster.Config{REST: s.Config(), Token: "1"})).To(Succeed())
			spec := w.spec
			spec.Key.Name, spec.Key.UID, spec.Source = name, name, name
			sink := newFakeSink()
			spec.Sink = sink
			sinks, specs = append(sinks, sink), append(specs, spec)
		}
		for i, s := range servers {
			s.Apply(configMaps, configMap("boat", "from", strconv.Itoa(i)))
			w.manager.Declare(specs[i])
		}
		w.pass(3 * time.Second)
		for i, s := range sinks {
			g.Expect(s.folder[change.ObjectID{Kind: "ConfigMap", Namespace: "dock", Name: "boat"}]).To(ContainSubstring(`"from":"%d"`, i))
		}
		servers[1].Intercept(func(http.ResponseWriter, *http.Request) bool { panic(clustertest.ErrAbort) })
		servers[1].EndWatches()
		w.pass(time.Minute)
		for i, spec := range specs {
			st, _ := w.manager.Status(spec.Key)
			g.Expect(st.Running).To(Equal(map[bool]string{true: "False", false: "True"}[i == 1]))
		}
	})
}

func TestScenario66_RotatedCredentials(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Apply(configMaps, configMap("boat"))
		w.sink.always = true
		w.watch(col(configMaps))
		w.up()
		w.sink.take()
		g.Expect(w.sources.Set("default", cluster.Config{REST: w.server.Config(), Token: "2"})).To(Succeed())
		w.pass(5 * time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 1"}), "restarted with a fresh snapshot")
		g.Expect(w.rec.get("ended credentials")).To(Equal(1))
		w.sources.Remove("default")
		w.pass(time.Hour)
		g.Expect(w.rec.get("open")).To(Equal(0))
		g.Expect(w.sink.names()).To(Equal([]string{"boat"}), "Git stays")
		g.Expect(w.status().Cells[0].Reason).To(Equal(ReasonNotReady))
		g.Expect(w.status().Answer).To(And(HaveField("Running", "Unknown"), HaveField("Message", ContainSubstring("not connected"))),
			"nothing is being read")
		g.Expect(w.sources.Set("default", cluster.Config{REST: w.server.Config(), Token: "3"})).To(Succeed())
		w.pass(5 * time.Second)
		g.Expect(w.status().Running).To(Equal("True"))
	})
}

func TestScenario67_DiscardedSnapshotIsTakenAgain(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Apply(configMaps, configMap("boat"))
		w.watch(col(configMaps))
		w.spec.Stamp = func() Stamp { return Stamp{Applies: 3, Ahead: true} }
		w.up()
		g.Expect(w.sink.lastSnapshot().stamp).To(Equal(Stamp{Epoch: 1, Applies: 3, Ahead: true}))
		w.sink.take()
		w.sink.mu.Lock()
		w.sink.outcome = change.Discarded
		w.sink.mu.Unlock()
		w.manager.Recheck(key, "x")
		w.pass(10 * time.Minute)
		g.Expect(len(w.sink.take())).To(BeNumerically("~", 23, 2), "again, from 2 s to 30 s apart")
		w.sink.mu.Lock()
		w.sink.outcome = change.Settled
		w.sink.mu.Unlock()
		w.pass(40 * time.Second)
		g.Expect(w.sink.take()).To(HaveLen(1))
		w.pass(time.Hour)
		g.Expect(w.sink.take()).To(BeEmpty())
		g.Expect(w.sink.lastSnapshot().initial).To(BeFalse())
		g.Expect(w.status().Running).To(Equal("True"))
	})
}

// TestKeptSnapshotIsNotTakenAgain: during an outage of Git the source is left alone; a lost one is taken again.
func TestKeptSnapshotIsNotTakenAgain(t *testing.T) {
	for outcome, again := range map[change.Outcome]int{change.KeptOutcome: 0, change.FailedOutcome: 10} {
		bubble(t, []change.Type{configMaps}, func(w *world) {
			g := NewWithT(w.T)
			w.watch(col(configMaps))
			w.up()
			w.sink.take()
			w.sink.mu.Lock()
			w.sink.outcome = outcome
			w.sink.mu.Unlock()
			w.manager.Recheck(key, "x")
			w.pass(time.Second)
			w.sink.take()
			w.pass(10 * time.Minute)
			g.Expect(len(w.sink.take())).To(BeNumerically("~", again, again/10), string(outcome))
		})
	}
}

func TestUnknownTargetIsDeclaredAgain(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps))
		w.up()
		w.sink.refuse(func(*change.Change, *change.Snapshot) change.Verdict { return change.UnknownTarget })
		w.server.Apply(configMaps, configMap("boat"))
		w.pass(150 * time.Millisecond)
		g.Expect(w.sink.declared).To(HaveEach("1 [configmaps]"), "the same epoch")
		g.Expect(len(w.sink.declared)).To(BeNumerically(">=", 2))
		w.sink.reopen()
		w.pass(time.Second)
		g.Expect(w.sink.names()).To(Equal([]string{"boat"}))
	})
}

func TestScenario25_SelectorByTheServer(t *testing.T) {
	selections(t, func(sel string) Collection {
		c := col(configMaps)
		c.Selector = sel
		return c
	})
}

func TestScenario25_SelectorInProcess(t *testing.T) {
	selections(t, func(sel string) Collection {
		c := col(configMaps)
		all := c.Operations
		c.Clauses = []Clause{{Selector: sel, Operations: all}, {Selector: "never=ever", Operations: all}}
		return c
	})
}

// selections plays label entry and exit, and a narrowed selector, against both ways to select.
func selections(t *testing.T, selected func(sel string) Collection) {
	t.Helper()
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Apply(configMaps, labelled(configMap("in", "a", "1"), "app", "x"))
		w.server.Apply(configMaps, labelled(configMap("out", "a", "1"), "app", "y"))
		w.watch(selected("app=x"))
		w.up()
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 1"}))
		g.Expect(w.sink.lastSnapshot().Selected).To(BeTrue())
		w.server.Apply(configMaps, labelled(configMap("out", "a", "2"), "app", "y"))
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(BeEmpty())
		w.server.Apply(configMaps, labelled(configMap("out", "a", "2"), "app", "x"))
		w.server.Apply(configMaps, labelled(configMap("in", "a", "1"), "app", "y"))
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"CREATE out", "DELETE in"}), "entry creates, exit removes, under OnEvent too")
		w.server.Apply(configMaps, labelled(configMap("in", "a", "2"), "app", "y"))
		w.server.Delete(configMaps, "dock", "in")
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(BeEmpty())

		// Case W08: a narrowed selection is a fresh snapshot; only Always removes what fell out.
		w.watch(selected("app=z"))
		w.manager.Trigger(key, TriggerRuleChange)
		w.pass(3 * time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 0"}))
		g.Expect(w.sink.names()).To(Equal([]string{"out"}))
		w.sink.always = true
		w.spec.PruneMode = "Always"
		w.manager.Declare(w.spec)
		w.pass(3 * time.Second)
		g.Expect(w.sink.names()).To(BeEmpty())
	})
}

// TestCaseW06: what a selector leaves out is left out by the API server. It never reaches this process, whatever it
// weighs, neither through a stream nor through pages of a list.
func TestCaseW06_WhatIsNotSelectedIsNotRead(t *testing.T) {
	for _, how := range []string{"stream", "list"} {
		t.Run(how, func(t *testing.T) {
			bubble(t, []change.Type{configMaps}, func(w *world) {
				g := NewWithT(w.T)
				payload := strings.Repeat("x", 100<<10)
				for i := range 2000 {
					w.server.Apply(configMaps, labelled(configMap(fmt.Sprintf("other-%04d", i), "blob", payload), "app", "y"))
				}
				for i := range 10 {
					w.server.Apply(configMaps, labelled(configMap(fmt.Sprintf("ours-%d", i), "blob", payload), "app", "x"))
				}
				if how == "list" {
					w.server.Intercept(onReplay(refuseWith(422, "Invalid", "sendInitialEvents: Forbidden")))
				}
				c := col(configMaps)
				c.Selector = "app=x"
				w.watch(c)
				w.up()
				w.server.Apply(configMaps, labelled(configMap("other-0000", "blob", "edited"), "app", "y"))
				w.pass(time.Second)
				g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 10"}))
				g.Expect(w.server.Sent()).To(BeNumerically("<", 12*(100<<10)), "ten objects and no more came over the wire")
				g.Expect(w.server.Calls("/configmaps?")).To(HaveEach(ContainSubstring("labelSelector=app=x")))
			})
		})
	}
}

// TestCaseW08: the rule over all namespaces is deleted and one over a single namespace stays. That one goes on, and what
// fell out is kept or removed by prune.mode alone.
func TestCaseW08_FromAllNamespacesToOne(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		away := configMap("away")
		away["metadata"].(clustertest.Object)["namespace"] = "quay"
		w.server.Apply(configMaps, away)
		w.server.Apply(configMaps, configMap("boat"))
		w.watch(col(configMaps))
		w.up()
		dock := col(configMaps)
		dock.Namespace = "dock"
		w.watch(dock)
		w.manager.Trigger(key, TriggerRuleChange)
		w.pass(3 * time.Second)
		g.Expect(w.status().Running).To(Equal("True"))
		g.Expect(w.sink.names()).To(Equal([]string{"away", "boat"}), "kept under OnEvent")
		w.sink.take()
		w.server.Apply(configMaps, configMap("boat", "a", "1"))
		w.server.Delete(configMaps, "quay", "away")
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"UPDATE boat"}), "the second goes on, and quay is nobody's any more")
		g.Expect(w.sink.names()).To(Equal([]string{"away", "boat"}))
	})
}

func TestClausesHaveTheirOwnOperations(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		c := col(configMaps)
		c.Clauses = []Clause{
			{Selector: "app=x", Operations: []change.Operation{change.Create, change.Delete}},
			{Selector: "app=y", Operations: []change.Operation{change.Update}},
		}
		w.watch(c)
		w.up()
		w.sink.take()
		w.server.Apply(configMaps, labelled(configMap("a", "v", "1"), "app", "x"))
		w.server.Apply(configMaps, labelled(configMap("a", "v", "2"), "app", "x"))
		w.server.Apply(configMaps, labelled(configMap("b", "v", "1"), "app", "y"))
		w.server.Apply(configMaps, labelled(configMap("b", "v", "2"), "app", "y"))
		w.server.Delete(configMaps, "dock", "a")
		w.server.Delete(configMaps, "dock", "b")
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"CREATE a", "UPDATE b", "DELETE a"}))
	})
}

func TestCaseW08_OtherNamespacesNeverAppear(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, "/namespaces/dock/configmaps") {
				return false
			}
			// A server that leaks another namespace into the answer.
			foreign := configMap("foreign")
			foreign["metadata"].(clustertest.Object)["namespace"] = "quay"
			clustertest.Send(rw, "ADDED", object(configMaps, foreign, 1))
			clustertest.Send(rw, "ADDED", object(configMaps, configMap("boat"), 2))
			clustertest.Send(rw, "BOOKMARK", clustertest.EndBookmark(configMaps, 3))
			clustertest.Send(rw, "MODIFIED", object(configMaps, foreign, 4))
			return hang(r)
		})
		c := col(configMaps)
		c.Namespace = "dock"
		w.watch(c)
		w.up()
		g.Expect(w.sink.names()).To(Equal([]string{"boat"}))
		g.Expect(w.rec.get("event not_object")).To(Equal(2))
	})
}

func TestAttributorNamesTheAuthorInOrder(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		release := make(chan struct{})
		close(release)
		w.spec.Attributor = slowAttributor{release}
		w.watch(col(configMaps))
		w.up()
		w.server.Apply(configMaps, configMap("boat"))
		w.pass(time.Second)
		g.Expect(w.sink.changes[0].Author.Username).To(Equal("ada"))
		g.Expect(w.sink.changes[0].ReceivedAt).NotTo(BeZero())
	})
}

func TestEightReplaysAtOnce(t *testing.T) {
	var types []change.Type
	var cols []Collection
	for i := range 20 {
		typ := change.Type{Group: "x.test", Version: "v1", Kind: fmt.Sprintf("K%02d", i), Resource: fmt.Sprintf("k%02d", i), Namespaced: true}
		types, cols = append(types, typ), append(cols, col(typ))
	}
	bubble(t, types, func(w *world) {
		g := NewWithT(w.T)
		var at, most atomic.Int32
		w.server.Intercept(onReplay(func(rw http.ResponseWriter, r *http.Request) bool {
			most.Store(max(most.Load(), at.Add(1)))
			time.Sleep(time.Second) // fake time: the bubble's clock
			at.Add(-1)
			clustertest.Send(rw, "BOOKMARK", clustertest.EndBookmark(types[0], 5))
			return hang(r)
		}))
		w.watch(cols...)
		w.manager.Declare(w.spec)
		w.pass(10 * time.Second)
		g.Expect(most.Load()).To(Equal(int32(maxReplays)))
		g.Expect(w.status().Ready).To(Equal(20))
	})
}

// maxReplays is cluster's, which does not export it.
const maxReplays = 8

func TestScenario53_RestartReplaysWithoutChange(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Apply(configMaps, configMap("boat", "a", "1"))
		w.watch(col(configMaps))
		w.up()
		before := w.sink.lastSnapshot().Items
		w.manager.Forget(key)
		w.pass(time.Second)
		w.up()
		after := w.sink.lastSnapshot()
		g.Expect(w.server.Calls("sendInitialEvents")).To(HaveLen(2))
		g.Expect(after.Items).To(Equal(before), "equal content: the plan has nothing to write")
	})
}

func TestScenario54_WildcardsNeverLoseADocument(t *testing.T) {
	types := []change.Type{configMaps, services, deployments, boats}
	bubble(t, types, func(w *world) {
		g := NewWithT(w.T)
		w.sink.always = true
		var cols []Collection
		for i, typ := range types {
			w.server.Apply(typ, configMap(fmt.Sprintf("o-%d", i)))
			c := col(typ)
			c.Named = false
			cols = append(cols, c)
		}
		w.watch(cols...)
		w.up()
		want := []string{"o-0", "o-1", "o-2", "o-3"}
		g.Expect(w.sink.names()).To(Equal(want))
		for range 3 {
			w.manager.Forget(key)
			w.manager.Declare(w.spec)
			for range 50 {
				w.pass(100 * time.Millisecond)
				g.Expect(w.sink.names()).To(Equal(want))
			}
		}
	})
}

func TestCaseW10_MissedDeleteAndEditWhileDown(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.sink.always = true
		for _, n := range []string{"a", "b", "c"} {
			w.server.Apply(configMaps, configMap(n, "v", "1"))
		}
		w.watch(col(configMaps))
		w.up()
		w.manager.Forget(key)
		w.pass(time.Second)
		w.sink.take()
		w.server.Delete(configMaps, "dock", "a")
		w.server.Apply(configMaps, configMap("b", "v", "2"))
		w.server.Delete(configMaps, "dock", "c")
		w.server.Apply(configMaps, configMap("c", "v", "1"))
		w.up()
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 2"}), "one item carries the removal and the edit")
		g.Expect(w.sink.names()).To(Equal([]string{"b", "c"}))
		var names []string
		for _, it := range w.sink.lastSnapshot().Items {
			names = append(names, it.Object.Name)
		}
		g.Expect(slices.IsSorted(names)).To(BeTrue())
	})
}

func TestUnreadableObjectIsNeverSwept(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.sink.always = true
		id := change.ObjectID{Kind: "ConfigMap", Namespace: "dock", Name: "boat"}
		w.sink.folder[id] = "kept"
		w.server.Intercept(onReplay(func(rw http.ResponseWriter, r *http.Request) bool {
			o := object(configMaps, configMap("boat"), 1)
			o["metadata"].(clustertest.Object)["labels"] = "no map"
			o["metadata"].(clustertest.Object)["annotations"] = []any{1}
			clustertest.Send(rw, "ADDED", o)
			clustertest.Send(rw, "BOOKMARK", clustertest.EndBookmark(configMaps, 3))
			return hang(r)
		}))
		w.watch(col(configMaps))
		w.up()
		g.Expect(w.sink.lastSnapshot().Items).To(HaveLen(1), "present in whatever form")
		g.Expect(w.sink.folder).To(HaveKey(id))
	})
}
