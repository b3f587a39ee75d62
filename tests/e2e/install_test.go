// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/harness"
)

var _ = Describe("The installation", Serial, func() {
	It("leaves what people added to the KubeProvider when it is repeated", func(ctx SpecContext) {
		opened := &v1alpha3.KubeProvider{}
		Expect(kube.Get(ctx, client.ObjectKey{Name: v1alpha3.DefaultKubeProviderName}, opened)).To(Succeed())
		Expect(opened.Spec.AccessFrom).NotTo(BeNil(), "the samples opened it")
		Expect(plane.Install(ctx)).To(Succeed())
		after := &v1alpha3.KubeProvider{}
		Expect(kube.Get(ctx, client.ObjectKey{Name: v1alpha3.DefaultKubeProviderName}, after)).To(Succeed())
		Expect(after.Spec).To(Equal(opened.Spec))
	})

	It("that may not read one type says so, holds back no other, and reads it once it may", func(ctx SpecContext) {
		role := &rbacv1.ClusterRole{}
		Expect(kube.Get(ctx, client.ObjectKey{Name: "gitops-reverser-watch-any"}, role)).To(Succeed())
		rules := role.Rules
		allow := func(ctx SpecContext, r []rbacv1.PolicyRule, services string) {
			GinkgoHelper()
			role.Rules, role.ResourceVersion = r, ""
			Expect(kube.Update(ctx, role)).To(Succeed())
			Eventually(func() string {
				out, _ := plane.Kubectl(ctx, "", "auth", "can-i", "watch", "services", "--all-namespaces",
					"--as=system:serviceaccount:"+harness.OperatorNamespace+":gitops-reverser")
				return strings.TrimSpace(out)
			}).Should(HavePrefix(services))
		}
		allow(ctx, []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"}}}, "no")
		DeferCleanup(func(ctx SpecContext) { allow(ctx, rules, "yes") })

		m := newMirror(ctx, mirrorOptions{unready: true, rules: []v1alpha3.WatchRuleItem{
			{ResourceSelection: v1alpha3.ResourceSelection{APIGroups: []string{""}, Resources: []string{"configmaps", "services"}}},
			// Every type of this group is forbidden, and none is named: they are left out one after the other.
			{ResourceSelection: v1alpha3.ResourceSelection{APIGroups: []string{"networking.k8s.io"}, Resources: []string{"*"}}},
		}})
		m.condition(ctx, v1alpha3.StreamsRunningCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Status).To(Equal(metav1.ConditionFalse))
			g.Expect(c.Reason).To(Equal(v1alpha3.WatchNotPermittedReason))
			g.Expect(c.Message).To(ContainSubstring("services is forbidden"))
		})
		m.apply(ctx, "other", data(1))
		m.hasFile(ctx, "other", "1")

		allow(ctx, rules, "yes")
		annotate(ctx, m.target)
		m.waitReady(ctx)
	})
})
