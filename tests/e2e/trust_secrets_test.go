// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"filippo.io/age"
	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/harness"
)

// secretsAndConfigMaps selects both; age is the encryption of the mirror.
func secretsAndConfigMaps(encryption *v1alpha3.Encryption) mirrorOptions {
	return mirrorOptions{
		rules: []v1alpha3.WatchRuleItem{
			{ResourceSelection: v1alpha3.ResourceSelection{APIGroups: []string{""}, Resources: []string{"configmaps"}}},
			{ResourceSelection: v1alpha3.ResourceSelection{
				APIGroups: []string{""}, Resources: []string{"secrets"},
				ObjectSelector: &v1alpha3.ObjectSelector{MatchLabels: map[string]string{"mirror": "yes"}},
			}},
		},
		adjust: func(t *v1alpha3.GitTarget) {
			t.Spec.Encryption = encryption
			// A commit per edit.
			t.Spec.Commit.Window = &v1alpha3.CommitWindow{IdleTimeout: &metav1.Duration{}, MaxDuration: &metav1.Duration{}}
		},
	}
}

// fromSecret takes identity and recipient from the Secret "age", which must exist.
func fromSecret() *v1alpha3.Encryption {
	return &v1alpha3.Encryption{
		SecretRef: &meta.LocalObjectReference{Name: "age"},
		Age:       &v1alpha3.AgeEncryption{Enabled: true, Recipients: &v1alpha3.AgeRecipients{ExtractFromSecret: true}},
	}
}

// decryptWith is decryptedWith for a Secret.
func decryptWith(ctx SpecContext, identity *age.X25519Identity, text string) *corev1.Secret {
	GinkgoHelper()
	s := &corev1.Secret{}
	Expect(yaml.Unmarshal([]byte(decryptedWith(ctx, identity, text)), s)).To(Succeed())
	return s
}

// decryptedWith runs the released sops command with an identity.
func decryptedWith(ctx SpecContext, identity *age.X25519Identity, text string) string {
	GinkgoHelper()
	home := GinkgoT().TempDir()
	keys, file := filepath.Join(home, "keys.txt"), filepath.Join(home, "secret.sops.yaml")
	Expect(writeFile(keys, identity.String()+"\n")).To(Succeed())
	Expect(writeFile(file, text)).To(Succeed())
	cmd := exec.CommandContext(ctx, must(harness.Tool("sops")), "--disable-version-check", "decrypt", file)
	cmd.Env = []string{"HOME=" + home, "SOPS_AGE_KEY_FILE=" + keys, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s", out)
	return string(out)
}

// warnings waits for a Warning about the GitTarget whose text holds all the given parts.
func (m *mirror) warned(ctx SpecContext, reason string, parts ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var list corev1.EventList
		g.Expect(kube.List(ctx, &list, client.InNamespace(m.namespace))).To(Succeed())
		var seen []string
		for _, e := range list.Items {
			text := e.Type + " " + e.InvolvedObject.Kind + "/" + e.InvolvedObject.Name + " " + e.Reason + ": " + e.Message
			seen = append(seen, text)
			if e.Type != corev1.EventTypeWarning || e.Reason != reason || e.InvolvedObject.Name != "live" {
				continue
			}
			all := true
			for _, p := range parts {
				all = all && strings.Contains(e.Message, p)
			}
			if all {
				return
			}
		}
		g.Expect(seen).To(BeNil(), "no such Warning")
	}).Should(Succeed())
}

// changed returns the lines that a commit took from and gave to a file.
func (m *mirror) changed(before, after, file string) (removed, added []string) {
	GinkgoHelper()
	for line := range strings.Lines(must(m.repo.Git("diff", "--unified=0", before, after, "--", file))) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
		case strings.HasPrefix(line, "-"):
			removed = append(removed, line[1:])
		case strings.HasPrefix(line, "+"):
			added = append(added, line[1:])
		}
	}
	return removed, added
}

var _ = Describe("A Secret's file", func() {
	It("shows 100 edits of unrelated keys as 100 changes of one value", func(ctx SpecContext) {
		const keys, edits = 10, 100
		identity := must(age.GenerateX25519Identity())
		o := secretsAndConfigMaps(fromSecret())
		o.before = func(m *mirror) { m.keySecret(ctx, "age", map[string]string{"a.agekey": identity.String()}) }
		m := newMirror(ctx, o)
		values := map[string]string{}
		for k := range keys {
			values[fmt.Sprintf("key-%d", k)] = fmt.Sprintf("planted-%d", k)
		}
		m.secret(ctx, "login", values)
		file := m.secretFile("login")
		Eventually(func() (map[string]string, error) { return m.repo.Files("main") }).Should(HaveKey(file))
		first := m.repo.Tip("main")
		var order []string
		for i := range edits {
			key := fmt.Sprintf("key-%d", i%keys)
			order = append(order, key)
			values[key] = fmt.Sprintf("planted-%d-%d", i%keys, i)
			m.secret(ctx, "login", values)
		}
		var commits []string
		Eventually(func(g Gomega) {
			commits = strings.Fields(must(m.repo.Git("rev-list", "--reverse", first+"..main")))
			g.Expect(commits).To(HaveLen(edits))
		}).Should(Succeed())
		// What a change of one value changes besides that value.
		stamp := regexp.MustCompile(`^ +(lastmodified|mac): `)
		before := first
		for i, commit := range commits {
			removed, added := m.changed(before, commit, file)
			before = commit
			Expect(added).To(HaveLen(len(removed)))
			Expect(len(added)).To(BeNumerically("<=", 3))
			named := slices.DeleteFunc(added, stamp.MatchString)
			Expect(named).To(HaveLen(1), "one value beside the stamps")
			Expect(named[0]).To(MatchRegexp(`^ +%s: ENC\[`, order[i]))
		}
		got := decryptWith(ctx, identity, string(must(m.repo.ReadFile("main", file))))
		for k, v := range values {
			Expect(string(got.Data[k])).To(Equal(v))
		}
		leakFree(ctx, m, "planted-0-90", "planted-9-99")
		Expect(m.repo.Fsck()).To(Succeed())
	})

	It("that holds it in clear beside others loses it to an encrypted file, with a Warning", func(ctx SpecContext) {
		identity := must(age.GenerateX25519Identity())
		o := secretsAndConfigMaps(fromSecret())
		shared := "clusters/one/shared.yaml"
		// Who pushed this rule would like to read what comes (decisions 50).
		stranger := must(age.GenerateX25519Identity()).Recipient().String()
		theirs := "creation_rules:\n  - age: " + stranger + "\n"
		clear := base64.StdEncoding.EncodeToString([]byte("planted-clear-text"))
		o.before = func(m *mirror) {
			m.keySecret(ctx, "age", map[string]string{"a.agekey": identity.String()})
			m.apply(ctx, "settings", data(1))
			m.secret(ctx, "login", map[string]string{"password": "planted-clear-text"})
			must(m.repo.Commit("main", "By hand", map[string]string{"clusters/one/.sops.yaml": theirs, shared: "# Ours.\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: " + m.namespace +
				"\ndata:\n  value: \"1\" # kept\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: login\n  namespace: " + m.namespace +
				"\n  labels:\n    mirror: \"yes\"\ntype: Opaque\ndata:\n  password: " + clear + "\n"}))
		}
		m := newMirror(ctx, o)
		file := m.secretFile("login")
		Eventually(func() (map[string]string, error) { return m.repo.Files("main") }).Should(HaveKey(file))
		Expect(string(must(m.repo.ReadFile("main", shared)))).To(Equal("# Ours.\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: " + m.namespace +
			"\ndata:\n  value: \"1\" # kept\n"))
		touched := must(m.repo.Git("log", "--format=%H", "main", "--", shared))
		made := must(m.repo.Git("log", "--format=%H", "main", "--", file))
		Expect(made).To(Equal(strings.SplitAfter(touched, "\n")[0]), "one commit takes it out and writes it encrypted")
		Expect(string(decryptWith(ctx, identity, string(must(m.repo.ReadFile("main", file)))).Data["password"])).To(Equal("planted-clear-text"))
		for name, text := range must(m.repo.Contents("main")) {
			Expect(text).NotTo(Or(ContainSubstring(clear), ContainSubstring("planted-clear-text")), name)
		}
		Expect(string(must(m.repo.ReadFile("main", file)))).NotTo(ContainSubstring(stranger))
		Expect(string(must(m.repo.ReadFile("main", "clusters/one/.sops.yaml")))).To(Equal(theirs), "it is not the operator's")
		m.condition(ctx, v1alpha3.EncryptionConfiguredCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Status).To(Equal(metav1.ConditionTrue))
			g.Expect(c.Message).To(And(ContainSubstring("clusters/one/.sops.yaml names other recipients than spec.encryption"), ContainSubstring(stranger)))
		})
		m.warned(ctx, "SensitiveContent", "Secret "+m.namespace+"/login", shared, "history of the repository still does", "values should be changed")
		Expect(m.repo.Fsck()).To(Succeed())
	})

	It("is not written while the keys are missing; other types go on, and it follows once they are there", func(ctx SpecContext) {
		o := secretsAndConfigMaps(fromSecret())
		o.unready = true
		o.before = func(m *mirror) { m.secret(ctx, "login", map[string]string{"password": "planted-waiting"}) }
		m := newMirror(ctx, o)
		m.apply(ctx, "goes-on", data(0))
		m.settled(ctx)
		m.condition(ctx, v1alpha3.EncryptionConfiguredCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Status).To(Equal(metav1.ConditionFalse))
			g.Expect(c.Reason).To(Equal(v1alpha3.MissingSecretReason))
			g.Expect(c.Message).To(And(ContainSubstring("secrets are not mirrored"), ContainSubstring(m.namespace+"/age"), ContainSubstring("generateWhenMissing")))
		})
		m.condition(ctx, meta.ReadyCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Reason).To(Equal(v1alpha3.EncryptionNotConfiguredReason))
		})
		m.apply(ctx, "goes-on", data(1))
		m.settled(ctx)
		Expect(must(m.repo.Files("main"))).NotTo(Or(HaveKey(m.secretFile("login")), HaveKey(m.folder+"/.sops.yaml")))

		identity := must(age.GenerateX25519Identity())
		m.keySecret(ctx, "age", map[string]string{"a.agekey": identity.String()})
		Eventually(func() (map[string]string, error) { return m.repo.Files("main") }).Should(HaveKey(m.secretFile("login")))
		Expect(string(decryptWith(ctx, identity, string(must(m.repo.ReadFile("main", m.secretFile("login"))))).Data["password"])).To(Equal("planted-waiting"))
		m.waitReady(ctx)
		leakFree(ctx, m, "planted-waiting", identity.String())
	})
})
