// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/configbutler/gitops-reverser/internal/change"
)

func places(docs []*Document) []string {
	var out []string
	for _, d := range docs {
		out = append(out, fmt.Sprintf("%s#%d", d.Path, d.Index))
	}
	return out
}

func TestScenario08_ADocumentIsFoundWhereItIs(t *testing.T) {
	g := NewWithT(t)
	f, _ := scan(t, files{"apps/foo.yaml": configMap("other", "a") + "---\n" + configMap("boat", "dock")}.tree(), "apps", nil)
	g.Expect(places(f.Find(cm("boat", "dock"), View{}))).To(Equal([]string{"apps/foo.yaml#1"}))
	g.Expect(f.Find(cm("boat", "pier"), View{})).To(BeEmpty())
}

func TestDecision36_TheVersionIsNoPartOfTheIdentity(t *testing.T) {
	g := NewWithT(t)
	f, _ := scan(t, files{
		"a.yaml": "apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: {name: h, namespace: a}\n",
		"b.yaml": "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h, namespace: a}\n",
	}.tree(), "", nil)
	id := change.ObjectID{Group: "autoscaling", Kind: "HorizontalPodAutoscaler", Namespace: "a", Name: "h"}
	g.Expect(places(f.Find(id, View{}))).To(Equal([]string{"a.yaml#0", "b.yaml#0"}))
	for got, docs := range f.Duplicates(View{}) {
		g.Expect(got).To(Equal(id))
		g.Expect(docs[1].APIVersion).To(Equal("autoscaling/v2"))
	}
}

func TestCaseP08_TheBuildGivesTheNamespace(t *testing.T) {
	g := NewWithT(t)
	f, _ := scan(t, files{
		"kustomization.yaml": "namespace: dock\nresources: [boat.yaml, role.yaml, widget.yaml]\n",
		"boat.yaml":          configMap("boat", ""),
		"role.yaml":          "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\n",
		"widget.yaml":        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n",
		"loose.yaml":         configMap("loose", ""),
		"explicit.yaml":      configMap("explicit", "pier"),
	}.tree(), "", nil)
	e := f.Effective(f.Find(cm("boat", "dock"), View{})[0], View{})
	g.Expect(e).To(And(HaveField("Source", NamespaceKustomize), HaveField("ID.Namespace", "dock")))
	g.Expect(f.Find(cm("boat", ""), View{})).To(BeEmpty())
	g.Expect(f.Find(change.ObjectID{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "r"}, View{})).To(HaveLen(1))
	widget := change.ObjectID{Group: "example.com", Kind: "Widget", Name: "w"}
	g.Expect(f.Find(widget, View{Kinds: kinds{"Widget": false}})).To(HaveLen(1))
	widget.Namespace = "dock"
	g.Expect(f.Find(widget, View{Kinds: kinds{"Widget": true}})).To(HaveLen(1))
	g.Expect(f.Find(widget, View{})).To(HaveLen(1))
	// Only documents a build reaches inherit: the nearest file never decides.
	g.Expect(f.Find(cm("loose", "dock"), View{})).To(BeEmpty())
	g.Expect(f.Effective(f.Find(cm("loose", ""), View{})[0], View{}).Source).To(Equal(NamespaceNone))
	var loose []string
	for d := range f.Unrendered() {
		loose = append(loose, d.Path)
	}
	g.Expect(loose).To(Equal([]string{"explicit.yaml", "loose.yaml"}))
	g.Expect(f.Find(cm("loose", "only"), View{DefaultNamespace: "only"})).To(HaveLen(1))
	g.Expect(f.Effective(f.Find(cm("explicit", "pier"), View{})[0], View{}).Source).To(Equal(NamespaceExplicit))
}

func TestCaseK05_TheBuildRenamesNamespaceObjects(t *testing.T) {
	g := NewWithT(t)
	fs := files{
		"kustomization.yaml": "namespace: prod\nresources: [ns.yaml, issuer.yaml]\n",
		"ns.yaml":            "apiVersion: v1\nkind: Namespace\nmetadata: {name: tools}\n",
		"issuer.yaml":        "apiVersion: cert-manager.io/v1\nkind: ClusterIssuer\nmetadata: {name: ca}\n",
	}
	// What kustomize does with them.
	disk := filesys.MakeFsInMemory()
	for p, c := range fs {
		g.Expect(disk.WriteFile("/"+p, []byte(c))).To(Succeed())
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, "/")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(built.AllIds()).To(HaveExactElements(HaveField("Name", "prod"), And(HaveField("Name", "ca"), HaveField("Namespace", "prod"))))

	f, _ := scan(t, fs.tree(), "", nil)
	view := View{Kinds: kinds{"ClusterIssuer": false, "Namespace": false}}
	// The scope of the custom resource comes from the API.
	g.Expect(f.Find(change.ObjectID{Group: "cert-manager.io", Kind: "ClusterIssuer", Name: "ca"}, view)).To(HaveLen(1))
	// The document is the Namespace it becomes: a snapshot without "tools" takes nothing away, and "prod" is not new.
	docs := f.Find(change.ObjectID{Kind: "Namespace", Name: "prod"}, view)
	g.Expect(places(docs)).To(Equal([]string{"ns.yaml#0"}))
	g.Expect(f.Effective(docs[0], view).Renamed).To(BeTrue())
	g.Expect(f.Find(change.ObjectID{Kind: "Namespace", Name: "tools"}, view)).To(BeEmpty())
	g.Expect(f.Diagnose(view)).To(HaveExactElements(And(HaveField("Code", AmbiguousNamespace), HaveField("Message", ContainSubstring("renames it to prod")))))
	// Two of them become one.
	f, _ = scan(t, fs.with("kustomization.yaml", "namespace: prod\nresources: [ns.yaml, other.yaml]\n",
		"other.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n").tree(), "", f)
	n := 0
	for id, docs := range f.Duplicates(View{}) {
		n++
		g.Expect(id.Name).To(Equal("prod"))
		g.Expect(docs).To(HaveLen(2))
	}
	g.Expect(n).To(Equal(1))
}

func TestAClusterScopedKindWithANamespace(t *testing.T) {
	g := NewWithT(t)
	f, _ := scan(t, files{
		"a.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: n, namespace: x}\n",
		"b.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: n, namespace: y}\n",
	}.tree(), "", nil)
	id := change.ObjectID{Kind: "Namespace", Name: "n"}
	g.Expect(f.Find(id, View{})).To(HaveLen(2))
	n := 0
	for got := range f.Duplicates(View{}) {
		g.Expect(got).To(Equal(id))
		n++
	}
	g.Expect(n).To(Equal(1))
	g.Expect(f.Diagnose(View{})).To(ContainElements(HaveField("Code", ScopeMismatch), HaveField("Code", DuplicateIdentity)))
}

func TestAmbiguousNamespace(t *testing.T) {
	g := NewWithT(t)
	f, _ := scan(t, files{
		"base/kustomization.yaml": "resources: [cm.yaml]\n", "base/cm.yaml": configMap("boat", ""),
		"a/kustomization.yaml": "namespace: a\nresources: [../base]\n", "b/kustomization.yaml": "namespace: b\nresources: [../base]\n",
	}.tree(), "", nil)
	g.Expect(places(f.Find(cm("boat", "a"), View{}))).To(Equal(places(f.Find(cm("boat", "b"), View{}))))
	g.Expect(f.Diagnose(View{})).To(HaveExactElements(And(HaveField("Code", AmbiguousNamespace), HaveField("Message", ContainSubstring("a, b")))))
}

func TestPatchFilesClaimNothing(t *testing.T) {
	g := NewWithT(t)
	fs := files{
		"kustomization.yaml": "resources: [cm.yaml]\npatches: [{path: patch.yaml}]\n",
		"cm.yaml":            configMap("boat", ""), "patch.yaml": configMap("boat", "", "x"),
	}
	f, _ := scan(t, fs.tree(), "", nil)
	g.Expect(places(f.Find(cm("boat", ""), View{}))).To(Equal([]string{"cm.yaml#0"}))
	for range f.Duplicates(View{}) {
		t.Error("a patch is no duplicate")
	}
	// Listed as a resource too, it is a document like any other.
	f, _ = scan(t, fs.with("kustomization.yaml", "resources: [patch.yaml]\npatches: [{path: patch.yaml}]\n", "cm.yaml", "").tree(), "", nil)
	g.Expect(places(f.Find(cm("boat", ""), View{}))).To(Equal([]string{"patch.yaml#0"}))
}

func TestOneNameInManyNamespaces(t *testing.T) {
	g := NewWithT(t)
	fs := files{}
	for i := range 500 {
		ns := fmt.Sprintf("ns-%03d", i)
		fs[ns+"/default.yaml"] = configMap("default", ns)
	}
	fs["none.yaml"] = configMap("default", "")
	f, _ := scan(t, fs.tree(), "", nil)
	g.Expect(places(f.Find(cm("default", "ns-123"), View{}))).To(Equal([]string{"ns-123/default.yaml#0"}))
	g.Expect(places(f.Find(cm("default", ""), View{}))).To(Equal([]string{"none.yaml#0"}))
	g.Expect(places(f.Find(cm("default", "x"), View{DefaultNamespace: "x"}))).To(Equal([]string{"none.yaml#0"}))
	for range f.Duplicates(View{}) {
		t.Error("no identity is held twice")
	}
	f, _ = scan(t, fs.with("copy.yaml", configMap("default", "ns-007")).tree(), "", f)
	for id, docs := range f.Duplicates(View{}) {
		g.Expect(id).To(Equal(cm("default", "ns-007")))
		g.Expect(places(docs)).To(Equal([]string{"copy.yaml#0", "ns-007/default.yaml#0"}))
	}
}

// TestMemoryPerDocument keeps a Folder near 400 bytes per document.
func TestMemoryPerDocument(t *testing.T) {
	g := NewWithT(t)
	const n = 20_000
	tree := big(n).tree()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f, _ := scan(t, tree, "clusters/prod", nil)
	runtime.GC()
	runtime.ReadMemStats(&after)
	perDocument := float64(after.HeapAlloc-before.HeapAlloc) / n
	t.Logf("%.0f bytes per document", perDocument)
	g.Expect(perDocument).To(BeNumerically("<", 550))
	runtime.KeepAlive(f)
	runtime.KeepAlive(tree)
}

// TestTheCostOfAChangeDoesNotDependOnTheFolder counts allocations: they are the same in 1000 and in 20 000 documents.
func TestTheCostOfAChangeDoesNotDependOnTheFolder(t *testing.T) {
	g := NewWithT(t)
	cost := func(n int) float64 {
		tree := big(n).tree()
		f, _ := scan(t, tree, "clusters/prod", nil)
		edit := []Edit{{Path: "clusters/prod/ns-000/configmaps/cm-00500.yaml", Content: []byte(configMap("cm-00500", "ns-000", "other"))}}
		return testing.AllocsPerRun(20, func() {
			if _, _, err := f.Apply(context.Background(), tree, edit); err != nil {
				t.Fatal(err)
			}
		})
	}
	small := cost(1000)
	g.Expect(cost(20_000)).To(BeNumerically("~", small, small/10))
}

// TestIrregularFilesAreFoundWithoutAWalk keeps acceptance cheap: what is regular is not looked at.
func TestIrregularFilesAreFoundWithoutAWalk(t *testing.T) {
	g := NewWithT(t)
	fs := big(5000).with("clusters/prod/ns-003/notes.txt", "x", "clusters/prod/ns-004/configmaps/values.yaml", "a: b\n")
	f, _ := scan(t, fs.tree(), "clusters/prod", nil)
	looked, found := 0, []string{}
	f.root.walk(func(t totals) int { looked++; return t.irregular }, func(file *File) bool {
		found = append(found, f.Rel(file.Path))
		return true
	})
	g.Expect(found).To(Equal([]string{"ns-003/notes.txt", "ns-004/configmaps/values.yaml"}))
	g.Expect(looked).To(BeNumerically("<", 400), "of 5000 files")
}

func BenchmarkApplyOneChange(b *testing.B) {
	for _, n := range []int{1000, 20_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			tree := big(n).tree()
			f, _ := scan(b, tree, "clusters/prod", nil)
			path := "clusters/prod/ns-000/configmaps/cm-00500.yaml"
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				next, _, err := f.Apply(b.Context(), tree, []Edit{{Path: path, Content: []byte(configMap("cm-00500", "ns-000", fmt.Sprint(i)))}})
				if err != nil {
					b.Fatal(err)
				}
				f = next
			}
		})
	}
}

func TestCaseY12_DuplicateKeysAreFoundWithTheirLine(t *testing.T) {
	g := NewWithT(t)
	f, _ := scan(t, files{"y.yaml": configMap("good", "a") + "---\n" + configMap("dup", "a") + "data:\n  level: info\n  level: warn\n"}.tree(), "", nil)
	d := f.Find(cm("dup", "a"), View{})[0]
	g.Expect(d.Hazards).To(HaveExactElements(Hazard{Kind: "duplicate key", Line: 14, Path: "/data/level"}))
	g.Expect(f.Find(cm("good", "a"), View{})[0].Hazards).To(BeEmpty())
}

func TestCaseP06_ProtectiveFilesHoldNoObjects(t *testing.T) {
	g := NewWithT(t)
	f, _ := scan(t, files{".gitattributes": "*.sops.yaml diff=sops", ".sops.yaml": "creation_rules: []", ".gitignore": "x", "CODEOWNERS": "* @a",
		"x.yaml": configMap("x", "a")}.tree(), "", nil)
	var owned []string
	for d := range f.Documents() {
		owned = append(owned, d.Path)
	}
	g.Expect(owned).To(Equal([]string{"x.yaml"}), "only what claims an identity can ever be deleted")
}
