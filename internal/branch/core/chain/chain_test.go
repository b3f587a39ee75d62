// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package chain_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/branch/core/chain"
)

type write struct {
	chain.Link[string]
	name string
}

type list = chain.List[*write, string]

// built makes a list of writes with their commits; "-" is a write without a difference.
func built(commits ...string) *list {
	l := &list{}
	for i, c := range commits {
		w := &write{Link: chain.Link[string]{Seq: uint64(i + 1), Bytes: 10}}
		l.Insert(w)
		l.Decide(w, 0)
		if c != "-" {
			w.Commit = c
		}
		l.Grow()
	}
	return l
}

func TestHeadIsTheLastCommitOrTheBase(t *testing.T) {
	g := NewWithT(t)
	g.Expect(built("a", "b", "-").Head("base")).To(Equal("b"))
	g.Expect(built("-").Head("base")).To(Equal("base"))
	g.Expect(built().Next()).To(BeNil())
}

func TestPrefixOfAPush(t *testing.T) {
	for name, c := range map[string]struct {
		list *list
		one  bool
		tip  string
		n    int
	}{
		"all":                              {built("a", "b"), false, "b", 2},
		"what needs no commit goes along":  {built("-", "a", "-"), false, "a", 3},
		"one by one":                       {built("-", "a", "b"), true, "a", 2},
		"nothing to push":                  {built("-", "-"), false, "", 0},
		"nothing to push, told one by one": {built("-"), true, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			tip, n := c.list.Prefix(c.one)
			g.Expect(tip).To(Equal(c.tip))
			g.Expect(n).To(Equal(c.n))
		})
	}
}

func TestAWriteThatComesBackUnbuildsWhatIsBehindIt(t *testing.T) {
	g := NewWithT(t)
	l := built("a", "b", "c")
	back := l.All[1]
	l.Drop(back)
	g.Expect(l.Built()).To(HaveLen(2), "what is behind keeps its place")
	back.Decided = false
	l.Insert(back)
	g.Expect(l.Built()).To(HaveLen(1))
	g.Expect(l.Next()).To(BeIdenticalTo(back))
	g.Expect(l.All[2].Commit).To(BeEmpty(), "its commit stood on what is not there")
	g.Expect(l.Waiting()).To(Equal(1))
	g.Expect(l.Bytes()).To(BeEquivalentTo(30))
}

func TestRebuildWaitsUntilItIsAskedFor(t *testing.T) {
	g := NewWithT(t)
	l := built("a", "b", "c")
	l.Again(3)
	l.Again(2)
	g.Expect(l.Built()).To(HaveLen(3), "the answer to a push counts writes")
	l.Rebuild()
	g.Expect(l.Built()).To(HaveLen(1))
	l.Rebuild()
	g.Expect(l.Built()).To(HaveLen(1))
}

func TestEvenCountsWhatTheRemoteCanConfirm(t *testing.T) {
	g := NewWithT(t)
	g.Expect(built("-", "-", "a", "-").Even()).To(Equal(2))
	g.Expect(built("a").Even()).To(BeZero())
}

func TestForwardChangesPlacesAndNumbers(t *testing.T) {
	g := NewWithT(t)
	l := &list{}
	for i, name := range []string{"first", "second"} {
		l.Insert(&write{Link: chain.Link[string]{Seq: uint64(i + 1)}, name: name})
	}
	l.Forward(1)
	g.Expect(l.All[0].name).To(Equal("second"))
	g.Expect(l.All[0].Seq).To(BeEquivalentTo(1))
	g.Expect(l.All[1].Seq).To(BeEquivalentTo(2))
}

func TestDecideChargesWhatTheDecisionHolds(t *testing.T) {
	g := NewWithT(t)
	l := &list{}
	w := &write{Link: chain.Link[string]{Seq: 1, Bytes: 10}}
	l.Insert(w)
	l.Decide(w, 3)
	g.Expect(l.Bytes()).To(BeEquivalentTo(3))
	l.Drop(w)
	g.Expect(l.Bytes()).To(BeZero())
	g.Expect(l.Waiting()).To(BeZero())
}

func TestAsideKeepsItsBudget(t *testing.T) {
	g := NewWithT(t)
	var a chain.Aside[*write, string]
	for i := range 3 {
		g.Expect(a.Put(&write{Link: chain.Link[string]{Seq: uint64(i), Bytes: 10}}, 30)).To(BeEmpty())
	}
	gone := a.Put(&write{Link: chain.Link[string]{Seq: 9, Bytes: 15}}, 30)
	g.Expect(gone).To(HaveLen(2), "the oldest go")
	g.Expect(a.Bytes()).To(BeEquivalentTo(25))
	a.Keep(func(w *write) int64 {
		if w.Seq == 9 {
			return 5
		}
		return -1
	})
	g.Expect(a.Bytes()).To(BeEquivalentTo(5))
	g.Expect(a.Take()).To(HaveLen(1))
	g.Expect(a.Bytes()).To(BeZero())
	g.Expect(a.Put(&write{Link: chain.Link[string]{Bytes: 100}}, 30)).To(HaveLen(1), "one that is too large alone")
	g.Expect(a.All).To(BeEmpty())
}
