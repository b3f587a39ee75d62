// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package roundtrip

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/tools/txtar"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/cluster"
	"github.com/configbutler/gitops-reverser/internal/manifest"
	"github.com/configbutler/gitops-reverser/internal/manifest/plan"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
)

// serverSchemas reads the field facts of the real API server.
func serverSchemas(g Gomega) *cluster.Offline {
	d, err := discovery.NewDiscoveryClientForConfig(server.Config)
	g.Expect(err).NotTo(HaveOccurred())
	paths, err := d.OpenAPIV3().Paths()
	g.Expect(err).NotTo(HaveOccurred())
	out := cluster.NewOffline()
	for name, gv := range paths {
		if !strings.HasPrefix(name, "api/") && !strings.HasPrefix(name, "apis/") {
			continue
		}
		raw, err := gv.Schema("application/json")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(out.Add(raw, true)).To(Succeed())
	}
	return out
}

// needAccount makes the account that admission looks up for a pod; no controller makes it here.
func needAccount(g Gomega, t *testing.T) {
	t.Helper()
	account := parse(g, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default}\n")
	_, err := clientFor(g, "v1", "ServiceAccount", "default").Create(t.Context(), account, metav1.CreateOptions{})
	g.Expect(ignoreExists(err)).To(Succeed())
}

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// one is a source cluster that serves one type.
type one struct{ t change.Type }

func (o one) Kind(group, kind string) (change.Type, bool) {
	return o.t, o.t.Group == group && o.t.Kind == kind
}

// Decision 39: what the API server adds to a file that a person wrote is no difference, so no such file gains a byte.
func TestHumanFilesGainNothing(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/human.txtar")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	schemas := serverSchemas(NewWithT(t))
	needAccount(NewWithT(t), t)
	for _, f := range archive.Files {
		t.Run(f.Name, func(t *testing.T) {
			g := NewWithT(t)
			given := parse(g, string(f.Data))
			c := clientFor(g, given.GetAPIVersion(), given.GetKind(), "default")
			live, err := c.Create(t.Context(), given, metav1.CreateOptions{FieldManager: "kubectl-create"})
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() { remove(t, c, given.GetName()) })
			file, outcome := planned(t, schemas, c.t, live, string(f.Data))
			g.Expect(file).To(Equal(string(f.Data)))
			g.Expect(outcome).To(Equal(plan.Unchanged))
		})
	}
}

// planned writes a live object into a folder that holds one file, and returns the file and what became of the object.
func planned(t *testing.T, schemas change.Schemas, typ change.Type, live *unstructured.Unstructured, file string) (string, plan.Outcome) {
	t.Helper()
	g := NewWithT(t)
	s, err := sanitize.New(sanitize.Config{})
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := live.MarshalJSON()
	g.Expect(err).NotTo(HaveOccurred())
	o, err := s.Object(raw, typ)
	g.Expect(err).NotTo(HaveOccurred())
	o.Protected = ""
	res, err := plan.Plan(t.Context(), plan.Request{
		Tree: manifest.NewMemTree(map[string]manifest.File{"a.yaml": {Content: []byte(file)}}), Path: ".",
		Kinds: one{typ}, Schemas: schemas,
		Policy: plan.Policy{SourceNamespaces: []string{"default"}},
		Batch:  plan.Batch{Changes: []change.Change{{Operation: change.Update, Item: o.Item}}},
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(res.Issues).To(BeEmpty())
	g.Expect(res.Report.Objects).To(HaveLen(1))
	for _, e := range res.Edits {
		if e.Path == "a.yaml" {
			file = string(e.Content)
		}
	}
	return file, res.Report.Objects[0].Outcome
}

// The other side of decision 39: a value that is not what the API server would derive was meant, and is written.
func TestHumanFilesTakeWhatIsMeant(t *testing.T) {
	schemas := serverSchemas(NewWithT(t))
	for name, c := range map[string]struct{ file, patch, want string }{
		"a pull policy": {
			"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: meant\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n" +
				"    metadata: {labels: {a: b}}\n    spec:\n      containers:\n      - name: c\n        image: x/c # always the newest\n",
			`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"x/c","imagePullPolicy":"IfNotPresent"}]}}}}`,
			"        image: x/c # always the newest\n        imagePullPolicy: IfNotPresent\n",
		},
		"a target port": {
			"apiVersion: v1\nkind: Service\nmetadata:\n  name: meant\nspec:\n  selector: {a: b}\n  ports:\n  - port: 80\n",
			`{"spec":{"ports":[{"port":80,"targetPort":8080}]}}`, "  - port: 80\n    targetPort: 8080\n",
		},
		"policy types": {
			"apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: meant\nspec:\n  podSelector: {}\n  egress: [{}]\n",
			`{"spec":{"policyTypes":["Ingress"]}}`, "  egress: [{}]\n  policyTypes: [Ingress]\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			given := parse(g, c.file)
			res := clientFor(g, given.GetAPIVersion(), given.GetKind(), "default")
			_, err := res.Create(t.Context(), given, metav1.CreateOptions{FieldManager: "kubectl-create"})
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() { remove(t, res, "meant") })
			live, err := res.Patch(t.Context(), "meant", types.MergePatchType, []byte(c.patch), metav1.PatchOptions{FieldManager: "kubectl-edit"})
			g.Expect(err).NotTo(HaveOccurred())
			file, outcome := planned(t, schemas, res.t, live, c.file)
			g.Expect(outcome).To(Equal(plan.Updated))
			g.Expect(file).To(ContainSubstring(c.want))
		})
	}
}

// The server spells quantities in its own way, and metrics may come back in another order: a file keeps what a person
// wrote, and what really differs is one line.
func TestCaseS10AndS11_SpellingAndOrderOfTheFileStay(t *testing.T) {
	schemas := serverSchemas(NewWithT(t))
	for name, c := range map[string]struct{ file, patch, was, is string }{
		"quantities": {
			"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: spelled\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n" +
				"    metadata: {labels: {a: b}}\n    spec:\n      containers:\n      - name: c\n        image: x/c:1\n        resources:\n" +
				"          limits: {cpu: 1000m, memory: 1024Mi}\n          requests: {cpu: 0.5, memory: 0.5Gi}\n",
			`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"x/c:1","resources":{
				"limits":{"cpu":"1","memory":"2Gi"},"requests":{"cpu":"500m","memory":"512Mi"}}}]}}}}`,
			"memory: 1024Mi", "memory: 2Gi",
		},
		"metrics": {
			"apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata:\n  name: spelled\nspec:\n  maxReplicas: 4\n" +
				"  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: boat}\n  metrics:\n  # memory first\n" +
				"  - type: Resource\n    resource: {name: memory, target: {type: Utilization, averageUtilization: 80}}\n" +
				"  - type: Resource\n    resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}} # then the rest\n",
			`{"spec":{"maxReplicas":5,"metrics":[
				{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":70}}},
				{"type":"Resource","resource":{"name":"memory","target":{"type":"Utilization","averageUtilization":80}}}]}}`,
			"maxReplicas: 4", "maxReplicas: 5",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			given := parse(g, c.file)
			res := clientFor(g, given.GetAPIVersion(), given.GetKind(), "default")
			live, err := res.Create(t.Context(), given, metav1.CreateOptions{FieldManager: "kubectl-create"})
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() { remove(t, res, "spelled") })
			file, outcome := planned(t, schemas, res.t, live, c.file)
			g.Expect(file).To(Equal(c.file))
			g.Expect(outcome).To(Equal(plan.Unchanged))
			live, err = res.Patch(t.Context(), "spelled", types.MergePatchType, []byte(c.patch), metav1.PatchOptions{FieldManager: "kubectl-edit"})
			g.Expect(err).NotTo(HaveOccurred())
			file, _ = planned(t, schemas, res.t, live, c.file)
			g.Expect(file).To(Equal(strings.Replace(c.file, c.was, c.is, 1)))
		})
	}
}

const pierCRD = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: boats.pier.test}, spec: {group: pier.test,
  scope: Namespaced, names: {kind: Boat, plural: boats, singular: boat, listKind: BoatList}, versions: [{name: v1, served: true, storage: true,
  schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true,
  properties: {limit: {type: string}}}}}}}]}}`

// In a custom resource every empty value is meaning, a finalizer of its owner stays, and a text that looks like a
// quantity is a text.
func TestCasesS01AndS02AndS10_OfACustomResource(t *testing.T) {
	g := NewWithT(t)
	crds := clientFor(g, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "")
	_, err := crds.Create(t.Context(), parse(g, pierCRD), metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	d, err := discovery.NewDiscoveryClientForConfig(server.Config)
	g.Expect(err).NotTo(HaveOccurred())
	served := func() error {
		_, err := d.ServerResourcesForGroupVersion("pier.test/v1")
		return err
	}
	t.Cleanup(func() {
		remove(t, crds, "boats.pier.test")
		NewWithT(t).Eventually(served).WithTimeout(time.Minute).Should(HaveOccurred())
	})
	g.Eventually(served).WithTimeout(time.Minute).Should(Succeed())
	schemas := cluster.NewOffline()
	g.Eventually(func(g Gomega) {
		paths, err := d.OpenAPIV3().Paths()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(paths).To(HaveKey("apis/pier.test/v1"))
		raw, err := paths["apis/pier.test/v1"].Schema("application/json")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(schemas.Add(raw, false)).To(Succeed())
	}).WithTimeout(time.Minute).Should(Succeed())

	const file = "apiVersion: pier.test/v1\nkind: Boat\nmetadata:\n  name: boat\n  namespace: default\n  finalizers: [resources-finalizer.pier.test]\n" +
		"spec:\n  limit: 1000m\n  selfSigned: {}\n  egress: [{}]\n  nodeSelector: {}\n  args: []\n  text: \"\"\n  volumes: [{name: tmp, emptyDir: {}}]\n"
	given := parse(g, file)
	c := clientFor(g, "pier.test/v1", "Boat", "default")
	live, err := c.Create(t.Context(), given, metav1.CreateOptions{FieldManager: "kubectl-create"})
	g.Expect(err).NotTo(HaveOccurred())
	_, doc := document(g, live, c.t)
	g.Expect(doc).To(Equal(given.Object))
	remove(t, c, "boat")
	live, err = c.Create(t.Context(), parse(g, text(g, doc)), metav1.CreateOptions{FieldManager: "kubectl-create"})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { remove(t, c, "boat") })
	_, again := document(g, live, c.t)
	g.Expect(again).To(Equal(given.Object))

	after, outcome := planned(t, schemas, c.t, live, file)
	g.Expect(after).To(Equal(file))
	g.Expect(outcome).To(Equal(plan.Unchanged))
	live, err = c.Patch(t.Context(), "boat", types.MergePatchType, []byte(`{"spec":{"limit":"1","egress":[]}}`), metav1.PatchOptions{FieldManager: "kubectl-edit"})
	g.Expect(err).NotTo(HaveOccurred())
	after, _ = planned(t, schemas, c.t, live, file)
	g.Expect(after).To(Equal(strings.NewReplacer("1000m", "\"1\"", "[{}]", "[]").Replace(file)))
}
