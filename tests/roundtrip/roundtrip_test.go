// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package roundtrip

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/tools/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
	"github.com/configbutler/gitops-reverser/tests/harness"
)

var server *harness.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "roundtrip-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if server, err = harness.StartControlPlane(dir); err != nil {
			fmt.Fprintln(os.Stderr, "the round-trip tests need a control plane:", err)
			return 1
		}
		defer server.Stop()
		return m.Run()
	}())
}

// client answers for one type.
type client struct {
	dynamic.ResourceInterface
	t change.Type
}

func clientFor(g Gomega, apiVersion, kind, namespace string) client {
	d, err := discovery.NewDiscoveryClientForConfig(server.Config)
	g.Expect(err).NotTo(HaveOccurred())
	list, err := d.ServerResourcesForGroupVersion(apiVersion)
	g.Expect(err).NotTo(HaveOccurred())
	dyn, err := dynamic.NewForConfig(rest.CopyConfig(server.Config))
	g.Expect(err).NotTo(HaveOccurred())
	for _, r := range list.APIResources {
		if r.Kind != kind || strings.Contains(r.Name, "/") {
			continue
		}
		t := change.Type{Version: apiVersion, Kind: kind, Resource: r.Name, Namespaced: r.Namespaced}
		if group, version, ok := strings.Cut(apiVersion, "/"); ok {
			t.Group, t.Version = group, version
		}
		res := dyn.Resource(schema.GroupVersionResource{Group: t.Group, Version: t.Version, Resource: t.Resource})
		if r.Namespaced {
			return client{res.Namespace(namespace), t}
		}
		return client{res, t}
	}
	g.Expect(kind).To(BeEmpty(), "not served")
	return client{}
}

func parse(g Gomega, text string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	g.Expect(yaml.Unmarshal([]byte(text), &u.Object)).To(Succeed(), text)
	return u
}

// document sanitizes a live object and returns what a new file would hold.
func document(g Gomega, u *unstructured.Unstructured, t change.Type) (sanitize.Object, map[string]any) {
	s, err := sanitize.New(sanitize.Config{})
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := u.MarshalJSON()
	g.Expect(err).NotTo(HaveOccurred())
	o, err := s.Object(raw, t)
	g.Expect(err).NotTo(HaveOccurred())
	if o.Protected != "" {
		return o, nil
	}
	live, err := compare.Decode(o.Desired)
	g.Expect(err).NotTo(HaveOccurred())
	doc, _ := compare.Normalize(live, nil, compare.Options{Mask: o.Mask}).(map[string]any)
	return o, doc
}

func text(g Gomega, v any) string {
	b, err := yaml.JSONToYAML(compare.Canonical(v))
	g.Expect(err).NotTo(HaveOccurred())
	return string(b)
}

// played are the objects of testdata: rich ones, and what people write.
func played(g Gomega) []txtar.File {
	var out []txtar.File
	for _, name := range []string{"objects", "human"} {
		archive, err := txtar.ParseFile("testdata/" + name + ".txtar")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(archive.Files).NotTo(BeEmpty())
		out = append(out, archive.Files...)
	}
	return out
}

// Cases S01, S02, S06 and S10, scenarios 4 and 5: each object of testdata is created as a person does it, read back,
// written, deleted, and created again from what was written.
func TestCaseS02_WhatIsWrittenGivesAnEqualObject(t *testing.T) {
	needAccount(NewWithT(t), t)
	for _, f := range played(NewWithT(t)) {
		t.Run(f.Name, func(t *testing.T) {
			g := NewWithT(t)
			given := parse(g, string(f.Data))
			c := clientFor(g, given.GetAPIVersion(), given.GetKind(), "default")
			live, err := c.Create(t.Context(), given, metav1.CreateOptions{FieldManager: "kubectl-create"})
			g.Expect(err).NotTo(HaveOccurred())
			o, doc := document(g, live, c.t)
			g.Expect(o.Protected).To(BeEmpty())
			t.Cleanup(func() { remove(t, c, given.GetName()) })
			g.Expect(missing(given.Object, doc, "")).To(BeEmpty(), "what the person set is in the document:\n%s", text(g, doc))
			for _, k := range []string{"uid", "resourceVersion", "generation", "managedFields", "creationTimestamp"} {
				g.Expect(doc["metadata"]).NotTo(HaveKey(k))
			}
			g.Expect(doc).NotTo(HaveKey("status"))

			remove(t, c, given.GetName())
			again, err := c.Create(t.Context(), parse(g, text(g, doc)), metav1.CreateOptions{FieldManager: "kubectl-create"})
			g.Expect(err).NotTo(HaveOccurred(), text(g, doc))
			_, redone := document(g, again, c.t)
			g.Expect(text(g, redone)).To(Equal(text(g, doc)))
		})
	}
}

// missing lists what a person's manifest says and a document does not.
func missing(given, doc any, path string) []string {
	switch given := given.(type) {
	case map[string]any:
		m, ok := doc.(map[string]any)
		if !ok {
			return []string{path}
		}
		var out []string
		for k, v := range given {
			d, ok := m[k]
			if !ok {
				out = append(out, path+"/"+k)
				continue
			}
			out = append(out, missing(v, d, path+"/"+k)...)
		}
		return out
	case []any:
		list, ok := doc.([]any)
		if !ok || len(list) != len(given) {
			return []string{path}
		}
		var out []string
		for i := range given {
			out = append(out, missing(given[i], list[i], fmt.Sprintf("%s/%d", path, i))...)
		}
		return out
	}
	if !compare.Same(given, doc) {
		return []string{path}
	}
	return nil
}

// remove deletes an object for good: no controller removes its finalizers here.
func remove(t *testing.T, c client, name string) {
	t.Helper()
	g := NewWithT(t)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
	defer cancel()
	if c.t.Kind == "Namespace" {
		live, err := c.Get(ctx, name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(c.Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		g.Expect(unstructured.SetNestedSlice(live.Object, nil, "spec", "finalizers")).To(Succeed())
		live.SetResourceVersion("")
		_, err = c.Update(ctx, live, metav1.UpdateOptions{}, "finalize")
		g.Expect(err).NotTo(HaveOccurred())
		return
	}
	background := metav1.DeletePropagationBackground
	g.Expect(c.Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &background})).To(Succeed())
	g.Eventually(ctx, func() bool {
		_, _ = c.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		_, err := c.Get(ctx, name, metav1.GetOptions{})
		return err != nil
	}).WithPolling(50 * time.Millisecond).Should(BeTrue())
}

// Cases S04 and S05 on what the server really allocates, by three ways of writing.
func TestCaseS04_AllocatedOrChosen(t *testing.T) {
	const service = `{apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {type: NodePort, selector: {app: boat}%s, ports: [{name: a, port: 80%s}, {name: b, port: 81}]}}`
	for name, write := range map[string]func(g Gomega, c client, u *unstructured.Unstructured) *unstructured.Unstructured{
		"create": func(g Gomega, c client, u *unstructured.Unstructured) *unstructured.Unstructured {
			live, err := c.Create(t.Context(), u, metav1.CreateOptions{FieldManager: "boat-operator"})
			g.Expect(err).NotTo(HaveOccurred())
			return live
		},
		"server-side-apply": func(g Gomega, c client, u *unstructured.Unstructured) *unstructured.Unstructured {
			live, err := c.Apply(t.Context(), u.GetName(), u, metav1.ApplyOptions{FieldManager: "kubectl"})
			g.Expect(err).NotTo(HaveOccurred())
			return live
		},
		"kubectl-apply": func(g Gomega, c client, u *unstructured.Unstructured) *unstructured.Unstructured {
			manifest, err := u.MarshalJSON()
			g.Expect(err).NotTo(HaveOccurred())
			_, err = server.Kubectl(t.Context(), string(manifest), "apply", "-n", "default", "-f", "-")
			g.Expect(err).NotTo(HaveOccurred())
			live, err := c.Get(t.Context(), u.GetName(), metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			return live
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := clientFor(g, "v1", "Service", "default")
			live := write(g, c, parse(g, fmt.Sprintf(service, "auto", "", "")))
			ip, _, _ := unstructured.NestedString(live.Object, "spec", "clusterIP")
			g.Expect(ip).NotTo(BeEmpty())
			o, doc := document(g, live, c.t)
			g.Expect(doc["spec"]).NotTo(Or(HaveKey("clusterIP"), HaveKey("clusterIPs"), HaveKey("ipFamilies"), HaveKey("ipFamilyPolicy")))
			g.Expect(text(g, doc)).NotTo(ContainSubstring("nodePort"))
			g.Expect(o.Mask.IfPresent).To(ContainElements("/spec/clusterIP", "/spec/ports/0/nodePort", "/spec/ports/1/nodePort"))
			remove(t, c, "auto")

			live = write(g, c, parse(g, fmt.Sprintf(service, "fixed", ", clusterIP: 10.96.7.7", ", nodePort: 30080")))
			o, doc = document(g, live, c.t)
			g.Expect(doc["spec"]).To(HaveKeyWithValue("clusterIP", "10.96.7.7"))
			g.Expect(text(g, doc)).To(ContainSubstring("nodePort: 30080"))
			g.Expect(o.Mask.IfPresent).To(ContainElement("/spec/ports/1/nodePort"))
			g.Expect(o.Mask.IfPresent).NotTo(ContainElement("/spec/ports/0/nodePort"))

			// A later edit of something else does not turn allocated values into chosen ones.
			live, err := c.Patch(t.Context(), "fixed", types.MergePatchType, []byte(`{"spec":{"sessionAffinity":"ClientIP"}}`), metav1.PatchOptions{FieldManager: "kubectl-patch"})
			g.Expect(err).NotTo(HaveOccurred())
			live.SetLabels(map[string]string{"team": "dock"})
			live, err = c.Update(t.Context(), live, metav1.UpdateOptions{FieldManager: "kubectl-edit"})
			g.Expect(err).NotTo(HaveOccurred())
			o, _ = document(g, live, c.t)
			g.Expect(o.Mask.IfPresent).To(ContainElement("/spec/ports/1/nodePort"))
			remove(t, c, "fixed")
		})
	}
}

// Case S12: an autoscaler's scale is masked, a person's is content. A count that the API server no longer tracks follows
// live only where Git has it.
func TestCaseS12_WhoScales(t *testing.T) {
	const deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: boat}, spec: {%s selector: {matchLabels: {app: boat}},
		template: {metadata: {labels: {app: boat}}, spec: {containers: [{name: web, image: "boat:1"}]}}}}`
	const content, masked, optional = "content", "masked", "optional"
	const file = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: boat\nspec:\n  replicas: 12 # by hand\n  selector: {matchLabels: {app: boat}}\n" +
		"  template:\n    metadata: {labels: {app: boat}}\n    spec:\n      containers:\n      - name: web\n        image: boat:1\n"
	schemas := serverSchemas(NewWithT(t))
	for name, story := range map[string]struct {
		replicas string
		scales   []scale
	}{
		"a count given":                 {"replicas: 2,", []scale{{"kube-controller-manager", 7, masked}, {"kubectl", 4, content}, {"keda", 3, masked}, {"kubectl", 2, content}}},
		"a count gone to zero":          {"replicas: 2,", []scale{{"keda", 0, optional}, {"keda", 1, optional}, {"kubectl", 4, optional}}},
		"a count left to an autoscaler": {"", []scale{{"kube-controller-manager", 7, optional}, {"kube-controller-manager", 3, optional}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := clientFor(g, "apps/v1", "Deployment", "default")
			_, err := c.Apply(t.Context(), "boat", parse(g, fmt.Sprintf(deployment, story.replicas)), metav1.ApplyOptions{FieldManager: "kustomize-controller"})
			g.Expect(err).NotTo(HaveOccurred())
			for _, s := range story.scales {
				patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, s.replicas)
				_, err := c.Patch(t.Context(), "boat", types.MergePatchType, patch, metav1.PatchOptions{FieldManager: s.manager}, "scale")
				g.Expect(err).NotTo(HaveOccurred())
				live, err := c.Get(t.Context(), "boat", metav1.GetOptions{})
				g.Expect(err).NotTo(HaveOccurred())
				o, _ := document(g, live, c.t)
				got := content
				switch {
				case slices.Contains(o.Mask.Keep, "/spec/replicas"):
					got = masked
					g.Expect(o.Rules).To(ContainElement(sanitize.AutoscaledReplicas))
				case slices.Contains(o.Mask.IfPresent, "/spec/replicas"):
					got = optional
				}
				g.Expect(got).To(Equal(s.want), "%+v", s)
				g.Expect(strings.Contains(string(o.Desired), `"replicas":`)).To(Equal(got != masked))
				// An autoscaler's number is no commit, a person's is one line.
				after, outcome := planned(t, schemas, c.t, live, file)
				if got == masked {
					g.Expect(after).To(Equal(file))
					g.Expect(outcome).To(Equal(plan.Unchanged))
				} else {
					g.Expect(after).To(Equal(strings.Replace(file, "12", strconv.Itoa(s.replicas), 1)))
				}
			}
			remove(t, c, "boat")
		})
	}
}

type scale struct {
	manager  string
	replicas int
	want     string
}

// Case S07: the binder's volumeName goes, a person's stays.
func TestCaseS07_WhoBinds(t *testing.T) {
	g := NewWithT(t)
	c := clientFor(g, "v1", "PersistentVolumeClaim", "default")
	const claim = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s}, spec: {accessModes: [ReadWriteOnce], volumeMode: Block, resources: {requests: {storage: 1Gi}}%s}}`
	_, err := c.Create(t.Context(), parse(g, fmt.Sprintf(claim, "auto", "")), metav1.CreateOptions{FieldManager: "kubectl-create"})
	g.Expect(err).NotTo(HaveOccurred())
	live, err := c.Patch(t.Context(), "auto", types.MergePatchType, []byte(`{"metadata":{"annotations":{"pv.kubernetes.io/bind-completed":"yes",
		"pv.kubernetes.io/bound-by-controller":"yes","volume.kubernetes.io/selected-node":"n1"}},"spec":{"volumeName":"pvc-1"}}`),
		metav1.PatchOptions{FieldManager: "kube-controller-manager"})
	g.Expect(err).NotTo(HaveOccurred())
	o, doc := document(g, live, c.t)
	g.Expect(o.Mask.IfPresent).To(ConsistOf("/spec/volumeName"))
	g.Expect(doc["metadata"]).To(Equal(map[string]any{"name": "auto", "namespace": "default"}))
	g.Expect(doc["spec"]).To(And(Not(HaveKey("volumeName")), HaveKeyWithValue("volumeMode", "Block")))
	remove(t, c, "auto")

	live, err = c.Create(t.Context(), parse(g, fmt.Sprintf(claim, "static", ", volumeName: disk-7")), metav1.CreateOptions{FieldManager: "kubectl-create"})
	g.Expect(err).NotTo(HaveOccurred())
	_, doc = document(g, live, c.t)
	g.Expect(doc["spec"]).To(HaveKeyWithValue("volumeName", "disk-7"))
	remove(t, c, "static")
}

// Case S16: nothing that a fresh control plane holds is mirrored.
func TestCaseS16_AFreshClusterHasNothingToMirror(t *testing.T) {
	g := NewWithT(t)
	seen := 0
	for _, k := range [][2]string{
		{"rbac.authorization.k8s.io/v1", "ClusterRole"}, {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding"},
		{"scheduling.k8s.io/v1", "PriorityClass"}, {"v1", "Namespace"}, {"v1", "Service"}, {"v1", "ConfigMap"},
		{"rbac.authorization.k8s.io/v1", "Role"}, {"apiregistration.k8s.io/v1", "APIService"},
	} {
		c := clientFor(g, k[0], k[1], "")
		list, err := c.List(t.Context(), metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		for i := range list.Items {
			o, _ := document(g, &list.Items[i], c.t)
			g.Expect(o.Protected).To(Equal(sanitize.ClusterMade), "%s %s", k[1], list.Items[i].GetName())
			seen++
		}
	}
	g.Expect(seen).To(BeNumerically(">", 60))
}
