// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
)

var (
	epoch    = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	allVerbs = []string{"get", "list", "watch"}
	boats    = change.Type{Group: "x.test", Version: "v1", Kind: "Boat", Resource: "boats", Namespaced: true}
)

func res(name, kind string) resource {
	return resource{name: name, kind: kind, namespaced: true, verbs: allVerbs}
}

// shore is a registry with a clock.
type shore struct {
	*WithT
	r      *registry
	now    time.Time
	events []string
}

func newShore(t *testing.T) *shore { return &shore{WithT: NewWithT(t), r: newRegistry(), now: epoch} }

// scan merges a look that saw these resources, by "group/version".
func (s *shore) scan(served map[groupVersion][]resource, failed ...groupVersion) *Catalog {
	sc := scan{served: served, failed: map[groupVersion]string{}, preferred: map[string]string{}, complete: len(failed) == 0}
	for gv := range served {
		if p := sc.preferred[gv.group]; p == "" || gv.version > p {
			sc.preferred[gv.group] = gv.version
		}
	}
	for _, gv := range failed {
		sc.failed[gv] = "503"
	}
	s.r.merge(sc, s.now)
	return s.project()
}

func (s *shore) project() *Catalog {
	c, events := s.r.project(s.now)
	for _, e := range events {
		s.events = append(s.events, e.Event+" "+e.Type.Resource)
	}
	return c
}

func (s *shore) after(d time.Duration) *Catalog {
	s.now = s.now.Add(d)
	return s.project()
}

func (s *shore) take() []string {
	e := s.events
	s.events = nil
	return e
}

func (s *shore) standing(c *Catalog, t change.Type) string {
	v, reason := c.Standing(t)
	return fmt.Sprintf("%s %s", v, reason)
}

var (
	core   = groupVersion{"", "v1"}
	xTest  = groupVersion{"x.test", "v1"}
	xTest2 = groupVersion{"x.test", "v2"}
)

func base() map[groupVersion][]resource {
	return map[groupVersion][]resource{core: {res("configmaps", "ConfigMap")}, xTest: {res("boats", "Boat")}}
}

func TestScenario1_FailedGroupKeepsItsFacts(t *testing.T) {
	s := newShore(t)
	s.scan(base())
	s.take()
	for range 50 {
		s.now = s.now.Add(time.Minute)
		c := s.scan(map[groupVersion][]resource{core: {res("configmaps", "ConfigMap")}}, xTest)
		s.Expect(s.standing(c, boats)).To(Equal("retained discovery-degraded"))
		s.Expect(c.Degraded()).To(Equal([]string{"x.test/v1"}))
	}
	s.Expect(s.take()).To(Equal([]string{"TypeWobbling boats"}))
	c := s.scan(base())
	s.Expect(s.standing(c, boats)).To(Equal("followable "))
	s.Expect(s.take()).To(Equal([]string{"TypeRecovered boats"}))
}

// TestCaseW01_UnrelatedGroupsGoOn: one broken group says nothing of the others, and coming back changes nothing.
func TestCaseW01_UnrelatedGroupsGoOn(t *testing.T) {
	s := newShore(t)
	before := s.scan(base())
	c := s.scan(map[groupVersion][]resource{core: {res("configmaps", "ConfigMap")}}, xTest, groupVersion{"metrics.test", "v1"})
	s.Expect(s.standing(c, change.Type{Version: "v1", Resource: "configmaps"})).To(Equal("followable "))
	s.Expect(s.standing(c, boats)).To(Equal("retained discovery-degraded"))
	k, ok := c.Kind("x.test", "Boat")
	s.Expect(ok).To(BeTrue())
	s.Expect(k).To(Equal(boats))
	s.Expect(s.scan(base()).entries).To(Equal(before.entries))
}

func TestScenario2_RemovalGrace(t *testing.T) {
	s := newShore(t)
	s.scan(base())
	s.take()
	without := map[groupVersion][]resource{core: {res("configmaps", "ConfigMap")}}
	c := s.scan(without)
	s.Expect(s.standing(c, boats)).To(Equal("retained not-served"))
	s.now = s.now.Add(40 * time.Second)
	c = s.scan(base())
	s.Expect(s.standing(c, boats)).To(Equal("followable "), "the same record, no settling")
	s.Expect(s.take()).To(Equal([]string{"TypeWobbling boats", "TypeRecovered boats"}))

	s.scan(without)
	s.Expect(s.r.due(s.now)).To(Equal(s.now.Add(removalGrace)))
	c = s.after(61 * time.Second)
	s.Expect(s.standing(c, boats)).To(Equal("refused not-served"))
	s.Expect(s.take()).To(Equal([]string{"TypeWobbling boats", "TypeRemoved boats"}))
	c = s.scan(base())
	s.Expect(s.standing(c, boats)).To(Equal("pending settling"), "a new record settles")
}

func TestScenario3_IncompleteScanStartsNoGrace(t *testing.T) {
	s := newShore(t)
	s.scan(base())
	other := groupVersion{"other.test", "v1"}
	c := s.scan(map[groupVersion][]resource{core: {res("configmaps", "ConfigMap")}}, other)
	s.Expect(s.standing(c, boats)).To(Equal("followable "))
	s.Expect(s.standing(s.after(time.Hour), boats)).To(Equal("followable "))
}

func TestScenario4_FlapsActivateOnce(t *testing.T) {
	s := newShore(t)
	without := map[groupVersion][]resource{core: {res("configmaps", "ConfigMap")}}
	s.scan(without)
	s.take()
	for range 3 {
		s.now = s.now.Add(time.Second)
		s.Expect(s.standing(s.scan(base()), boats)).To(Equal("pending settling"))
		s.now = s.now.Add(500 * time.Millisecond)
		s.Expect(s.standing(s.scan(without), boats)).To(Equal("pending not-served"))
	}
	s.scan(base())
	s.Expect(s.take()).To(BeEmpty())
	s.Expect(s.r.due(s.now)).To(Equal(epoch.Add(time.Second + settleTime)))
	c := s.after(2 * time.Second)
	s.Expect(s.standing(c, boats)).To(Equal("followable "))
	s.Expect(s.take()).To(Equal([]string{"TypeActivated boats"}))
}

func TestScenario5_RefusedFromTheStartIsSilent(t *testing.T) {
	s := newShore(t)
	c := s.scan(map[groupVersion][]resource{core: {{name: "bindings", kind: "Binding", namespaced: true, verbs: []string{"create"}}}})
	s.Expect(s.standing(c, change.Type{Version: "v1", Resource: "bindings"})).To(Equal("refused missing-verb"))
	s.Expect(s.take()).To(BeEmpty())
}

func TestScenario6_IdentityMustBeUnique(t *testing.T) {
	s := newShore(t)
	c := s.scan(map[groupVersion][]resource{
		core:  {res("configmaps", "ConfigMap"), res("configmaps", "ConfigCopy")},
		xTest: {res("boats", "Boat"), res("ships", "Boat")},
	})
	s.Expect(s.standing(c, change.Type{Version: "v1", Resource: "configmaps"})).To(Equal("refused gvr-not-unique"))
	s.Expect(s.standing(c, boats)).To(Equal("refused gvk-not-unique"))
	s.Expect(s.standing(c, change.Type{Group: "x.test", Version: "v1", Resource: "ships"})).To(Equal("refused gvk-not-unique"))
}

func TestScenario7_Verbs(t *testing.T) {
	s := newShore(t)
	c := s.scan(map[groupVersion][]resource{xTest: {
		{name: "boats", kind: "Boat", verbs: []string{"get", "list", "patch"}},
		{name: "ships", kind: "Ship", verbs: allVerbs},
		{name: "rafts", kind: "Raft", verbs: allVerbs, noScope: true},
	}})
	s.Expect(s.standing(c, boats)).To(Equal("refused missing-verb"))
	s.Expect(s.standing(c, change.Type{Group: "x.test", Version: "v1", Resource: "ships"})).To(Equal("followable "))
	s.Expect(s.standing(c, change.Type{Group: "x.test", Version: "v1", Resource: "rafts"})).To(Equal("refused scope-unknown"))
}

func TestScenario8_ScaleSubresourceDoesNotRefuse(t *testing.T) {
	s := newShore(t)
	c := s.scan(map[groupVersion][]resource{xTest: {
		res("boats", "Boat"), {name: "boats/scale", kind: "Scale", namespaced: true, verbs: []string{"get", "update"}},
		{name: "ghosts/status", kind: "Ghost", verbs: []string{"get"}},
	}})
	s.Expect(s.standing(c, boats)).To(Equal("followable "))
	s.Expect(s.standing(c, change.Type{Group: "x.test", Version: "v1", Resource: "ghosts"})).To(Equal("refused subresource-only"))
}

func TestScenario9_DefaultPolicy(t *testing.T) {
	s := newShore(t)
	served := map[groupVersion][]resource{}
	for name := range deniedResources {
		gv := groupVersion{name[0], "v1"}
		served[gv] = append(served[gv], res(name[1], "Kind"+name[1]))
	}
	for name := range namedOnlyResources {
		gv := groupVersion{name[0], "v1"}
		served[gv] = append(served[gv], res(name[1], "Kind"+name[1]))
	}
	c := s.scan(served)
	for name := range deniedResources {
		s.Expect(s.standing(c, change.Type{Group: name[0], Version: "v1", Resource: name[1]})).To(Equal("refused denied-by-policy"), name[1])
	}
	for name := range namedOnlyResources {
		s.Expect(s.standing(c, change.Type{Group: name[0], Version: "v1", Resource: name[1]})).To(Equal("followable named-only"), name[1])
	}
}

func TestScenario13And14_Revision(t *testing.T) {
	s := newShore(t)
	first := s.scan(base())
	s.Expect(s.scan(base())).To(BeIdenticalTo(first))
	gone := s.scan(map[groupVersion][]resource{core: {res("configmaps", "ConfigMap")}})
	s.Expect(gone.Revision()).To(BeNumerically(">", first.Revision()))
	s.Expect(s.after(59 * time.Second)).To(BeIdenticalTo(gone))
	s.Expect(s.after(time.Second).Revision()).To(BeNumerically(">", gone.Revision()), "time alone ends the grace")
}

func TestCaseW04_AnotherVersionTakesOver(t *testing.T) {
	s := newShore(t)
	s.scan(base())
	s.scan(map[groupVersion][]resource{core: {res("configmaps", "ConfigMap")}})
	s.now = s.now.Add(10 * time.Second)
	s.scan(map[groupVersion][]resource{core: {res("configmaps", "ConfigMap")}, xTest2: {res("boats", "Boat")}})
	c := s.after(settleTime)
	s.Expect(s.standing(c, boats)).To(Equal("retained not-served"))
	v2 := boats
	v2.Version = "v2"
	s.Expect(s.standing(c, v2)).To(Equal("followable "))
	k, _ := c.Kind("x.test", "Boat")
	s.Expect(k).To(Equal(v2))
}

func TestPreferredVersionStaysWhileItFails(t *testing.T) {
	s := newShore(t)
	both := map[groupVersion][]resource{xTest: {res("boats", "Boat")}, xTest2: {res("boats", "Boat")}}
	s.scan(both)
	c := s.scan(map[groupVersion][]resource{xTest: {res("boats", "Boat")}}, xTest2)
	k, _ := c.Kind("x.test", "Boat")
	s.Expect(k.Version).To(Equal("v2"))
}

func TestActiveTypeThatIsRefusedLater(t *testing.T) {
	s := newShore(t)
	s.scan(base())
	s.take()
	s.scan(map[groupVersion][]resource{core: {res("configmaps", "ConfigMap")}, xTest: {{name: "boats", kind: "Boat", namespaced: true}}})
	s.Expect(s.take()).To(Equal([]string{"TypeRefused boats"}))
}

func TestNeverSeenAndFailing(t *testing.T) {
	s := newShore(t)
	c := s.scan(nil, core)
	s.Expect(c.Ready()).To(BeFalse())
}
