// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
)

var _ = Describe("A live change", func() {
	It("becomes a commit with the right file, content and message, for a create, an update and a delete", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{})
		m.apply(ctx, "prices", data(1))
		m.hasFile(ctx, "prices", `value: "1"`)
		Expect(m.files(Default)[m.file("prices")]).To(Equal(fmt.Sprintf(
			"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: prices\n  namespace: %s\ndata:\n  value: \"1\"\n", m.namespace)))
		Expect(m.log()[0].Message).To(Equal(fmt.Sprintf("chore: sync 1 resource\n\n- [CREATE] v1/configmaps/%s/prices\n", m.namespace)))
		Expect(m.log()[0].AuthorEmail).To(Equal("noreply@configbutler.ai"))
		Expect(must(m.repo.Files("main"))).To(And(HaveKey(m.folder+"/README.md"), HaveKey(m.folder+"/.gittargetignore")))

		m.apply(ctx, "prices", data(2))
		m.hasFile(ctx, "prices", `value: "2"`)
		Expect(m.log()[0].Message).To(ContainSubstring("- [UPDATE] v1/configmaps/" + m.namespace + "/prices"))

		m.remove(ctx, "prices")
		Eventually(func(g Gomega) { g.Expect(m.files(g)).To(BeEmpty()) }).Should(Succeed())
		Expect(m.log()[0].Message).To(ContainSubstring("- [DELETE] v1/configmaps/" + m.namespace + "/prices"))
		m.settled(ctx)
	})

	It("costs one request to the Git server, and an idle branch none (scenario 72)", Serial, func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{})
		m.apply(ctx, "first", data(0))
		m.settled(ctx)
		git.Reset()
		m.apply(ctx, "second", data(0))
		m.settled(ctx)
		Consistently(m.requests).WithTimeout(2 * time.Second).Should(HaveLen(1))
		r := m.requests()[0]
		Expect(r.Method).To(Equal("POST"))
		Expect(r.Service).To(Equal("git-receive-pack"))
		Expect(r.In).To(BeNumerically("<=", 2048), "bytes of a one-object commit")
	})

	It("joins 50 edits of one window into one commit", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{adjust: func(t *v1alpha3.GitTarget) {
			t.Spec.Commit.Window.IdleTimeout = &metav1.Duration{Duration: 5 * time.Second}
		}})
		before := len(m.log())
		for i := range 50 {
			m.apply(ctx, fmt.Sprintf("edit-%d", i%5), data(i))
		}
		m.settled(ctx)
		Expect(m.log()).To(HaveLen(before + 1))
		Expect(m.log()[0].Message).To(HavePrefix("chore: sync 5 resources\n"))
	})

	It("is committed by maxDuration although edits never stop", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{adjust: func(t *v1alpha3.GitTarget) {
			t.Spec.Commit.Window = &v1alpha3.CommitWindow{
				IdleTimeout: &metav1.Duration{Duration: 3 * time.Second}, MaxDuration: &metav1.Duration{Duration: 4 * time.Second},
			}
		}})
		before := len(m.log())
		i := 0
		Eventually(func(g Gomega) {
			i++
			m.apply(ctx, "busy", data(i))
			g.Expect(len(m.log())).To(BeNumerically(">", before))
		}).WithPolling(200 * time.Millisecond).Should(Succeed())
		m.settled(ctx)
	})

	It("of the status only makes no commit", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{rules: []v1alpha3.WatchRuleItem{
			{ResourceSelection: v1alpha3.ResourceSelection{APIGroups: []string{"apps"}, Resources: []string{"deployments"}}},
			{ResourceSelection: v1alpha3.ResourceSelection{APIGroups: []string{""}, Resources: []string{"configmaps"}}},
		}})
		d := deployment(m.namespace, "web")
		Expect(kube.Create(ctx, d)).To(Succeed())
		file := m.folder + "/" + m.namespace + "/apps/deployments/web.yaml"
		Eventually(func(g Gomega) { g.Expect(m.files(g)).To(HaveKey(file)) }).Should(Succeed())
		Expect(m.files(Default)[file]).NotTo(ContainSubstring("status:"))
		before := len(m.log())
		for i := range 20 {
			d.Status.ObservedGeneration = int64(i + 1)
			Expect(kube.Status().Update(ctx, d)).To(Succeed())
		}
		Eventually(func() string { return must(operator.Metrics(ctx)) }).Should(
			MatchRegexp(`watch_events_total\{.*gittarget_namespace="%s".*outcome="unchanged".*resource="deployments".*\} 20`, m.namespace))
		// A marker behind them on the same branch: a commit of the status would be there before it.
		m.apply(ctx, "marker", data(1))
		m.hasFile(ctx, "marker", "value")
		Expect(m.log()).To(HaveLen(before + 1))
	})
})

var _ = Describe("Another writer", func() {
	It("pushes between edits, and both histories stay", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{})
		for i := range 4 {
			m.apply(ctx, "contended", data(i))
			must(m.repo.Commit("main", fmt.Sprintf("By hand %d", i), map[string]string{"notes.txt": fmt.Sprint(i)}))
			m.hasFile(ctx, "contended", fmt.Sprintf(`value: "%d"`, i))
		}
		var byHand int
		for _, c := range m.log() {
			if strings.HasPrefix(c.Message, "By hand") {
				byHand++
			}
		}
		Expect(byHand).To(Equal(4))
		m.settled(ctx)
	})

	It("edits the same object in Git: the live object wins and the commit stays in history", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{})
		m.apply(ctx, "both", data("live 1"))
		m.hasFile(ctx, "both", "live 1")
		text := m.files(Default)[m.file("both")]
		must(m.repo.Commit("main", "Edit in Git", map[string]string{m.file("both"): strings.Replace(text, "live 1", "git", 1)}))
		m.apply(ctx, "both", data("live 2"))
		m.hasFile(ctx, "both", "live 2")
		Expect(m.log()[1].Message).To(HavePrefix("Edit in Git"))
		m.settled(ctx)
	})
})

var _ = Describe("A repository", func() {
	It("that is empty gets a root commit with the folder's own files", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{empty: true})
		m.apply(ctx, "first", data(1))
		m.settled(ctx)
		Expect(m.log()).To(HaveLen(1))
		Expect(m.log()[0].Parents).To(BeEmpty())
	})

	It("without the branch gets it from its HEAD, with the first real commit", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{adjust: func(t *v1alpha3.GitTarget) { t.Spec.Branch = "live/one" }})
		parent := m.repo.Tip("main")
		Expect(must(m.repo.Branches())).NotTo(HaveKey("live/one"))
		m.apply(ctx, "first", data(1))
		m.settled(ctx)
		Expect(m.log()[0].Parents).To(Equal([]string{parent}))
	})

	It("whose HEAD dangles is written as if it were empty", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{before: func(m *mirror) {
			must(m.repo.Git("symbolic-ref", "HEAD", "refs/heads/nowhere"))
			must(m.repo.Git("update-ref", "-d", "refs/heads/main"))
		}})
		m.apply(ctx, "first", data(1))
		m.settled(ctx)
		Expect(m.log()[0].Parents).To(BeEmpty())
	})

	It("without the parentBranch is not written until that appears", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{unready: true, adjust: func(t *v1alpha3.GitTarget) {
			t.Spec.Branch, t.Spec.ParentBranch = "live/two", "release"
		}})
		m.apply(ctx, "first", data(1))
		m.condition(ctx, meta.ReadyCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Reason).To(Equal(v1alpha3.ParentBranchNotFoundReason))
			g.Expect(c.Message).To(ContainSubstring("release"))
		})
		must(m.repo.Commit("release", "Start the release", map[string]string{"VERSION": "1\n"}))
		m.settled(ctx)
	})
})

var _ = Describe("Two GitTargets on one branch", func() {
	It("write their own folders through one worker, and no commit mixes them", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{})
		second := m.target.DeepCopy()
		second.ObjectMeta = metav1.ObjectMeta{Namespace: m.namespace, Name: "second"}
		second.Spec.Path = "clusters/two"
		Expect(kube.Create(ctx, second)).To(Succeed())
		Expect(kube.Create(ctx, &v1alpha3.WatchRule{
			ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "second"},
			Spec: v1alpha3.WatchRuleSpec{GitTargetRef: meta.LocalObjectReference{Name: "second"}, Rules: []v1alpha3.WatchRuleItem{
				{ResourceSelection: v1alpha3.ResourceSelection{APIGroups: []string{""}, Resources: []string{"configmaps"}}},
			}},
		})).To(Succeed())
		other := &mirror{namespace: m.namespace, folder: "clusters/two", repo: m.repo, target: second}
		for i := range 10 {
			m.apply(ctx, fmt.Sprintf("shared-%d", i), data(i))
		}
		m.settled(ctx)
		other.settled(ctx)
		for _, c := range m.log() {
			stat := must(m.repo.Git("show", "--name-only", "--format=", c.Hash))
			Expect(strings.Contains(stat, "clusters/one/") && strings.Contains(stat, "clusters/two/")).To(BeFalse(), stat)
		}
	})

	It("conflict when their folders overlap, and the loser recovers when the winner goes", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{})
		young := m.target.DeepCopy()
		young.ObjectMeta = metav1.ObjectMeta{Namespace: m.namespace, Name: "young"}
		young.Spec.Path = m.folder + "/inner"
		Expect(kube.Create(ctx, young)).To(Succeed())
		other := &mirror{namespace: m.namespace, folder: young.Spec.Path, repo: m.repo, target: young}
		other.condition(ctx, v1alpha3.ValidatedCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Reason).To(Equal(v1alpha3.TargetConflictReason))
			g.Expect(c.Message).To(ContainSubstring(m.namespace + "/live"))
		})
		Expect(kube.Delete(ctx, m.target)).To(Succeed())
		other.condition(ctx, v1alpha3.ValidatedCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Status).To(Equal(metav1.ConditionTrue))
		})
	})
})

var _ = Describe("Many objects at the start", func() {
	It("are one commit per type and are all there", func(ctx SpecContext) { manyObjects(ctx, 2000) }, SpecTimeout(5*time.Minute))

	It("are one commit per type and are all there, 10 000 of them", Label("long"), func(ctx SpecContext) { manyObjects(ctx, 10000) },
		SpecTimeout(15*time.Minute))
})

func manyObjects(ctx SpecContext, n int) {
	m := newMirror(ctx, mirrorOptions{unready: true, before: func(m *mirror) {
		for i := range n {
			m.apply(ctx, fmt.Sprintf("object-%05d", i), data(i))
		}
	}})
	m.settled(ctx)
	Expect(m.log()).To(HaveLen(2))
	Expect(m.log()[0].Message).To(HavePrefix(fmt.Sprintf("chore: reconcile %d configmaps in %s", n, m.namespace)))
}

func deployment(namespace, name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "registry.example.org/web:1"}}},
			},
		},
	}
}
