// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
)

// minimal holds the smallest valid spec of every kind.
var minimal = map[string]string{
	"GitProvider":      `{url: "https://git.example.org/shop/live.git", allowedBranches: [main]}`,
	"KubeProvider":     `{}`,
	"GitTarget":        `{gitProviderRef: {name: infra}, branch: main, path: clusters/one}`,
	"WatchRule":        `{gitTargetRef: {name: live}, rules: [{resources: [configmaps]}]}`,
	"ClusterWatchRule": `{gitTargetRef: {name: live, namespace: shop}, rules: [{resources: [namespaces]}]}`,
	"CommitRequest":    `{gitTargetRef: {name: live}}`,
	"FluxTrigger":      `{kustomizationRef: {name: apps}}`,
	"ArgoCDTrigger":    `{applicationRef: {name: apps}}`,
}

func TestScenario01_GitTargetIsImmutableWhereItOwnsThings(t *testing.T) {
	plain := server.accept(t, "GitTarget", `{}`)
	full := server.accept(t, "GitTarget", `{gitProviderRef: {namespace: platform}, kubeProviderRef: {name: eu}, parentBranch: main, branch: live}`)
	for _, c := range []struct {
		from         *unstructured.Unstructured
		patch, field string
	}{
		{plain, `{gitProviderRef: {name: other}}`, "gitProviderRef"},
		{plain, `{gitProviderRef: {namespace: other}}`, "gitProviderRef"},
		{full, `{gitProviderRef: {namespace: null}}`, "gitProviderRef"},
		{plain, `{kubeProviderRef: {name: other}}`, "kubeProviderRef"},
		{full, `{kubeProviderRef: null}`, "kubeProviderRef"},
		{plain, `{branch: other}`, "branch"},
		{plain, `{path: other}`, "path"},
		{plain, `{parentBranch: other}`, "parentBranch"},
		{full, `{parentBranch: other}`, "parentBranch"},
		{full, `{parentBranch: null}`, "parentBranch"},
	} {
		server.refuseChange(t, c.from, c.patch, "spec."+c.field+" is immutable")
		server.refuseChange(t, c.from, c.patch, "delete and recreate the GitTarget")
	}
	server.acceptChange(t, full, `{suspend: true, prune: {mode: Always}, commit: {window: {idleTimeout: 3s}}}`)
	// An empty namespace says the same as none.
	server.acceptChange(t, plain, `{gitProviderRef: {namespace: ""}}`)
}

func TestScenario02_KubeProviderDefaultsToDefault(t *testing.T) {
	g := NewWithT(t)
	for _, kind := range []string{"GitTarget", "FluxTrigger", "ArgoCDTrigger"} {
		stored := server.accept(t, kind, `{}`)
		name, _, _ := unstructured.NestedMap(stored.Object, "spec", "kubeProviderRef")
		g.Expect(name).To(Equal(map[string]any{"name": "default"}), kind)
	}
}

func TestScenario03_Path(t *testing.T) {
	g := NewWithT(t)
	for path, want := range map[string]string{
		``:                "should be at least 1 chars long",
		`/abs`:            "path must be relative to the repository's root",
		`a/../b`:          "path must not hold .. segments",
		`..`:              "path must not hold .. segments",
		`a\\b`:            `path must use / as separator, not \`,
		`.git/hooks`:      "path must not hold .git segments",
		`a/.GIT`:          "path must not hold .git segments",
		`a\tb`:            "path must not hold control characters",
		repeat("a", 1025): "may not be more than 1024",
	} {
		server.refuse(t, "GitTarget", `{path: "`+path+`"}`, want)
	}
	for _, path := range []string{".", "clusters/one/", "a..b/c", ".github", "größe"} {
		stored := server.accept(t, "GitTarget", `{path: "`+path+`"}`)
		g.Expect(stored.Object["spec"]).To(HaveKeyWithValue("path", path))
	}
}

func TestScenario04_KubeConfigCannotBeAddedOrRemoved(t *testing.T) {
	local := server.accept(t, "KubeProvider", `{}`)
	server.refuseChange(t, local, `{kubeConfig: {secretRef: {name: eu}}}`, "spec.kubeConfig cannot be added or removed")
	remote := server.accept(t, "KubeProvider", `{kubeConfig: {secretRef: {name: eu}}}`)
	server.refuseChange(t, remote, `{kubeConfig: null}`, "spec.kubeConfig cannot be added or removed")
	server.refuseChange(t, remote, `{kubeConfig: {secretRef: {name: us}}}`, "spec.kubeConfig is immutable")
	server.refuseChange(t, remote, `{kubeConfig: {secretRef: {key: other}}}`, "spec.kubeConfig is immutable")
	server.acceptChange(t, remote, `{kubeConfig: {secretRef: {key: ""}}, allowAnySourceNamespace: true}`)
}

func TestScenario05_KubeConfigTakesOnlyANamedSecret(t *testing.T) {
	server.refuse(t, "KubeProvider", `{kubeConfig: {configMapRef: {name: eu}}}`, "kubeConfig.configMapRef is not supported; use kubeConfig.secretRef")
	server.refuse(t, "KubeProvider", `{kubeConfig: {secretRef: {name: ""}}}`, "kubeConfig.secretRef.name must not be empty")
	server.refuse(t, "KubeProvider", `{kubeConfig: {}}`, "exactly one of spec.kubeConfig.configMapRef or spec.kubeConfig.secretRef must be specified")
	server.refuse(t, "KubeProvider", `{kubeConfig: {configMapRef: {name: eu}, secretRef: {name: eu}}}`, "exactly one of spec.kubeConfig.configMapRef or spec.kubeConfig.secretRef must be specified")
	server.accept(t, "KubeProvider", `{kubeConfig: {secretRef: {name: eu, key: value}}}`)
}

func TestScenario06_RuleItems(t *testing.T) {
	for _, kind := range []string{"WatchRule", "ClusterWatchRule"} {
		server.refuse(t, kind, `{rules: [{resources: [deployments/scale]}]}`, "should match")
		server.refuse(t, kind, `{rules: [{resources: [deploy*]}]}`, "should match")
		server.refuse(t, kind, `{rules: [{resources: []}]}`, "should have at least 1 items")
		server.refuse(t, kind, `{rules: [{apiGroups: [apps]}]}`, "Required value")
		server.refuse(t, kind, `{rules: []}`, "should have at least 1 items")
		server.refuse(t, kind, `{rules: [{resources: [pods], operations: [PATCH]}]}`, "Unsupported value")
		server.refuse(t, kind, `{rules: [{resources: [pods], apiGroups: ["apps/v1"]}]}`, "should match")
		server.accept(t, kind, `{rules: [{resources: ["*"], apiGroups: ["*"], apiVersions: ["*"], operations: ["*"]}]}`)
		server.accept(t, kind, `{rules: [{resources: [ConfigMaps], apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE, DELETE]}]}`)
	}
	server.refuse(t, "WatchRule", `{rules: [{resources: [pods], sourceNamespace: Team_A}]}`, "should match")
	server.refuse(t, "WatchRule", `{rules: [{resources: [pods], sourceNamespace: "team-*"}]}`, "should match")
	server.accept(t, "WatchRule", `{rules: [{resources: [pods], sourceNamespace: "*"}, {resources: [pods], sourceNamespace: team-a}]}`)
	server.refuse(t, "ClusterWatchRule", `{rules: [{resources: [nodes], sourceNamespace: "*"}]}`, "unknown field")
}

func TestScenario07_NamespaceNamesAreExact(t *testing.T) {
	for kind, field := range map[string]string{
		"GitProvider": "accessFrom", "KubeProvider": "accessFrom", "GitTarget": "allowedSourceNamespaces",
	} {
		server.refuse(t, kind, `{`+field+`: {names: ["*"]}}`, "should match")
		server.refuse(t, kind, `{`+field+`: {names: [a, a]}}`, "Duplicate value")
		server.accept(t, kind, `{`+field+`: {names: [a, b]}}`)
		server.accept(t, kind, `{`+field+`: {selector: {}}}`)
		server.accept(t, kind, `{`+field+`: {}}`)
	}
}

func TestScenario08_CommitRequestIsImmutableByMeaning(t *testing.T) {
	g := NewWithT(t)
	stored := server.accept(t, "CommitRequest", `{message: save, window: {maxDuration: 1m, attachTimeout: 1m, idleTimeout: 1m}, ttlAfterFinished: 1h}`)

	typed := &v1alpha3.CommitRequest{}
	key := client.ObjectKeyFromObject(stored)
	g.Expect(server.typed.Get(t.Context(), key, typed)).To(Succeed())
	typed.Labels = map[string]string{"seen": "yes"}
	g.Expect(server.typed.Update(t.Context(), typed)).To(Succeed(), "a typed client spells 1m as 1m0s")

	after := stored.DeepCopy()
	g.Expect(server.typed.Get(t.Context(), key, after)).To(Succeed())
	spelling, _, _ := unstructured.NestedString(after.Object, "spec", "window", "maxDuration")
	g.Expect(spelling).To(Equal("1m0s"))
	server.seen.accept(server.crds["CommitRequest"], after, stored)

	for patch, field := range map[string]string{
		`{gitTargetRef: {name: other}}`:      "gitTargetRef",
		`{message: other}`:                   "message",
		`{message: null}`:                    "message",
		`{window: {attach: Next}}`:           "window.attach",
		`{window: {attachTimeout: 59s}}`:     "window.attachTimeout",
		`{window: {maxDuration: 61s}}`:       "window.maxDuration",
		`{window: {idleTimeout: 59s}}`:       "window.idleTimeout",
		`{window: {idleTimeout: null}}`:      "window.idleTimeout",
		`{whenNothingToCommit: CommitEmpty}`: "whenNothingToCommit",
		`{ttlAfterFinished: 2h}`:             "ttlAfterFinished",
		`{ttlAfterFinished: null}`:           "ttlAfterFinished",
	} {
		server.refuseChange(t, after, patch, "spec."+field+" is immutable; create another CommitRequest")
	}
	plain := server.accept(t, "CommitRequest", `{}`)
	server.refuseChange(t, plain, `{message: other}`, "spec.message is immutable")
	server.refuseChange(t, plain, `{window: {idleTimeout: 0s}}`, "spec.window.idleTimeout is immutable")
	server.refuseChange(t, plain, `{ttlAfterFinished: 0s}`, "spec.ttlAfterFinished is immutable")
	server.acceptChange(t, plain, `{window: {attachTimeout: 2000ms}}`)
	server.acceptChange(t, plain, `{window: null, whenNothingToCommit: null}`)
}

func TestScenario09_CommitRequestMessage(t *testing.T) {
	g := NewWithT(t)
	const control = "message must not hold control characters other than line feeds"
	for message, want := range map[string]string{
		repeat("a", 1025): "may not be more than 1024",
		``:                "should be at least 1 chars long",
		`a\tb`:            control,
		`a\rb`:            control,
		`a\x00b`:          control,
		`a\x7fb`:          control,
		`a\x85b`:          control,
		`  \n  `:          "message must not be blank",
		`\u00a0`:          "message must not be blank",
	} {
		server.refuse(t, "CommitRequest", `{message: "`+message+`"}`, want)
	}
	for _, message := range []string{"a", "subject\n\nbody ü\n", repeat("é", 1024)} {
		stored := server.accept(t, "CommitRequest", `{message: "`+strings.ReplaceAll(message, "\n", `\n`)+`"}`)
		g.Expect(stored.Object["spec"]).To(HaveKeyWithValue("message", message))
	}
}

func TestScenario10_CommitRequestWindow(t *testing.T) {
	server.refuse(t, "CommitRequest", `{window: {attachTimeout: 301s}}`, "attachTimeout must be at most 5m")
	server.refuse(t, "CommitRequest", `{window: {maxDuration: 301s}}`, "maxDuration must be at most 5m")
	server.refuse(t, "CommitRequest", `{window: {maxDuration: 5m, idleTimeout: 301s}}`, "idleTimeout must be at most 5m")
	server.refuse(t, "CommitRequest", `{window: {attach: Next, attachTimeout: 0s}}`, "attach: Next needs an attachTimeout above 0s")
	server.refuse(t, "CommitRequest", `{window: {attach: Now}}`, "Unsupported value")
	server.refuse(t, "CommitRequest", `{window: {idleTimeout: 3s}}`, "idleTimeout must not exceed maxDuration")
	server.refuse(t, "CommitRequest", `{window: {idleTimeout: 11s, maxDuration: 10s}}`, "idleTimeout must not exceed maxDuration")
	server.refuse(t, "CommitRequest", `{whenNothingToCommit: CommitEmpty}`, "whenNothingToCommit: CommitEmpty needs message")
	server.refuse(t, "CommitRequest", `{whenNothingToCommit: Ignore}`, "Unsupported value")
	server.refuse(t, "CommitRequest", `{ttlAfterFinished: 8761h}`, "ttlAfterFinished must be at most 8760h")
	server.accept(t, "CommitRequest", `{window: {attachTimeout: 300s, maxDuration: 5m, idleTimeout: 5m}}`)
	server.accept(t, "CommitRequest", `{window: {attach: Next}}`)
	server.accept(t, "CommitRequest", `{window: {attach: CurrentOrNext, attachTimeout: 0s, maxDuration: 0s, idleTimeout: 0s}, ttlAfterFinished: 0s}`)
	server.accept(t, "CommitRequest", `{whenNothingToCommit: CommitEmpty, message: checkpoint}`)
}

func TestScenario11_DurationsSurviveATypedRoundTrip(t *testing.T) {
	g := NewWithT(t)
	for text, want := range map[string]time.Duration{
		"0.5ms": 500 * time.Microsecond, "500µs": 500 * time.Microsecond, "0s": 0, "1h0m0.000000001s": time.Hour + 1,
	} {
		stored := server.accept(t, "GitTarget", `{commit: {window: {idleTimeout: "`+text+`", maxDuration: 24h}}}`)
		typed := &v1alpha3.GitTarget{}
		key := client.ObjectKeyFromObject(stored)
		g.Expect(server.typed.Get(t.Context(), key, typed)).To(Succeed())
		g.Expect(typed.GetWindowIdleTimeout()).To(Equal(want))
		typed.Labels = map[string]string{"seen": "yes"}
		g.Expect(server.typed.Update(t.Context(), typed)).To(Succeed(), text)
		g.Expect(server.typed.Get(t.Context(), key, typed)).To(Succeed())
		g.Expect(typed.GetWindowIdleTimeout()).To(Equal(want))
	}
	save := server.accept(t, "CommitRequest", `{window: {idleTimeout: 0.5ms}}`)
	typed := &v1alpha3.CommitRequest{}
	g.Expect(server.typed.Get(t.Context(), client.ObjectKeyFromObject(save), typed)).To(Succeed())
	typed.Labels = map[string]string{"seen": "yes"}
	g.Expect(server.typed.Update(t.Context(), typed)).To(Succeed())
	idle, set := typed.GetIdleTimeout()
	g.Expect(idle).To(Equal(500 * time.Microsecond))
	g.Expect(set).To(BeTrue())

	for _, bad := range []string{"999999999h", repeat("1", 60) + "h"} {
		server.refuse(t, "GitTarget", `{commit: {window: {idleTimeout: `+bad+`}}}`, "idleTimeout must be at most 24h")
		server.refuse(t, "GitTarget", `{commit: {window: {maxDuration: `+bad+`}}}`, "maxDuration must be at most 24h")
		server.refuse(t, "CommitRequest", `{window: {idleTimeout: `+bad+`}}`, "idleTimeout must be at most 5m")
		server.refuse(t, "CommitRequest", `{ttlAfterFinished: `+bad+`}`, "ttlAfterFinished must be at most 8760h")
	}
	for _, bad := range []string{"5", "-5s", "5d", "", "1e3s", "5 s", ".5s"} {
		server.refuse(t, "GitTarget", `{interval: "`+bad+`"}`, "should match")
	}
}

func TestScenario12_Combinations(t *testing.T) {
	server.refuse(t, "GitTarget", `{onRefusal: Reapply}`, "onRefusal: Reapply needs applyTriggerRef")
	server.accept(t, "GitTarget", `{onRefusal: Reapply, applyTriggerRef: {kind: FluxTrigger, name: apps}}`)
	server.accept(t, "GitTarget", `{onRefusal: Ignore}`)
	server.refuse(t, "GitTarget", `{applyTriggerRef: {kind: Kustomization, name: apps}}`, "Unsupported value")

	generate := `{encryption: {secretRef: {name: age}, age: {enabled: true, recipients: {generateWhenMissing: true}}}}`
	server.refuse(t, "GitTarget", generate, "generateWhenMissing needs extractFromSecret")
	server.refuse(t, "GitTarget", strings.Replace(generate, "recipients: {", "recipients: {extractFromSecret: false, ", 1), "generateWhenMissing needs extractFromSecret")
	generate = strings.Replace(generate, "recipients: {", "recipients: {extractFromSecret: true, ", 1)
	server.accept(t, "GitTarget", generate)
	server.refuse(t, "GitTarget", strings.Replace(generate, "secretRef: {name: age}, ", "", 1), "age.recipients.generateWhenMissing needs secretRef")
	server.accept(t, "GitTarget", `{encryption: {age: {enabled: true, recipients: {publicKeys: [age1x]}}, useRepositoryRules: true}}`)
	server.refuse(t, "GitTarget", `{encryption: {provider: vault}}`, "Unsupported value")

	server.refuse(t, "GitTarget", `{parentBranch: main}`, "parentBranch must differ from branch")
	server.refuse(t, "GitTarget", `{parentBranch: ""}`, "should be at least 1 chars long")
	server.accept(t, "GitTarget", `{parentBranch: trunk}`)
	server.refuse(t, "GitTarget", `{commit: {window: {idleTimeout: 61s}}}`, "idleTimeout must not exceed maxDuration")
	server.accept(t, "GitTarget", `{commit: {window: {idleTimeout: 60s}}}`)
}

func TestScenario13_RemovedFieldsAreRefusedByStrictDecoding(t *testing.T) {
	for kind, patches := range map[string][]string{
		"GitTarget": {
			`{push: {commitWindow: 5s}}`, `{providerRef: {name: x}}`, `{clusterProviderRef: {name: x}}`, `{applier: x}`,
			`{commit: {message: {eventTemplate: x}}}`, `{commit: {message: {groupTemplate: x}}}`,
			`{gitProviderRef: {kind: GitProvider}}`, `{gitProviderRef: {group: configbutler.ai}}`,
		},
		"GitProvider":      {`{push: {}}`, `{commit: {message: {}}}`, `{allowedNamespaces: {}}`},
		"KubeProvider":     {`{allowedNamespaces: {}}`, `{allowSourceNamespaceOverride: true}`, `{qps: 3}`},
		"WatchRule":        {`{targetRef: {name: x}}`, `{rules: [{resources: [pods], scope: Namespaced}]}`},
		"ClusterWatchRule": {`{targetRef: {name: x}}`, `{rules: [{resources: [pods], scope: Cluster}]}`},
		"CommitRequest":    {`{targetRef: {name: x}}`, `{closeDelaySeconds: 3}`},
		"FluxTrigger":      {`{quietPeriod: 3s}`},
		"ArgoCDTrigger":    {`{quietPeriod: 3s}`},
	} {
		for _, patch := range patches {
			server.refuse(t, kind, patch, "unknown field")
		}
	}
	stored := server.accept(t, "FluxTrigger", `{}`)
	stored.Object["status"] = map[string]any{"source": map[string]any{"prefetch": true}}
	_, err := server.client(stored).UpdateStatus(t.Context(), stored, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring(`unknown field "status.source.prefetch"`)))
}

func repeat(s string, n int) string { return strings.Repeat(s, n) }
