// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/harness"
)

const group = "configbutler.ai/"

// kinds makes an empty object of each kind of ours, for strict decoding.
var kinds = map[string]func() any{
	"GitProvider":      func() any { return &v1alpha3.GitProvider{} },
	"KubeProvider":     func() any { return &v1alpha3.KubeProvider{} },
	"GitTarget":        func() any { return &v1alpha3.GitTarget{} },
	"WatchRule":        func() any { return &v1alpha3.WatchRule{} },
	"ClusterWatchRule": func() any { return &v1alpha3.ClusterWatchRule{} },
	"CommitRequest":    func() any { return &v1alpha3.CommitRequest{} },
	"FluxTrigger":      func() any { return &v1alpha3.FluxTrigger{} },
	"ArgoCDTrigger":    func() any { return &v1alpha3.ArgoCDTrigger{} },
}

// example is one document of a yaml block or of a sample.
type example struct {
	where, apiVersion, kind string
	text                    []byte
}

func newExample(where string, text []byte) (example, error) {
	e := example{where: where, text: text}
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	err := yaml.Unmarshal(text, &head)
	e.apiVersion, e.kind = head.APIVersion, head.Kind
	return e, err
}

// decode reads an example strictly: into the API type when it is one of ours, a Secret or a ConfigMap, else as YAML
// without repeated keys.
func (e example) decode() error {
	var into any = &map[string]any{}
	switch {
	case strings.HasPrefix(e.apiVersion, group):
		typed := kinds[e.kind]
		if typed == nil {
			return fmt.Errorf("kind %q does not exist", e.kind)
		}
		into = typed()
	case e.apiVersion == "v1" && e.kind == "Secret":
		into = &corev1.Secret{}
	case e.apiVersion == "v1" && e.kind == "ConfigMap":
		into = &corev1.ConfigMap{}
	}
	return yaml.UnmarshalStrict(e.text, into)
}

var separator = regexp.MustCompile(`(?m)^---\s*$`)

// examples returns every document of the yaml blocks of all pages, and the samples.
func examples(t *testing.T) []example {
	t.Helper()
	var out []example
	add := func(where, text string) {
		for _, doc := range separator.Split(text, -1) {
			if strings.TrimSpace(doc) == "" {
				continue
			}
			e, err := newExample(where, []byte(doc))
			if err != nil {
				t.Errorf("%s: %v", where, err)
			}
			out = append(out, e)
		}
	}
	for _, page := range pages(t) {
		_, fences := split(read(t, page))
		for _, f := range fences {
			if f.language == "yaml" {
				add(fmt.Sprintf("%s:%d", page, f.line), f.text)
			}
		}
	}
	for _, name := range samples(t) {
		add(name, read(t, name))
	}
	return out
}

// samples are the files of config/samples but the kustomization, relative to the repository's root.
func samples(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root(t), "config", "samples", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		if base := filepath.Base(f); base != "kustomization.yaml" {
			out = append(out, filepath.Join("config", "samples", base))
		}
	}
	return out
}

// TestExamplesDecode decodes every example strictly, and asks for one of each kind.
func TestExamplesDecode(t *testing.T) {
	g := NewWithT(t)
	seen := map[string]bool{}
	for _, e := range examples(t) {
		if err := e.decode(); err != nil {
			t.Errorf("%s: %v", e.where, err)
		}
		seen[e.kind] = true
	}
	for k := range kinds {
		g.Expect(seen).To(HaveKey(k), "no page shows a %s", k)
	}
}

// TestSamplesAreListed keeps the kustomization of config/samples complete.
func TestSamplesAreListed(t *testing.T) {
	g := NewWithT(t)
	var kustomization struct {
		Resources []string `json:"resources"`
	}
	g.Expect(yaml.Unmarshal([]byte(read(t, "config/samples/kustomization.yaml")), &kustomization)).To(Succeed())
	var want []string
	for _, s := range samples(t) {
		want = append(want, filepath.Base(s))
	}
	g.Expect(kustomization.Resources).To(ConsistOf(want))
}

// apiServer is a real one with every CRD of the project.
type apiServer struct {
	client dynamic.Interface
	plural map[string]string
}

func startAPIServer(t *testing.T) *apiServer {
	t.Helper()
	g := NewWithT(t)
	dir, err := os.MkdirTemp("", "docs-")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	cp, err := harness.StartControlPlane(dir)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(cp.Stop)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, args := range [][]string{
		{"apply", "--server-side", "-f", filepath.Join(root(t), "config", "crd", "bases")},
		{"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"},
	} {
		_, err := cp.Kubectl(ctx, "", args...)
		g.Expect(err).NotTo(HaveOccurred())
	}
	s := &apiServer{plural: map[string]string{"Secret": "secrets", "ConfigMap": "configmaps", "Namespace": "namespaces"}}
	s.client, err = dynamic.NewForConfig(cp.Config)
	g.Expect(err).NotTo(HaveOccurred())
	crds, err := s.client.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}).List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	for _, crd := range crds.Items {
		kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		s.plural[kind], _, _ = unstructured.NestedString(crd.Object, "spec", "names", "plural")
	}
	return s
}

// check sends an example as a dry run with strict fields: schema, defaults and CEL rules decide.
func (s *apiServer) check(ctx context.Context, e example) error {
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(e.text, &obj.Object); err != nil {
		return err
	}
	gv, err := schema.ParseGroupVersion(e.apiVersion)
	if err != nil {
		return err
	}
	var client dynamic.ResourceInterface = s.client.Resource(gv.WithResource(s.plural[e.kind]))
	if ns := obj.GetNamespace(); ns != "" {
		space := &unstructured.Unstructured{}
		space.SetAPIVersion("v1")
		space.SetKind("Namespace")
		space.SetName(ns)
		_, err := s.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(ctx, space, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		client = s.client.Resource(gv.WithResource(s.plural[e.kind])).Namespace(ns)
	}
	_, err = client.Create(ctx, obj, metav1.CreateOptions{
		DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
	})
	return err
}

// TestExamplesAreAccepted sends every example of a type the API server has to a real one.
func TestExamplesAreAccepted(t *testing.T) {
	g := NewWithT(t)
	s := startAPIServer(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	n := 0
	for _, e := range examples(t) {
		ours := strings.HasPrefix(e.apiVersion, group)
		if !ours && (e.apiVersion != "v1" || s.plural[e.kind] == "") {
			continue
		}
		n++
		if err := s.check(ctx, e); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Errorf("%s: %v", e.where, err)
		}
	}
	g.Expect(n).To(BeNumerically(">", 20))

	// A wrong example is found: a typo, a value of the schema, a CEL rule.
	for spec, says := range map[string]string{
		"  prun: {}\n":                    "prun",
		"  prune:\n    mode: Sometimes\n": "Sometimes",
		"  onRefusal: Reapply\n":          "applyTriggerRef",
	} {
		e, err := newExample("a wrong example", []byte("apiVersion: configbutler.ai/v1alpha3\nkind: GitTarget\nmetadata:\n"+
			"  name: live\n  namespace: shop\nspec:\n  gitProviderRef:\n    name: infra\n  branch: main\n  path: apps\n"+spec))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(s.check(ctx, e)).To(MatchError(ContainSubstring(says)))
	}
}
