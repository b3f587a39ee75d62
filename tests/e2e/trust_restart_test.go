// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"

	"filippo.io/age"
	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/harness"
)

// manySecrets creates n Secrets that the mirrors of these specs select.
func (m *mirror) manySecrets(ctx SpecContext, n int) {
	GinkgoHelper()
	names, failed := make(chan int), make(chan error, n)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range names {
				failed <- kube.Create(ctx, &corev1.Secret{
					ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: fmt.Sprintf("login-%d", i), Labels: map[string]string{"mirror": "yes"}},
					StringData: map[string]string{"username": fmt.Sprintf("planted-user-%d", i), "password": fmt.Sprintf("planted-password-%d", i)},
				})
			}
		})
	}
	for i := range n {
		names <- i
	}
	close(names)
	all.Wait()
	for range n {
		Expect(<-failed).To(Succeed())
	}
}

// hasSecrets waits until n Secrets are in Git.
func (m *mirror) hasSecrets(n int) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		files := strings.Fields(must(m.repo.Git("ls-tree", "--name-only", "main", m.folder+"/"+m.namespace+"/secrets/")))
		g.Expect(files).To(HaveLen(n))
	}).Should(Succeed())
}

// restartsSilently kills the operator and starts it again: the next commit is the one of a new object, right behind.
func (m *mirror) restartsSilently(ctx SpecContext, args ...string) {
	GinkgoHelper()
	before := m.repo.Tip("main")
	operator.Kill()
	startOperator(args...)
	m.waitReady(ctx)
	m.apply(ctx, "marker", data(1))
	m.hasFile(ctx, "marker", "value")
	Expect(m.log()[0].Parents).To(Equal([]string{before}))
	Expect(strings.Fields(must(m.repo.Git("diff", "--name-only", before, "main")))).To(Equal([]string{m.file("marker")}))
}

var _ = Describe("A restart", Serial, func() {
	It("with 1000 Secrets makes no commit", func(ctx SpecContext) {
		const n = 1000
		identity := must(age.GenerateX25519Identity())
		o := secretsAndConfigMaps(fromSecret())
		o.before = func(m *mirror) {
			m.keySecret(ctx, "age", map[string]string{"a.agekey": identity.String()})
			m.manySecrets(ctx, n)
		}
		m := newMirror(ctx, o)
		m.hasSecrets(n)
		m.restartsSilently(ctx)
		got := decryptWith(ctx, identity, string(must(m.repo.ReadFile("main", m.secretFile("login-999")))))
		Expect(string(got.Data["password"])).To(Equal("planted-password-999"))
		leakFree(ctx, m, "planted-password-0", "planted-user-999")
		Expect(m.repo.Fsck()).To(Succeed())
	})

	It("of an operator that cannot decrypt makes no commit with Redis, and says what it costs without", func(ctx SpecContext) {
		if _, err := exec.LookPath("redis-server"); err != nil && os.Getenv("CI") != "true" {
			Skip("redis-server is not installed")
		}
		redis, addr, err := harness.StartRedis(GinkgoT().TempDir())
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(redis.Kill)
		flags := []string{"--redis-addr=" + addr, "--redis-insecure"}
		operator.Kill()
		startOperator(flags...)
		DeferCleanup(func() {
			operator.Kill()
			startOperator()
		})
		identity := must(age.GenerateX25519Identity())
		m := newMirror(ctx, secretsAndConfigMaps(&v1alpha3.Encryption{
			Age: &v1alpha3.AgeEncryption{Enabled: true, Recipients: &v1alpha3.AgeRecipients{PublicKeys: []string{identity.Recipient().String()}}},
		}))
		m.manySecrets(ctx, 5)
		m.hasSecrets(5)
		m.restartsSilently(ctx, flags...)

		// A change while it was away is written, and nothing else; the key comes back when somebody deletes it.
		key := &corev1.Secret{}
		Expect(kube.Get(ctx, client.ObjectKey{Namespace: harness.OperatorNamespace, Name: "gitops-reverser-digest-key"}, key)).To(Succeed())
		Expect(key.Type).To(BeEquivalentTo("configbutler.ai/digest-key"))
		before := m.repo.Tip("main")
		operator.Kill()
		m.secret(ctx, "login-3", map[string]string{"username": "planted-user-3", "password": "planted-anew"})
		startOperator(flags...)
		Eventually(func() string { return m.repo.Tip("main") }).ShouldNot(Equal(before))
		Expect(strings.Fields(must(m.repo.Git("diff", "--name-only", before, "main")))).To(Equal([]string{m.secretFile("login-3")}))
		Expect(string(decryptWith(ctx, identity, string(must(m.repo.ReadFile("main", m.secretFile("login-3"))))).Data["password"])).To(Equal("planted-anew"))

		// Without Redis it cannot know: it says so, encrypts once more, and nothing is lost.
		before = m.repo.Tip("main")
		operator.Kill()
		startOperator()
		Eventually(func() string { return m.repo.Tip("main") }).ShouldNot(Equal(before))
		m.condition(ctx, v1alpha3.EncryptionConfiguredCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Status).To(Equal(metav1.ConditionTrue))
			g.Expect(c.Message).To(And(ContainSubstring("encrypted once more"), ContainSubstring("--redis-addr")))
		})
		Expect(string(decryptWith(ctx, identity, string(must(m.repo.ReadFile("main", m.secretFile("login-0"))))).Data["password"])).To(Equal("planted-password-0"))
		leakFree(ctx, m, "planted-password-0", "planted-anew")
	})
})

var _ = Describe("A Secret that the operator made", func() {
	It("is in no mirror, whatever the rules select and switch off", func(ctx SpecContext) {
		m := newMirror(ctx, mirrorOptions{
			rules: []v1alpha3.WatchRuleItem{{ResourceSelection: v1alpha3.ResourceSelection{APIGroups: []string{""}, Resources: []string{"secrets", "configmaps"}}}},
			provider: func(p *v1alpha3.GitProvider) {
				p.Spec.Commit = &v1alpha3.GitProviderCommit{Signing: &v1alpha3.CommitSigning{
					SecretRef: meta.LocalObjectReference{Name: "signing"}, GenerateWhenMissing: true,
				}}
			},
			adjust: func(t *v1alpha3.GitTarget) {
				t.Spec.Ignore = &v1alpha3.Ignore{DisableDefaults: []v1alpha3.IgnoreDefault{v1alpha3.IgnoreClusterMade}}
				t.Spec.Encryption = fromSecret()
				t.Spec.Encryption.Age.Recipients.GenerateWhenMissing = true
			},
		})
		m.secret(ctx, "login", map[string]string{"password": "planted-password"})
		Eventually(func() (map[string]string, error) { return m.repo.Files("main") }).Should(HaveKey(m.secretFile("login")))
		made := map[string]*corev1.Secret{"age": {}, "signing": {}}
		for name, s := range made {
			Expect(kube.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: name}, s)).To(Succeed())
		}
		Expect(made["age"].Annotations).To(HaveKey(v1alpha3.AgeRecipientAnnotation))
		Expect(made["signing"].Annotations).To(HaveKeyWithValue(v1alpha3.SigningPublicKeyAnnotation, HavePrefix("ssh-ed25519 ")))
		// Touching them changes nothing; what comes after them proves that they were seen.
		for _, s := range made {
			s.Labels = map[string]string{"touched": "yes"}
			Expect(kube.Update(ctx, s)).To(Succeed())
		}
		m.secret(ctx, "later", map[string]string{"password": "planted-later"})
		Eventually(func() (map[string]string, error) { return m.repo.Files("main") }).Should(HaveKey(m.secretFile("later")))
		for name := range must(m.repo.Files("main")) {
			Expect(name).NotTo(Or(ContainSubstring("secrets/age"), ContainSubstring("secrets/signing")))
		}
		for _, s := range made {
			delete(s.Data, "signing.pub") // the public half is on the GitProvider
			for _, v := range s.Data {
				leakFree(ctx, m, strings.TrimSpace(string(v)))
			}
		}
	})
})
