// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster/clustertest"
)

type handler = func(w http.ResponseWriter, r *http.Request) bool

// onReplay answers only initial replays.
func onReplay(f handler) handler {
	return func(w http.ResponseWriter, r *http.Request) bool {
		return r.URL.Query().Get("sendInitialEvents") == "true" && f(w, r)
	}
}

// onWatch answers only watches.
func onWatch(f handler) handler {
	return func(w http.ResponseWriter, r *http.Request) bool {
		return r.URL.Query().Get("watch") == "true" && f(w, r)
	}
}

func refuseWith(code int, reason, message string) handler {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		clustertest.Fail(w, code, reason, message)
		return true
	}
}

// hang keeps a connection open until the client leaves.
func hang(r *http.Request) bool {
	<-r.Context().Done()
	return true
}

func object(t change.Type, o clustertest.Object, rv int) clustertest.Object {
	md := o["metadata"].(clustertest.Object)
	md["resourceVersion"] = strconv.Itoa(rv)
	md["uid"] = fmt.Sprintf("00000000-0000-4000-9000-%012d", len(md["name"].(string))*1000+int(md["name"].(string)[0]))
	o["kind"], o["apiVersion"] = t.Kind, t.APIVersion()
	return o
}

func TestScenario42_FirstDeclareReplaysAndFollows(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Apply(configMaps, configMap("boat", "a", "1"))
		w.watch(col(configMaps))
		w.up()
		g.Expect(w.server.Calls("watch=true")).To(ConsistOf(And(
			ContainSubstring("/api/v1/configmaps?"), ContainSubstring("sendInitialEvents=true"),
			ContainSubstring("resourceVersionMatch=NotOlderThan"), ContainSubstring("allowWatchBookmarks=true"),
		)))
		g.Expect(w.sink.declared).To(Equal([]string{"1 [configmaps]"}))
		snap := w.sink.lastSnapshot()
		g.Expect(snap.initial).To(BeTrue())
		g.Expect(snap.stamp.Epoch).To(Equal(uint64(1)))
		g.Expect(snap.Selected).To(BeFalse())
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 1"}))

		w.server.Apply(configMaps, configMap("boat", "a", "2"))
		w.server.Apply(configMaps, configMap("buoy", "a", "1"))
		w.server.Delete(configMaps, "dock", "boat")
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"UPDATE boat", "CREATE buoy", "DELETE boat"}))
		g.Expect(w.sink.names()).To(Equal([]string{"buoy"}))
		g.Expect(w.rec.get("streaming")).To(Equal(1))
		g.Expect(w.rec.get("open")).To(Equal(1))
	})
}

func TestScenario42_NoSweepBeforeTheEndBookmark(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		var finish atomic.Bool
		w.server.Intercept(onReplay(func(rw http.ResponseWriter, r *http.Request) bool {
			clustertest.Send(rw, "ADDED", object(configMaps, configMap("boat"), 5))
			clustertest.Send(rw, "BOOKMARK", clustertest.PlainBookmark(configMaps, 6))
			time.Sleep(20 * time.Second) // fake time: the bubble's clock
			finish.Store(true)
			clustertest.Send(rw, "BOOKMARK", clustertest.EndBookmark(configMaps, 7))
			return hang(r)
		}))
		w.watch(col(configMaps))
		w.manager.Declare(w.spec)
		for !finish.Load() {
			g.Expect(w.sink.take()).To(BeEmpty())
			w.pass(time.Second)
		}
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 1"}))
		g.Expect(w.sink.lastSnapshot().ResourceVersion).To(Equal("7"))
	})
}

func TestScenario43_DropDuringAReplay(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		for i := range 1000 {
			w.server.Apply(configMaps, configMap(fmt.Sprintf("cm-%04d", i)))
		}
		var tries atomic.Int32
		w.server.Intercept(onReplay(func(rw http.ResponseWriter, _ *http.Request) bool {
			if tries.Add(1) > 1 {
				return false
			}
			for i := range 900 {
				clustertest.Send(rw, "ADDED", object(configMaps, configMap(fmt.Sprintf("cm-%04d", i)), i))
			}
			panic(clustertest.ErrAbort)
		}))
		w.sink.always = true
		w.watch(col(configMaps))
		w.manager.Declare(w.spec)
		w.pass(2500 * time.Millisecond)
		g.Expect(w.sink.take()).To(BeEmpty(), "half a replay is nothing")
		g.Expect(w.status().Reason).To(Equal(ReasonReplaying), "one failure does not block")
		w.pass(5 * time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 1000"}))
		g.Expect(tries.Load()).To(Equal(int32(2)))
	})
}

func TestScenario44_DeletedWhileNobodyWatched(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.sink.folder[change.ObjectID{Kind: "ConfigMap", Namespace: "dock", Name: "gone"}] = "{}"
		w.sink.always = true
		w.watch(col(configMaps))
		w.up()
		g.Expect(w.sink.names()).To(BeEmpty())
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 0"}), "by the snapshot: no delete is invented")
	})
}

func TestScenario45_LastStateInsideAReplay(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Intercept(onReplay(func(rw http.ResponseWriter, r *http.Request) bool {
			send := func(typ string, rv int, o clustertest.Object) { clustertest.Send(rw, typ, object(configMaps, o, rv)) }
			send("ADDED", 1, configMap("a", "v", "1"))
			send("ADDED", 2, configMap("bb", "v", "1"))
			send("ADDED", 3, configMap("ccc", "v", "1"))
			send("ADDED", 4, terminating(configMap("dddd", "v", "1")))
			send("MODIFIED", 5, configMap("a", "v", "2"))
			send("DELETED", 6, configMap("bb", "v", "1"))
			send("DELETED", 7, configMap("ccc", "v", "1"))
			send("ADDED", 8, configMap("ccc", "v", "3"))
			send("MODIFIED", 9, terminating(configMap("a", "v", "2")))
			send("MODIFIED", 10, configMap("a", "v", "4"))
			clustertest.Send(rw, "BOOKMARK", clustertest.EndBookmark(configMaps, 11))
			return hang(r)
		}))
		w.watch(col(configMaps))
		w.up()
		g.Expect(w.sink.names()).To(Equal([]string{"a", "ccc"}))
		g.Expect(w.sink.lastSnapshot().Items).To(HaveLen(2))
		g.Expect(string(w.sink.lastSnapshot().Items[0].Desired)).To(ContainSubstring(`"v":"4"`))
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 2", "DELETE bb"}),
			"decision 73: a removal seen on the way is repeated behind the snapshot, unless the object came back")
	})
}

func TestScenario46_ExpiredMark(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Apply(configMaps, configMap("boat", "a", "1"))
		w.watch(col(configMaps))
		w.up()
		w.sink.take()
		var away atomic.Bool
		away.Store(true)
		w.server.Intercept(onWatch(func(rw http.ResponseWriter, _ *http.Request) bool {
			if away.Load() {
				clustertest.Fail(rw, 503, "ServiceUnavailable", "away")
			}
			return away.Load()
		}))
		w.server.EndWatches()
		w.pass(time.Second)
		w.server.Apply(configMaps, configMap("boat", "a", "2"))
		w.server.Apply(configMaps, configMap("boat", "a", "3"))
		w.server.Compact()
		away.Store(false)
		w.pass(10 * time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 1"}), "history collapses into a fresh snapshot")
		g.Expect(w.rec.get("ended expired")).To(Equal(1))
		g.Expect(w.status().Running).To(Equal("True"))
	})
}

func TestExpiredReasonIsShown(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps))
		w.up()
		w.server.Intercept(onReplay(func(_ http.ResponseWriter, r *http.Request) bool { return hang(r) }))
		w.server.Apply(configMaps, configMap("boat"))
		w.pass(5 * time.Second)
		w.server.Apply(services, configMap("elsewhere"))
		w.server.Compact()
		w.server.EndWatches()
		w.pass(time.Second)
		g.Expect(w.status().Cells[0].Reason).To(Equal(ReasonExpired))
		w.server.Intercept(nil)
	})
}

func TestScenario47_FallbackOn422(t *testing.T) {
	for name, refusal := range map[string]handler{
		"422": refuseWith(422, "Invalid", `sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch`),
		"400": refuseWith(400, "BadRequest", `unknown query parameter resourceVersionMatch`),
		"ERROR event": func(rw http.ResponseWriter, _ *http.Request) bool {
			clustertest.Send(rw, "ERROR", clustertest.Status(500, "InternalError", "storage cannot do that"))
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, []change.Type{configMaps}, func(w *world) {
				g := NewWithT(w.T)
				for i := range 3 {
					w.server.Apply(configMaps, configMap(fmt.Sprintf("cm-%d", i), "a", "1"))
				}
				var listed atomic.Bool
				w.server.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
					q := r.URL.Query()
					if q.Get("limit") == "500" && listed.CompareAndSwap(false, true) {
						// Between the watch and the list, and seen by both.
						w.server.Apply(configMaps, configMap("cm-0", "a", "2"))
						w.server.Delete(configMaps, "dock", "cm-1")
						return false
					}
					return onReplay(refusal)(rw, r)
				})
				w.watch(col(configMaps))
				w.up()
				w.server.Apply(configMaps, configMap("cm-2", "a", "3"))
				w.pass(time.Second)
				g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 2", "DELETE cm-1", "UPDATE cm-2"}),
					"buffered events the list shows are dropped but for removals (decision 73), later ones follow in order")
				g.Expect(w.sink.names()).To(Equal([]string{"cm-0", "cm-2"}))
				st := w.status()
				g.Expect(st.Cells[0].Listed).To(BeTrue(), "status shows the mode")
				g.Expect(w.rec.get(RecoveryList)).To(Equal(1))
				g.Expect(w.server.Calls("sendInitialEvents")).To(HaveLen(1))

				w.manager.Recheck(key, "x")
				w.pass(time.Second)
				g.Expect(w.server.Calls("sendInitialEvents")).To(HaveLen(1), "remembered")
				w.server.EndWatches()
				w.pass(time.Second)
				w.server.Apply(configMaps, configMap("cm-9"))
				w.pass(time.Second)
				g.Expect(w.sink.names()).To(ContainElement("cm-9"), "resumed without listing again")
				g.Expect(w.server.Calls("limit=500")).To(HaveLen(2))
			})
		})
	}
}

func TestOther422IsNoFallback(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Intercept(onReplay(refuseWith(422, "Invalid", "labelSelector: bad")))
		w.watch(col(configMaps))
		w.manager.Declare(w.spec)
		w.pass(30 * time.Second)
		g.Expect(w.server.Calls("limit=")).To(BeEmpty())
		g.Expect(w.status().Reason).To(Equal(ReasonWatchError))
		g.Expect(w.status().Message).To(Equal("Watching configmaps fails: labelSelector: bad"))
	})
}

// TestCaseW02_EndBookmarkNeverArrives: every way in which a server fails to stream initial events ends in a list within
// a bounded time, without a deletion before it, and without an effect on other types.
func TestCaseW02_EndBookmarkNeverArrives(t *testing.T) {
	variants := map[string]handler{
		"a never sends it": func(rw http.ResponseWriter, r *http.Request) bool {
			clustertest.Send(rw, "ADDED", object(boats, configMap("skiff"), 101))
			return hang(r)
		},
		"b ignores the option and sends new events only": func(rw http.ResponseWriter, r *http.Request) bool {
			for i := 0; i < 300 && r.Context().Err() == nil; i++ {
				clustertest.Send(rw, "MODIFIED", object(boats, configMap("skiff", "n", strconv.Itoa(i)), 101))
				time.Sleep(time.Second) // fake time: the bubble's clock
			}
			return hang(r)
		},
		"c 400": refuseWith(400, "BadRequest", "unknown parameter sendInitialEvents"),
		"c 422": refuseWith(422, "Invalid", "sendInitialEvents: Forbidden"),
		"d unmarked bookmark": func(rw http.ResponseWriter, r *http.Request) bool {
			clustertest.Send(rw, "ADDED", object(boats, configMap("skiff"), 101))
			for r.Context().Err() == nil {
				clustertest.Send(rw, "BOOKMARK", clustertest.PlainBookmark(boats, 102))
				time.Sleep(5 * time.Second) // fake time: the bubble's clock
			}
			return true
		},
		"e closes after 5 s": func(rw http.ResponseWriter, _ *http.Request) bool {
			clustertest.Send(rw, "ADDED", object(boats, configMap("skiff"), 101))
			time.Sleep(5 * time.Second) // fake time: the bubble's clock
			return true
		},
	}
	for name, f := range variants {
		t.Run(name, func(t *testing.T) {
			bubble(t, []change.Type{configMaps, boats}, func(w *world) {
				g := NewWithT(w.T)
				w.sink.folder[change.ObjectID{Group: "x.test", Kind: "Boat", Namespace: "dock", Name: "skiff"}] = "{}"
				w.sink.folder[change.ObjectID{Group: "x.test", Kind: "Boat", Namespace: "dock", Name: "wreck"}] = "{}"
				w.sink.always = true
				w.server.Apply(boats, configMap("skiff"))
				w.server.Intercept(onReplay(func(rw http.ResponseWriter, r *http.Request) bool {
					return strings.Contains(r.URL.Path, "boats") && f(rw, r)
				}))
				w.watch(col(configMaps), col(boats))
				w.manager.Declare(w.spec)
				w.pass(3 * time.Second)
				g.Expect(w.status().Ready).To(BeNumerically(">=", 1), "the other type is not affected")
				for w.status().Running != "True" {
					if w.status().Ready == 1 {
						g.Expect(w.sink.names()).To(Equal([]string{"skiff", "wreck"}), "no deletion before a complete snapshot")
					}
					w.pass(time.Second)
				}
				took := time.Since(w.began)
				g.Expect(took).To(BeNumerically("<=", 130*time.Second))
				g.Expect(w.sink.names()).To(Equal([]string{"skiff"}))
				st := w.status()
				g.Expect(st.Cells[1].Cell.Resource).To(Equal("boats"))
				g.Expect(st.Cells[1].Listed).To(BeTrue())
				g.Expect(st.Cells[0].Listed).To(BeFalse())
			})
		})
	}
}

func TestScenario48_IgnoredOption(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Intercept(onReplay(func(rw http.ResponseWriter, r *http.Request) bool {
			rw.WriteHeader(200)
			return hang(r)
		}))
		w.watch(col(configMaps))
		w.manager.Declare(w.spec)
		w.pass(2*time.Second + 29*time.Second)
		g.Expect(w.server.Calls("limit=")).To(BeEmpty())
		w.pass(2 * time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 0"}))
	})
}

func TestScenario49_Pages(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		for i := range 1700 {
			w.server.Apply(configMaps, configMap(fmt.Sprintf("cm-%04d", i)))
		}
		var third atomic.Int32
		w.server.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
			if strings.HasPrefix(r.URL.Query().Get("continue"), "1000-") && third.Add(1) < 3 {
				if third.Load() == 1 {
					clustertest.Fail(rw, 500, "InternalError", "page 3")
				} else {
					clustertest.Fail(rw, 410, "Expired", "the continue token is too old")
				}
				return true
			}
			return onReplay(refuseWith(422, "Invalid", "sendInitialEvents: Forbidden"))(rw, r)
		})
		w.watch(col(configMaps))
		w.manager.Declare(w.spec)
		w.pass(2500 * time.Millisecond)
		g.Expect(w.sink.take()).To(BeEmpty(), "half a list is nothing")
		w.pass(30 * time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 1700"}))
		g.Expect(w.server.Calls("limit=500")).To(HaveLen(3 + 3 + 4))
	})
}

func TestFallbackOverflowStartsOver(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Apply(configMaps, configMap("boat", "a", "0"))
		var lists atomic.Int32
		w.server.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("limit") == "500" && lists.Add(1) == 1 {
				for i := range 2 * listBuffer {
					w.server.Apply(configMaps, configMap("boat", "a", strconv.Itoa(i+1)))
				}
				return hang(r)
			}
			return onReplay(refuseWith(422, "Invalid", "sendInitialEvents: Forbidden"))(rw, r)
		})
		w.watch(col(configMaps))
		w.manager.Declare(w.spec)
		w.pass(10 * time.Second)
		g.Expect(lists.Load()).To(Equal(int32(2)))
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 1"}))
	})
}

func TestFallbackWithOpaqueVersions(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
			q := r.URL.Query()
			opaque := func(name, v string) clustertest.Object {
				o := object(configMaps, configMap(name, "v", v), 0)
				o["metadata"].(clustertest.Object)["resourceVersion"] = "v-" + v
				return o
			}
			switch {
			case q.Get("sendInitialEvents") == "true":
				clustertest.Fail(rw, 422, "Invalid", "sendInitialEvents: Forbidden")
			case q.Get("watch") == "true":
				clustertest.Send(rw, "ADDED", opaque("a", "1"))
				clustertest.Send(rw, "MODIFIED", opaque("a", "2"))
				return hang(r)
			case q.Get("limit") != "":
				_, _ = fmt.Fprintf(rw, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"v-x"},"items":[%s]}`,
					`{"metadata":{"namespace":"dock","name":"a","uid":"00000000-0000-4000-9000-000000001097","resourceVersion":"v-1"},"data":{"v":"1"}}`)
			default:
				return false
			}
			return true
		})
		w.watch(col(configMaps))
		w.up()
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 1", "UPDATE a"}),
			"nothing is dropped by version; what the list shows is dropped by content")
	})
}

func TestScenario50_OrderlyEndResumes(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Apply(configMaps, configMap("boat"))
		w.watch(col(configMaps))
		w.up()
		w.sink.take()
		rv := w.sink.lastSnapshot().ResourceVersion
		for range 5 {
			w.pass(10 * time.Minute)
			w.server.EndWatches()
			w.pass(time.Millisecond)
			g.Expect(w.status().Running).To(Equal("True"), "no flapping")
		}
		g.Expect(w.server.Calls("watch=true", "resourceVersion="+rv)).To(HaveLen(5), "resumed at once from the mark")
		g.Expect(w.server.Calls("sendInitialEvents")).To(HaveLen(1))
		g.Expect(w.sink.take()).To(BeEmpty())
		g.Expect(w.rec.get(RecoveryResume)).To(Equal(5))
	})
}

func TestTransportErrorsBackOff(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps))
		w.up()
		w.server.Intercept(onWatch(func(http.ResponseWriter, *http.Request) bool { panic(clustertest.ErrAbort) }))
		w.server.EndWatches()
		w.pass(10 * time.Minute)
		calls := len(w.server.Calls("watch=true"))
		g.Expect(calls).To(And(BeNumerically(">=", 18), BeNumerically("<=", 32)), "from 2 s doubling to 30 s")
		g.Expect(w.status().Reason).To(Equal(ReasonWatchError))
		w.server.Apply(configMaps, configMap("boat"))
		w.server.Intercept(nil)
		w.pass(40 * time.Second)
		g.Expect(w.status().Running).To(Equal("True"))
		g.Expect(w.sink.names()).To(Equal([]string{"boat"}), "resumed from the mark, nothing lost")
		g.Expect(w.server.Calls("sendInitialEvents")).To(HaveLen(1))
	})
}

// TestStreamsThatAreCutAgainAndAgainStayReady: a proxy that cuts every connection after a while is no watch error.
func TestStreamsThatAreCutAgainAndAgainStayReady(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps))
		w.up()
		w.server.Intercept(onWatch(func(rw http.ResponseWriter, _ *http.Request) bool {
			rw.WriteHeader(http.StatusOK)
			time.Sleep(20 * time.Second) // fake time: the bubble's clock
			panic(clustertest.ErrAbort)
		}))
		w.server.EndWatches()
		for range 60 {
			w.pass(10 * time.Second)
			g.Expect(w.status().Running).To(Equal("True"))
		}
		g.Expect(len(w.server.Calls("watch=true"))).To(BeNumerically(">", 10))
		w.server.Apply(configMaps, configMap("boat"))
		w.server.Intercept(nil)
		w.pass(time.Minute)
		g.Expect(w.sink.names()).To(Equal([]string{"boat"}))
	})
}

// TestBlockedStreamsStaySo: an attempt that fails like the one before it changes nothing a reader sees.
func TestBlockedStreamsStaySo(t *testing.T) {
	for name, refusal := range map[string]handler{
		"forbidden": refuseWith(403, "Forbidden", "you may not watch"),
		"broken":    refuseWith(500, "InternalError", "the conversion webhook is away"),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, []change.Type{configMaps}, func(w *world) {
				g := NewWithT(w.T)
				w.server.Intercept(onWatch(func(rw http.ResponseWriter, r *http.Request) bool {
					// An answer that takes its time, so that no state in between goes by unseen.
					time.Sleep(time.Second) // fake time: the bubble's clock
					return refusal(rw, r)
				}))
				w.watch(col(configMaps))
				w.manager.Declare(w.spec)
				w.pass(time.Minute)
				before := w.status()
				g.Expect(before.Blocked).To(Equal(1))
				w.dirty.Take()
				calls := len(w.server.Calls("watch=true"))
				for range 600 {
					w.pass(500 * time.Millisecond)
					g.Expect(w.status().Answer).To(Equal(before.Answer))
				}
				g.Expect(len(w.server.Calls("watch=true"))).To(BeNumerically(">", calls+3), "it was tried")
				g.Expect(w.dirty.Take()).To(BeEmpty(), "nobody was disturbed")
				w.server.Intercept(nil)
				w.pass(time.Minute + time.Second)
				g.Expect(w.status().Running).To(Equal("True"))
			})
		})
	}
}

// TestTheWorkerDoesNotWaitForBlockedStreams: a type nobody may read, or whose server fails, must not hold back others.
func TestTheWorkerDoesNotWaitForBlockedStreams(t *testing.T) {
	bubble(t, []change.Type{configMaps, services}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
			return strings.Contains(r.URL.Path, "services") && refuseWith(403, "Forbidden", "you may not watch")(rw, r)
		})
		w.watch(col(configMaps), col(services))
		w.manager.Declare(w.spec)
		w.pass(3 * time.Second)
		g.Expect(w.sink.declared).To(Equal([]string{
			"1 [configmaps services]", "1 [configmaps services] without [services]",
		}))
		w.pass(10 * time.Minute)
		g.Expect(w.sink.declared).To(HaveLen(2))
		w.server.Intercept(nil)
		w.pass(time.Minute)
		g.Expect(w.sink.declared[2:]).To(Equal([]string{"1 [configmaps services]"}), "the same epoch: the others go on")
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 0", "SNAPSHOT services 0"}))
	})
}

// TestRemovalsBehindASnapshotDoNotMoveTheMarkBack: else a resume would deliver states older than the snapshot.
func TestRemovalsBehindASnapshotDoNotMoveTheMarkBack(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Intercept(onReplay(func(rw http.ResponseWriter, r *http.Request) bool {
			clustertest.Send(rw, "ADDED", object(configMaps, configMap("boat", "a", "2"), 8))
			clustertest.Send(rw, "DELETED", object(configMaps, configMap("raft"), 5))
			clustertest.Send(rw, "BOOKMARK", clustertest.EndBookmark(configMaps, 9))
			return true
		}))
		w.watch(col(configMaps))
		w.up()
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 1", "DELETE raft"}))
		w.pass(10 * time.Second)
		g.Expect(w.server.Calls("resourceVersion=9")).NotTo(BeEmpty())
		g.Expect(w.server.Calls("resourceVersion=5")).To(BeEmpty())
	})
}

func TestRetryAfter(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		var n atomic.Int32
		w.server.Intercept(onWatch(func(rw http.ResponseWriter, _ *http.Request) bool {
			if n.Add(1) > 1 {
				return false
			}
			rw.Header().Set("Retry-After", "17")
			clustertest.Fail(rw, 429, "TooManyRequests", "slow down")
			return true
		}))
		w.watch(col(configMaps))
		w.manager.Declare(w.spec)
		w.pass(2*time.Second + 16*time.Second)
		g.Expect(n.Load()).To(Equal(int32(1)))
		w.pass(2 * time.Second)
		g.Expect(n.Load()).To(Equal(int32(2)))
	})
}

func TestScenario51_NoResumeBeforeOwnReplay(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Apply(configMaps, configMap("boat"))
		w.sink.refuse(func(*change.Change, *change.Snapshot) change.Verdict { return change.QueueFull })
		w.watch(col(configMaps))
		w.manager.Declare(w.spec)
		w.pass(3 * time.Second)
		w.server.EndWatches()
		w.sink.reopen()
		w.pass(3 * time.Second)
		g.Expect(w.server.Calls("watch=true")).To(HaveEach(ContainSubstring("sendInitialEvents=true")))
		g.Expect(w.sink.take()).To(Equal([]string{"SNAPSHOT configmaps 1"}))
	})
}

func TestScenario52_Forbidden(t *testing.T) {
	bubble(t, []change.Type{configMaps, services}, func(w *world) {
		g := NewWithT(w.T)
		var denied atomic.Bool
		denied.Store(true)
		w.server.Intercept(onWatch(func(rw http.ResponseWriter, r *http.Request) bool {
			if denied.Load() && strings.Contains(r.URL.Path, "services") {
				clustertest.Fail(rw, 403, "Forbidden", `services is forbidden: User "x" cannot watch resource "services"`)
				return true
			}
			return false
		}))
		wild := col(services)
		wild.Named = false
		w.watch(col(configMaps), wild)
		w.up()
		st := w.status()
		g.Expect(st.Total).To(Equal(1), "skipped, listed and Ready")
		g.Expect(st.Cells[1].Skipped).To(BeTrue())
		g.Expect(w.sink.declared).To(Equal([]string{"1 [configmaps services]", "1 [configmaps services] without [services]"}),
			"the worker does not wait for it, and nothing is read again because of it")
		w.pass(9 * time.Minute)
		g.Expect(w.server.Calls("services")).To(HaveLen(1))

		w.watch(col(configMaps), col(services))
		w.manager.Trigger(key, TriggerRuleChange)
		w.pass(3 * time.Second)
		st = w.status()
		g.Expect([]any{st.Reason, st.Blocked}).To(Equal([]any{ReasonWatchNotPermitted, 1}))
		g.Expect(st.Message).To(Equal(`services is forbidden: User "x" cannot watch resource "services"`))
		w.pass(5 * time.Minute)
		g.Expect(len(w.server.Calls("services"))).To(BeNumerically("~", 7, 1), "once a minute")
		denied.Store(false)
		w.pass(time.Minute)
		g.Expect(w.status().Running).To(Equal("True"), "cured without a restart")
		g.Expect(w.sink.cells).To(HaveLen(2))
	})
}

// TestSourceThatAnswersAgain: the first stream that opens tells that an outage is over.
func TestSourceThatAnswersAgain(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(configMaps))
		w.up()
		src, _ := w.sources.Get("default")
		w.server.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("watch") != "true" {
				panic(clustertest.ErrAbort)
			}
			return false
		})
		for src.Reachability().Status != "False" {
			w.pass(time.Second)
		}
		w.server.Intercept(nil)
		w.pass(5 * time.Second)
		g.Expect(src.Reachability().Status).To(Equal("False"), "the next look is due in half a minute")
		w.server.EndWatches()
		w.pass(3 * time.Second)
		g.Expect(src.Reachability().Status).To(Equal("True"))
	})
}

// TestUnauthorized: credentials that are not accepted concern every type, those of wildcards too.
func TestUnauthorized(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Intercept(onWatch(refuseWith(401, "Unauthorized", "Unauthorized")))
		wild := col(configMaps)
		wild.Named = false
		w.watch(wild)
		w.manager.Declare(w.spec)
		w.pass(4 * time.Second)
		st := w.status()
		g.Expect([]any{st.Reason, st.Blocked}).To(Equal([]any{ReasonWatchNotPermitted, 1}))
		g.Expect(st.Message).To(Equal("The API server does not accept the credentials of the KubeProvider: Unauthorized"))
		w.server.Intercept(nil)
		w.pass(time.Minute + time.Second)
		g.Expect(w.status().Running).To(Equal("True"))
	})
}

func TestCaseW05_PermissionRemovedWhileRunning(t *testing.T) {
	bubble(t, []change.Type{configMaps, services}, func(w *world) {
		g := NewWithT(w.T)
		w.sink.always = true
		w.server.Apply(configMaps, configMap("boat"))
		w.watch(col(configMaps), col(services))
		w.up()
		w.server.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
			return strings.Contains(r.URL.Path, "configmaps") &&
				refuseWith(403, "Forbidden", `configmaps is forbidden: User "x" cannot watch resource "configmaps"`)(rw, r)
		})
		w.server.EndWatches()
		w.pass(time.Hour)
		g.Expect(w.sink.names()).To(Equal([]string{"boat"}), "403 is not absence")
		st := w.status()
		g.Expect([]any{st.Reason, st.Ready}).To(Equal([]any{ReasonWatchNotPermitted, 1}))
		g.Expect(st.Message).To(ContainSubstring(`cannot watch resource "configmaps"`), "verb and resource")
		w.sink.take()
		w.server.Apply(services, configMap("pier"))
		w.pass(time.Second)
		g.Expect(w.sink.take()).To(Equal([]string{"CREATE pier"}), "other types go on")
		w.server.Delete(configMaps, "dock", "boat")
		w.server.Intercept(nil)
		w.pass(time.Minute + time.Second)
		g.Expect(w.status().Running).To(Equal("True"))
		g.Expect(w.sink.names()).To(Equal([]string{"pier"}), "the deletion is seen once reading is allowed again")
	})
}

func TestScenario52_ListWithoutPermission(t *testing.T) {
	bubble(t, []change.Type{configMaps}, func(w *world) {
		g := NewWithT(w.T)
		w.server.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("limit") != "" {
				return refuseWith(403, "Forbidden", "cannot list")(rw, r)
			}
			return onReplay(refuseWith(422, "Invalid", "sendInitialEvents: Forbidden"))(rw, r)
		})
		w.watch(col(configMaps))
		w.manager.Declare(w.spec)
		w.pass(5 * time.Second)
		g.Expect([]string{w.status().Reason, w.status().Message}).To(Equal([]string{ReasonWatchNotPermitted, "cannot list"}))
	})
}

func TestTypeThatIsGone(t *testing.T) {
	bubble(t, []change.Type{configMaps, boats}, func(w *world) {
		g := NewWithT(w.T)
		w.watch(col(boats))
		w.up()
		scans := len(w.server.Calls("/apis?"))
		w.server.SetTypes(clustertest.Resource{Type: configMaps})
		w.server.EndWatches()
		w.pass(5 * time.Second)
		g.Expect(len(w.server.Calls("/apis?"))).To(BeNumerically(">", scans), "404 asks for a look at discovery")
		n := len(w.server.Calls("boats"))
		w.pass(5 * time.Minute)
		g.Expect(len(w.server.Calls("boats"))-n).To(BeNumerically("<", 20), "no tight loop")
		w.server.SetTypes(clustertest.Resource{Type: configMaps}, clustertest.Resource{Type: boats})
		w.pass(time.Minute)
		g.Expect(w.status().Running).To(Equal("True"))
	})
}
