// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

var _ = Describe("A Git server", func() {
	It("that is down for a while loses nothing, and the order is kept", func(ctx SpecContext) {
		own := must(gitserver.New(filepath.Join(dir, unique("git")), gitserver.Options{}))
		address, folder := strings.TrimPrefix(own.BaseURL(), "http://"), own.Dir()
		shared := git
		git = own
		DeferCleanup(func() { git = shared; own.Close() })
		m := newMirror(ctx, mirrorOptions{})
		m.apply(ctx, "before", data(0))
		m.settled(ctx)

		own.Close()
		for i := range 3 {
			m.apply(ctx, fmt.Sprintf("during-%d", i), data(i))
			// Each edit closes its window before the next, so that three writes wait.
			Eventually(func() float64 { return metric(ctx, "git_retained_writes", m.namespace) }).Should(BeNumerically(">=", i+1))
		}
		m.condition(ctx, meta.ReadyCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Status).To(Equal(metav1.ConditionFalse))
			g.Expect(c.Message).To(And(ContainSubstring("not published since"), ContainSubstring("connection refused"), ContainSubstring("next attempt at")))
		})
		own = must(gitserver.New(folder, gitserver.Options{Addr: address}))
		git = own
		m.settled(ctx)
		var order []string
		for _, c := range m.log() {
			for i := range 3 {
				if strings.Contains(c.Message, fmt.Sprintf("during-%d", i)) {
					order = append(order, fmt.Sprint(i))
				}
			}
		}
		Expect(order).To(Equal([]string{"2", "1", "0"}))
		m.waitReady(ctx)
	})

	DescribeTable("that misbehaves is shown in a condition, with its own words, and nothing is lost",
		func(ctx SpecContext, fault gitserver.Fault, reason, words string) {
			m := newMirror(ctx, mirrorOptions{})
			m.apply(ctx, "before", data(0))
			m.settled(ctx)
			git.SetFault(fault)
			DeferCleanup(git.ClearFaults)
			m.apply(ctx, "during", data(1))
			m.condition(ctx, meta.ReadyCondition, func(g Gomega, c *metav1.Condition) {
				g.Expect(c.Status).To(Equal(metav1.ConditionFalse))
				g.Expect(c.Message).To(And(ContainSubstring(reason), ContainSubstring(words)))
			})
			git.ClearFaults()
			// Waiting for the ladder's first rung would be waiting for time: a changed spec ends the pause.
			poke(ctx, m)
			m.settled(ctx)
			m.waitReady(ctx)
		},
		Entry("500", gitserver.Fault{Status: http.StatusInternalServerError, Body: "disk on fire"}, "ConnectionFailed", "disk on fire"),
		Entry("401", gitserver.Fault{Status: http.StatusUnauthorized, Body: "token expired"}, "AuthenticationFailed", "token expired"),
		Entry("413", gitserver.Fault{Service: "git-receive-pack", Status: http.StatusRequestEntityTooLarge, Body: "too large for us"}, "413", "too large for us"),
		Entry("hanging", gitserver.Fault{Hang: true}, "DeadlineExceeded", "did not answer"),
		Entry("closing early", gitserver.Fault{Close: true}, "ConnectionFailed", "EOF"),
	)

	It("that answers a 403 to one credential recovers with the next one, without a restart", func(ctx SpecContext) {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "login"}, StringData: map[string]string{"username": "mirror", "password": "old"}}
		m := newMirror(ctx, mirrorOptions{
			before: func(m *mirror) {
				git.SetAuth("mirror", "old")
				secret.Namespace = m.namespace
				Expect(kube.Create(ctx, secret)).To(Succeed())
			},
			provider: func(p *v1alpha3.GitProvider) { p.Spec.SecretRef = &meta.LocalObjectReference{Name: "login"} },
		})
		DeferCleanup(func() { git.SetAuth("", "") })
		m.apply(ctx, "before", data(0))
		m.settled(ctx)
		git.SetAuth("mirror", "new")
		m.apply(ctx, "during", data(1))
		m.condition(ctx, meta.ReadyCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Reason).To(Equal(v1alpha3.AuthenticationFailedReason))
		})
		secret.StringData = map[string]string{"password": "new"}
		Expect(kube.Update(ctx, secret)).To(Succeed())
		// The provider reads its Secret at its own interval; the annotation asks for it now.
		annotate(ctx, &v1alpha3.GitProvider{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "infra"}})
		m.settled(ctx)
		m.waitReady(ctx)
	})

	It("that refuses by a hook keeps its words on the target and lets other work go on", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{})
		Expect(m.repo.SetHook("pre-receive", "while read old new ref; do git diff --name-only $old $new | grep -q forbidden && { echo 'no forbidden files here'; exit 1; }; done; exit 0")).To(Succeed())
		m.apply(ctx, "forbidden", data(1))
		m.condition(ctx, meta.ReadyCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Reason).To(Equal(v1alpha3.PushRejectedReason))
			g.Expect(c.Message).To(ContainSubstring("no forbidden files here"))
		})
		m.apply(ctx, "allowed", data(1))
		m.hasFile(ctx, "allowed", "value")
		Expect(m.repo.SetHook("pre-receive", "")).To(Succeed())
		poke(ctx, m)
		m.settled(ctx)
	})
})

var _ = Describe("The operator", Serial, func() {
	DescribeTable("killed with SIGKILL while objects change and go",
		func(ctx SpecContext, mode v1alpha3.PruneMode, check func(SpecContext, *mirror)) {
			m := newMirror(ctx, mirrorOptions{adjust: func(t *v1alpha3.GitTarget) { t.Spec.Prune = &v1alpha3.Prune{Mode: mode} }})
			for i := range 10 {
				m.apply(ctx, fmt.Sprintf("object-%d", i), data(i))
			}
			m.settled(ctx)
			operator.Kill()
			m.apply(ctx, "object-0", data("changed while down"))
			m.apply(ctx, "new", data("made while down"))
			m.remove(ctx, "object-1")
			m.remove(ctx, "object-2")
			startOperator()
			m.hasFile(ctx, "object-0", "changed while down")
			m.hasFile(ctx, "new", "made while down")
			check(ctx, m)
			Expect(m.repo.Fsck()).To(Succeed())
		},
		Entry("makes Git equal the cluster after its restart, with prune.mode Always", v1alpha3.PruneAlways,
			func(ctx SpecContext, m *mirror) { m.settled(ctx) }),
		Entry("keeps and counts the deleted ones after its restart, with prune.mode OnEvent", v1alpha3.PruneOnEvent,
			func(ctx SpecContext, m *mirror) {
				Expect(m.files(Default)).To(And(HaveKey(m.file("object-1")), HaveKey(m.file("object-2"))))
				Eventually(func(g Gomega) {
					t := &v1alpha3.GitTarget{}
					g.Expect(kube.Get(ctx, client.ObjectKeyFromObject(m.target), t)).To(Succeed())
					g.Expect(t.Status.Retention).NotTo(BeNil())
					g.Expect(t.Status.Retention.RetainedDocuments).To(BeEquivalentTo(2))
				}).Should(Succeed())
			}),
	)

	It("makes no commit after a restart when nothing changed", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{adjust: func(t *v1alpha3.GitTarget) { t.Spec.Prune = &v1alpha3.Prune{Mode: v1alpha3.PruneAlways} }})
		for i := range 10 {
			m.apply(ctx, fmt.Sprintf("object-%d", i), data(i))
		}
		m.settled(ctx)
		before := m.repo.Tip("main")
		operator.Kill()
		startOperator()
		m.apply(ctx, "marker", data(1))
		m.settled(ctx)
		Expect(m.log()[0].Parents).To(Equal([]string{before}))
	})
})

// poke changes the GitTarget's spec in a way that has no effect but to end a pause.
func poke(ctx SpecContext, m *mirror) {
	GinkgoHelper()
	t := &v1alpha3.GitTarget{}
	Expect(kube.Get(ctx, client.ObjectKeyFromObject(m.target), t)).To(Succeed())
	t.Spec.Interval = &metav1.Duration{Duration: 7 * time.Minute}
	Expect(kube.Update(ctx, t)).To(Succeed())
}

// annotate asks for a pass of an object now.
func annotate(ctx SpecContext, o client.Object) {
	GinkgoHelper()
	Expect(kube.Get(ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
	patch := client.MergeFrom(o.DeepCopyObject().(client.Object))
	o.SetAnnotations(map[string]string{v1alpha3.ReconcileRequestAnnotation: unique("now")})
	Expect(kube.Patch(ctx, o, patch)).To(Succeed())
}

// metric reads a gauge of the mirror's branch.
func metric(ctx SpecContext, name, namespace string) float64 {
	GinkgoHelper()
	text := must(operator.Metrics(ctx))
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "gitopsreverser_"+name+"{") && strings.Contains(line, fmt.Sprintf("provider_namespace=%q", namespace)) {
			var v float64
			_, err := fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &v)
			Expect(err).NotTo(HaveOccurred())
			return v
		}
	}
	return -1
}
