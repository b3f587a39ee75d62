// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
)

// get reads the GitTarget.
func (m *mirror) get(ctx SpecContext, g Gomega) *v1alpha3.GitTarget {
	t := &v1alpha3.GitTarget{}
	g.Expect(kube.Get(ctx, client.ObjectKeyFromObject(m.target), t)).To(Succeed())
	return t
}

// change edits the GitTarget's spec.
func (m *mirror) change(ctx SpecContext, edit func(*v1alpha3.GitTarget)) {
	GinkgoHelper()
	Eventually(func() error {
		t := m.get(ctx, Default)
		edit(t)
		return kube.Update(ctx, t)
	}).Should(Succeed())
}

var _ = Describe("A GitTarget", func() {
	It("that is created suspended shows a preview, writes nothing, and takes a snapshot on resume", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{
			before: func(m *mirror) {
				m.apply(ctx, "live", data(1))
				must(m.repo.Commit("main", "Earlier", map[string]string{
					m.file("live"): "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: live # ours\n  namespace: " + m.namespace + "\ndata:\n  value: \"0\"\n",
					m.file("gone"): "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: gone\n  namespace: " + m.namespace + "\n",
				}))
			},
			adjust: func(t *v1alpha3.GitTarget) {
				t.Spec.Suspend, t.Spec.Prune = true, &v1alpha3.Prune{Mode: v1alpha3.PruneAlways}
			},
		})
		Eventually(func(g Gomega) {
			t := m.get(ctx, g)
			g.Expect(conditions.GetReason(t, meta.ReadyCondition)).To(Equal(meta.SuspendedReason))
			g.Expect(t.Status.Preview).NotTo(BeNil())
			g.Expect(t.Status.Preview.Updated.Count).To(BeEquivalentTo(1))
			g.Expect(t.Status.Preview.Deleted.Sample).To(ConsistOf(ContainSubstring("gone")))
		}).Should(Succeed())
		m.apply(ctx, "new", data(1))
		Expect(m.log()).To(HaveLen(2))
		m.change(ctx, func(t *v1alpha3.GitTarget) { t.Spec.Suspend = false })
		m.settled(ctx)
		Expect(m.files(Default)[m.file("live")]).To(ContainSubstring("name: live # ours\n"))
		m.waitReady(ctx)
		Expect(m.get(ctx, Default).Status.Preview).To(BeNil())
	})

	It("whose requestedAt changes reads Git again, takes a fresh snapshot and echoes the value", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{})
		m.apply(ctx, "drift", data("live"))
		m.hasFile(ctx, "drift", "live")
		text := m.files(Default)[m.file("drift")]
		must(m.repo.Commit("main", "Edit in Git", map[string]string{m.file("drift"): strings.Replace(text, "live", "git", 1)}))
		annotate(ctx, m.target)
		m.hasFile(ctx, "drift", "live")
		Eventually(func(g Gomega) {
			t := m.get(ctx, g)
			g.Expect(t.Status.LastHandledReconcileAt).To(Equal(t.Annotations[v1alpha3.ReconcileRequestAnnotation]))
		}).Should(Succeed())
		m.settled(ctx)
	})

	It("ignores Flux's request annotation", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{})
		t := m.get(ctx, Default)
		t.SetAnnotations(map[string]string{meta.ReconcileRequestAnnotation: "now", v1alpha3.ReconcileRequestAnnotation: "ours"})
		Expect(kube.Update(ctx, t)).To(Succeed())
		Eventually(func(g Gomega) { g.Expect(m.get(ctx, g).Status.LastHandledReconcileAt).To(Equal("ours")) }).Should(Succeed())
	})

	It("whose folder holds foreign content refuses, names the file and the cure, and recovers by itself", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{})
		m.apply(ctx, "before", data(0))
		m.settled(ctx)
		must(m.repo.Commit("main", "Add an archive", map[string]string{m.folder + "/backup.tgz": "binary"}))
		m.apply(ctx, "during", data(1))
		m.condition(ctx, v1alpha3.GitPathAcceptedCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Status).To(Equal(metav1.ConditionFalse))
			g.Expect(c.Reason).To(Equal(v1alpha3.UnsupportedContentReason))
			g.Expect(c.Message).To(And(ContainSubstring("backup.tgz"), ContainSubstring("foreign-file")))
		})
		m.condition(ctx, meta.ReadyCondition, func(g Gomega, c *metav1.Condition) { g.Expect(c.Status).To(Equal(metav1.ConditionFalse)) })
		Expect(must(m.repo.Files("main"))).NotTo(HaveKey(m.file("during")))
		must(m.repo.Delete("main", "Remove it again", m.folder+"/backup.tgz"))
		m.settled(ctx)
		m.waitReady(ctx)
	})

	It("shows another writer's push in status.remote", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{})
		m.apply(ctx, "first", data(0))
		m.settled(ctx)
		Eventually(func(g Gomega) {
			r := m.get(ctx, g).Status.Remote
			g.Expect(r).NotTo(BeNil())
			g.Expect(r.Commit).To(HaveLen(40))
		}).Should(Succeed())
	})

	It("that is deleted leaves its folder and stops", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{})
		m.apply(ctx, "kept", data(0))
		m.settled(ctx)
		Expect(kube.Delete(ctx, m.target)).To(Succeed())
		Eventually(func() string { return must(operator.Metrics(ctx)) }).ShouldNot(ContainSubstring(`gittarget_namespace="` + m.namespace + `"`))
		tip := m.repo.Tip("main")
		m.remove(ctx, "kept")
		// Another mirror on the same operator is the marker: when it has committed, this one would have, too.
		other := newMirror(ctx, mirrorOptions{})
		other.apply(ctx, "marker", data(0))
		other.settled(ctx)
		Expect(m.repo.Tip("main")).To(Equal(tip))
	})

	It("without encryption mirrors no Secret, says so, and mirrors the rest", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{unready: true, rules: []v1alpha3.WatchRuleItem{
			{ResourceSelection: v1alpha3.ResourceSelection{APIGroups: []string{""}, Resources: []string{"configmaps", "secrets"}}},
		}})
		Expect(kube.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "login"}, StringData: map[string]string{"password": "hunter2-hunter2"},
		})).To(Succeed())
		m.apply(ctx, "plain", data(0))
		m.settled(ctx)
		m.condition(ctx, v1alpha3.EncryptionConfiguredCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Status).To(Equal(metav1.ConditionFalse))
			g.Expect(c.Reason).To(Equal(v1alpha3.EncryptionRequiredReason))
		})
	})
})

var _ = Describe("A document without a namespace", func() {
	It("is edited where it is, comments kept, and not written a second time", func(ctx SpecContext) {
		const name = "clusters/one/settings.yaml"
		m := newMirror(ctx, mirrorOptions{repo: gitserver.RepoOptions{Files: map[string]string{
			name: "# Ours, by hand.\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  value: '1' # first\n",
		}}})
		m.apply(ctx, "settings", data(2))
		Eventually(func(g Gomega) {
			g.Expect(m.files(g)).To(Equal(map[string]string{
				name: "# Ours, by hand.\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  value: '2' # first\n",
			}))
		}).Should(Succeed())
	})
})

var _ = Describe("A WatchRule", func() {
	It("with a selector follows labels: entry creates, exit removes", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{rules: []v1alpha3.WatchRuleItem{{ResourceSelection: v1alpha3.ResourceSelection{
			APIGroups: []string{""}, Resources: []string{"configmaps"},
			ObjectSelector: &v1alpha3.ObjectSelector{MatchLabels: map[string]string{"mirror": "yes"}},
		}}}})
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "chosen"}, Data: data(1)}
		Expect(kube.Create(ctx, cm)).To(Succeed())
		cm.Labels = map[string]string{"mirror": "yes"}
		Expect(kube.Update(ctx, cm)).To(Succeed())
		m.hasFile(ctx, "chosen", "mirror:")
		cm.Labels = nil
		Expect(kube.Update(ctx, cm)).To(Succeed())
		Eventually(func(g Gomega) { g.Expect(m.files(g)).To(BeEmpty()) }).Should(Succeed())
	})

	It("for a resource that nobody serves says so", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{unready: true, rules: []v1alpha3.WatchRuleItem{
			{ResourceSelection: v1alpha3.ResourceSelection{Resources: []string{"configmap"}}},
		}})
		rule := &v1alpha3.WatchRule{}
		Eventually(func(g Gomega) {
			g.Expect(kube.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: "rule"}, rule)).To(Succeed())
			c := conditions.Get(rule, v1alpha3.ResourcesResolvedCondition)
			g.Expect(c).NotTo(BeNil())
			g.Expect(c.Reason).To(Equal(v1alpha3.ResourceNotServedReason))
			g.Expect(c.Message).To(ContainSubstring("configmaps"))
		}).Should(Succeed())
	})

	It("for a foreign namespace is refused until the KubeProvider delegates the choice", Serial, func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{unready: true, rules: []v1alpha3.WatchRuleItem{
			{ResourceSelection: v1alpha3.ResourceSelection{APIGroups: []string{""}, Resources: []string{"configmaps"}}, SourceNamespace: "elsewhere"},
		}})
		rule := &v1alpha3.WatchRule{}
		authorized := func(want string) {
			GinkgoHelper()
			Eventually(func(g Gomega) {
				g.Expect(kube.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: "rule"}, rule)).To(Succeed())
				g.Expect(conditions.GetReason(rule, v1alpha3.SourceNamespaceAuthorizedCondition)).To(Equal(want))
			}).Should(Succeed())
		}
		delegate := func(ctx SpecContext, on bool) {
			GinkgoHelper()
			kp := &v1alpha3.KubeProvider{}
			Expect(kube.Get(ctx, client.ObjectKey{Name: "default"}, kp)).To(Succeed())
			kp.Spec.AllowAnySourceNamespace = on
			Expect(kube.Update(ctx, kp)).To(Succeed())
		}
		authorized(v1alpha3.SourceNamespaceNotAllowedReason)
		delegate(ctx, true)
		DeferCleanup(func(ctx SpecContext) { delegate(ctx, false) })
		authorized(v1alpha3.SourceNamespaceAllowedReason)
	})
})

var _ = Describe("A provider", func() {
	It("that loses a namespace closes its mirrors and leaves Git", Serial, func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{})
		m.apply(ctx, "kept", data(0))
		m.settled(ctx)
		admit := func(ctx SpecContext, to *v1alpha3.NamespaceMatcher) {
			GinkgoHelper()
			kp := &v1alpha3.KubeProvider{}
			Expect(kube.Get(ctx, client.ObjectKey{Name: "default"}, kp)).To(Succeed())
			kp.Spec.AccessFrom = to
			Expect(kube.Update(ctx, kp)).To(Succeed())
		}
		admit(ctx, nil)
		everybody := &v1alpha3.NamespaceMatcher{Selector: &metav1.LabelSelector{}}
		DeferCleanup(func(ctx SpecContext) { admit(ctx, everybody) })
		m.condition(ctx, v1alpha3.ValidatedCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Reason).To(Equal(v1alpha3.NamespaceNotAuthorizedReason))
		})
		Expect(m.files(Default)).To(HaveKey(m.file("kept")))
		admit(ctx, everybody)
		m.waitReady(ctx)
	})

	It("whose repository does not exist says so in the server's words", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{unready: true, provider: func(p *v1alpha3.GitProvider) { p.Spec.URL = git.URL("nowhere") }})
		p := &v1alpha3.GitProvider{}
		Eventually(func(g Gomega) {
			g.Expect(kube.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: "infra"}, p)).To(Succeed())
			g.Expect(conditions.GetReason(p, meta.ReadyCondition)).To(Equal(v1alpha3.ConnectionFailedReason))
			g.Expect(conditions.GetMessage(p, meta.ReadyCondition)).To(ContainSubstring("404"))
		}).Should(Succeed())
	})

	It("with a generated signing key makes commits that git verify-commit accepts", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{provider: func(p *v1alpha3.GitProvider) {
			p.Spec.Commit = &v1alpha3.GitProviderCommit{Signing: &v1alpha3.CommitSigning{
				SecretRef: meta.LocalObjectReference{Name: "signing"}, GenerateWhenMissing: true,
			}}
		}})
		m.apply(ctx, "signed", data(0))
		m.settled(ctx)
		p := &v1alpha3.GitProvider{}
		Expect(kube.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: "infra"}, p)).To(Succeed())
		Expect(p.Status.SigningPublicKey).To(HavePrefix("ssh-ed25519 "))
		allowed := must(m.repo.Git("rev-parse", "--absolute-git-dir"))
		allowed = strings.TrimSpace(allowed) + "/allowed-signers"
		Expect(writeFile(allowed, "noreply@configbutler.ai "+p.Status.SigningPublicKey+"\n")).To(Succeed())
		out, err := m.repo.Git("-c", "gpg.ssh.allowedSignersFile="+allowed, "verify-commit", "main")
		Expect(err).NotTo(HaveOccurred(), out)
	})
})

var _ = Describe("A read-only repository", func() {
	It("refuses every push: the target stalls with the server's words", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{})
		Expect(m.repo.SetHook("pre-receive", "echo 'branch main is protected'; exit 1")).To(Succeed())
		m.apply(ctx, "refused", data(0))
		m.condition(ctx, meta.ReadyCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Reason).To(Equal(v1alpha3.PushRejectedReason))
			g.Expect(c.Message).To(ContainSubstring("branch main is protected"))
		})
		git.Reset()
		// No retry storm: what a refusal costs is bounded by the ladder, not by passes of the reconciler.
		Consistently(func() int { return len(m.requests()) }).WithTimeout(3 * time.Second).Should(BeNumerically("<=", 4))
		Expect(m.repo.SetHook("pre-receive", "")).To(Succeed())
		poke(ctx, m)
		m.settled(ctx)
	})
})
