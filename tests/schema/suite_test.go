// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/configbutler/gitops-reverser/api/v1alpha3"
	"github.com/configbutler/gitops-reverser/tests/harness"
)

// suite is the API server of the package and what was seen of its answers.
type suite struct {
	cp    *harness.ControlPlane
	dyn   dynamic.Interface
	typed client.Client
	crds  map[string]*apiextensionsv1.CustomResourceDefinition // by kind
	seen  coverage
}

// server is set by TestMain.
var server *suite

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "schema-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if server, err = start(dir); err != nil {
			fmt.Fprintln(os.Stderr, "the schema tests need a control plane:", err)
			return 1
		}
		defer server.cp.Stop()
		code := m.Run()
		if missing := server.missing(); code == 0 && flag.Lookup("test.run").Value.String() == "" && len(missing) > 0 {
			fmt.Fprintln(os.Stderr, "rules that no test saw both refuse and let pass:\n"+strings.Join(missing, "\n"))
			return 1
		}
		return code
	}())
}

// missing lists the validation rules that were not seen both ways.
func (s *suite) missing() []string {
	var out []string
	for kind, crd := range s.crds {
		for _, key := range rules(kind, "spec", crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]) {
			if !s.seen.refused[key] {
				out = append(out, "never refused:  "+key)
			}
			if !s.seen.accepted[key] {
				out = append(out, "never let pass: "+key)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func start(dir string) (*suite, error) {
	cp, err := harness.StartControlPlane(dir)
	if err != nil {
		return nil, err
	}
	s, err := newSuite(cp)
	if err != nil {
		cp.Stop()
		return nil, err
	}
	return s, nil
}

func newSuite(cp *harness.ControlPlane) (*suite, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha3.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	s := &suite{cp: cp, crds: map[string]*apiextensionsv1.CustomResourceDefinition{}, seen: newCoverage()}
	var err error
	if s.dyn, err = dynamic.NewForConfig(cp.Config); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.install(ctx); err != nil {
		return nil, err
	}
	s.typed, err = client.New(cp.Config, client.Options{Scheme: scheme})
	return s, err
}

// install creates every generated definition, also of kinds that no reconciler serves yet.
func (s *suite) install(ctx context.Context) error {
	root, err := harness.ModuleRoot()
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(root, "config", "crd", "bases", "*.yaml"))
	if err != nil {
		return err
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(b, crd); err != nil {
			return err
		}
		s.crds[crd.Spec.Names.Kind] = crd
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(b, &u.Object); err != nil {
			return err
		}
		if _, err := s.dyn.Resource(crdResource).Create(ctx, u, strictCreate); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(f), err)
		}
	}
	for _, crd := range s.crds {
		if err := s.established(ctx, crd.Name); err != nil {
			return err
		}
	}
	return nil
}

var (
	crdResource  = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
	strictCreate = metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
)

func (s *suite) established(ctx context.Context, name string) error {
	return poll(ctx, func() (bool, error) {
		u, err := s.dyn.Resource(crdResource).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
		for _, c := range conditions {
			m, _ := c.(map[string]any)
			if m["type"] == "Established" && m["status"] == "True" {
				// The first request of a kind may still find no handler.
				_, err := s.dyn.Resource(s.resource(crdKind(s.crds, name))).List(ctx, metav1.ListOptions{})
				return err == nil, nil
			}
		}
		return false, nil
	})
}

func crdKind(crds map[string]*apiextensionsv1.CustomResourceDefinition, name string) string {
	for kind, crd := range crds {
		if crd.Name == name {
			return kind
		}
	}
	return ""
}

// poll asks until done, with the context's deadline.
func poll(ctx context.Context, done func() (bool, error)) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (s *suite) resource(kind string) schema.GroupVersionResource {
	return v1alpha3.GroupVersion.WithResource(s.crds[kind].Spec.Names.Plural)
}

func (s *suite) client(u *unstructured.Unstructured) dynamic.ResourceInterface {
	r := s.dyn.Resource(s.resource(u.GetKind()))
	if s.crds[u.GetKind()].Spec.Scope == apiextensionsv1.NamespaceScoped {
		return r.Namespace(u.GetNamespace())
	}
	return r
}

// object builds an object of a kind from its smallest valid spec and a merge patch of the spec.
func (s *suite) object(t *testing.T, kind, patch string) *unstructured.Unstructured {
	t.Helper()
	g := NewWithT(t)
	spec := parse(g, minimal[kind])
	u := &unstructured.Unstructured{Object: map[string]any{"spec": merge(spec, parse(g, patch))}}
	u.SetGroupVersionKind(v1alpha3.GroupVersion.WithKind(kind))
	u.SetGenerateName("x-")
	if s.crds[kind].Spec.Scope == apiextensionsv1.NamespaceScoped {
		u.SetNamespace("default")
	}
	return u
}

// accept creates an object and returns it as stored.
func (s *suite) accept(t *testing.T, kind, patch string) *unstructured.Unstructured {
	t.Helper()
	u := s.object(t, kind, patch)
	stored, err := s.client(u).Create(t.Context(), u, strictCreate)
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), "%s with %s", kind, patch)
	s.seen.accept(s.crds[kind], stored, nil)
	return stored
}

// refuse expects that an object is not created, for a reason that holds want.
func (s *suite) refuse(t *testing.T, kind, patch, want string) {
	t.Helper()
	u := s.object(t, kind, patch)
	_, err := s.client(u).Create(t.Context(), u, strictCreate)
	s.refused(t, kind, patch, want, err)
}

func (s *suite) refused(t *testing.T, kind, patch, want string, err error) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(err).To(HaveOccurred(), "%s with %s must be refused: %s", kind, patch, want)
	g.Expect(err.Error()).To(ContainSubstring(want), "%s with %s", kind, patch)
	s.seen.refuse(kind, err)
}

// change updates the spec of a stored object by a merge patch, without keeping it.
func (s *suite) change(t *testing.T, stored *unstructured.Unstructured, patch string) (*unstructured.Unstructured, error) {
	t.Helper()
	g := NewWithT(t)
	u := stored.DeepCopy()
	spec, _ := u.Object["spec"].(map[string]any)
	u.Object["spec"] = merge(spec, parse(g, patch))
	return s.client(u).Update(t.Context(), u, metav1.UpdateOptions{
		FieldValidation: metav1.FieldValidationStrict, DryRun: []string{metav1.DryRunAll},
	})
}

func (s *suite) acceptChange(t *testing.T, stored *unstructured.Unstructured, patch string) {
	t.Helper()
	after, err := s.change(t, stored, patch)
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), "%s changed by %s", stored.GetKind(), patch)
	s.seen.accept(s.crds[stored.GetKind()], after, stored)
}

func (s *suite) refuseChange(t *testing.T, stored *unstructured.Unstructured, patch, want string) {
	t.Helper()
	_, err := s.change(t, stored, patch)
	s.refused(t, stored.GetKind(), patch, want, err)
}

func parse(g Gomega, text string) map[string]any {
	out := map[string]any{}
	g.Expect(yaml.Unmarshal([]byte(text), &out)).To(Succeed(), text)
	return out
}

// merge applies a JSON merge patch (RFC 7386).
func merge(into, patch map[string]any) map[string]any {
	if into == nil {
		into = map[string]any{}
	}
	for k, v := range patch {
		switch v := v.(type) {
		case nil:
			delete(into, k)
		case map[string]any:
			sub, _ := into[k].(map[string]any)
			into[k] = merge(sub, v)
		default:
			into[k] = v
		}
	}
	return into
}

// coverage remembers which validation rules were seen to refuse and to let pass, by kind, path and message.
type coverage struct{ refused, accepted map[string]bool }

func newCoverage() coverage { return coverage{map[string]bool{}, map[string]bool{}} }

func ruleKey(kind, path, message string) string { return kind + " " + path + ": " + message }

var index = regexp.MustCompile(`\[[^\]]*\]`)

// refuse notes the rules that an answer of the API server names.
func (c coverage) refuse(kind string, err error) {
	status, ok := err.(apierrors.APIStatus)
	if !ok || status.Status().Details == nil {
		return
	}
	for _, cause := range status.Status().Details.Causes {
		path := index.ReplaceAllString(cause.Field, "[]")
		// Every suffix is noted, since a message follows the refused value and a colon.
		parts := strings.Split(cause.Message, ": ")
		for i := range parts {
			c.refused[ruleKey(kind, path, strings.Join(parts[i:], ": "))] = true
		}
	}
}

// accept notes the rules that were evaluated on an accepted object, and on an accepted change when before is given.
func (c coverage) accept(crd *apiextensionsv1.CustomResourceDefinition, after, before *unstructured.Unstructured) {
	var old any
	if before != nil {
		old = before.Object["spec"]
	}
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	c.walk(crd.Spec.Names.Kind, "spec", spec, after.Object["spec"], old)
}

func (c coverage) walk(kind, path string, s apiextensionsv1.JSONSchemaProps, v, old any) {
	for _, r := range s.XValidations {
		if old != nil || !strings.Contains(r.Rule, "oldSelf") {
			c.accepted[ruleKey(kind, path, r.Message)] = true
		}
	}
	switch v := v.(type) {
	case map[string]any:
		o, _ := old.(map[string]any)
		for k, p := range s.Properties {
			if f, ok := v[k]; ok {
				c.walk(kind, path+"."+k, p, f, o[k])
			}
		}
	case []any:
		for _, item := range v {
			c.walk(kind, path+"[]", *s.Items.Schema, item, nil)
		}
	}
}

// rules lists every validation rule of a definition's spec as coverage keys.
func rules(kind, path string, s apiextensionsv1.JSONSchemaProps) []string {
	var out []string
	for _, r := range s.XValidations {
		out = append(out, ruleKey(kind, path, r.Message))
	}
	for k, p := range s.Properties {
		out = append(out, rules(kind, path+"."+k, p)...)
	}
	if s.Items != nil && s.Items.Schema != nil {
		out = append(out, rules(kind, path+"[]", *s.Items.Schema)...)
	}
	return out
}
