// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
)

// columns holds, per kind, the columns that kubectl shows; those in the second list only with -o wide.
var columns = map[string]struct {
	always, wide string
	status       string
	cells        map[string]any
}{
	"GitProvider": {
		"Name,URL,Ready,Reason,Age", "Message", `{}`,
		map[string]any{"URL": "https://git.example.org/shop/live.git", "Ready": "True", "Reason": "Succeeded", "Message": "all is well"},
	},
	"KubeProvider": {
		"Name,Ready,Reason,FactsReceived,Age", "Validated,AuditRoute,Message",
		`{auditRoute: eu, conditions: {AuditFactsReceived: "True", Validated: "True"}}`,
		map[string]any{"FactsReceived": "True", "Validated": "True", "AuditRoute": "eu"},
	},
	"GitTarget": {
		"Name,Ready,Reason,Streams,Age",
		"Suspended,Verified,Layout,RenderRoot,LayoutResolved,GitPathAccepted,RenderMatchesLive,StreamsRunning,SourceReachable,ApplyTriggerReady,Encryption,Provider,Branch,Path,Message",
		`{streams: {summary: 3/4, total: 4, ready: 3}, placement: {mode: KustomizeRoot, renderRoot: clusters/one},
		  remote: {commit: "", lastVerifiedAt: "2026-01-02T03:04:05Z", verifiedBy: Push},
		  conditions: {LayoutResolved: "True", GitPathAccepted: "False", RenderMatchesLive: "Unknown", StreamsRunning: "True",
		    SourceClusterReachable: "True", ApplyTriggerReady: "False", EncryptionConfigured: "True"}}`,
		map[string]any{"Streams": "3/4", "Layout": "KustomizeRoot", "RenderRoot": "clusters/one", "GitPathAccepted": "False",
			"RenderMatchesLive": "Unknown", "SourceReachable": "True", "ApplyTriggerReady": "False", "Encryption": "True",
			"Provider": "infra", "Branch": "main", "Path": "clusters/one", "LayoutResolved": "True", "StreamsRunning": "True"},
	},
	"WatchRule": {
		"Name,GitTarget,Ready,Reason,Streams,Age", "ResourcesResolved,StreamsRunning,GitTargetReady,SourceAuthorized,Message",
		`{streams: {summary: 1/1}, conditions: {ResourcesResolved: "True", StreamsRunning: "True", GitTargetReady: "False", SourceNamespaceAuthorized: "True"}}`,
		map[string]any{"GitTarget": "live", "Streams": "1/1", "GitTargetReady": "False", "SourceAuthorized": "True"},
	},
	"ClusterWatchRule": {
		"Name,GitTarget,Ready,Reason,Streams,Age", "ResourcesResolved,StreamsRunning,GitTargetReady,Message",
		`{streams: {summary: 1/1}, conditions: {ResourcesResolved: "True", StreamsRunning: "True", GitTargetReady: "False"}}`,
		map[string]any{"GitTarget": "live", "ResourcesResolved": "True"},
	},
	"CommitRequest": {
		"Name,GitTarget,Ready,Reason,Commit,Age", "AuthorAttributed,Pushed,Branch,Message",
		`{commit: abc, branch: main, conditions: {AuthorAttributed: "True", Pushed: "True"}}`,
		map[string]any{"Commit": "abc", "Branch": "main", "Pushed": "True", "AuthorAttributed": "True"},
	},
	"FluxTrigger": {
		"Name,Applier,Ready,Reason,Phase,Revision,Age", "Message",
		`{operation: {phase: Succeeded, commit: 0123456789abcdef, shortCommit: 0123456789ab}}`,
		map[string]any{"Applier": "apps", "Phase": "Succeeded", "Revision": "0123456789ab"},
	},
	"ArgoCDTrigger": {
		"Name,Applier,Ready,Reason,Phase,Revision,Age", "Message",
		`{operation: {phase: Failed, commit: 0123456789abcdef, shortCommit: 0123456789ab}}`,
		map[string]any{"Applier": "apps", "Phase": "Failed", "Revision": "0123456789ab"},
	},
}

func TestPrinterColumns(t *testing.T) {
	NewWithT(t).Expect(columns).To(HaveLen(len(minimal)))
	for kind, want := range columns {
		t.Run(kind, func(t *testing.T) {
			g := NewWithT(t)
			stored := server.accept(t, kind, `{}`)
			stored.Object["status"] = status(g, want.status)
			_, err := server.client(stored).UpdateStatus(t.Context(), stored, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
			g.Expect(err).NotTo(HaveOccurred())

			table := tableOf(t, stored)
			var always, wide []string
			cells := map[string]any{}
			for i, c := range table.ColumnDefinitions {
				if c.Priority == 0 {
					always = append(always, c.Name)
				} else {
					wide = append(wide, c.Name)
				}
				cells[c.Name] = table.Rows[0].Cells[i]
			}
			g.Expect(strings.Join(always, ",")).To(Equal(want.always))
			g.Expect(strings.Join(wide, ",")).To(Equal(want.wide))
			g.Expect(table.ColumnDefinitions[len(table.ColumnDefinitions)-1].Name).To(Equal("Age"))
			for name, v := range want.cells {
				g.Expect(cells).To(HaveKeyWithValue(name, v))
			}
			g.Expect(cells).To(HaveKeyWithValue("Message", "all is well"))
			if kind == "GitTarget" {
				g.Expect(cells["Verified"]).To(MatchRegexp(`^[0-9]+[a-z]`), "a date column shows an age")
			}
		})
	}
}

// status turns the short form of a test into a status: conditions by type become a list that begins with Ready.
func status(g Gomega, text string) map[string]any {
	out := parse(g, text)
	short, _ := out["conditions"].(map[string]any)
	condition := func(kind, value string) any {
		return map[string]any{"type": kind, "status": value, "reason": "Succeeded", "message": "all is well", "lastTransitionTime": "2026-01-02T03:04:05Z"}
	}
	list := []any{condition("Ready", "True")}
	for k, v := range short {
		list = append(list, condition(k, fmt.Sprint(v)))
	}
	out["conditions"] = list
	return out
}

// tableOf asks for an object the way kubectl get does.
func tableOf(t *testing.T, u *unstructured.Unstructured) *metav1.Table {
	t.Helper()
	g := NewWithT(t)
	cfg := rest.CopyConfig(server.cp.Config)
	cfg.GroupVersion, cfg.APIPath = &v1alpha3.GroupVersion, "/apis"
	cfg.NegotiatedSerializer = serializer.NewCodecFactory(server.typed.Scheme()).WithoutConversion()
	rc, err := rest.RESTClientFor(cfg)
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := rc.Get().NamespaceIfScoped(u.GetNamespace(), u.GetNamespace() != "").
		Resource(server.resource(u.GetKind()).Resource).Name(u.GetName()).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	table := &metav1.Table{}
	g.Expect(json.Unmarshal(raw, table)).To(Succeed())
	g.Expect(table.Rows).To(HaveLen(1))
	return table
}

func TestNames(t *testing.T) {
	g := NewWithT(t)
	short := map[string]string{"GitProvider": "gp", "KubeProvider": "kp", "GitTarget": "gt", "WatchRule": "wr", "ClusterWatchRule": "cwr",
		"CommitRequest": "creq", "FluxTrigger": "fxt", "ArgoCDTrigger": "acdt"}
	for kind, crd := range server.crds {
		n := crd.Spec.Names
		g.Expect(n.ShortNames).To(Equal([]string{short[kind]}), kind)
		g.Expect(n.Categories).To(Equal([]string{"configbutler"}), kind)
		g.Expect(crd.Spec.Versions).To(HaveLen(1), kind)
		v := crd.Spec.Versions[0]
		g.Expect(v.Name).To(Equal("v1alpha3"))
		g.Expect(v.Subresources.Status).NotTo(BeNil(), kind)
		g.Expect(crd.Annotations).To(HaveKeyWithValue("kustomize.toolkit.fluxcd.io/substitute", "disabled"), kind)
		cluster := kind == "KubeProvider" || kind == "ClusterWatchRule"
		g.Expect(crd.Spec.Scope == "Cluster").To(Equal(cluster), kind)
	}
}
