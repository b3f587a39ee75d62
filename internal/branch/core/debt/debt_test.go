// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package debt_test

import (
	"strconv"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/branch/core/debt"
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
	var d debt.Debt[string]
	g.Expect(d.Empty()).To(BeTrue())
	d.Object(named("a"), pods, "no")
	d.Cell(secrets, "no key")
	d.Paid(pods, declared(pods, secrets))
	g.Expect(d.Empty()).To(BeFalse())
	why, owed := d.Why(secrets)
	g.Expect(why).To(Equal("no key"))
	g.Expect(owed).To(BeTrue())
	d.Paid(secrets, declared(pods, secrets))
	g.Expect(d.Empty()).To(BeTrue())
}

func TestALiveWritePaysItsObjectOnce(t *testing.T) {
	g := NewWithT(t)
	var d debt.Debt[string]
	d.Object(named("a"), pods, "no")
	g.Expect(d.Wrote(named("b"))).To(BeFalse())
	g.Expect(d.Wrote(named("a"))).To(BeTrue())
	g.Expect(d.Wrote(named("a"))).To(BeFalse())
	g.Expect(d.Empty()).To(BeTrue())
}

func TestACellThatIsNotDeclaredCountsForNothing(t *testing.T) {
	g := NewWithT(t)
	var d debt.Debt[string]
	d.Cell(secrets, "no key")
	d.Object(named("a"), pods, "no")
	g.Expect(d.Stale(declared(pods, secrets))).To(BeFalse())
	g.Expect(d.Stale(declared(pods))).To(BeTrue())
	d.Paid(pods, declared(pods))
	g.Expect(d.Empty()).To(BeTrue())
}

func TestADebtIsBounded(t *testing.T) {
	g := NewWithT(t)
	var d debt.Debt[string]
	for i := range 5000 {
		d.Object(named(strconv.Itoa(i)), pods, "no")
	}
	for i := range 5000 {
		d.Wrote(named(strconv.Itoa(i)))
	}
	g.Expect(d.Empty()).To(BeFalse(), "what was not remembered one by one waits for a snapshot")
	d.Paid(pods, declared(pods))
	g.Expect(d.Empty()).To(BeTrue())
}
