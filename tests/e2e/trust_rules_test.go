// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"time"

	"filippo.io/age"
	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
)

// authorized is a public key as a file of allowed signers has it.
func authorized(key ssh.PublicKey) string { return string(ssh.MarshalAuthorizedKey(key)) }

// Case G16: the server takes signed commits only, and only of committers whose key it is.
var _ = Describe("A server that wants signatures", func() {
	It("gets no other commit through, tells its rule on the target without a retry storm, and takes what it wants", func(ctx SpecContext) {
		key, public := sshKey("planted-passphrase")
		allowed := filepath.Join(dir, unique("allowed-signers"))
		Expect(writeFile(allowed, "somebody@example.org "+authorized(public))).To(Succeed())
		m := newMirror(ctx, mirrorOptions{before: func(m *mirror) {
			m.keySecret(ctx, "signing", map[string]string{"signing.key": key, "passphrase": "planted-passphrase"})
			Expect(m.repo.SetHook("pre-receive", "while read old new ref; do who=$(git log -1 --format=%ce $new); "+
				"git -c gpg.ssh.allowedSignersFile="+allowed+" verify-commit $new 2>&1 | grep -q \"for $who\" || { echo \"no key of $who signed this\"; exit 1; }; done")).To(Succeed())
		}})
		tip := m.repo.Tip("main")
		m.apply(ctx, "ruled", data(0))
		m.condition(ctx, meta.ReadyCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Reason).To(Equal(v1alpha3.PushRejectedReason))
			g.Expect(c.Message).To(ContainSubstring("no key of " + v1alpha3.DefaultCommitterEmail + " signed this"))
		})
		git.Reset()
		Consistently(func() int { return len(m.requests()) }).WithTimeout(2 * time.Second).Should(BeNumerically("<=", 4))
		Expect(m.repo.Tip("main")).To(Equal(tip))

		p := &v1alpha3.GitProvider{}
		Eventually(func(g Gomega) {
			g.Expect(kube.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: "infra"}, p)).To(Succeed())
			signed(p)
			p.Spec.Commit.Committer = &v1alpha3.Committer{Name: "Somebody", Email: "somebody@example.org"}
			g.Expect(kube.Update(ctx, p)).To(Succeed())
		}).Should(Succeed())
		m.settled(ctx)
		m.waitReady(ctx)
		Expect(m.log()[0].CommitterEmail).To(Equal("somebody@example.org"))
		out, err := m.verify(ctx, verifier{allowed: allowed}, "main")
		Expect(err).NotTo(HaveOccurred(), out)
	})
})

var _ = Describe("A type that becomes sensitive later", Serial, func() {
	It("is encrypted where it is, and the history that holds it in clear is named", func(ctx SpecContext) {
		identity := must(age.GenerateX25519Identity())
		o := secretsAndConfigMaps(fromSecret())
		o.before = func(m *mirror) { m.keySecret(ctx, "age", map[string]string{"a.agekey": identity.String()}) }
		m := newMirror(ctx, o)
		m.apply(ctx, "settings", map[string]string{"token": "planted-token-1"})
		m.hasFile(ctx, "settings", "planted-token-1")
		operator.Kill()
		startOperator("--additional-sensitive-resources=configmaps")
		DeferCleanup(func() {
			operator.Kill()
			startOperator()
		})
		Eventually(func() string { return string(must(m.repo.ReadFile("main", m.file("settings")))) }).Should(ContainSubstring("ENC[AES256_GCM"))
		for name, text := range must(m.repo.Contents("main")) {
			Expect(text).NotTo(ContainSubstring("planted-token-1"), name)
		}
		m.warned(ctx, "SensitiveContent", "ConfigMap "+m.namespace+"/settings", "history of the repository still does")
		m.apply(ctx, "settings", map[string]string{"token": "planted-token-2"})
		Eventually(func() map[string]string {
			text := decryptedWith(ctx, identity, string(must(m.repo.ReadFile("main", m.file("settings")))))
			c := &corev1.ConfigMap{}
			Expect(yaml.Unmarshal([]byte(text), c)).To(Succeed())
			return c.Data
		}).Should(Equal(map[string]string{"token": "planted-token-2"}))
		// From here on the flag decides, and taking it away never brings the clear text back.
		operator.Kill()
		startOperator()
		m.apply(ctx, "settings", map[string]string{"token": "planted-token-3"})
		m.apply(ctx, "marker", data(1))
		m.hasFile(ctx, "marker", "value")
		for name, text := range must(m.repo.Contents("main")) {
			Expect(text).NotTo(Or(ContainSubstring("planted-token-2"), ContainSubstring("planted-token-3")), name)
		}
		leakFree(ctx, m, "planted-token-2", "planted-token-3")
	})
})
