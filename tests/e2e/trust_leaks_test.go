// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"filippo.io/age"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
	"github.com/configbutler/gitops-reverser/tests/harness"
	"github.com/configbutler/gitops-reverser/tests/leakproof"
)

// hunt plants random values and looks for them everywhere the operator can write to.
type hunt struct {
	*mirror
	planted []leakproof.Secret
	// before are the entries of the suite's folder that were there before the hunt.
	before map[string]bool
}

func newHunt() *hunt {
	GinkgoHelper()
	h := &hunt{before: map[string]bool{}}
	for _, e := range must(os.ReadDir(dir)) {
		h.before[e.Name()] = true
	}
	return h
}

// value plants text of every kind of character, word what can also be a label, a password or a part of an address.
func (h *hunt) value(name string) string {
	s := leakproof.Plant(name)
	h.planted = append(h.planted, s)
	return s.Value
}

func (h *hunt) word(name string) string {
	s := leakproof.PlantWord(name)
	h.planted = append(h.planted, s)
	return s.Value
}

// expectNothing searches every object of the repository and its other files, the operator's log and files, whatever is
// new in its temporary folder, its metrics, the events of all namespaces, and the status of our own objects. What specs
// hold was written by the test.
func (h *hunt) expectNothing(ctx SpecContext, more ...string) {
	GinkgoHelper()
	t, s := GinkgoT(), leakproof.New(h.planted...)
	r, err := s.Repository(ctx, h.repo.Dir)
	leakproof.Expect(t, "the repository", r, err)
	paths := append([]string{h.repo.Dir, operator.LogFile}, more...)
	for _, e := range must(os.ReadDir(dir)) {
		if !h.before[e.Name()] || filepath.Join(dir, e.Name()) == operator.StorageDir {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	r, err = s.Files(paths...)
	leakproof.Expect(t, "the files", r, err)
	select {
	case <-operator.Done():
	default:
		r = leakproof.Report{Searched: 1, Findings: s.Text("metrics", []byte(must(operator.Metrics(ctx))))}
		leakproof.Expect(t, "the metrics", r, nil)
	}
	r = leakproof.Report{}
	look := func(where string, v any) {
		found, err := s.Object(where, v)
		Expect(err).NotTo(HaveOccurred())
		r.Searched++
		r.Findings = append(r.Findings, found...)
	}
	var events corev1.EventList
	Expect(kube.List(ctx, &events)).To(Succeed())
	for i := range events.Items {
		look("event "+events.Items[i].Name, &events.Items[i])
	}
	Expect(events.Items).NotTo(BeEmpty())
	for _, kind := range []string{"GitProvider", "GitTarget", "WatchRule", "KubeProvider"} {
		var list unstructured.UnstructuredList
		list.SetGroupVersionKind(v1alpha3.GroupVersion.WithKind(kind + "List"))
		Expect(kube.List(ctx, &list)).To(Succeed())
		Expect(list.Items).NotTo(BeEmpty(), kind)
		for _, o := range list.Items {
			look(kind+" "+o.GetName(), o.Object["status"])
		}
	}
	leakproof.Expect(t, "events and statuses", r, nil)
}

// stalls creates a GitProvider in the mirror's namespace and waits until it has failed with a reason.
func (h *hunt) stalls(ctx SpecContext, p *v1alpha3.GitProvider, reason string) {
	GinkgoHelper()
	p.Namespace, p.Spec.AllowedBranches = h.namespace, []string{"main"}
	Expect(kube.Create(ctx, p)).To(Succeed())
	Eventually(func(g Gomega) {
		g.Expect(kube.Get(ctx, client.ObjectKeyFromObject(p), p)).To(Succeed())
		g.Expect(conditions.GetReason(p, meta.ReadyCondition)).To(Equal(reason), conditions.GetMessage(p, meta.ReadyCondition))
	}).Should(Succeed())
}

// kubeConfigFails makes a KubeProvider with a kubeconfig that is not accepted, and waits until it has failed.
func (h *hunt) kubeConfigFails(ctx SpecContext, text string) {
	GinkgoHelper()
	name := unique("cluster")
	Expect(kube.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: name}, StringData: map[string]string{"value": text},
	})).To(Succeed())
	p := &v1alpha3.KubeProvider{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.KubeConfig = &meta.KubeConfigReference{SecretRef: &meta.SecretKeyReference{Name: name}}
	Expect(kube.Create(ctx, p)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(kube.Delete(ctx, p)).To(Succeed()) })
	Eventually(func(g Gomega) {
		g.Expect(kube.Get(ctx, client.ObjectKeyFromObject(p), p)).To(Succeed())
		g.Expect(conditions.IsFalse(p, meta.ReadyCondition)).To(BeTrue(), "%v", p.Status.Conditions)
	}).Should(Succeed())
}

// compressed is how some tools keep the object they applied.
func compressed(text []byte) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	must(w.Write(text))
	Expect(w.Close()).To(Succeed())
	return base64.RawStdEncoding.EncodeToString(b.Bytes())
}

// clear is one document of a Secret as a person writes it.
func clear(namespace, name, password string) string {
	return "apiVersion: v1\nkind: Secret\nmetadata:\n  name: " + name + "\n  namespace: " + namespace + "\n  labels:\n    mirror: \"yes\"\ntype: Opaque\ndata:\n" +
		"  password: " + base64.StdEncoding.EncodeToString([]byte(password)) + "\n"
}

var _ = Describe("A planted secret is nowhere to be seen", Serial, func() {
	// encryptedHunt mirrors Secrets and ConfigMaps through a Git server that wants a planted password.
	encryptedHunt := func(ctx SpecContext) *hunt {
		GinkgoHelper()
		h := newHunt()
		identity := must(age.GenerateX25519Identity())
		h.planted = append(h.planted, leakproof.Secret{Name: "age identity", Value: identity.String()})
		password := h.word("Git password")
		git.SetAuth("mirror", password)
		DeferCleanup(git.SetAuth, "", "")
		o := secretsAndConfigMaps(fromSecret())
		o.before = func(m *mirror) {
			m.keySecret(ctx, "age", map[string]string{"a.agekey": identity.String()})
			m.keySecret(ctx, "login", map[string]string{"username": "mirror", "password": password})
		}
		o.provider = func(p *v1alpha3.GitProvider) { p.Spec.SecretRef = &meta.LocalObjectReference{Name: "login"} }
		h.mirror = newMirror(ctx, o)
		return h
	}

	It("after client-side apply, in annotations and labels, after edits and a deletion", func(ctx SpecContext) {
		h := encryptedHunt(ctx)
		// kubectl keeps the whole object, stringData in clear, in last-applied-configuration; kapp keeps it in its own.
		applied := map[string]any{
			"apiVersion": "v1", "kind": "Secret",
			"metadata":   map[string]any{"name": "applied", "namespace": h.namespace, "labels": map[string]any{"mirror": "yes"}},
			"data":       map[string]any{"token": base64.StdEncoding.EncodeToString([]byte(h.value("applied data")))},
			"stringData": map[string]any{"password": h.value("applied stringData"), "file": "user: admin\npassword: " + h.value("applied file") + "\n"},
		}
		text := must(json.Marshal(applied))
		applied["metadata"].(map[string]any)["annotations"] = map[string]any{"kapp.k14s.io/original": string(text)}
		_, err := plane.Kubectl(ctx, string(must(json.Marshal(applied))), "apply", "-f", "-")
		Expect(err).NotTo(HaveOccurred())
		live := &corev1.Secret{}
		Expect(kube.Get(ctx, client.ObjectKey{Namespace: h.namespace, Name: "applied"}, live)).To(Succeed())
		Expect(live.Annotations).To(HaveKey(corev1.LastAppliedConfigAnnotation))

		// These repeat a value where it stays readable: each is refused alone, by name.
		label, note, quoted := h.word("label"), h.value("annotation"), h.value("quoted in an annotation")
		for name, s := range map[string]*corev1.Secret{
			"by-label":  {ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"example.org/token": label}}, StringData: map[string]string{"token": label}},
			"by-note":   {ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"example.org/note": note}}, StringData: map[string]string{"token": note}},
			"by-base64": {ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"example.org/note": base64.StdEncoding.EncodeToString([]byte(quoted))}}, StringData: map[string]string{"token": quoted}},
			"by-object": {ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"example.org/copy": string(must(json.Marshal(map[string]string{"token": quoted})))}}, StringData: map[string]string{"token": quoted}},
			"by-gzip":   {ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"example.org/applied": compressed(must(json.Marshal(map[string]string{"token": quoted})))}}, StringData: map[string]string{"token": quoted}},
		} {
			s.Namespace, s.Name = h.namespace, name
			if s.Labels == nil {
				s.Labels = map[string]string{}
			}
			s.Labels["mirror"] = "yes"
			Expect(kube.Create(ctx, s)).To(Succeed())
		}
		h.secret(ctx, "changing", map[string]string{"password": h.value("first value")})
		h.secret(ctx, "changing", map[string]string{"password": h.value("second value")})
		h.secret(ctx, "going", map[string]string{"password": h.value("deleted")})
		h.apply(ctx, "last", data(0))
		h.hasFile(ctx, "last", "value")
		Expect(kube.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: h.namespace, Name: "going"}})).To(Succeed())
		Eventually(func(g Gomega) {
			files := must(h.repo.Files("main"))
			g.Expect(files).To(And(HaveKey(h.secretFile("applied")), HaveKey(h.secretFile("changing"))))
			g.Expect(files).NotTo(HaveKey(h.secretFile("going")))
		}).Should(Succeed())
		for _, name := range []string{"by-label", "by-note", "by-base64", "by-object", "by-gzip"} {
			h.warned(ctx, "SensitiveContent", "Secret "+h.namespace+"/"+name, "is not written", "repeats a value")
			Expect(must(h.repo.Files("main"))).NotTo(HaveKey(h.secretFile(name)))
		}
		h.expectNothing(ctx)
	})

	It("when credentials, keys and servers fail", func(ctx SpecContext) {
		h := encryptedHunt(ctx)
		h.secret(ctx, "login-data", map[string]string{"password": h.value("data")})
		Eventually(func() (map[string]string, error) { return h.repo.Files("main") }).Should(HaveKey(h.secretFile("login-data")))
		// A server that gives the credentials back, in every form it has them.
		git.SetFault(gitserver.Fault{Handler: func(w http.ResponseWriter, r *http.Request, _ []byte) {
			_, password, _ := r.BasicAuth()
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, "denied: %s (%s) may not write to %s", password, r.Header.Get("Authorization"), r.URL)
		}})
		DeferCleanup(git.ClearFaults)
		h.secret(ctx, "login-data", map[string]string{"password": h.value("data while the server fails")})
		h.condition(ctx, meta.ReadyCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Status).To(Equal(metav1.ConditionFalse))
			g.Expect(c.Message).To(ContainSubstring("denied: "))
		})
		h.checkAgain(ctx)
		h.providerFails(ctx, v1alpha3.AuthenticationFailedReason)

		for name, values := range map[string]map[string]string{
			"bad-ssh":     {"identity": "-----BEGIN OPENSSH PRIVATE KEY-----\n" + h.word("bad SSH key") + "\n-----END OPENSSH PRIVATE KEY-----\n", "known_hosts": h.word("bad known_hosts")},
			"bad-https":   {"username": "mirror", "password": h.word("bad password") + "\nX-Injected: " + h.word("second line")},
			"bad-app":     {"githubAppID": "1", "githubAppInstallationID": "2", "githubAppPrivateKey": h.value("bad App key")},
			"bad-signing": {"signing.key": h.value("bad signing key"), "passphrase": h.value("bad passphrase")},
			"bad-pgp":     {"git.asc": "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" + h.word("bad PGP key") + "\n-----END PGP PRIVATE KEY BLOCK-----\n"},
			"bad-age":     {"a.agekey": "AGE-SECRET-KEY-1" + strings.ToUpper(h.word("bad age key"))},
			"bad-proxy":   {"address": "http://127.0.0.1:1", "username": "u", "password": h.word("proxy password")},
		} {
			h.keySecret(ctx, name, values)
		}
		ref := func(name string) *meta.LocalObjectReference { return &meta.LocalObjectReference{Name: name} }
		provider := func(name, url string) *v1alpha3.GitProvider {
			return &v1alpha3.GitProvider{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha3.GitProviderSpec{URL: url}}
		}
		p := provider("ssh", "ssh://git@127.0.0.1:1/x.git")
		p.Spec.SecretRef = ref("bad-ssh")
		h.stalls(ctx, p, v1alpha3.SecretMalformedReason)
		p = provider("https", h.repo.URL)
		p.Spec.SecretRef = ref("bad-https")
		h.stalls(ctx, p, v1alpha3.SecretMalformedReason)
		p = provider("app", "https://github.example.org/o/x.git")
		p.Spec.SecretRef = ref("bad-app")
		h.stalls(ctx, p, v1alpha3.SecretMalformedReason)
		for _, name := range []string{"bad-signing", "bad-pgp"} {
			p = provider(name, h.repo.URL)
			signed(p)
			p.Spec.Commit.Signing.SecretRef.Name = name
			h.stalls(ctx, p, v1alpha3.CommitConfigInvalidReason)
		}
		p = provider("proxy", h.repo.URL)
		p.Spec.ProxySecretRef = ref("bad-proxy")
		h.stalls(ctx, p, v1alpha3.ConnectionFailedReason)
		h.stalls(ctx, provider("userinfo", "https://u:"+h.word("password in the address")+"@127.0.0.1:1/x.git"), v1alpha3.InvalidConfigReason)
		h.kubeConfigFails(ctx, "apiVersion: v1\nkind: Config\nusers: *"+h.word("unreadable kubeconfig")+"\n")
		h.kubeConfigFails(ctx, "apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: x, user: x}}]\n"+
			"clusters: [{name: x, cluster: {server: \"https://127.0.0.1:1\", insecure-skip-tls-verify: true}}]\nusers: [{name: x, user: {token: "+h.word("kubeconfig token")+"}}]\n")
		h.change(ctx, func(t *v1alpha3.GitTarget) { t.Spec.Encryption.SecretRef.Name = "bad-age" })
		h.condition(ctx, v1alpha3.EncryptionConfiguredCondition, func(g Gomega, c *metav1.Condition) {
			g.Expect(c.Reason).To(Equal(v1alpha3.InvalidConfigReason))
		})
		h.expectNothing(ctx)
	})

	It("in a crash, its dump, and the restart that follows", func(ctx SpecContext) {
		h := encryptedHunt(ctx)
		// The dump shows all goroutines and the runtime's own.
		script := filepath.Join(GinkgoT().TempDir(), "operator")
		Expect(os.WriteFile(script, []byte("#!/bin/sh\nGOTRACEBACK=system exec '"+must(harness.Manager())+"' \"$@\"\n"), 0o700)).To(Succeed())
		operator.Kill()
		before, was := os.Getenv("GITOPS_REVERSER"), must(os.Stat(operator.LogFile)).Size()
		Expect(os.Setenv("GITOPS_REVERSER", script)).To(Succeed())
		startOperator()
		if before == "" {
			Expect(os.Unsetenv("GITOPS_REVERSER")).To(Succeed())
		} else {
			Expect(os.Setenv("GITOPS_REVERSER", before)).To(Succeed())
		}
		h.secret(ctx, "held", map[string]string{"password": h.value("published")})
		Eventually(func() (map[string]string, error) { return h.repo.Files("main") }).Should(HaveKey(h.secretFile("held")))
		// It dies with a Secret in its hands: the server does not answer.
		git.SetFault(gitserver.Fault{Hang: true})
		DeferCleanup(git.ClearFaults)
		h.secret(ctx, "held", map[string]string{"password": h.value("retained")})
		Eventually(func() float64 { return metric(ctx, "git_retained_writes", h.namespace) }).Should(BeNumerically(">=", 1))
		Expect(syscall.Kill(operator.PID(), syscall.SIGABRT)).To(Succeed())
		Eventually(operator.Done()).Should(BeClosed())
		dump := string(must(os.ReadFile(operator.LogFile))[was:])
		Expect(dump).To(And(ContainSubstring("SIGABRT: abort"), ContainSubstring("goroutine "), ContainSubstring("internal/branch")))
		h.expectNothing(ctx)

		git.ClearFaults()
		tip := h.repo.Tip("main")
		startOperator()
		Eventually(func() string { return h.repo.Tip("main") }).ShouldNot(Equal(tip))
		h.apply(ctx, "after", data(0))
		h.hasFile(ctx, "after", "value")
		h.expectNothing(ctx)
	})

	It("in the output of the offline commands", func(ctx SpecContext) {
		h := encryptedHunt(ctx)
		_, err := plane.Kubectl(ctx, clear(h.namespace, "applied", h.value("applied")), "apply", "-f", "-")
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() (map[string]string, error) { return h.repo.Files("main") }).Should(HaveKey(h.secretFile("applied")))
		h.secret(ctx, "fresh", map[string]string{"password": h.value("fresh")})
		work := GinkgoT().TempDir()
		_, err = h.repo.Git("clone", "-q", h.repo.Dir, work+"/clone")
		Expect(err).NotTo(HaveOccurred())
		live := work + "/live.yaml"
		Expect(writeFile(live, must(plane.Kubectl(ctx, "", "get", "secrets,configmaps", "-n", h.namespace, "-o", "yaml")))).To(Succeed())
		broken := work + "/broken.yaml"
		Expect(writeFile(broken, "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nstringData:\n  password: "+h.word("in broken YAML")+"\n bad: [\n")).To(Succeed())
		twice := work + "/twice.yaml"
		w := h.word("as a wrong type")
		Expect(writeFile(twice, "apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: y, labels: ["+w+"]}\ndata: "+w+"\nstringData: {a: *"+w+"}\n")).To(Succeed())
		s := leakproof.New(h.planted...)
		for _, c := range []struct {
			code int
			args []string
		}{
			{1, []string{"plan", work + "/clone", "--path", h.folder, "--live", live}},
			{1, []string{"plan", work + "/clone", "--path", h.folder, "--live", live, "-o", "json"}},
			{2, []string{"plan", work + "/clone", "--path", h.folder, "--live", broken}},
			{2, []string{"plan", work + "/clone", "--path", h.folder, "--live", twice}},
			{2, []string{"neat", broken}},
			{0, []string{"scan", work + "/clone/" + h.folder}},
		} {
			cmd := exec.CommandContext(ctx, must(harness.Manager()), c.args...)
			cmd.Env = gitserver.Env(work)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			_ = cmd.Run()
			Expect(cmd.ProcessState.ExitCode()).To(Equal(c.code), "%v: %s", c.args, &out)
			leakproof.Expect(GinkgoT(), strings.Join(c.args, " "), leakproof.Report{Searched: out.Len(), Findings: s.Text(strings.Join(c.args[:1], " "), out.Bytes())}, nil)
		}
		h.expectNothing(ctx)
	})
})
