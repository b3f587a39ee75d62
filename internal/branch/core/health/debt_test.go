// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"strconv"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
)

var (
	pods    = change.Cell{Resource: "pods"}
	secrets = change.Cell{Resource: "secrets"}
)

func declared(cells ...change.Cell) func(change.Cell) bool {
	return func(c change.Cell) bool {
		for _, o := range cells {
			if o == c {
				return true
			}
		}
		return false
	}
}

func named(name string) change.ObjectID {
	return change.ObjectID{Kind: "Pod", Namespace: "ns", Name: name}
}

func TestASnapshotPaysItsOwnCellOnly(t *testing.T) {
	g := NewWithT(t)
	var d debt[string]
	g.Expect(d.empty()).To(BeTrue())
	d.object(named("a"), pods, "no")
	d.cell(secrets, "no key")
	d.paid(pods, declared(pods, secrets))
	g.Expect(d.empty()).To(BeFalse())
	why, owed := d.why(secrets)
	g.Expect(why).To(Equal("no key"))
	g.Expect(owed).To(BeTrue())
	d.paid(secrets, declared(pods, secrets))
	g.Expect(d.empty()).To(BeTrue())
}

func TestALiveWritePaysItsObjectOnce(t *testing.T) {
	g := NewWithT(t)
	var d debt[string]
	d.object(named("a"), pods, "no")
	g.Expect(d.wrote(named("b"))).To(BeFalse())
	g.Expect(d.wrote(named("a"))).To(BeTrue())
	g.Expect(d.wrote(named("a"))).To(BeFalse())
	g.Expect(d.empty()).To(BeTrue())
}

func TestACellThatIsNotDeclaredCountsForNothing(t *testing.T) {
	g := NewWithT(t)
	var d debt[string]
	d.cell(secrets, "no key")
	d.object(named("a"), pods, "no")
	g.Expect(d.stale(declared(pods, secrets))).To(BeFalse())
	g.Expect(d.stale(declared(pods))).To(BeTrue())
	d.paid(pods, declared(pods))
	g.Expect(d.empty()).To(BeTrue())
}

func TestADebtIsBounded(t *testing.T) {
	g := NewWithT(t)
	var d debt[string]
	for i := range 5000 {
		d.object(named(strconv.Itoa(i)), pods, "no")
	}
	for i := range 5000 {
		d.wrote(named(strconv.Itoa(i)))
	}
	g.Expect(d.empty()).To(BeFalse(), "what was not remembered one by one waits for a snapshot")
	d.paid(pods, declared(pods))
	g.Expect(d.empty()).To(BeTrue())
}
