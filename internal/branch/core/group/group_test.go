// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package group_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/branch/core/group"
	"github.com/configbutler/gitops-reverser/internal/change"
)

func named(name, value string) change.Change {
	c := change.Change{}
	c.Object.Name, c.Desired = name, []byte(value)
	return c
}

func TestBatchKeepsTheLastStateInFirstSeenOrder(t *testing.T) {
	g := NewWithT(t)
	var b group.Batch
	for _, c := range []change.Change{named("b", "1"), named("a", "22"), named("b", "333")} {
		b.Put(c)
	}
	g.Expect(b.Changes).To(Equal([]change.Change{named("b", "333"), named("a", "22")}))
	g.Expect(b.Bytes).To(BeEquivalentTo(2*1024 + 5))
}

func TestTimers(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	for name, c := range map[string]struct {
		timers group.Timers
		end    time.Time
		idle   bool
	}{
		"silence comes first":      {group.Timers{From: at(0), Last: at(3), Max: time.Minute, Idle: 5 * time.Second}, at(8), true},
		"the maximum comes first":  {group.Timers{From: at(0), Last: at(58), Max: time.Minute, Idle: 5 * time.Second}, at(60), false},
		"both at once":             {group.Timers{From: at(0), Last: at(55), Max: time.Minute, Idle: 5 * time.Second}, at(60), true},
		"zero silence":             {group.Timers{From: at(0), Last: at(0), Max: time.Minute}, at(0), true},
		"zero maximum":             {group.Timers{From: at(0), Last: at(0), Idle: time.Second}, at(0), false},
		"a save without a silence": {group.Timers{From: at(2), Last: at(2), Max: 2 * time.Second, Quiet: true}, at(4), false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			end, idle := c.timers.End()
			g.Expect(end).To(Equal(c.end))
			g.Expect(idle).To(Equal(c.idle))
		})
	}
}
