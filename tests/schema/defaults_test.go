// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
)

func TestDefaults(t *testing.T) {
	for kind, c := range map[string]struct{ patch, want string }{
		"GitProvider": {
			`{commit: {committer: {}}, knownHostsRef: {name: hosts}}`,
			`{interval: 5m, timeout: 60s, commit: {committer: {name: GitOps Reverser, email: noreply@configbutler.ai}}, knownHostsRef: {kind: ConfigMap, name: hosts}}`,
		},
		"KubeProvider": {
			`{attribution: {senders: [{uriSAN: a}]}}`,
			`{interval: 30s, attribution: {senders: [{uriSAN: a, trustExtras: true}]}}`,
		},
		"GitTarget": {
			`{encryption: {}}`,
			`{kubeProviderRef: {name: default}, commit: {window: {idleTimeout: 5s, maxDuration: 1m}}, prune: {mode: OnEvent},
			  onRefusal: Ignore, interval: 5m, encryption: {provider: sops}}`,
		},
		"WatchRule":        {`{}`, `{}`},
		"ClusterWatchRule": {`{}`, `{}`},
		"CommitRequest": {
			`{}`, `{window: {attach: CurrentOrNext, attachTimeout: 2s, maxDuration: 2s}, whenNothingToCommit: Resolve}`,
		},
		"FluxTrigger":   {`{}`, `{kubeProviderRef: {name: default}, hold: Suspend}`},
		"ArgoCDTrigger": {`{}`, `{kubeProviderRef: {name: default}}`},
	} {
		t.Run(kind, func(t *testing.T) {
			g := NewWithT(t)
			stored := server.accept(t, kind, c.patch)
			want := merge(parse(g, minimal[kind]), parse(g, c.want))
			g.Expect(stored.Object["spec"]).To(Equal(want))
			g.Expect(stored.Object["status"]).To(Equal(map[string]any{"observedGeneration": int64(-1)}),
				"a stored object says that nothing was observed yet")
		})
	}
}

func TestKubeProviderNeedsNoSpec(t *testing.T) {
	g := NewWithT(t)
	u := server.object(t, "KubeProvider", `{}`)
	delete(u.Object, "spec")
	stored, err := server.client(u).Create(t.Context(), u, strictCreate)
	g.Expect(err).NotTo(HaveOccurred())
	interval, _, _ := unstructured.NestedString(stored.Object, "spec", "interval")
	g.Expect(interval).To(Equal("30s"))
}

// An accessor answers alike for an object that the server defaulted and for one that it never saw.
func TestAccessorsKnowTheDefaults(t *testing.T) {
	effective := map[string]func(client.Object) []any{
		"GitProvider": func(o client.Object) []any {
			p := o.(*v1alpha3.GitProvider)
			return []any{p.GetRequeueAfter(), p.GetTimeout(), p.GetCommitter(), p.GetSigning()}
		},
		"KubeProvider": func(o client.Object) []any {
			return []any{o.(*v1alpha3.KubeProvider).GetRequeueAfter()}
		},
		"GitTarget": func(o client.Object) []any {
			p := o.(*v1alpha3.GitTarget)
			return []any{p.GetRequeueAfter(), p.GetKubeProviderName(), p.GetWindowIdleTimeout(), p.GetWindowMaxDuration(),
				p.GetPruneMode(), p.GetOnRefusal(), p.GetMessageTemplates()}
		},
		"CommitRequest": func(o client.Object) []any {
			p := o.(*v1alpha3.CommitRequest)
			idle, set := p.GetIdleTimeout()
			return []any{p.GetAttach(), p.GetAttachTimeout(), p.GetMaxDuration(), idle, set, p.GetWhenNothingToCommit(), p.GetTTLAfterFinished(time.Hour)}
		},
		"FluxTrigger": func(o client.Object) []any {
			p := o.(*v1alpha3.FluxTrigger)
			return []any{p.GetHold(), p.GetKubeProviderName()}
		},
		"ArgoCDTrigger": func(o client.Object) []any {
			return []any{o.(*v1alpha3.ArgoCDTrigger).GetKubeProviderName()}
		},
	}
	for kind, get := range effective {
		t.Run(kind, func(t *testing.T) {
			g := NewWithT(t)
			stored := server.accept(t, kind, `{}`)
			defaulted, bare := newTyped(g, kind), newTyped(g, kind)
			g.Expect(server.typed.Get(t.Context(), client.ObjectKeyFromObject(stored), defaulted)).To(Succeed())
			g.Expect(get(defaulted)).To(Equal(get(bare)))
		})
	}
}

func newTyped(g Gomega, kind string) client.Object {
	o, err := server.typed.Scheme().New(v1alpha3.GroupVersion.WithKind(kind))
	g.Expect(err).NotTo(HaveOccurred())
	return o.(client.Object)
}

// A typed client must be able to write back what it read, for every kind and with every block of the status set.
func TestTypedClientsWriteBackWhatTheyRead(t *testing.T) {
	for kind := range minimal {
		t.Run(kind, func(t *testing.T) {
			g := NewWithT(t)
			stored := server.accept(t, kind, `{}`)
			o := newTyped(g, kind)
			key := client.ObjectKeyFromObject(stored)
			g.Expect(server.typed.Get(t.Context(), key, o)).To(Succeed())
			o.SetLabels(map[string]string{"seen": "yes"})
			g.Expect(server.typed.Update(t.Context(), o)).To(Succeed())

			after := &unstructured.Unstructured{}
			after.SetGroupVersionKind(v1alpha3.GroupVersion.WithKind(kind))
			g.Expect(server.typed.Get(t.Context(), key, after)).To(Succeed())
			spec, ok := after.Object["spec"].(map[string]any)
			g.Expect(ok).To(BeTrue())
			for field, v := range stored.Object["spec"].(map[string]any) {
				if field == "interval" || field == "timeout" || field == "commit" || field == "window" {
					continue // durations come back in Go's spelling, see scenario 11
				}
				g.Expect(spec).To(HaveKeyWithValue(field, v))
			}
			g.Expect(server.typed.Status().Update(t.Context(), o)).To(Succeed())
		})
	}
}

// Absent is not zero: a measured empty list is stored, an unmeasured one is not.
func TestMeasuredNoneIsStored(t *testing.T) {
	g := NewWithT(t)
	stored := server.accept(t, "GitProvider", `{}`)
	o := &v1alpha3.GitProvider{}
	key := client.ObjectKeyFromObject(stored)
	g.Expect(server.typed.Get(t.Context(), key, o)).To(Succeed())
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(raw["status"]).NotTo(HaveKey("branches"))

	o.Status.Branches = []v1alpha3.GitProviderBranch{}
	g.Expect(server.typed.Status().Update(t.Context(), o)).To(Succeed())
	got, err := server.client(stored).Get(t.Context(), stored.GetName(), metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Object["status"]).To(HaveKeyWithValue("branches", BeEmpty()))
}
