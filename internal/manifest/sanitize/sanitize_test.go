// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sanitize

import (
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
)

var deployment = change.Type{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Namespaced: true}

func TestObjectTellsWhatTravelsBesideTheDocument(t *testing.T) {
	g := NewWithT(t)
	o, err := must(g, Config{}).Object([]byte(`{"metadata":{"name":"boat","namespace":"dock","uid":"u","resourceVersion":"12","generation":3,
		"deletionTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"boat","kro.run/owned":"true"}}}`), deployment)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(o.Object).To(Equal(change.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "dock", Name: "boat"}))
	g.Expect(o.Type).To(Equal(deployment))
	g.Expect([]any{o.UID, o.ResourceVersion, o.Generation, o.Terminating}).To(Equal([]any{"u", "12", int64(3), true}))
	g.Expect(o.Labels).To(Equal(map[string]string{"app": "boat"}))
	g.Expect(o.Owner).To(BeNil())
	g.Expect(o.Mask.Empty()).To(BeTrue())
	g.Expect(string(o.Desired)).To(Equal(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"labels":{"app":"boat"},"name":"boat","namespace":"dock"}}`))
}

func TestProtectedObjectsStillNameTheirOwners(t *testing.T) {
	g := NewWithT(t)
	o, err := must(g, Config{}).Object([]byte(`{"metadata":{"name":"boat","namespace":"dock","uid":"u",
		"ownerReferences":[{"controller":true}],
		"labels":{"kustomize.toolkit.fluxcd.io/name":"apps","kustomize.toolkit.fluxcd.io/namespace":"flux-system"}}}`), deployment)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(o.Protected).To(Equal(ControllerOwned))
	g.Expect(o.Desired).To(BeNil())
	g.Expect(o.Mask.Empty()).To(BeTrue())
	g.Expect(o.UID).To(Equal("u"))
	g.Expect(*o.Owner).To(Equal(Applier{Kind: Flux, Namespace: "flux-system", Name: "apps"}))
}

// The mask of a pod template does not depend on what the live object has: a copy in Git stays either way, and a restart
// does not change the document.
func TestCaseS13_RestartsDoNotChangeTheDocument(t *testing.T) {
	g := NewWithT(t)
	before, err := must(g, Config{}).Object([]byte(`{"metadata":{"name":"boat"},"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{}}}}`), deployment)
	g.Expect(err).NotTo(HaveOccurred())
	after, err := must(g, Config{}).Object([]byte(`{"metadata":{"name":"boat"},"spec":{"template":{"metadata":{"labels":{"a":"b"},
		"annotations":{"kubectl.kubernetes.io/restartedAt":"now"}},"spec":{}}}}`), deployment)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(after.Desired).To(Equal(before.Desired))
	g.Expect(after.Mask).To(Equal(before.Mask))
	g.Expect(after.Mask.Keep).To(ContainElement("/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt"))
	g.Expect(before.Rules).To(BeEmpty())
	g.Expect(after.Rules).To(Equal([]string{RestartAnnotations}))

	git, err := compare.Decode([]byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"boat"},"spec":{"template":{"metadata":{"labels":{"a":"b"},
		"annotations":{"kubectl.kubernetes.io/restartedAt":"long ago"}},"spec":{}}}}`))
	g.Expect(err).NotTo(HaveOccurred())
	live, err := compare.Decode(after.Desired)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(compare.Equal(git, live, compare.Options{Mask: after.Mask})).To(BeTrue(), "Git keeps its copy")
}

// Allocated values count only where Git has them (decisions 38).
func TestCaseS04_AnAddressInGitFollowsLive(t *testing.T) {
	g := NewWithT(t)
	o, err := must(g, Config{}).Object([]byte(`{"metadata":{"name":"boat","uid":"u","managedFields":[{"manager":"kubectl","fieldsV1":{"f:spec":{"f:ports":{}}}}]},
		"spec":{"clusterIP":"10.96.0.7","clusterIPs":["10.96.0.7"]}}`), change.Type{Version: "v1", Kind: "Service", Resource: "services", Namespaced: true})
	g.Expect(err).NotTo(HaveOccurred())
	live, err := compare.Decode(o.Desired)
	g.Expect(err).NotTo(HaveOccurred())
	for git, want := range map[string]string{
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"boat"},"spec":{"clusterIP":"10.96.0.1"}}`: `{"apiVersion":"v1","kind":"Service","metadata":{"name":"boat"},"spec":{"clusterIP":"10.96.0.7"}}`,
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"boat"},"spec":{}}`:                        `{"apiVersion":"v1","kind":"Service","metadata":{"name":"boat"},"spec":{}}`,
	} {
		old, err := compare.Decode([]byte(git))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(compare.Canonical(compare.Normalize(live, old, compare.Options{Mask: o.Mask})))).To(Equal(want))
	}
}

func TestErrorsNameTheObjectAndNoValues(t *testing.T) {
	for name, c := range map[string]struct{ raw, want string }{
		"not JSON":       {`{"data":"hunter2"`, "object of type apps/v1 Deployment is not JSON"},
		"a list":         {`["hunter2"]`, "object of type apps/v1 Deployment is not a JSON object"},
		"no metadata":    {`{"data":"hunter2"}`, "object of type apps/v1 Deployment has no metadata"},
		"a text":         {`{"metadata":"hunter2"}`, "object of type apps/v1 Deployment has no metadata"},
		"no name":        {`{"metadata":{"generateName":"hunter2"}}`, "object of type apps/v1 Deployment has no name"},
		"another kind":   {`{"kind":"Secret","metadata":{"name":"a","namespace":"dock"},"data":"hunter2"}`, "apps/v1 Deployment dock/a: the object is of another kind"},
		"another group":  {`{"apiVersion":"v1","metadata":{"name":"a"},"data":"hunter2"}`, "apps/v1 Deployment a: the object is of another API group"},
		"text after it":  {`{"metadata":{"name":"a"}} hunter2`, "object of type apps/v1 Deployment is not JSON"},
		"a number first": {`7`, "object of type apps/v1 Deployment is not a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := must(g, Config{}).Object([]byte(c.raw), deployment)
			g.Expect(err).To(MatchError(c.want))
			g.Expect(err.Error()).NotTo(ContainSubstring("hunter2"))
		})
	}
	g := NewWithT(t)
	_, err := must(g, Config{}).Neat([]byte(`{"metadata":{"name":"a"}}`))
	g.Expect(err).To(MatchError("unknown a: apiVersion and kind must be set"))
	_, err = must(g, Config{}).Neat([]byte(`{`))
	g.Expect(err).To(MatchError("object of type unknown is not JSON"))
}

// Another served version of the same type is the same object (decisions 36).
func TestAnotherVersionIsTheSameObject(t *testing.T) {
	g := NewWithT(t)
	o, err := must(g, Config{}).Object([]byte(`{"apiVersion":"apps/v1beta1","kind":"Deployment","metadata":{"name":"boat"}}`), deployment)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(o.Desired)).To(ContainSubstring(`"apiVersion":"apps/v1beta1"`))
}

func TestRulesThatMeanNothingAreRefused(t *testing.T) {
	many := func(r Rule) Config { return Config{Rules: []Rule{r}} }
	for name, c := range map[string]struct {
		config Config
		want   string
	}{
		"unknown default":  {Config{DisableDefaults: []string{"everything"}}, `disableDefaults: no default rule is named "everything"`},
		"default's name":   {many(Rule{Name: CABundle, Names: []string{"a"}}), "rules[0] (ca-bundle): the name belongs to a default rule"},
		"no DNS label":     {many(Rule{Name: "A b", Names: []string{"a"}}), "the name must be a DNS label"},
		"too long":         {many(Rule{Name: strings.Repeat("a", 64), Names: []string{"a"}}), "the name must be a DNS label"},
		"says nothing":     {many(Rule{Name: "a"}), "it needs resources, names, fieldPaths or fieldManagers"},
		"bad glob":         {many(Rule{Name: "a", Names: []string{"[a"}}), `names: "[a" is no glob`},
		"no pointer":       {many(Rule{Name: "a", FieldPaths: []string{"spec.replicas"}}), `fieldPaths: "spec.replicas" is no JSON pointer`},
		"whole document":   {many(Rule{Name: "a", FieldPaths: []string{""}}), "is no JSON pointer"},
		"bad escape":       {many(Rule{Name: "a", FieldPaths: []string{"/a~2"}}), "is no JSON pointer"},
		"name":             {many(Rule{Name: "a", FieldPaths: []string{"/metadata/name"}}), "cannot be masked"},
		"all of metadata":  {many(Rule{Name: "a", FieldPaths: []string{"/metadata"}}), "cannot be masked"},
		"below apiVersion": {many(Rule{Name: "a", FieldPaths: []string{"/apiVersion/x"}}), "cannot be masked"},
		"one name for two": {Config{Rules: []Rule{{Name: "a", Names: []string{"a"}}, {Name: "a", Names: []string{"b"}}}}, "rules[1] (a): another rule has this name"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := New(c.config)
			g.Expect(err).To(MatchError(ContainSubstring(c.want)))
		})
	}
}

func TestEveryDefaultCanBeSwitchedOff(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Defaults).To(HaveLen(9))
	s := must(g, Config{DisableDefaults: Defaults})
	o, err := s.Object([]byte(`{"metadata":{"name":"boat","uid":"u","ownerReferences":[{"controller":true}],"annotations":{"meta.helm.sh/release-name":"a"},
		"managedFields":[{"manager":"kube-controller-manager","subresource":"scale","fieldsV1":{"f:spec":{"f:replicas":{}}}}]},
		"spec":{"replicas":3,"template":{"metadata":{"annotations":{"cattle.io/timestamp":"now"}},"spec":{}}}}`), deployment)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(o.Protected).To(BeEmpty())
	g.Expect(o.Mask.Empty()).To(BeTrue())
	g.Expect(o.Rules).To(BeEmpty())
	g.Expect(string(o.Desired)).To(ContainSubstring(`"replicas":3`))
}

func TestSanitizersAreSafeForConcurrentUse(t *testing.T) {
	g := NewWithT(t)
	s := must(g, Config{Rules: []Rule{{Name: "bot", FieldManagers: []string{"bot"}}}})
	raw := []byte(`{"metadata":{"name":"boat","managedFields":[{"manager":"bot","fieldsV1":{"f:spec":{"f:replicas":{}}}}]},"spec":{"replicas":3,"template":{"spec":{}}}}`)
	first, err := s.Object(raw, deployment)
	g.Expect(err).NotTo(HaveOccurred())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			o, err := s.Object(raw, deployment)
			if err != nil || string(o.Desired) != string(first.Desired) || len(o.Mask.Keep) != len(first.Mask.Keep) {
				t.Errorf("another result: %s, %v, %v", o.Desired, o.Mask, err)
			}
		})
	}
	wg.Wait()
}

func must(g Gomega, c Config) *Sanitizer {
	s, err := New(c)
	g.Expect(err).NotTo(HaveOccurred())
	return s
}

// TestCaseU04: an exclusion excludes however its type is spelled, and never the twin of another group.
func TestCaseU04_ExclusionsInEverySpelling(t *testing.T) {
	ingress := change.Type{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress", Resource: "ingresses", Namespaced: true}
	twin := change.Type{Group: "extensions", Version: "v1beta1", Kind: "Ingress", Resource: "ingresses", Namespaced: true}
	for _, spelling := range []string{"ingresses", "Ingresses", "INGRESSES", "ingress", "Ingress"} {
		t.Run(spelling, func(t *testing.T) {
			g := NewWithT(t)
			s, err := New(Config{Rules: []Rule{{
				Name: "scratch", Resources: []GroupResource{{Group: "networking.k8s.io", Resource: spelling}}, Names: []string{"tmp-*"},
			}}})
			g.Expect(err).NotTo(HaveOccurred())
			protected := func(typ change.Type, name string) string {
				o, err := s.Object([]byte(`{"apiVersion":"`+typ.APIVersion()+`","kind":"Ingress","metadata":{"name":"`+name+`","namespace":"dock"}}`), typ)
				g.Expect(err).NotTo(HaveOccurred())
				return o.Item.Protected
			}
			g.Expect(protected(ingress, "tmp-1")).To(Equal("scratch"))
			g.Expect(protected(ingress, "kept")).To(BeEmpty())
			g.Expect(protected(twin, "tmp-1")).To(BeEmpty())
		})
	}
}
