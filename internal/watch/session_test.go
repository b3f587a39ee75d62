// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
)

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
