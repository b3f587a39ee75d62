// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

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

// encrypted is a mirror of ConfigMaps and Secrets with a generated age identity.
func encrypted(ctx SpecContext) *mirror {
	return newMirror(ctx, mirrorOptions{
		rules: []v1alpha3.WatchRuleItem{
			{ResourceSelection: v1alpha3.ResourceSelection{APIGroups: []string{""}, Resources: []string{"configmaps"}}},
			{ResourceSelection: v1alpha3.ResourceSelection{
				APIGroups: []string{""}, Resources: []string{"secrets"},
				ObjectSelector: &v1alpha3.ObjectSelector{MatchLabels: map[string]string{"mirror": "yes"}},
			}},
		},
		adjust: func(t *v1alpha3.GitTarget) {
			t.Spec.Encryption = &v1alpha3.Encryption{
				SecretRef: &meta.LocalObjectReference{Name: "age"},
				Age:       &v1alpha3.AgeEncryption{Enabled: true, Recipients: &v1alpha3.AgeRecipients{ExtractFromSecret: true, GenerateWhenMissing: true}},
			}
		},
	})
}

func (m *mirror) secret(ctx SpecContext, name string, values map[string]string) {
	GinkgoHelper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: name, Labels: map[string]string{"mirror": "yes"}}, StringData: values}
	if err := kube.Create(ctx, s); err != nil {
		Expect(client.IgnoreAlreadyExists(err)).To(Succeed())
		Expect(kube.Update(ctx, s)).To(Succeed())
	}
}

func (m *mirror) secretFile(name string) string {
	return m.folder + "/" + m.namespace + "/secrets/" + name + ".sops.yaml"
}

// decrypt runs the released sops command with the identity of the age Secret.
func (m *mirror) decrypt(ctx SpecContext, text string) *corev1.Secret {
	GinkgoHelper()
	age := &corev1.Secret{}
	Expect(kube.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: "age"}, age)).To(Succeed())
	Expect(age.Annotations).To(HaveKeyWithValue(v1alpha3.BackupWarningAnnotation, "REMOVE_AFTER_BACKUP"))
	home := filepath.Join(dir, unique("sops"))
	Expect(os.MkdirAll(home, 0o700)).To(Succeed())
	keys := filepath.Join(home, "keys.txt")
	for name, key := range age.Data {
		if strings.HasSuffix(name, ".agekey") {
			Expect(os.WriteFile(keys, key, 0o600)).To(Succeed())
		}
	}
	file := filepath.Join(home, "secret.sops.yaml")
	Expect(writeFile(file, text)).To(Succeed())
	cmd := exec.CommandContext(ctx, must(harness.Tool("sops")), "--disable-version-check", "decrypt", file)
	cmd.Env = []string{"HOME=" + home, "SOPS_AGE_KEY_FILE=" + keys, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s", out)
	s := &corev1.Secret{}
	Expect(yaml.Unmarshal(out, s)).To(Succeed())
	return s
}

var _ = Describe("A Secret", func() {
	It("is written encrypted, decrypts with the released sops, and one changed value changes few lines", func(ctx SpecContext) {
		m := encrypted(ctx)
		m.secret(ctx, "login", map[string]string{"username": "planted-user-name", "password": "planted-password-1"})
		var text string
		Eventually(func(g Gomega) {
			b, err := m.repo.ReadFile("main", m.secretFile("login"))
			g.Expect(err).NotTo(HaveOccurred())
			text = string(b)
		}).Should(Succeed())
		Expect(text).NotTo(ContainSubstring("planted"))
		Expect(must(m.repo.Files("main"))).To(HaveKey(m.folder + "/.sops.yaml"))
		s := m.decrypt(ctx, text)
		Expect(string(s.Data["password"])).To(Equal("planted-password-1"))
		Expect(string(s.Data["username"])).To(Equal("planted-user-name"))

		before := m.repo.Tip("main")
		m.secret(ctx, "login", map[string]string{"username": "planted-user-name", "password": "planted-password-2"})
		Eventually(func() string { return m.repo.Tip("main") }).ShouldNot(Equal(before))
		stat := must(m.repo.Git("diff", "--numstat", before, "main", "--", m.secretFile("login")))
		var added, removed int
		Expect(fmt.Sscanf(stat, "%d %d", &added, &removed)).To(Equal(2))
		Expect(added).To(BeNumerically("<=", 3), "a value, lastmodified and mac: %s", stat)
		Expect(removed).To(Equal(added))
		Expect(string(m.decrypt(ctx, string(must(m.repo.ReadFile("main", m.secretFile("login"))))).Data["password"])).To(Equal("planted-password-2"))
		leakFree(ctx, m, "planted-user-name", "planted-password-1", "planted-password-2")
		Expect(m.repo.Fsck()).To(Succeed())
	})

	It("makes no commit after a restart", Serial, func(ctx SpecContext) {
		m := encrypted(ctx)
		for i := range 5 {
			m.secret(ctx, fmt.Sprintf("login-%d", i), map[string]string{"password": fmt.Sprintf("planted-%d", i)})
		}
		Eventually(func(g Gomega) {
			for i := range 5 {
				g.Expect(m.repo.Files("main")).To(HaveKey(m.secretFile(fmt.Sprintf("login-%d", i))))
			}
		}).Should(Succeed())
		before := m.repo.Tip("main")
		operator.Kill()
		startOperator()
		m.apply(ctx, "marker", data(1))
		m.hasFile(ctx, "marker", "value")
		Expect(m.log()[0].Parents).To(Equal([]string{before}))
	})

	It("is encrypted anew for the current recipients when that is asked for", func(ctx SpecContext) {
		m := encrypted(ctx)
		m.secret(ctx, "login", map[string]string{"password": "planted-password"})
		Eventually(func(g Gomega) { g.Expect(m.repo.Files("main")).To(HaveKey(m.secretFile("login"))) }).Should(Succeed())
		before := string(must(m.repo.ReadFile("main", m.secretFile("login"))))
		const second = "age1cy0su9fwf3gf9mw868g5yut09p6nytfmmnktexz2ya5uqg9vl9sss4euqm"
		m.change(ctx, func(t *v1alpha3.GitTarget) { t.Spec.Encryption.Age.Recipients.PublicKeys = []string{second} })
		m.change(ctx, func(t *v1alpha3.GitTarget) {
			t.Annotations = map[string]string{v1alpha3.RekeyRequestAnnotation: "now"}
		})
		Eventually(func(g Gomega) { g.Expect(m.get(ctx, g).Status.LastHandledRekeyAt).To(Equal("now")) }).Should(Succeed())
		after := string(must(m.repo.ReadFile("main", m.secretFile("login"))))
		Expect(after).NotTo(Equal(before))
		Expect(after).To(ContainSubstring(second))
		Expect(string(must(m.repo.ReadFile("main", m.folder+"/.sops.yaml")))).To(ContainSubstring(second))
		Expect(string(m.decrypt(ctx, after).Data["password"])).To(Equal("planted-password"))
	})
})

// leakFree looks for planted values, in clear and in base64, in every object of the repository, the operator's log and
// files, and every event and status of the namespace.
func leakFree(ctx SpecContext, m *mirror, planted ...string) {
	GinkgoHelper()
	texts := map[string]string{
		"repository": must(m.repo.Git("cat-file", "--batch-all-objects", "--batch")),
		"log":        string(must(os.ReadFile(operator.LogFile))),
		"metrics":    must(operator.Metrics(ctx)),
		"objects": must(plane.Kubectl(ctx, "", "get", "events,gitproviders,gittargets,watchrules", "-n", m.namespace, "-o", "yaml",
			"--show-managed-fields=false")),
	}
	Expect(filepath.WalkDir(operator.StorageDir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			b, rerr := os.ReadFile(path)
			texts[path], err = string(b), rerr
		}
		return err
	})).To(Succeed())
	for where, text := range texts {
		for _, p := range planted {
			for _, form := range []string{p, base64.StdEncoding.EncodeToString([]byte(p))} {
				Expect(strings.Contains(text, form)).To(BeFalse(), "%s holds a planted value", where)
			}
		}
	}
}
