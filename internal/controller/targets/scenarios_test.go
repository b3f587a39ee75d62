// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package targets_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/gitserver"
	"github.com/configbutler/gitops-reverser/tests/harness"
)

const (
	isTrue    = metav1.ConditionTrue
	isFalse   = metav1.ConditionFalse
	isUnknown = metav1.ConditionUnknown
)

// TestScenarios plays scenarios of api 16 on the real parts, each in a namespace of its own.
func TestScenarios(t *testing.T) {
	t.Parallel()
	startShard(t)
	for _, s := range []struct {
		name string
		play func(*testing.T)
	}{
		{"14_NobodyIsAdmittedWithoutAccessFrom", nobodyAdmitted},
		{"16_ALabelOpensAndCloses", labelOpensAndCloses},
		{"18_AMalformedSelectorDecidesNothing", malformedSelector},
		{"26_AnotherProviderOfTheRepository", anotherProvider},
		{"27_AnUnadmittedTargetDecidesNothing", unadmittedDecidesNothing},
		{"28_TheLoserRecovers", loserRecovers},
		{"32_ZeroTypes", zeroTypes},
		{"34_ReasonsOfASource", reasonsOfASource},
		{"37_AnOutageShowsOnEveryTargetOfTheBranch", outageOnEveryTarget},
		{"40_SuspendedWhileThePushWaits", suspendedWhilePushWaits},
		{"46_OverlappingRules", overlappingRules},
		{"47_ATypeThatComesLater", typeComesLater},
		{"50_DeletionInAnyOrder", deletionInAnyOrder},
		{"51_DeletedAndCreatedAnew", deletedAndCreatedAnew},
		{"55_ARotatedSecret", rotatedSecret},
		{"56_OneNamespaceForAFolderWithoutNamespaces", oneNamespaceOnly},
		{"SourceNamespacesBySelector", namespacesBySelector},
		{"SuspendedProviders", suspendedProviders},
		{"AGitProviderMadeAnewForAnotherRepository", anotherRepository},
		{"InvalidConfig", invalidConfig},
		{"NotImplemented", notImplemented},
	} {
		t.Run("Scenario"+s.name, func(t *testing.T) {
			t.Parallel()
			s.play(t)
		})
	}
}

func nobodyAdmitted(t *testing.T) {
	w := newWorld(t, func(w *world) { w.kube.Spec.AccessFrom = nil })
	w.configMap("kept-out", "1")
	message := w.shows(w.target, v1alpha3.ValidatedCondition, isFalse, v1alpha3.NamespaceNotAuthorizedReason)
	w.Expect(message).To(ContainSubstring("KubeProvider " + w.namespace))
	w.shows(w.target, meta.ReadyCondition, isFalse, v1alpha3.NamespaceNotAuthorizedReason)
	w.shows(w.target, v1alpha3.EncryptionConfiguredCondition, isUnknown, v1alpha3.BlockedReason)
	w.shows(w.rule, v1alpha3.GitTargetReadyCondition, isFalse, v1alpha3.NamespaceNotAuthorizedReason)
	w.field(w.target, func() any { return w.target.Status.Streams }, BeNil())
	w.Expect(w.files()).To(BeEmpty())
	w.Eventually(func(g Gomega) {
		var list corev1.EventList
		g.Expect(parts.kube.List(t.Context(), &list, client.InNamespace(w.namespace))).To(Succeed())
		g.Expect(list.Items).To(ContainElement(And(
			HaveField("InvolvedObject.Kind", v1alpha3.GitTargetKind), HaveField("InvolvedObject.UID", w.target.UID),
			HaveField("Type", corev1.EventTypeWarning), HaveField("Reason", v1alpha3.NamespaceNotAuthorizedReason),
			HaveField("Source.Component", "gitops-reverser"),
		)))
	}).Should(Succeed())
}

func labelOpensAndCloses(t *testing.T) {
	w := newWorld(t, func(w *world) {
		w.kube.Spec.AccessFrom = &v1alpha3.NamespaceMatcher{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"mirror": w.namespace}}}
	})
	w.shows(w.target, meta.ReadyCondition, isFalse, v1alpha3.NamespaceNotAuthorizedReason)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	w.change(ns, func() { ns.Labels = map[string]string{"mirror": w.namespace} })
	w.configMap("kept", "1")
	w.settled()
	w.ready()
	w.change(ns, func() { delete(ns.Labels, "mirror") })
	w.shows(w.target, meta.ReadyCondition, isFalse, v1alpha3.NamespaceNotAuthorizedReason)
	w.Expect(w.files()).NotTo(BeEmpty(), "Git stays")
}

// malformedSelector: what was admitted goes on, and who can cure it is told.
func malformedSelector(t *testing.T) {
	w := newWorld(t)
	w.ready()
	admits := w.kube.Spec.AccessFrom
	w.change(w.kube, func() {
		w.kube.Spec.AccessFrom = &v1alpha3.NamespaceMatcher{Selector: &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "mirror", Operator: "Nearly"}},
		}}
	})
	w.shows(w.kube, v1alpha3.ValidatedCondition, isFalse, v1alpha3.InvalidConfigReason)
	for _, o := range []object{w.target, w.rule} {
		message := w.shows(o, meta.ReadyCondition, isFalse, v1alpha3.KubeProviderNotReadyReason)
		w.Expect(message).To(ContainSubstring("spec.accessFrom.selector"))
		w.Expect(conditions.IsStalled(o)).To(BeTrue())
	}
	w.shows(w.target, v1alpha3.ValidatedCondition, isUnknown, meta.ProgressingReason)
	w.configMap("goes-on", "1")
	w.settled()
	w.change(w.kube, func() { w.kube.Spec.AccessFrom = admits })
	w.ready()
}

func anotherProvider(t *testing.T) {
	w := newWorld(t)
	w.shows(w.target, v1alpha3.ValidatedCondition, isTrue, meta.SucceededReason)
	other := w.provider.DeepCopy()
	other.ObjectMeta = metav1.ObjectMeta{Namespace: w.namespace, Name: "other"}
	other.Status = v1alpha3.GitProviderStatus{}
	w.apply(other)
	second := w.newTarget("second", "clusters/two")
	second.Spec.GitProviderRef.Name = "other"
	w.apply(second)
	message := w.shows(second, v1alpha3.ValidatedCondition, isFalse, v1alpha3.TargetConflictReason)
	w.Expect(message).To(ContainSubstring("GitProvider " + w.namespace + "/infra"))
	// Conflicts end with their cause.
	w.delete(w.target)
	w.shows(second, v1alpha3.ValidatedCondition, isTrue, meta.SucceededReason)
}

func unadmittedDecidesNothing(t *testing.T) {
	// The oldest target of the branch, also by its name, in a namespace that the GitProvider does not admit.
	foreign := newWorld(t, func(f *world) { f.target, f.rule = nil, nil })
	w := newWorld(t, func(w *world) { w.target, w.rule = nil, nil })
	foreign.target = foreign.newTarget("live", "clusters/one")
	foreign.target.Spec.GitProviderRef = meta.NamespacedObjectReference{Namespace: w.namespace, Name: "infra"}
	foreign.apply(foreign.target)
	foreign.shows(foreign.target, v1alpha3.ValidatedCondition, isFalse, v1alpha3.NamespaceNotAuthorizedReason)
	mine := w.newTarget("live", "clusters/one")
	w.apply(mine)
	w.shows(mine, v1alpha3.ValidatedCondition, isTrue, meta.SucceededReason)
	// Admitted, it is the older one and owns the folder; the younger one steps back by event.
	w.change(w.provider, func() { w.provider.Spec.AccessFrom = &v1alpha3.NamespaceMatcher{Names: []string{foreign.namespace}} })
	foreign.shows(foreign.target, v1alpha3.ValidatedCondition, isTrue, meta.SucceededReason)
	w.shows(mine, v1alpha3.ValidatedCondition, isFalse, v1alpha3.TargetConflictReason)
}

func loserRecovers(t *testing.T) {
	w := newWorld(t)
	w.shows(w.target, v1alpha3.ValidatedCondition, isTrue, meta.SucceededReason)
	young := w.newTarget("younger", "clusters/one/deeper")
	w.apply(young)
	message := w.shows(young, v1alpha3.ValidatedCondition, isFalse, v1alpha3.TargetConflictReason)
	w.Expect(message).To(And(ContainSubstring(w.namespace+"/live"), ContainSubstring("clusters/one/deeper")))
	w.shows(young, meta.ReadyCondition, isFalse, v1alpha3.TargetConflictReason)
	// An invalid winner owns nothing either.
	w.change(w.provider, func() { w.provider.Spec.AllowedBranches = []string{"live/*"} })
	w.shows(w.target, v1alpha3.ValidatedCondition, isFalse, v1alpha3.BranchNotAllowedReason)
	w.change(w.provider, func() { w.provider.Spec.AllowedBranches = []string{"main"} })
	w.shows(young, v1alpha3.ValidatedCondition, isFalse, v1alpha3.TargetConflictReason)
	w.delete(w.target)
	w.shows(young, v1alpha3.ValidatedCondition, isTrue, meta.SucceededReason)
}

func zeroTypes(t *testing.T) {
	w := newWorld(t, func(w *world) { w.rule = nil })
	w.shows(w.target, meta.ReadyCondition, isTrue, meta.SucceededReason)
	w.shows(w.target, v1alpha3.StreamsRunningCondition, isFalse, v1alpha3.NoResolvedTypesReason)
	w.field(w.target, func() any { return w.target.Status.Streams }, HaveField("Summary", "0/0"))
}

// far makes the world's source a remote cluster behind an address.
func far(w *world, address, token string) *corev1.Secret {
	w.kube.Spec.KubeConfig = &meta.KubeConfigReference{SecretRef: &meta.SecretKeyReference{Name: w.namespace}}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: w.namespace},
		StringData: map[string]string{"value": fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: %q}}]
users: [{name: u, user: {token: %q}}]
`, address, token)},
	}
}

func reasonsOfASource(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	gone := "http://" + closed.Addr().String()
	NewWithT(t).Expect(closed.Close()).To(Succeed())
	answer := func(code int) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
		t.Cleanup(s.Close)
		return s.URL
	}
	for _, tt := range []struct {
		address string
		reason  string
		stalled bool
	}{
		{answer(http.StatusUnauthorized), v1alpha3.SourceClusterAuthenticationFailedReason, true},
		{answer(http.StatusForbidden), v1alpha3.SourceClusterAccessDeniedReason, true},
		{gone, v1alpha3.SourceClusterUnreachableReason, false},
	} {
		w := newWorld(t, func(w *world) { w.apply(far(w, tt.address, "t")) })
		w.shows(w.kube, v1alpha3.ValidatedCondition, isTrue, meta.SucceededReason)
		w.shows(w.target, v1alpha3.SourceClusterReachableCondition, isFalse, tt.reason)
		w.shows(w.target, meta.ReadyCondition, isFalse, tt.reason)
		w.Expect(conditions.IsStalled(w.target)).To(Equal(tt.stalled))
		w.shows(w.rule, v1alpha3.ResourcesResolvedCondition, isUnknown, v1alpha3.CatalogNotReadyReason) // scenario 48
		w.field(w.rule, func() any { return conditions.GetMessage(w.rule, v1alpha3.ResourcesResolvedCondition) },
			ContainSubstring("Discovery failed: "))
	}
	// A source whose kubeconfig is missing is never contacted.
	w := newWorld(t, func(w *world) { far(w, gone, "t") })
	w.shows(w.kube, meta.ReadyCondition, isFalse, v1alpha3.KubeConfigSecretNotFoundReason)
	w.shows(w.target, v1alpha3.SourceClusterReachableCondition, isUnknown, v1alpha3.AwaitingDiscoveryReason)
	w.shows(w.target, meta.ReadyCondition, isFalse, v1alpha3.KubeProviderNotReadyReason)
}

func outageOnEveryTarget(t *testing.T) {
	server := gitserver.Start(t, gitserver.Options{})
	_, err := server.CreateRepo("live", gitserver.RepoOptions{Files: map[string]string{"README.md": "# Ours\n"}})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	w := newWorld(t, func(w *world) { w.provider.Spec.URL = server.URL("live") })
	quiet, other := w.newTarget("quiet", "clusters/two"), w.newTarget("other", "clusters/three")
	other.Spec.Branch = "live/three"
	w.apply(quiet)
	w.apply(other)
	w.apply(w.newRule("other", "other", "services"))
	w.ready()
	w.shows(quiet, meta.ReadyCondition, isTrue, meta.SucceededReason)
	w.shows(other, meta.ReadyCondition, isTrue, meta.SucceededReason)
	server.SetFault(gitserver.Fault{Status: http.StatusServiceUnavailable, Body: "gone fishing"})
	w.configMap("waits", "1")
	for _, o := range []*v1alpha3.GitTarget{w.target, quiet} {
		message := w.shows(o, meta.ReadyCondition, isFalse, meta.ProgressingReason)
		w.Expect(message).To(And(ContainSubstring("not published since 20"), ContainSubstring("gone fishing"),
			ContainSubstring("next attempt at 20")))
		w.Expect(conditions.IsStalled(o)).To(BeFalse())
		w.Expect(conditions.IsReconciling(o)).To(BeTrue())
	}
	w.shows(other, meta.ReadyCondition, isTrue, meta.SucceededReason)
	server.ClearFaults()
	for _, o := range []*v1alpha3.GitTarget{w.target, quiet} {
		w.shows(o, meta.ReadyCondition, isTrue, meta.SucceededReason)
	}
}

// suspendedWhilePushWaits: nothing new is planned, and what was deleted meanwhile is treated as the mode says. That what
// is decided goes out all the same is proved in branch/core.
func suspendedWhilePushWaits(t *testing.T) {
	for _, mode := range []v1alpha3.PruneMode{v1alpha3.PruneOnEvent, v1alpha3.PruneAlways} {
		w := newWorld(t, func(w *world) { w.target.Spec.Prune = &v1alpha3.Prune{Mode: mode} })
		w.configMap("first", "1")
		w.settled()
		w.ready()
		before := w.files()
		w.configMap("decided", "1")
		w.settled()
		w.change(w.target, func() { w.target.Spec.Suspend = true })
		w.shows(w.target, meta.ReadyCondition, isTrue, meta.SuspendedReason)
		decided := w.files()
		w.Expect(len(decided)).To(BeNumerically(">", len(before)))
		w.configMap("later", "1")
		w.delete(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "first"}})
		w.change(w.target, func() { annotate(w.target, v1alpha3.ReconcileRequestAnnotation, "look") })
		w.field(w.target, func() any { return w.target.Status.LastHandledReconcileAt }, Equal("look"))
		w.field(w.target, func() any { return w.target.Status.Retention }, BeNil())
		w.Expect(w.files()).To(Equal(decided), "nothing new is planned")
		w.change(w.target, func() { w.target.Spec.Suspend = false })
		if mode == v1alpha3.PruneAlways {
			w.settled()
		} else {
			w.Eventually(w.files).Should(HaveLen(len(decided) + 1))
			w.Expect(w.files()).To(ContainElements(decided), "the deletion came in a snapshot")
			w.field(w.target, func() any { return w.target.Status.Retention }, HaveField("RetainedDocuments", BeEquivalentTo(1)))
		}
		w.ready()
	}
}

func overlappingRules(t *testing.T) {
	w := newWorld(t, func(w *world) { w.kube.Spec.AllowAnySourceNamespace = true })
	w.ready()
	young := w.newRule("younger", "live", "configmaps")
	young.Spec.Rules[0].SourceNamespace = "*"
	w.apply(young)
	message := w.shows(young, v1alpha3.ResourcesResolvedCondition, isFalse, v1alpha3.CollectionOverlapReason)
	w.Expect(message).To(And(ContainSubstring("younger"), ContainSubstring("WatchRule "+w.namespace+"/rule")))
	w.shows(young, meta.ReadyCondition, isFalse, v1alpha3.CollectionOverlapReason)
	w.configMap("still", "mirrored")
	w.settled()
	w.shows(w.rule, meta.ReadyCondition, isTrue, meta.SucceededReason)
	w.delete(w.rule)
	w.shows(young, v1alpha3.ResourcesResolvedCondition, isTrue, meta.SucceededReason)
	w.shows(young, v1alpha3.StreamsRunningCondition, isTrue, v1alpha3.AllStreamsReadyReason)
	w.field(young, func() any { return young.Status.Streams }, HaveField("Summary", "1/1"))
}

func typeComesLater(t *testing.T) {
	w := newWorld(t)
	plural := "boats" + w.namespace
	rule := w.newRule("boats", "live", plural)
	w.apply(rule)
	w.shows(rule, v1alpha3.ResourcesResolvedCondition, isFalse, v1alpha3.ResourceNotServedReason)
	w.Expect(conditions.IsStalled(rule)).To(BeFalse(), "it heals when the type comes (decisions 71)")
	w.field(rule, func() any { return rule.Status.UnresolvedSample }, Equal([]string{plural}))
	group := w.namespace + ".example.org"
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: "boat" + w.namespace,
				Kind: "Boat", ListKind: "BoatList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}}}},
		},
	}
	w.apply(crd)
	t.Cleanup(func() { _ = parts.kube.Delete(t.Context(), crd) })
	w.shows(rule, v1alpha3.ResourcesResolvedCondition, isTrue, meta.SucceededReason)
	w.shows(rule, v1alpha3.StreamsRunningCondition, isTrue, v1alpha3.AllStreamsReadyReason)
}

// deletionInAnyOrder: no object holds another, files stay, and what is left says what it lacks.
func deletionInAnyOrder(t *testing.T) {
	kinds := map[string]func(*world) object{
		"KubeProvider": func(w *world) object { return w.kube }, "GitProvider": func(w *world) object { return w.provider },
		"GitTarget": func(w *world) object { return w.target }, "WatchRule": func(w *world) object { return w.rule },
	}
	for _, order := range [][]string{
		{"WatchRule", "GitTarget", "GitProvider", "KubeProvider"}, {"KubeProvider", "GitProvider", "GitTarget", "WatchRule"},
		{"GitProvider", "WatchRule", "KubeProvider", "GitTarget"}, {"GitTarget", "KubeProvider", "WatchRule", "GitProvider"},
		{"KubeProvider", "WatchRule", "GitTarget", "GitProvider"},
	} {
		w := newWorld(t)
		w.configMap("kept", "1")
		w.settled()
		w.ready()
		tip := w.repo.Tip("main")
		gone := map[string]bool{}
		for _, kind := range order {
			w.delete(kinds[kind](w))
			gone[kind] = true
			w.Eventually(func() bool {
				o := kinds[kind](w)
				return client.IgnoreNotFound(parts.kube.Get(t.Context(), client.ObjectKeyFromObject(o), o)) == nil
			}).Should(BeTrue())
			if !gone["GitTarget"] {
				switch {
				case gone["GitProvider"]:
					w.shows(w.target, v1alpha3.ValidatedCondition, isFalse, v1alpha3.GitProviderNotFoundReason)
				case gone["KubeProvider"]:
					w.shows(w.target, v1alpha3.ValidatedCondition, isFalse, v1alpha3.KubeProviderNotFoundReason)
				default:
					w.shows(w.target, v1alpha3.StreamsRunningCondition, isFalse, v1alpha3.NoResolvedTypesReason)
				}
			}
			if !gone["WatchRule"] && gone["GitTarget"] {
				w.shows(w.rule, v1alpha3.GitTargetReadyCondition, isFalse, v1alpha3.GitTargetNotFoundReason)
			}
		}
		w.Expect(w.repo.Tip("main")).To(Equal(tip), "%v", order)
	}
}

func deletedAndCreatedAnew(t *testing.T) {
	w := newWorld(t, func(w *world) { w.target.Spec.Prune = &v1alpha3.Prune{Mode: v1alpha3.PruneAlways} })
	w.configMap("stays", "1")
	w.configMap("goes", "1")
	w.settled()
	w.ready()
	for round := range 3 {
		fresh := w.newTarget("live", "clusters/one")
		fresh.Spec.Prune = w.target.Spec.Prune
		fresh.Annotations = map[string]string{v1alpha3.ReconcileRequestAnnotation: fmt.Sprint("round ", round)}
		w.delete(w.target)
		w.configMap("stays", fmt.Sprint("changed while gone ", round))
		w.apply(fresh)
		w.target = fresh
		w.settled()
		w.ready()
		w.field(fresh, func() any { return fresh.Status.LastHandledReconcileAt }, Equal(fmt.Sprint("round ", round)))
	}
}

func rotatedSecret(t *testing.T) {
	server := gitserver.Start(t, gitserver.Options{Username: "ada", Password: "one"})
	_, err := server.CreateRepo("live", gitserver.RepoOptions{Files: map[string]string{"README.md": "# Ours\n"}})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	var login *corev1.Secret
	w := newWorld(t, func(w *world) {
		login = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "login"},
			StringData: map[string]string{"username": "ada", "password": "one"}}
		w.apply(login)
		w.provider.Spec.URL, w.provider.Spec.SecretRef = server.URL("live"), &meta.LocalObjectReference{Name: "login"}
	})
	w.ready()
	server.SetAuth("ada", "two")
	w.configMap("during", "1")
	w.shows(w.target, meta.ReadyCondition, isFalse, v1alpha3.AuthenticationFailedReason)
	w.Expect(conditions.IsStalled(w.target)).To(BeTrue())
	w.change(login, func() { login.StringData = map[string]string{"password": "two"} })
	// It is seen at the interval, or when somebody asks.
	w.change(w.provider, func() { annotate(w.provider, v1alpha3.ReconcileRequestAnnotation, "now") })
	w.change(w.target, func() { annotate(w.target, v1alpha3.ReconcileRequestAnnotation, "now") })
	w.ready()
}

func oneNamespaceOnly(t *testing.T) {
	no := false
	w := newWorld(t, func(w *world) {
		w.target.Spec.SerializeNamespace = &no
		w.kube.Spec.AllowAnySourceNamespace = true
	})
	w.configMap("plain", "1")
	w.Eventually(w.files).Should(HaveLen(1))
	w.ready()
	w.change(w.rule, func() {
		w.rule.Spec.Rules = append(w.rule.Spec.Rules, v1alpha3.WatchRuleItem{
			ResourceSelection: v1alpha3.ResourceSelection{Resources: []string{"configmaps"}}, SourceNamespace: "default",
		})
	})
	w.shows(w.target, v1alpha3.GitPathAcceptedCondition, isFalse, v1alpha3.MultipleSourceNamespacesReason)
	w.shows(w.target, meta.ReadyCondition, isFalse, v1alpha3.MultipleSourceNamespacesReason)
	w.change(w.rule, func() { w.rule.Spec.Rules = w.rule.Spec.Rules[:1] })
	w.ready()
}

func namespacesBySelector(t *testing.T) {
	w := newWorld(t, func(w *world) {
		w.kube.Spec.AllowAnySourceNamespace = true
		w.target.Spec.AllowedSourceNamespaces = &v1alpha3.SourceNamespaces{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"source": w.namespace}}}
		w.rule.Spec.Rules[0].SourceNamespace = "*"
	})
	message := w.shows(w.rule, v1alpha3.SourceNamespaceAuthorizedCondition, isTrue, v1alpha3.SourceNamespaceAllowedReason)
	w.Expect(message).To(ContainSubstring("0 namespaces"))
	w.shows(w.rule, meta.ReadyCondition, isTrue, meta.SucceededReason)
	other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-source",
		Labels: map[string]string{"source": w.namespace}}}
	w.apply(other)
	w.apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: other.Name, Name: "theirs"}})
	// The labels are read again every 30 s; asking the source brings it forward.
	w.change(w.kube, func() { annotate(w.kube, v1alpha3.ReconcileRequestAnnotation, "now") })
	w.Eventually(w.files).Should(ContainElement(ContainSubstring(other.Name + "/configmaps/theirs.yaml")))
	w.change(other, func() { other.Labels = nil })
	w.change(w.kube, func() { annotate(w.kube, v1alpha3.ReconcileRequestAnnotation, "again") })
	w.field(w.rule, func() any { return w.rule.Status.Streams }, HaveField("Summary", "0/0"))
	w.Expect(w.files()).To(ContainElement(ContainSubstring("theirs.yaml")), "Git stays")
}

func suspendedProviders(t *testing.T) {
	w := newWorld(t)
	w.configMap("first", "1")
	w.settled()
	w.ready()
	w.change(w.provider, func() { w.provider.Spec.Suspend = true })
	w.shows(w.target, meta.ReadyCondition, isTrue, meta.SuspendedReason)
	w.configMap("second", "1")
	w.field(w.target, func() any { return conditions.GetMessage(w.target, meta.ReadyCondition) },
		ContainSubstring("1 writes wait"))
	w.Expect(w.files()).To(HaveLen(1))
	w.change(w.provider, func() { w.provider.Spec.Suspend = false })
	w.settled()
	w.ready()

	w.change(w.kube, func() { w.kube.Spec.Suspend = true })
	message := w.shows(w.target, meta.ReadyCondition, isTrue, meta.SuspendedReason)
	w.Expect(message).To(ContainSubstring("KubeProvider"))
	w.shows(w.rule, meta.ReadyCondition, isTrue, meta.SuspendedReason)
	message = w.shows(w.rule, v1alpha3.StreamsRunningCondition, isUnknown, v1alpha3.NotReadyReason)
	w.Expect(message).To(ContainSubstring("suspended"))
	w.configMap("third", "1")
	w.change(w.kube, func() { w.kube.Spec.Suspend = false })
	w.settled()
	w.ready()

	w.change(w.rule, func() { w.rule.Spec.Suspend = true })
	w.shows(w.rule, meta.ReadyCondition, isTrue, meta.SuspendedReason)
	w.shows(w.target, v1alpha3.StreamsRunningCondition, isFalse, v1alpha3.NoResolvedTypesReason)
	w.change(w.rule, func() { w.rule.Spec.Suspend = false })
	w.ready()
}

func anotherRepository(t *testing.T) {
	w := newWorld(t)
	w.configMap("first", "1")
	w.settled()
	w.ready()
	old, tip := w.repo, w.repo.Tip("main")
	w.delete(w.provider)
	w.shows(w.target, v1alpha3.ValidatedCondition, isFalse, v1alpha3.GitProviderNotFoundReason)
	var err error
	w.repo, err = parts.git.CreateRepo(w.namespace+"-new",
		gitserver.RepoOptions{Files: map[string]string{"README.md": "# New\n"}})
	w.Expect(err).NotTo(HaveOccurred())
	fresh := &v1alpha3.GitProvider{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "infra"},
		Spec:       v1alpha3.GitProviderSpec{URL: w.repo.URL, AllowedBranches: []string{"main"}},
	}
	w.apply(fresh)
	w.provider = fresh
	w.settled()
	w.ready()
	w.configMap("second", "1")
	w.settled()
	w.Expect(old.Tip("main")).To(Equal(tip), "nothing went to the old repository")
	w.Eventually(func(g Gomega) {
		g.Expect(parts.kube.Get(t.Context(), client.ObjectKeyFromObject(w.target), w.target)).To(Succeed())
		g.Expect(w.target.Status.Remote).NotTo(BeNil())
		g.Expect(old.IsAncestor(w.target.Status.Remote.Commit, "main")).To(BeFalse(),
			"the old repository's tip is not shown any more")
	}).Should(Succeed())
}

func invalidConfig(t *testing.T) {
	w := newWorld(t, func(w *world) {
		w.target.Spec.Commit.Message = &v1alpha3.CommitMessage{LiveTemplate: "{{.Nothing}}"}
	})
	w.shows(w.target, v1alpha3.ValidatedCondition, isFalse, v1alpha3.InvalidConfigReason)
	message := w.shows(w.target, meta.ReadyCondition, isFalse, v1alpha3.ValidationFailedReason)
	w.Expect(message).To(ContainSubstring("liveTemplate"))
	w.change(w.target, func() { w.target.Spec.Commit.Message = nil })
	w.ready()
	w.change(w.target, func() {
		w.target.Spec.Placement = &v1alpha3.Placement{Default: "{nonsense}.yaml"}
	})
	w.shows(w.target, v1alpha3.ValidatedCondition, isFalse, v1alpha3.InvalidConfigReason)
	// Scenarios 39 and 88 of git-writer: what could put two Secrets into one file, or fail for an object without labels.
	tip := w.repo.Tip("main")
	w.change(w.target, func() { w.target.Spec.Placement.Default = "all.yaml" })
	w.Eventually(func() string {
		return w.shows(w.target, v1alpha3.ValidatedCondition, isFalse, v1alpha3.InvalidConfigReason)
	}).Should(ContainSubstring("two encrypted objects"))
	w.configMap("waits", "1")
	w.change(w.target, func() {
		w.target.Spec.Placement = nil
		w.target.Spec.Commit.Message = &v1alpha3.CommitMessage{LiveTemplate: "{{range .Resources}}{{.Labels.team}}{{end}}"}
	})
	w.Eventually(func() string {
		return w.shows(w.target, v1alpha3.ValidatedCondition, isFalse, v1alpha3.InvalidConfigReason)
	}).Should(ContainSubstring("liveTemplate"))
	w.Expect(w.repo.Tip("main")).To(Equal(tip), "nothing was written")
	w.change(w.target, func() {
		w.target.Spec.Commit.Message.LiveTemplate = "{{range .Resources}}{{.Name}} {{.Label \"team\"}}{{end}}"
	})
	w.settled()
	w.ready()
}

// notImplemented: a kind that comes later is refused, and never half served.
func notImplemented(t *testing.T) {
	w := newWorld(t, func(w *world) {
		w.target.Spec.ApplyTriggerRef = &v1alpha3.ApplyTriggerReference{Kind: "FluxTrigger", Name: "apps"}
	})
	w.configMap("kept-out", "1")
	w.shows(w.target, v1alpha3.ValidatedCondition, isFalse, v1alpha3.NotImplementedReason)
	message := w.shows(w.target, meta.ReadyCondition, isFalse, v1alpha3.NotImplementedReason)
	w.Expect(message).To(ContainSubstring("FluxTrigger"))
	w.shows(w.rule, v1alpha3.GitTargetReadyCondition, isFalse, v1alpha3.NotImplementedReason)
	w.Expect(w.files()).To(BeEmpty())
	w.change(w.target, func() { w.target.Spec.ApplyTriggerRef = nil })
	w.settled()
	w.ready()
}

// TestIdle: when nothing happens no pass is made but the KubeProviders' at their interval, and no request is sent.
func TestIdle(t *testing.T) {
	o := startOperator(t)
	w := newWorld(t, func(w *world) { w.kube.Spec.Interval = &metav1.Duration{Duration: 10 * time.Second} })
	for i := range 5 {
		w.configMap(fmt.Sprint("object-", i), "1")
	}
	w.settled()
	w.ready()
	// status.remote follows the last push within a minute, by a pass of its own.
	w.Eventually(func(g Gomega) {
		g.Expect(parts.kube.Get(t.Context(), client.ObjectKeyFromObject(w.target), w.target)).To(Succeed())
		g.Expect(w.target.Status.Remote).NotTo(BeNil())
		g.Expect(w.target.Status.Remote.Commit).To(Equal(w.repo.Tip(w.target.Spec.Branch)))
	}).WithTimeout(2 * time.Minute).Should(Succeed())
	passes := func() map[string]float64 { return scrape(t, o, "controller_runtime_reconcile_total") }
	of := func(p map[string]float64, kind string) float64 { return total(p, `controller="`+kind+`"`) }
	// The news of the last push are still on their way.
	quiet := passes()
	w.Eventually(func() bool {
		before := quiet
		quiet = passes()
		return of(before, "gittarget") == of(quiet, "gittarget") && of(before, "watchrule") == of(quiet, "watchrule")
	}).WithPolling(4 * time.Second).Should(BeTrue())
	writes := func() float64 {
		r := scrape(t, o, "rest_client_requests_total")
		return total(r, `method="PATCH"`) + total(r, `method="POST"`) + total(r, `method="PUT"`)
	}
	sent := writes()
	w.Eventually(func() float64 {
		return of(passes(), "kubeprovider") - of(quiet,
			"kubeprovider")
	}).Should(BeNumerically(">=", 1))
	end := passes()
	for _, kind := range []string{"gittarget", "watchrule", "gitprovider"} {
		w.Expect(of(end, kind)-of(quiet, kind)).To(BeZero(), kind)
	}
	w.Expect(writes()-sent).To(BeZero(), "a pass that changes nothing writes nothing")
	w.Expect(total(end, `result="error"`)).To(BeZero())
}

// TestTargetsComeAndGo: workers, folders of stores, series and goroutines end with their targets.
func TestTargetsComeAndGo(t *testing.T) {
	t.Parallel()
	o := startShard(t)
	base := newWorld(t)
	base.configMap("first", "1")
	base.settled()
	base.ready()
	goroutines := func() float64 { return total(scrape(t, o, "go_goroutines")) }
	var before float64
	for round := range 3 {
		w := newWorld(t)
		for i := range 4 {
			extra := w.newTarget(fmt.Sprint("extra-", i), fmt.Sprint("clusters/extra-", i))
			extra.Spec.Branch = fmt.Sprint("live/", i)
			w.apply(extra)
			w.apply(w.newRule(fmt.Sprint("extra-", i), extra.Name, "configmaps"))
		}
		w.configMap("object", "1")
		w.settled()
		w.ready()
		for i := range 4 {
			w.Eventually(func() string { return w.repo.Tip(fmt.Sprint("live/", i)) }).ShouldNot(Equal(gitserver.Zero))
		}
		for _, kind := range []client.Object{&v1alpha3.WatchRule{}, &v1alpha3.GitTarget{}, &v1alpha3.GitProvider{}} {
			w.Expect(parts.kube.DeleteAllOf(t.Context(), kind, client.InNamespace(w.namespace))).To(Succeed())
		}
		w.delete(w.kube)
		w.Eventually(func() []string {
			text, err := o.Metrics(t.Context())
			w.Expect(err).NotTo(HaveOccurred())
			return linesWith(text, `"`+w.namespace+`"`)
		}).Should(BeEmpty(), "series are left")
		w.Eventually(func() ([]string, error) { return entries(o.StorageDir) }).Should(HaveLen(1),
			"one store folder, of the base")
		if round == 0 {
			before = goroutines()
		}
	}
	base.Eventually(goroutines).Should(BeNumerically("<=", before+5))
}

// TestNamespacedOperator: with --watch-all-namespaces=false and --no-cross-namespace-refs only the operator's own
// namespace is served.
func TestNamespacedOperator(t *testing.T) {
	startOperator(t, "--watch-all-namespaces=false", "--no-cross-namespace-refs")
	outside := newWorld(t)
	inside := newWorld(t, func(w *world) {
		w.namespace = harness.OperatorNamespace
		w.kube.Spec.AccessFrom.Names = []string{harness.OperatorNamespace}
		for _, o := range []client.Object{w.provider, w.target, w.rule} {
			o.SetNamespace(harness.OperatorNamespace)
		}
	})
	inside.configMap("mine", "1")
	inside.ready()
	inside.Eventually(inside.files).Should(ContainElement(ContainSubstring("mine.yaml")))
	outside.Expect(parts.kube.Get(t.Context(), client.ObjectKeyFromObject(outside.target), outside.target)).To(Succeed())
	outside.Expect(outside.target.Status.Conditions).To(BeEmpty(), "it is not ours")
	for _, o := range []client.Object{inside.target, inside.rule, inside.provider} {
		inside.delete(o)
	}
}

// TestWatchLabelSelector: only labelled objects are served, and what others own is respected (decisions 63).
func TestWatchLabelSelector(t *testing.T) {
	t.Parallel()
	o := startOperator(t, "--watch-label-selector=shard=a")
	label := func(w *world) {
		for _, o := range []client.Object{w.kube, w.provider, w.target, w.rule} {
			o.SetLabels(map[string]string{"shard": "a"})
		}
	}
	theirs := newWorld(t)
	ours := newWorld(t, label)
	ours.configMap("ours", "1")
	ours.settled()
	ours.ready()
	// A labelled target in the folder of an older one of another shard.
	rival := theirs.newTarget("rival", "clusters/one/deeper")
	rival.Labels = map[string]string{"shard": "a"}
	theirs.change(theirs.provider, func() { theirs.provider.Labels = map[string]string{"shard": "a"} })
	theirs.change(theirs.kube, func() { theirs.kube.Labels = map[string]string{"shard": "a"} })
	theirs.apply(rival)
	theirs.shows(rival, v1alpha3.ValidatedCondition, isFalse, v1alpha3.TargetConflictReason)
	theirs.Expect(parts.kube.Get(t.Context(), types.NamespacedName{Namespace: theirs.namespace, Name: "live"},
		theirs.target)).To(Succeed())
	theirs.Expect(theirs.target.Status.Conditions).To(BeEmpty(), "it belongs to another shard")
	// An object that loses its label is somebody else's from then on.
	ours.change(ours.target, func() { ours.target.Labels = nil })
	ours.Eventually(func() []string {
		text, err := o.Metrics(t.Context())
		ours.Expect(err).NotTo(HaveOccurred())
		return linesWith(text, `gittarget_namespace="`+ours.namespace+`"`)
	}).Should(BeEmpty(), "the target was let go")
	ours.configMap("later", "1")
	theirs.delete(theirs.target)
	theirs.shows(rival, v1alpha3.ValidatedCondition, isTrue, meta.SucceededReason)
	ours.Expect(ours.files()).To(HaveLen(1))
}

// TestBoundedRole: with a list of types in place of the wide reading role, those are mirrored, a named other one stalls
// with its cause, and one that only a wildcard selects is left out.
func TestBoundedRole(t *testing.T) {
	binding := &rbacv1.ClusterRoleBinding{}
	g := NewWithT(t)
	name := types.NamespacedName{Name: "gitops-reverser-watch-any"}
	g.Expect(parts.kube.Get(t.Context(), name, binding)).To(Succeed())
	wide := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: binding.Name}, RoleRef: binding.RoleRef,
		Subjects: binding.Subjects}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "bounded"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"}},
	}}
	narrow := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "bounded"}, Subjects: binding.Subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "bounded"},
	}
	g.Expect(parts.kube.Create(t.Context(), role)).To(Succeed())
	g.Expect(parts.kube.Create(t.Context(), narrow)).To(Succeed())
	g.Expect(parts.kube.Delete(t.Context(), binding)).To(Succeed())
	t.Cleanup(func() {
		for _, o := range []client.Object{narrow, role} {
			_ = parts.kube.Delete(context.Background(), o)
		}
		_ = parts.kube.Create(context.Background(), wide)
	})
	startOperator(t)
	w := newWorld(t)
	w.configMap("allowed", "1")
	w.settled()
	w.ready()
	named := w.newRule("named", "live", "services")
	w.apply(named)
	message := w.shows(named, v1alpha3.StreamsRunningCondition, isFalse, v1alpha3.WatchNotPermittedReason)
	w.Expect(message).To(ContainSubstring("services"))
	w.shows(named, meta.ReadyCondition, isFalse, v1alpha3.WatchNotPermittedReason)
	w.shows(w.target, meta.ReadyCondition, isFalse, v1alpha3.WatchNotPermittedReason)
	w.Expect(conditions.IsStalled(w.target)).To(BeTrue())
	w.shows(w.rule, v1alpha3.StreamsRunningCondition, isTrue, v1alpha3.AllStreamsReadyReason)
	w.delete(named)
	w.ready()
	w.apply(w.newRule("wild", "live", "*"))
	w.configMap("another", "1")
	w.settled()
	w.ready()
}
