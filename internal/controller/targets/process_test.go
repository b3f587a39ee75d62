// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package targets_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/harness"
)

// TestShutdown: an operator that is asked to end closes its windows, publishes once more and is gone in time, with an
// orderly exit.
func TestShutdown(t *testing.T) {
	o := startOperator(t)
	w := newWorld(t, func(w *world) {
		w.target.Spec.Commit.Window = &v1alpha3.CommitWindow{IdleTimeout: &metav1.Duration{Duration: time.Hour},
			MaxDuration: &metav1.Duration{Duration: 2 * time.Hour}}
	})
	w.ready()
	w.configMap("in-an-open-window", "1")
	w.Eventually(func() float64 {
		return total(scrape(t, o, "gitopsreverser_watch_events_total"), `gittarget_namespace="`+w.namespace+`"`,
			`outcome="routed"`)
	}).Should(BeNumerically(">=", 1))
	began := time.Now()
	w.Expect(syscall.Kill(o.PID(), syscall.SIGTERM)).To(Succeed())
	w.Eventually(o.Done()).WithTimeout(35 * time.Second).Should(BeClosed())
	w.Expect(o.Err()).NotTo(HaveOccurred(), "%s", o.Tail(20))
	t.Logf("it took %s", time.Since(began).Round(time.Millisecond))
	w.Expect(w.files()).To(ContainElement(ContainSubstring("in-an-open-window.yaml")))
	w.Expect(entries(o.StorageDir)).To(BeEmpty(), "a store is a cache")
}

// TestShutdownDuringAnOutage ends in time, too.
func TestShutdownDuringAnOutage(t *testing.T) {
	o := startOperator(t, "--shutdown-grace=6s")
	w := newWorld(t)
	w.ready()
	w.change(w.provider, func() { w.provider.Spec.Suspend = true }) // what waits can never be published
	w.shows(w.target, meta.ReadyCondition, isTrue, meta.SuspendedReason)
	w.configMap("waits", "1")
	w.field(w.target, func() any { return w.target.Status.Conditions }, ContainElement(HaveField("Message",
		ContainSubstring("1 writes wait"))))
	w.Expect(syscall.Kill(o.PID(), syscall.SIGTERM)).To(Succeed())
	w.Eventually(o.Done()).WithTimeout(10 * time.Second).Should(BeClosed())
	w.Expect(o.Err()).NotTo(HaveOccurred(), "%s", o.Tail(20))
}

// TestLeaderElection: of two operators one works, and the other takes over when it ends or dies.
func TestLeaderElection(t *testing.T) {
	t.Parallel()
	args := []string{
		"--enable-leader-election", "--leader-election-lease-duration=10s", "--leader-election-renew-deadline=8s", "--leader-election-retry-period=1s",
	}
	first := startShard(t, args...)
	second := startShard(t, args...)
	operators := map[string]*harness.Operator{"first": first, "second": second}
	w := newWorld(t)
	w.ready()
	working := func() []string {
		var out []string
		for name, o := range operators {
			if total(scrape(t, o, "controller_runtime_reconcile_total"), `controller="gittarget"`) > 0 {
				out = append(out, name)
			}
		}
		return out
	}
	w.Expect(working()).To(HaveLen(1), "both are healthy and one works")
	leader := working()[0]
	for i := range 3 {
		w.configMap("object", fmt.Sprint(i))
		w.settled()
	}
	var leases coordinationv1.LeaseList
	w.Expect(parts.kube.List(t.Context(), &leases, client.InNamespace(harness.OperatorNamespace))).To(Succeed())
	w.Expect(leases.Items).To(HaveLen(1))
	w.Expect(leases.Items[0].Name).To(HavePrefix("gitops-reverser"))

	operators[leader].Kill()
	delete(operators, leader)
	w.configMap("object", "after the death of the leader")
	w.settled()
	w.Expect(working()).To(HaveLen(1))
	log, err := w.repo.Log("main")
	w.Expect(err).NotTo(HaveOccurred())
	seen := map[string]bool{}
	for _, c := range log {
		w.Expect(seen).NotTo(HaveKey(c.Tree), "no state was committed twice: %s", strings.TrimSpace(c.Message))
		seen[c.Tree] = true
	}
}
