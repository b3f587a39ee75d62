// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sanitize

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

func value(t *testing.T, text string) map[string]any {
	t.Helper()
	n, err := yamldoc.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	v, err := n.JSON()
	m, ok := v.(map[string]any)
	if err != nil || !ok {
		t.Fatal(err, text)
	}
	return m
}

// Decision 39: what is derived goes when Git leaves it out; what was meant, and what Git says itself, stays.
func TestWithoutDerived(t *testing.T) {
	pod := func(spec string) string { return "spec: {template: {spec: {" + spec + "}}}" }
	for name, c := range map[string]struct{ kind, git, live, want string }{
		"pull policies by tag": {"apps/Deployment",
			pod(`containers: [{name: a, image: "x:1"}, {name: b, image: x}, {name: c, image: "r:5000/x"}, {name: d, image: "x@sha256:1"}, {name: e, image: "x:latest@sha256:1"}]`),
			pod(`containers: [{name: a, image: "x:1", imagePullPolicy: IfNotPresent}, {name: b, image: x, imagePullPolicy: Always}, ` +
				`{name: c, image: "r:5000/x", imagePullPolicy: Always}, {name: d, image: "x@sha256:1", imagePullPolicy: IfNotPresent}, ` +
				`{name: e, image: "x:latest@sha256:1", imagePullPolicy: Always}]`),
			pod(`containers: [{name: a, image: "x:1"}, {name: b, image: x}, {name: c, image: "r:5000/x"}, {name: d, image: "x@sha256:1"}, {name: e, image: "x:latest@sha256:1"}]`)},
		"a pull policy that was meant": {"apps/Deployment",
			pod(`containers: [{name: a, image: "x:1"}, {name: b, image: x}]`),
			pod(`containers: [{name: a, image: "x:1", imagePullPolicy: Always}, {name: b, image: x, imagePullPolicy: IfNotPresent}]`),
			pod(`containers: [{name: a, image: "x:1", imagePullPolicy: Always}, {name: b, image: x, imagePullPolicy: IfNotPresent}]`)},
		"a pull policy that Git says": {"apps/Deployment",
			pod(`containers: [{name: a, image: "x:1", imagePullPolicy: IfNotPresent}]`),
			pod(`containers: [{name: a, image: "x:1", imagePullPolicy: IfNotPresent}]`),
			pod(`containers: [{name: a, image: "x:1", imagePullPolicy: IfNotPresent}]`)},
		"a new container": {"apps/Deployment", pod(`containers: []`),
			pod(`containers: [{name: a, image: "x:1", imagePullPolicy: IfNotPresent}]`),
			pod(`containers: [{name: a, image: "x:1", imagePullPolicy: IfNotPresent}]`)},
		"containers in another order": {"apps/StatefulSet", pod(`containers: [{name: a, image: "x:1"}, {name: b, image: x}]`),
			pod(`containers: [{name: b, image: x, imagePullPolicy: Always}, {name: a, image: "x:1", imagePullPolicy: IfNotPresent}]`),
			pod(`containers: [{name: b, image: x}, {name: a, image: "x:1"}]`)},
		"another account": {"apps/DaemonSet", pod(`serviceAccountName: a`), pod(`serviceAccountName: a, serviceAccount: b`),
			pod(`serviceAccountName: a, serviceAccount: b`)},
		"the same account": {"apps/DaemonSet", pod(`serviceAccountName: a`), pod(`serviceAccountName: a, serviceAccount: a`), pod(`serviceAccountName: a`)},
		"target ports": {"/Service", `spec: {ports: [{port: 80}, {port: 53, protocol: UDP}, {port: 53}, {port: 90}]}`,
			`spec: {ports: [{port: 80, protocol: TCP, targetPort: 80}, {port: 53, protocol: TCP, targetPort: 53}, {port: 53, protocol: UDP, targetPort: 5353}, {port: 90, targetPort: http}, {port: 91, targetPort: 91}]}`,
			`spec: {ports: [{port: 80, protocol: TCP}, {port: 53, protocol: TCP}, {port: 53, protocol: UDP, targetPort: 5353}, {port: 90, targetPort: http}, {port: 91, targetPort: 91}]}`},
		"a Service of another group": {"x.test/Service", `spec: {ports: [{port: 80}]}`, `spec: {ports: [{port: 80, targetPort: 80}]}`,
			`spec: {ports: [{port: 80, targetPort: 80}]}`},
		"policy types with egress": {"networking.k8s.io/NetworkPolicy", `spec: {egress: [{}]}`,
			`spec: {egress: [{}], policyTypes: [Ingress, Egress]}`, `spec: {egress: [{}]}`},
		"policy types without egress": {"networking.k8s.io/NetworkPolicy", `spec: {ingress: [{}]}`,
			`spec: {ingress: [{}], policyTypes: [Ingress]}`, `spec: {ingress: [{}]}`},
		"policy types that were meant": {"networking.k8s.io/NetworkPolicy", `spec: {egress: [{}]}`,
			`spec: {egress: [{}], policyTypes: [Ingress]}`, `spec: {egress: [{}], policyTypes: [Ingress]}`},
		"names of a definition": {"apiextensions.k8s.io/CustomResourceDefinition", `spec: {names: {kind: Boat, plural: boats}}`,
			`spec: {conversion: {strategy: None}, names: {kind: Boat, plural: boats, listKind: BoatList, singular: boat}}`,
			`spec: {names: {kind: Boat, plural: boats}}`},
		"other names of a definition": {"apiextensions.k8s.io/CustomResourceDefinition", `spec: {names: {kind: Boat, plural: boats}}`,
			`spec: {conversion: {strategy: Webhook}, names: {kind: Boat, plural: boats, listKind: Fleet, singular: ship}}`,
			`spec: {conversion: {strategy: Webhook}, names: {kind: Boat, plural: boats, listKind: Fleet, singular: ship}}`},
		"requests from limits": {"/Pod", `spec: {containers: [{name: a, image: "x:1", resources: {limits: {cpu: 1, memory: 2}, requests: {memory: 1}}}]}`,
			`spec: {containers: [{name: a, image: "x:1", resources: {limits: {cpu: 1, memory: 2}, requests: {cpu: 1, memory: 1}}}]}`,
			`spec: {containers: [{name: a, image: "x:1", resources: {limits: {cpu: 1, memory: 2}, requests: {memory: 1}}}]}`},
		"requests of a template were meant": {"apps/Deployment",
			pod(`containers: [{name: a, image: "x:1", resources: {limits: {cpu: 1}}}]`),
			pod(`containers: [{name: a, image: "x:1", resources: {limits: {cpu: 1}, requests: {cpu: 1}}}]`),
			pod(`containers: [{name: a, image: "x:1", resources: {limits: {cpu: 1}, requests: {cpu: 1}}}]`)},
		"limits complete each other": {"/LimitRange", `spec: {limits: [{type: Container, max: {cpu: 2}, min: {memory: 1}}, {type: Pod, max: {cpu: 2}}]}`,
			`spec: {limits: [{type: Container, max: {cpu: 2}, min: {memory: 1}, default: {cpu: 2}, defaultRequest: {cpu: 2, memory: 1}}, {type: Pod, max: {cpu: 2}}]}`,
			`spec: {limits: [{type: Container, max: {cpu: 2}, min: {memory: 1}}, {type: Pod, max: {cpu: 2}}]}`},
		"labels of a template": {"/ReplicationController", `metadata: {name: a}` + "\n" + `spec: {template: {metadata: {labels: {a: b}}}}`,
			`metadata: {name: a, labels: {a: b}}` + "\n" + `spec: {selector: {a: b}, template: {metadata: {labels: {a: b}}}}`,
			`metadata: {name: a}` + "\n" + `spec: {template: {metadata: {labels: {a: b}}}}`},
		"nothing in Git": {"apps/Deployment", `metadata: {name: a}`, pod(`containers: [{name: a, image: x, imagePullPolicy: Always}]`),
			pod(`containers: [{name: a, image: x, imagePullPolicy: Always}]`)},
		"odd shapes": {"apps/Deployment", pod(`containers: {a: b}`), pod(`containers: [null, text, {name: 1, image: [x]}]`),
			pod(`containers: [null, text, {name: 1, image: [x]}]`)},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			group, kind, live := "", c.kind[1:], value(t, c.live)
			if c.kind[0] != '/' {
				for i := range c.kind {
					if c.kind[i] == '/' {
						group, kind = c.kind[:i], c.kind[i+1:]
					}
				}
			}
			WithoutDerived(value(t, c.git), live, group, kind)
			g.Expect(string(compare.Canonical(live))).To(Equal(string(compare.Canonical(value(t, c.want)))))
			before := string(compare.Canonical(live))
			WithoutDerived(value(t, c.git), live, group, kind)
			g.Expect(string(compare.Canonical(live))).To(Equal(before), "a second time changes nothing")
		})
	}
}

func TestWithoutInjected(t *testing.T) {
	g := NewWithT(t)
	const system = `{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}`
	const live = `spec: {serviceAccountName: default, serviceAccount: default, tolerations: [{key: a, operator: Exists}, ` + system + `],` +
		` containers: [{name: c, volumeMounts: [{name: kube-api-access-x1, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]}],` +
		` volumes: [{name: kube-api-access-x1, projected: {sources: []}}, {name: kube-api-access-mine, emptyDir: {}}]}`
	for _, c := range []struct {
		git, want string
		pointers  []string
	}{
		{`spec: {tolerations: [{key: a, operator: Exists}], containers: [{name: c}]}`,
			`spec: {tolerations: [{key: a, operator: Exists}], containers: [{name: c}], volumes: [{name: kube-api-access-mine, emptyDir: {}}]}`, nil},
		{`spec: {serviceAccountName: default, tolerations: [{key: a, operator: Exists}, ` + system + `], containers: [{name: c}]}`,
			`spec: {serviceAccountName: default, tolerations: [{key: a, operator: Exists}, ` + system + `], containers: [{name: c}],` +
				` volumes: [{name: kube-api-access-mine, emptyDir: {}}]}`, nil},
		{`spec: {containers: [{name: c}]}`, live, []string{"/spec/volumes/0/projected"}},
		{`metadata: {name: a}`, live, nil},
	} {
		l := value(t, live)
		WithoutInjected(value(t, c.git), l, c.pointers)
		g.Expect(string(compare.Canonical(l))).To(Equal(string(compare.Canonical(value(t, c.want)))), c.git)
	}
}
