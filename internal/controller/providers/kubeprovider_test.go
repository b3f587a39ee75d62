// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package providers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/internal/controller/lifecycle"
)

// kubeconfig with the given settings of its cluster and its user.
func kubeconfig(clusterSettings, userSettings string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: "https://far.example.org", %s}}]
users: [{name: u, user: {%s}}]
`, clusterSettings, userSettings)
}

func kubeProvider(name, secretName string, change ...func(*v1alpha3.KubeProvider)) *v1alpha3.KubeProvider {
	p := &v1alpha3.KubeProvider{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1}}
	if secretName != "" {
		p.Spec.KubeConfig = &meta.KubeConfigReference{SecretRef: &meta.SecretKeyReference{Name: secretName}}
	}
	for _, c := range change {
		c(p)
	}
	return p
}

// TestKubeConfigRefusals: what a kubeconfig may not do, and what opens it (api 5.1).
func TestKubeConfigRefusals(t *testing.T) {
	for name, tt := range map[string]struct {
		data    string
		options KubeConfigOptions
		reason  string
		text    string
	}{
		"a token":       {data: kubeconfig("", "token: t")},
		"no YAML":       {data: "\t:", reason: v1alpha3.KubeConfigInvalidReason, text: "kubectl config view"},
		"nothing in it": {data: "{}", reason: v1alpha3.KubeConfigInvalidReason},
		"a plugin": {data: kubeconfig("",
			"exec: {apiVersion: client.authentication.k8s.io/v1, command: rm, interactiveMode: Never}"), reason: v1alpha3.KubeConfigExecNotAllowedReason, text: "--insecure-kubeconfig-exec"},
		"a plugin that is allowed": {data: kubeconfig("",
			"exec: {apiVersion: client.authentication.k8s.io/v1, command: rm, interactiveMode: Never}"), options: KubeConfigOptions{Exec: true}},
		"an auth provider": {data: kubeconfig("", "auth-provider: {name: gcp}"),
			reason: v1alpha3.KubeConfigExecNotAllowedReason},
		"no verification": {data: kubeconfig("insecure-skip-tls-verify: true", "token: t"),
			reason: v1alpha3.KubeConfigInsecureTLSNotAllowedReason, text: "--insecure-kubeconfig-tls"},
		"no verification, allowed": {data: kubeconfig("insecure-skip-tls-verify: true", "token: t"),
			options: KubeConfigOptions{InsecureTLS: true}},
		"a file with a CA": {data: kubeconfig("certificate-authority: /etc/ca", "token: t"),
			reason: v1alpha3.KubeConfigFileReferenceNotAllowedReason, text: "certificate-authority-data"},
		"a file with a token": {data: kubeconfig("", "tokenFile: /var/run/secrets/token"),
			reason: v1alpha3.KubeConfigFileReferenceNotAllowedReason},
		"a file with a certificate": {data: kubeconfig("", "client-certificate: /etc/crt"),
			reason: v1alpha3.KubeConfigFileReferenceNotAllowedReason},
		"a file with a key": {data: kubeconfig("", "client-key: /etc/key"),
			reason: v1alpha3.KubeConfigFileReferenceNotAllowedReason},
		"files are never allowed": {data: kubeconfig("", "tokenFile: /t"), options: KubeConfigOptions{Exec: true,
			InsecureTLS: true}, reason: v1alpha3.KubeConfigFileReferenceNotAllowedReason},
		"a plugin of another user": {data: strings.Replace(kubeconfig("", "token: t"), "users: [",
			"users: [{name: other, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: rm}}}, ", 1),
			reason: v1alpha3.KubeConfigExecNotAllowedReason},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			config, refusal := tt.options.Load([]byte(tt.data))
			if tt.reason == "" {
				g.Expect(refusal).To(BeNil())
				g.Expect(config.Host).To(Equal("https://far.example.org"))
				return
			}
			g.Expect(config).To(BeNil())
			g.Expect(refusal.Reason).To(Equal(tt.reason))
			g.Expect(refusal.Message).To(ContainSubstring(tt.text))
		})
	}
}

// TestReasonsOfAKubeProvider: Validated and the trio follow the credential; nothing is dialled.
func TestReasonsOfAKubeProvider(t *testing.T) {
	good := kubeconfig("", "token: t")
	key := func(p *v1alpha3.KubeProvider) { p.Spec.KubeConfig.SecretRef.Key = "far" }
	for name, tt := range map[string]struct {
		provider *v1alpha3.KubeProvider
		data     map[string]string
		status   metav1.ConditionStatus
		reason   string
		ready    string
	}{
		"the operator's own cluster": {kubeProvider("p", ""), nil, metav1.ConditionTrue, v1alpha3.InClusterReason,
			meta.SucceededReason},
		"under any name": {kubeProvider("p", ""), nil, metav1.ConditionTrue, v1alpha3.InClusterReason,
			meta.SucceededReason},
		"a remote cluster": {kubeProvider("p", "far"), map[string]string{"value": good},
			metav1.ConditionTrue, meta.SucceededReason, meta.SucceededReason},
		"value.yaml": {kubeProvider("p", "far"), map[string]string{"value.yaml": good},
			metav1.ConditionTrue, meta.SucceededReason, meta.SucceededReason},
		"a key of one's own": {kubeProvider("p", "far", key), map[string]string{"far": good},
			metav1.ConditionTrue, meta.SucceededReason, meta.SucceededReason},
		"the named key is missing": {kubeProvider("p", "far", key), map[string]string{"value": good},
			metav1.ConditionFalse, v1alpha3.KubeConfigKeyNotFoundReason, v1alpha3.KubeConfigKeyNotFoundReason},
		"both usual keys are": {kubeProvider("p", "far"), map[string]string{"config": good},
			metav1.ConditionFalse, v1alpha3.KubeConfigKeyNotFoundReason, v1alpha3.KubeConfigKeyNotFoundReason},
		"no Secret": {kubeProvider("p", "far"), nil, metav1.ConditionFalse,
			v1alpha3.KubeConfigSecretNotFoundReason, v1alpha3.KubeConfigSecretNotFoundReason},
		"no secretRef": {kubeProvider("p", "", func(p *v1alpha3.KubeProvider) { p.Spec.KubeConfig = &meta.KubeConfigReference{} }), nil,
			metav1.ConditionFalse, v1alpha3.KubeConfigInvalidReason, v1alpha3.KubeConfigInvalidReason},
		"a kubeconfig that makes no client": {kubeProvider("p", "far"),
			map[string]string{"value": kubeconfig("certificate-authority-data: bm8=", "token: t")},
			metav1.ConditionFalse, v1alpha3.KubeConfigInvalidReason, v1alpha3.KubeConfigInvalidReason},
		"an accessFrom that does not parse": {kubeProvider("p", "", func(p *v1alpha3.KubeProvider) {
			p.Spec.AccessFrom = &v1alpha3.NamespaceMatcher{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Nearly"}}}}
		}), nil, metav1.ConditionFalse, v1alpha3.InvalidConfigReason, v1alpha3.InvalidConfigReason},
		"suspended": {kubeProvider("p", "", func(p *v1alpha3.KubeProvider) { p.Spec.Suspend = true }), nil,
			metav1.ConditionTrue, v1alpha3.InClusterReason, meta.SuspendedReason},
	} {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{tt.provider}
			if tt.data != nil {
				objects = append(objects, secret(operatorNamespace, "far", tt.data))
			}
			b := newBed(t, objects...)
			p, result := b.passKube("p")
			c := conditions.Get(p, v1alpha3.ValidatedCondition)
			b.Expect(c.Status).To(Equal(tt.status), c.Message)
			b.Expect(c.Reason).To(Equal(tt.reason), c.Message)
			_, reason, _ := ready(p)
			b.Expect(reason).To(Equal(tt.ready))
			b.Expect(conditions.IsStalled(p)).To(Equal(tt.status == metav1.ConditionFalse))
			b.Expect(result.RequeueAfter).To(BeNumerically("~", 30*time.Second, 5*time.Second))
		})
	}
}

// TestAKubeProvidersSecretCountsOnlyInTheOperatorsNamespace: a tenant's Secret of that name opens nothing.
func TestAKubeProvidersSecretCountsOnlyInTheOperatorsNamespace(t *testing.T) {
	b := newBed(t, kubeProvider("p", "far"), secret("shop", "far", map[string]string{"value": kubeconfig("", "token: t")}))
	p, _ := b.passKube("p")
	b.Expect(conditions.GetReason(p, v1alpha3.ValidatedCondition)).To(Equal(v1alpha3.KubeConfigSecretNotFoundReason))
}

// TestRotationAndLossOfAKubeconfig: a changed Secret is another credential, a lost or refused one closes the source, and
// a failed read changes nothing (watch 2).
func TestRotationAndLossOfAKubeconfig(t *testing.T) {
	p := kubeProvider("p", "far")
	s := secret(operatorNamespace, "far", map[string]string{"value": kubeconfig("", "token: t")})
	b := newBed(t, p, s)
	source, release := b.sources.Acquire("p")
	defer release()
	b.Expect(source.Token()).To(BeEmpty())
	b.passKube("p")
	first := source.Token()
	b.Expect(first).NotTo(BeEmpty())
	b.passKube("p")
	b.Expect(source.Token()).To(Equal(first), "nothing changed")

	s.Data["value"] = []byte(kubeconfig("", "token: other"))
	b.Expect(b.Update(t.Context(), s)).To(Succeed())
	b.passKube("p")
	second := source.Token()
	b.Expect(second).NotTo(Equal(first))

	b.fail = apierrors.NewServerTimeout(schema.GroupResource{Resource: "secrets"}, "get", 1)
	_, err := b.kube.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Name: "p"}})
	b.Expect(err).To(HaveOccurred())
	b.Expect(source.Token()).To(Equal(second), "it keeps running")
	b.fail = nil

	s.Data["value"] = []byte(kubeconfig("", "tokenFile: /t"))
	b.Expect(b.Update(t.Context(), s)).To(Succeed())
	b.passKube("p")
	b.Expect(source.Token()).To(BeEmpty(), "refused")
	s.Data["value"] = []byte(kubeconfig("", "token: again"))
	b.Expect(b.Update(t.Context(), s)).To(Succeed())
	b.passKube("p")
	b.Expect(source.Token()).NotTo(BeEmpty())
	b.Expect(b.Delete(t.Context(), s)).To(Succeed())
	b.passKube("p")
	b.Expect(source.Token()).To(BeEmpty(), "lost")
}

func TestSuspendedAndDeletedKubeProviderCloseTheSource(t *testing.T) {
	p := kubeProvider("p", "")
	b := newBed(t, p)
	source, release := b.sources.Acquire("p")
	defer release()
	b.passKube("p")
	b.Expect(source.Token()).NotTo(BeEmpty())
	b.change(p, func() { p.Spec.Suspend = true })
	b.passKube("p")
	b.Expect(source.Token()).To(BeEmpty())
	b.change(p, func() { p.Spec.Suspend = false })
	b.passKube("p")
	b.Expect(source.Token()).NotTo(BeEmpty())
	b.Expect(b.Delete(t.Context(), p)).To(Succeed())
	_, err := b.kube.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(p)})
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(source.Token()).To(BeEmpty())
}

func TestScenario39_AKubeProviderEchoesTheRequest(t *testing.T) {
	b := newBed(t, kubeProvider("p", "", func(p *v1alpha3.KubeProvider) {
		p.Annotations = map[string]string{lifecycle.RequestAnnotation: "now"}
	}))
	p, _ := b.passKube("p")
	b.Expect(p.Status.LastHandledReconcileAt).To(Equal("now"))
}

// TestClientBoundsOfAKubeProvider: they hold for a remote cluster and are ignored for the operator's own.
func TestClientBoundsOfAKubeProvider(t *testing.T) {
	qps, burst := int32(7), int32(9)
	bounds := func(p *v1alpha3.KubeProvider) { p.Spec.Client = &v1alpha3.KubeClient{QPS: &qps, Burst: &burst} }
	b := newBed(t, secret(operatorNamespace, "far", map[string]string{"value": kubeconfig("", "token: t")}))
	far, refusal, err := b.kube.connection(t.Context(), kubeProvider("p", "far", bounds))
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(refusal).To(BeNil())
	b.Expect(far).To(And(HaveField("QPS", float32(7)), HaveField("Burst", 9), HaveField("Local", false)))
	own, _, err := b.kube.connection(t.Context(), kubeProvider("p", "", bounds))
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(own).To(And(HaveField("QPS", float32(0)), HaveField("Burst", 0), HaveField("Local", true)))
	b.Expect(own.Interval).To(Equal(30 * time.Second))
}

// TestAttributionIsNotServed: who declares senders is told that nobody hears them.
func TestAttributionIsNotServed(t *testing.T) {
	p := kubeProvider("p", "", func(p *v1alpha3.KubeProvider) {
		p.Spec.Attribution = &v1alpha3.KubeProviderAttribution{AuditRoute: "far"}
	})
	b := newBed(t, p)
	got, _ := b.passKube("p")
	b.Expect(conditions.IsReady(got)).To(BeTrue(), "it is an observation")
	b.Expect(conditions.IsFalse(got, v1alpha3.AttributionConfiguredCondition)).To(BeTrue())
	b.Expect(conditions.GetReason(got, v1alpha3.AttributionConfiguredCondition)).To(Equal(v1alpha3.NotImplementedReason))
	b.Expect(conditions.GetMessage(got, v1alpha3.AttributionConfiguredCondition)).To(ContainSubstring("spec.attribution"))
	b.change(p, func() { p.Spec.Attribution = nil })
	got, _ = b.passKube("p")
	b.Expect(conditions.Has(got, v1alpha3.AttributionConfiguredCondition)).To(BeFalse())
}
