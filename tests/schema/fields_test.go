// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestReferencesNeedNames(t *testing.T) {
	type ref struct{ kind, open, close, message string }
	for _, r := range []ref{
		{"GitProvider", `{secretRef: `, `}`, "secretRef.name"},
		{"GitProvider", `{proxySecretRef: `, `}`, "proxySecretRef.name"},
		{"GitProvider", `{commit: {signing: {secretRef: `, `}}}`, "signing.secretRef.name"},
		{"GitProvider", `{receiver: {type: gitea, secretRef: `, `}}`, "receiver.secretRef.name"},
		{"KubeProvider", `{kubeConfig: {secretRef: `, `}}`, "kubeConfig.secretRef.name"},
		{"KubeProvider", `{attribution: {senders: [{tokenSecretRef: `, `}]}}`, "tokenSecretRef.name"},
		{"KubeProvider", `{attribution: {senders: [{commonName: eu, caSecretRef: `, `}]}}`, "caSecretRef.name"},
		{"GitTarget", `{gitProviderRef: `, `}`, "gitProviderRef.name"},
		{"GitTarget", `{kubeProviderRef: `, `}`, "kubeProviderRef.name"},
		{"GitTarget", `{encryption: {secretRef: `, `}}`, "encryption.secretRef.name"},
		{"WatchRule", `{gitTargetRef: `, `}`, "gitTargetRef.name"},
		{"ClusterWatchRule", `{gitTargetRef: `, `}`, "gitTargetRef.name"},
		{"CommitRequest", `{gitTargetRef: `, `}`, "gitTargetRef.name"},
		{"FluxTrigger", `{kustomizationRef: `, `}`, "kustomizationRef.name"},
		{"FluxTrigger", `{kubeProviderRef: `, `}`, "kubeProviderRef.name"},
		{"ArgoCDTrigger", `{applicationRef: `, `}`, "applicationRef.name"},
		{"ArgoCDTrigger", `{kubeProviderRef: `, `}`, "kubeProviderRef.name"},
	} {
		server.refuse(t, r.kind, r.open+`{name: ""}`+r.close, r.message+" must not be empty")
		server.refuse(t, r.kind, r.open+`{name: `+repeat("a", 254)+`}`+r.close, r.message+" must have at most 253 characters")
		server.accept(t, r.kind, r.open+`{name: `+repeat("a", 253)+`}`+r.close)
	}
	for kind, field := range map[string]string{
		"GitTarget": "gitProviderRef", "ClusterWatchRule": "gitTargetRef", "FluxTrigger": "kustomizationRef", "ArgoCDTrigger": "applicationRef",
	} {
		server.refuse(t, kind, `{`+field+`: {namespace: `+repeat("a", 64)+`}}`, field+".name must have at most 253 characters and namespace at most 63")
		server.accept(t, kind, `{`+field+`: {namespace: `+repeat("a", 63)+`}}`)
	}
	server.refuse(t, "ClusterWatchRule", `{gitTargetRef: {namespace: ""}}`, "gitTargetRef.namespace must be set")
	server.refuse(t, "ClusterWatchRule", `{gitTargetRef: {namespace: null}}`, "gitTargetRef.namespace must be set")
}

func TestGitProviderFields(t *testing.T) {
	stored := server.accept(t, "GitProvider", `{}`)
	server.refuseChange(t, stored, `{url: "https://git.example.org/other.git"}`, "spec.url is immutable; delete and recreate the GitProvider")
	server.acceptChange(t, stored, `{suspend: true, allowedBranches: ["live/*"]}`)
	server.refuse(t, "GitProvider", `{url: ""}`, "should be at least 1 chars long")
	server.refuse(t, "GitProvider", `{url: null}`, "Required value")
	for _, url := range []string{"ssh://git@git.example.org/a.git", "git@git.example.org:a.git", "http://127.0.0.1:8080/a"} {
		server.accept(t, "GitProvider", `{url: "`+url+`"}`)
	}
	server.refuse(t, "GitProvider", `{allowedBranches: []}`, "should have at least 1 items")
	server.refuse(t, "GitProvider", `{allowedBranches: [""]}`, "should be at least 1 chars long")
	server.refuse(t, "GitProvider", `{allowedBranches: null}`, "Required value")

	for _, name := range []string{`a\nb`, `a<b`, `a>b`, `\x7f`, `\x85`} {
		server.refuse(t, "GitProvider", `{commit: {committer: {name: "`+name+`"}}}`, "committer.name must not hold control characters, < or >")
		server.refuse(t, "GitProvider", `{commit: {committer: {email: "`+name+`"}}}`, "committer.email must not hold control characters, < or >")
	}
	server.accept(t, "GitProvider", `{commit: {committer: {name: "Jörg O'Neil, Bot", email: bot@example.org}}}`)
	server.refuse(t, "GitProvider", `{commit: {signing: {generateWhenMissing: true}}}`, "Required value")
	server.accept(t, "GitProvider", `{commit: {signing: {secretRef: {name: key}, generateWhenMissing: true}}}`)

	server.refuse(t, "GitProvider", `{interval: 29s}`, "interval must be between 30s and 24h")
	server.refuse(t, "GitProvider", `{interval: 24h1s}`, "interval must be between 30s and 24h")
	server.refuse(t, "GitProvider", `{timeout: 999ms}`, "timeout must be between 1s and 10m")
	server.refuse(t, "GitProvider", `{timeout: 11m}`, "timeout must be between 1s and 10m")
	server.accept(t, "GitProvider", `{interval: 30s, timeout: 1s}`)
	server.accept(t, "GitProvider", `{interval: 24h, timeout: 10m}`)

	server.refuse(t, "GitProvider", `{knownHostsRef: {kind: Pod, name: hosts}}`, "Unsupported value")
	server.refuse(t, "GitProvider", `{knownHostsRef: {name: ""}}`, "should be at least 1 chars long")
	server.accept(t, "GitProvider", `{knownHostsRef: {kind: Secret, name: hosts}}`)
	server.refuse(t, "GitProvider", `{receiver: {type: generic, secretRef: {name: hook}}}`, "Unsupported value")
	for _, host := range []string{"github", "gitlab", "gitea", "forgejo", "bitbucket", "generic-hmac"} {
		server.accept(t, "GitProvider", `{receiver: {type: `+host+`, secretRef: {name: hook}, suspend: true}}`)
	}
}

func TestKubeProviderFields(t *testing.T) {
	const one = "a sender needs exactly one of uriSAN, commonName, spkiSHA256 and tokenSecretRef"
	sender := func(s string) string { return `{attribution: {senders: [` + s + `]}}` }
	spki := repeat("A", 43) + "="
	server.refuse(t, "KubeProvider", sender(`{}`), one)
	server.refuse(t, "KubeProvider", sender(`{trustExtras: false}`), one)
	server.refuse(t, "KubeProvider", sender(`{uriSAN: "urn:a", tokenSecretRef: {name: t}}`), one)
	server.refuse(t, "KubeProvider", sender(`{commonName: eu, spkiSHA256: "`+spki+`", caSecretRef: {name: ca}}`), one)
	server.refuse(t, "KubeProvider", sender(`{commonName: eu}`), "commonName needs caSecretRef")
	server.refuse(t, "KubeProvider", sender(`{spkiSHA256: short}`), "should match")
	server.accept(t, "KubeProvider", sender(`{uriSAN: "urn:configbutler:audit-route:eu", notAfter: "2027-01-01T00:00:00Z"}, {commonName: eu, caSecretRef: {name: ca}}, {spkiSHA256: "`+spki+`"}, {tokenSecretRef: {name: t}}`))
	nine := `{uriSAN: a}`
	for range 8 {
		nine += `, {uriSAN: a}`
	}
	server.refuse(t, "KubeProvider", sender(nine), "must have at most 8 items")

	server.refuse(t, "KubeProvider", `{attribution: {auditRoute: EU_West}}`, "should match")
	server.refuse(t, "KubeProvider", `{attribution: {auditRoute: `+repeat("a", 254)+`}}`, "may not be more than 253")
	route := server.accept(t, "KubeProvider", `{attribution: {auditRoute: eu.west-1}}`)
	server.acceptChange(t, route, `{attribution: {auditRoute: eu}}`)

	server.refuse(t, "KubeProvider", `{client: {qps: 0}}`, "should be greater than or equal to 1")
	server.refuse(t, "KubeProvider", `{client: {burst: 0}}`, "should be greater than or equal to 1")
	server.accept(t, "KubeProvider", `{client: {qps: 1, burst: 1}}`)
	server.refuse(t, "KubeProvider", `{interval: 9s}`, "interval must be between 10s and 24h")
	server.refuse(t, "KubeProvider", `{interval: 25h}`, "interval must be between 10s and 24h")
	server.accept(t, "KubeProvider", `{interval: 10s, suspend: true}`)
}

func TestGitTargetFields(t *testing.T) {
	server.refuse(t, "GitTarget", `{branch: ""}`, "should be at least 1 chars long")
	server.refuse(t, "GitTarget", `{branch: `+repeat("a", 256)+`}`, "may not be more than 255")
	server.refuse(t, "GitTarget", `{interval: 1s}`, "interval must be between 30s and 24h")
	server.refuse(t, "GitTarget", `{interval: 25h}`, "interval must be between 30s and 24h")
	server.accept(t, "GitTarget", `{interval: 24h}`)
	server.refuse(t, "GitTarget", `{prune: {mode: Sometimes}}`, "Unsupported value")
	for _, mode := range []string{"Never", "OnEvent", "Always"} {
		server.accept(t, "GitTarget", `{prune: {mode: `+mode+`}, serializeNamespace: false}`)
	}
	server.refuse(t, "GitTarget", `{onRefusal: Retry}`, "Unsupported value")
	server.refuse(t, "GitTarget", `{placement: {byType: {v1/configmaps: ""}}}`, "should be at least 1 chars long")
	server.accept(t, "GitTarget", `{placement: {byType: {v1/configmaps: "{namespace}/config/{name}.yaml"}, default: "{name}.yaml", useKustomize: true}}`)
	server.refuse(t, "GitTarget", `{commit: {message: {liveTemplate: `+repeat("a", 16385)+`}}}`, "may not be more than 16384")
	server.accept(t, "GitTarget", `{commit: {message: {liveTemplate: "mirror: {{.Count}}", reconcileTemplate: "align {{.Count}}"}}}`)
}

func TestIgnoreFields(t *testing.T) {
	g := NewWithT(t)
	rule := func(s string) string { return `{ignore: {rules: [{` + s + `}]}}` }
	stored := server.accept(t, "GitTarget", `{ignore: {disableDefaults: [helm-owned, ca-bundle], rules: [
		{name: jobs, resources: [{group: batch, resource: jobs}, {resource: configmaps}], names: ["tmp-*"]},
		{name: replicas, fieldPaths: [/spec/replicas, "/metadata/annotations/a~1b"]},
		{name: bot, fieldManagers: [bot]}]}}`)
	rules, _, _ := unstructured.NestedSlice(stored.Object, "spec", "ignore", "rules")
	g.Expect(rules).To(HaveLen(3))

	server.refuse(t, "GitTarget", `{ignore: {disableDefaults: [everything]}}`, "Unsupported value")
	server.refuse(t, "GitTarget", `{ignore: {disableDefaults: [ca-bundle, ca-bundle]}}`, "Duplicate value")
	server.refuse(t, "GitTarget", rule(`name: x`), "an ignore rule needs resources, names, fieldPaths or fieldManagers")
	server.refuse(t, "GitTarget", rule(`name: x, names: []`), "an ignore rule needs resources, names, fieldPaths or fieldManagers")
	for _, taken := range []string{"cluster-made", "leader-election", "helm-owned", "controller-owned", "ca-bundle",
		"autoscaled-replicas", "restart-annotations", "service-account-tokens", "helm-release-secrets"} {
		server.refuse(t, "GitTarget", rule(`names: [a], name: `+taken), "this name belongs to a default rule")
		server.accept(t, "GitTarget", `{ignore: {disableDefaults: [`+taken+`]}}`)
	}
	server.refuse(t, "GitTarget", rule(`name: Big, names: [a]`), "should match")
	server.refuse(t, "GitTarget", rule(`name: x, fieldPaths: [spec.replicas]`), "should match")
	server.refuse(t, "GitTarget", rule(`name: x, fieldPaths: [""]`), "should match")
	server.refuse(t, "GitTarget", rule(`name: x, fieldPaths: ["/a~2"]`), "should match")
	server.refuse(t, "GitTarget", rule(`name: x, resources: [{resource: "*"}]`), "should match")
	server.refuse(t, "GitTarget", rule(`name: x, resources: [{group: apps}]`), "Required value")
	server.refuse(t, "GitTarget", `{ignore: {rules: [{name: x, names: [a]}, {name: x, names: [b]}]}}`, "Duplicate value")
	names := `"n0"`
	for range 32 {
		names += `, n` + repeat("1", len(names)%200)
	}
	server.refuse(t, "GitTarget", rule(`name: x, names: [`+names+`]`), "must have at most 32 items")
}

func TestObjectSelectorFields(t *testing.T) {
	const values = "values must be set for the operators In and NotIn, and must be empty for Exists and DoesNotExist"
	for _, kind := range []string{"WatchRule", "ClusterWatchRule"} {
		sel := func(s string) string { return `{rules: [{resources: [pods], objectSelector: ` + s + `}]}` }
		expr := func(s string) string { return sel(`{matchExpressions: [{` + s + `}]}`) }
		server.refuse(t, kind, expr(`key: a, operator: In`), values)
		server.refuse(t, kind, expr(`key: a, operator: NotIn, values: []`), values)
		server.refuse(t, kind, expr(`key: a, operator: Exists, values: [b]`), values)
		server.refuse(t, kind, expr(`key: a, operator: Gt, values: ["1"]`), "Unsupported value")
		server.refuse(t, kind, expr(`key: "not a key", operator: Exists`), "should match")
		server.refuse(t, kind, expr(`operator: Exists`), "Required value")
		server.accept(t, kind, expr(`key: example.org/a_b, operator: In, values: [b, ""]`))
		server.accept(t, kind, expr(`key: a, operator: DoesNotExist`))
		server.accept(t, kind, sel(`{}`))
		server.accept(t, kind, sel(`{matchLabels: {a: b}}`))
	}
}

func TestTriggerFields(t *testing.T) {
	server.refuse(t, "FluxTrigger", `{hold: Never}`, "Unsupported value")
	server.accept(t, "FluxTrigger", `{hold: None, suspend: true, kustomizationRef: {namespace: flux-system}}`)
	stored := server.accept(t, "ArgoCDTrigger", `{prune: true, suspend: true, applicationRef: {namespace: argocd}}`)
	server.acceptChange(t, stored, `{prune: null, applicationRef: {name: other}, kubeProviderRef: {name: hub}}`)
}
