// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package hold_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/branch/core/hold"
	"github.com/configbutler/gitops-reverser/internal/change"
)

var (
	configMaps = change.Cell{Resource: "configmaps"}
	services   = change.Cell{Resource: "services"}
	start      = time.Unix(100, 0)
)

func held(cell change.Cell, op change.Operation, name string, back bool) hold.Item[int] {
	c := change.Change{Cell: cell, Operation: op}
	c.Object.Name = name
	return hold.Item[int]{Change: c, Back: back}
}

func order(items []hold.Item[int]) (names []string) {
	for _, it := range items {
		names = append(names, it.Change.Object.Name)
	}
	return names
}

func TestOlderChangesGoBeforeThoseHeldDirectly(t *testing.T) {
	g := NewWithT(t)
	var l hold.List[int]
	l.Add(held(services, change.Update, "c", false), start)
	l.Add(held(services, change.Update, "a", true), start.Add(time.Second))
	l.Add(held(services, change.Update, "b", true), start)
	l.Add(held(services, change.Update, "d", false), start)
	g.Expect(l.Len()).To(Equal(4))
	g.Expect(l.Bytes()).To(BeEquivalentTo(4 * 1024))
	g.Expect(l.Since()).To(Equal(start))
	g.Expect(order(l.Take())).To(Equal([]string{"a", "b", "c", "d"}))
	g.Expect(l.Len()).To(BeZero())
	g.Expect(l.Bytes()).To(BeZero())
	g.Expect(l.Since()).To(BeZero())
}

func TestSnapshotSupersedesItsCell(t *testing.T) {
	snapshot := &change.Snapshot{Cell: configMaps, Items: []change.Item{{Object: change.ObjectID{Name: "present"}}}}
	for name, c := range map[string]struct {
		item hold.Item[int]
		back bool
		gone bool
	}{
		"an update":                            {item: held(configMaps, change.Update, "present", false), gone: true},
		"an update of an absent object":        {item: held(configMaps, change.Update, "absent", false), gone: true},
		"a delete of a present object":         {item: held(configMaps, change.Delete, "present", false), gone: true},
		"a delete of an absent object":         {item: held(configMaps, change.Delete, "absent", false)},
		"another cell":                         {item: held(services, change.Update, "present", false)},
		"newer than a snapshot in the queue":   {item: held(configMaps, change.Update, "present", false), back: true},
		"older than a snapshot in the queue":   {item: held(configMaps, change.Update, "present", true), back: true, gone: true},
		"older than a snapshot that just came": {item: held(configMaps, change.Update, "present", true), gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var l hold.List[int]
			l.Add(c.item, start)
			g.Expect(l.Supersede(snapshot, c.back)).To(HaveLen(map[bool]int{true: 1}[c.gone]))
			g.Expect(l.Len()).To(Equal(map[bool]int{false: 1}[c.gone]))
			g.Expect(l.Bytes()).To(BeEquivalentTo(map[bool]int{false: 1024}[c.gone]))
		})
	}
}
