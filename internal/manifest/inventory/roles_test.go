// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestRolesOfEveryEntry(t *testing.T) {
	fs := files{
		".gittargetignore":        "/ignored/\n*.bak\nREADME.md\n.sops.yaml\nkustomization.yaml\nlink-*\nmod-ignored\n",
		"README.md":               "# hello",
		"sub/README.md":           "# hello",
		"readme.md":               "# hello",
		"sub/notes.markdown":      "hello",
		"NOTES.MD":                "hello",
		"LICENSE":                 "x",
		"COPYING.txt":             "x",
		"sub/.gitkeep":            "",
		".gitignore":              "x",
		".sops.yaml":              "creation_rules: []",
		"sub/kustomization.yml":   "resources: []",
		"kustomization.yaml":      "resources: []",
		"Kustomization":           "resources: []",
		"cm.yaml":                 configMap("cm", "a"),
		"cm.yml":                  configMap("cm2", "a"),
		"CM.YAML":                 configMap("cm3", "a"),
		"ignored/x.yaml":          configMap("x", "a"),
		"old.bak":                 "x",
		"chart.tgz":               "\x1f\x8b",
		"sub/.gittargetignore":    "*.yaml\n",
		"link":                    "->/etc/passwd",
		"link-ignored":            "->/etc/passwd",
		"mod":                     "gitlink",
		"mod-ignored":             "gitlink",
		".git/config":             "x",
		".github/workflows/x.yml": "on: push",
		"Makefile":                "all:",
	}
	want := map[string]Role{
		".gittargetignore": IgnoreFile, "README.md": Passenger, "sub/README.md": Passenger, "readme.md": Passenger,
		"sub/notes.markdown": Passenger, "NOTES.MD": Foreign, "LICENSE": Passenger, "COPYING.txt": Passenger, "sub/.gitkeep": Passenger,
		".gitignore": Passenger, ".sops.yaml": SOPSConfig, "sub/kustomization.yml": Kustomization, "kustomization.yaml": Kustomization,
		"Kustomization": Foreign, "cm.yaml": Manifest, "cm.yml": Manifest, "CM.YAML": Foreign, "chart.tgz": Foreign,
		"sub/.gittargetignore": Foreign, "link": ForeignSymlink, "mod": ForeignSubmodule,
	}
	roles := func(f *Folder) map[string]Role {
		out := map[string]Role{}
		for file := range f.Files() {
			out[f.Rel(file.Path)] = file.Role
		}
		return out
	}
	t.Run("folder", func(t *testing.T) {
		g := NewWithT(t)
		in := files{}
		for p, c := range fs {
			in["env/prod/"+p] = c
		}
		f, _ := scan(t, in.tree(), "env/prod", nil)
		want := mapsWith(want, map[string]Role{".github/workflows/x.yml": Manifest, "Makefile": Foreign})
		g.Expect(roles(f)).To(Equal(want))
		g.Expect(f.Counts().Ignored).To(Equal(4))
		g.Expect(f.File("env/prod/ignored/x.yaml")).To(BeNil())
		g.Expect(f.Find(cm("x", "a"), View{})).To(BeEmpty())
		for p, visible := range map[string]bool{"env/prod/new.yaml": true, "env/prod/ignored/new.yaml": false, "env/prod/.git/x.yaml": false,
			"env/x.yaml": false, "env/prod": false, "env/prodx/new.yaml": false} {
			_, ok := f.RoleOf(p)
			g.Expect(ok).To(Equal(visible), p)
		}
	})
	t.Run("decision 49: the repository root", func(t *testing.T) {
		g := NewWithT(t)
		in := fs.with("CODEOWNERS", "* @me", ".editorconfig", "x", ".gitlab-ci.yml", "a: b", "sub/CODEOWNERS", "x")
		f, _ := scan(t, in.tree(), ".", nil)
		g.Expect(roles(f)).To(Equal(mapsWith(want, map[string]Role{"Makefile": Passenger, "CODEOWNERS": Passenger,
			".editorconfig": Passenger, ".gitlab-ci.yml": Passenger, "sub/CODEOWNERS": Foreign})))
	})
}

func mapsWith(a, b map[string]Role) map[string]Role {
	out := map[string]Role{}
	for k, v := range a {
		out[k] = v
	}
	for k, v := range b {
		out[k] = v
	}
	return out
}

func TestScenario10_PassengersAreRegular(t *testing.T) {
	g := NewWithT(t)
	f, _ := scan(t, files{"README.md": "x", "LICENSE": "x", ".gitkeep": ""}.tree(), "", nil)
	for file := range f.Irregular() {
		t.Errorf("%s is irregular", file.Path)
	}
	g.Expect(f.Counts()).To(Equal(Counts{Files: 3}))
}

func TestScenario13_SeparatorInsideALiteralBlock(t *testing.T) {
	g := NewWithT(t)
	src := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  k: |\n    a\n    ---\n    b\n"
	f, _ := scan(t, files{"x.yaml": src}.tree(), "", nil)
	g.Expect(f.File("x.yaml").Documents).To(HaveLen(1))
	f, _ = scan(t, files{"x.yaml": "---\n" + src + "--- # next\n" + configMap("y", "")}.tree(), "", nil)
	g.Expect(f.File("x.yaml").Documents).To(HaveExactElements(HaveField("Raw.Name", "x"), HaveField("Raw.Name", "y")))
	g.Expect(f.File("x.yaml").Documents[1].Line).To(BeEquivalentTo(11))
}

func TestScenario16_NestedIgnoreFileIsForeign(t *testing.T) {
	g := NewWithT(t)
	f, _ := scan(t, files{"sub/.gittargetignore": "*.bak\n", "x.yaml": configMap("x", "")}.tree(), "", nil)
	g.Expect(f.File("sub/.gittargetignore").Role).To(Equal(Foreign))
	g.Expect(f.Ignore()).To(BeNil())
}

func TestScenario17AndCaseP05_SymlinksAreNeverFollowed(t *testing.T) {
	g := NewWithT(t)
	fs := files{
		"env/base": "->../../../etc", "env/prod": "->stage", "env/stage/x.yaml": configMap("x", "a"), "env/a": "->b", "env/b": "->a",
		"env/cm.yaml": "->../shared/cm.yaml", "shared/cm.yaml": configMap("cm", "a"), "out": "->env",
	}
	f, st := scan(t, fs.tree(), "env", nil)
	g.Expect(st.BlobsRead).To(Equal(1), "only the one real manifest")
	for _, p := range []string{"env/base", "env/prod", "env/a", "env/b", "env/cm.yaml"} {
		g.Expect(f.File(p)).To(HaveField("Role", ForeignSymlink), p)
	}
	g.Expect(f.Counts().Managed).To(Equal(1))
	// A folder that is, or lies behind, a symlink is blocked: a write would have to replace the link.
	for _, p := range []string{"env/prod", "env/prod/x", "out", "out/stage"} {
		f, _ := scan(t, fs.tree(), p, nil)
		var found []string
		for file := range f.Irregular() {
			g.Expect(file.Role).To(Equal(ForeignSymlink))
			found = append(found, file.Path)
		}
		g.Expect(found).To(HaveLen(1), p)
		_, _, err := f.Apply(t.Context(), fs.tree(), []Edit{{Path: p + "/new.yaml"}})
		g.Expect(err).To(MatchError(ContainSubstring("in the way")))
	}
}

func TestScenario18_AliasBombIsBoundedAndFound(t *testing.T) {
	g := NewWithT(t)
	bomb := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb, namespace: a}\na: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		c, d := string(rune('a'+i)), string(rune('b'+i))
		bomb += fmt.Sprintf("%s: &%s [%s]\n", d, d, strings.TrimSuffix(strings.Repeat("*"+c+",", 9), ","))
	}
	f, st := scan(t, files{"bomb.yaml": bomb, "x.yaml": configMap("x", "a")}.tree(), "", nil)
	g.Expect(st.DocumentsParsed).To(Equal(2))
	docs := f.Find(cm("bomb", "a"), View{})
	g.Expect(docs).To(HaveLen(1), "it claims its identity, so it can be deleted")
	g.Expect(docs[0].Hazards).NotTo(BeEmpty())
	g.Expect(len(docs[0].Hazards)).To(BeNumerically("<=", 32))
	g.Expect(docs[0].Digest).To(Equal([32]byte{}))
	g.Expect(f.File("bomb.yaml").Aliases).NotTo(BeEmpty())
	g.Expect(f.Diagnose(View{})).To(ContainElement(HaveField("Code", NonEditable)))
}

func TestHostileFiles(t *testing.T) {
	for name, src := range map[string]string{
		"alias cycle":     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\nx: &x {y: *x}\n",
		"levels":          strings.Repeat("[", 10_000),
		"map levels":      strings.Repeat("{a: ", 10_000),
		"indent levels":   deepMap(3000),
		"megabyte scalar": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  k: " + strings.Repeat("x", 3<<20) + "\n",
		"invalid UTF-8":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \xff\xfe}\n",
		"NUL":             "apiVersion: v1\x00kind: x\n",
		"UTF-16":          "\xff\xfea\x00:\x00 \x00b\x00\n\x00",
		"separators":      strings.Repeat("---\n", 20_000),
		"tabs":            "a:\n\tb: c\n",
		"unknown alias":   "a: *nowhere\n",
		"directive":       "%YAML 9.9\n---\na: b\n",
		"huge key":        "? " + strings.Repeat("k", 100_000) + "\n: v\n",
		"empty":           "",
		"only BOM":        "\xef\xbb\xbf",
		"name of a list":  "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: [a, b]\n",
		"kind of an int":  "apiVersion: 1\nkind: 2\nmetadata: {name: 3}\n",
		"null metadata":   "apiVersion: v1\nkind: ConfigMap\nmetadata:\n",
		"alias identity":  "x: &x v1\napiVersion: *x\nkind: ConfigMap\nmetadata: {name: a}\n",
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f, _ := scan(t, files{"h.yaml": src, "kustomization.yaml": src, "patch/kustomization.yaml": "patches: [{path: ../h.yaml}]\nresources: [../h.yaml]\n"}.tree(), "", nil)
			again, _ := scan(t, files{"h.yaml": src, "kustomization.yaml": src, "patch/kustomization.yaml": "patches: [{path: ../h.yaml}]\nresources: [../h.yaml]\n"}.tree(), "", nil)
			g.Expect(dump(f)).To(Equal(dump(again)))
			f.Diagnose(View{})
		})
	}
}

func deepMap(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func TestContents(t *testing.T) {
	fs := files{
		"sealed.sops.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: a}\ndata: {k: \"ENC[AES256_GCM,data:x]\"}\nsops: {version: 3.13.3}\n",
		"hidden.sops.yaml": "apiVersion: ENC[AES256_GCM,data:x]\nkind: ENC[AES256_GCM,data:y]\nmetadata: {name: \"ENC[AES256_GCM,data:z]\"}\nsops: {version: 3.13.3}\n",
		"values.sops.yaml": "password: ENC[AES256_GCM,data:x]\nsops: {version: 3.13.3}\n",
		"clear.sops.yaml":  configMap("clear", "a"),
		"lfs.yaml":         "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n",
		"crypt.yaml":       "\x00GITCRYPT\x00abc",
		"list.yaml":        "apiVersion: v1\nkind: List\nitems: []\n",
		"gen.yaml":         "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\n",
		"text.yaml":        "hello\n",
		"values.yaml":      "replicas: 1\n",
		"broken.yaml":      "a: b\nc: [\n",
		"dup.yaml":         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dup, namespace: a}\ndata:\n  level: info\n  level: warn\n",
	}
	f, _ := scan(t, fs.tree(), "", nil)
	doc := func(p string) Document { return f.File(p).Documents[0] }
	g := NewWithT(t)
	g.Expect(doc("sealed.sops.yaml")).To(And(HaveField("Content", Managed), HaveField("Encrypted", true), HaveField("Raw.Name", "s")))
	g.Expect(doc("hidden.sops.yaml")).To(And(HaveField("Content", Hidden), HaveField("Raw.Name", "")))
	g.Expect(doc("values.sops.yaml").Content).To(Equal(Hidden))
	clear := doc("clear.sops.yaml")
	g.Expect(f.File("clear.sops.yaml").MissesSOPS(&clear)).To(BeTrue())
	g.Expect(f.File("lfs.yaml").Pointer).To(Equal("Git LFS"))
	g.Expect(f.File("crypt.yaml").Pointer).To(Equal("git-crypt"))
	g.Expect(doc("list.yaml")).To(And(HaveField("Content", NotKRM), HaveField("Note", ContainSubstring("List"))))
	g.Expect(doc("gen.yaml").Note).To(ContainSubstring("generateName"))
	g.Expect(doc("text.yaml").Note).To(Equal("it is no mapping"))
	g.Expect(doc("values.yaml").Note).To(Equal("it has no apiVersion, no kind, no metadata.name"))
	g.Expect(doc("broken.yaml")).To(And(HaveField("Content", Invalid), HaveField("Note", Not(BeEmpty()))))
	// Case Y12: duplicate keys are found with their line, and the document still claims its identity.
	g.Expect(doc("dup.yaml").Hazards).To(ContainElement(And(HaveField("Kind", "duplicate key"), HaveField("Line", 6))))
	g.Expect(f.Find(cm("dup", "a"), View{})).To(HaveLen(1))
	codes := map[Code]int{}
	for _, d := range f.Diagnose(View{}) {
		codes[d.Code]++
	}
	g.Expect(codes).To(Equal(map[Code]int{InvalidYAML: 1, NotKRMCode: 4, MissingSOPSKey: 1, NonEditable: 1}))
}

func TestRetainedValuesFiles(t *testing.T) {
	g := NewWithT(t)
	fs := files{
		"apps/argo.yaml":               "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec:\n  source: {path: charts/boat, helm: {valueFiles: [values-prod.yaml, ../shared.yaml, $vals/apps/x.yaml]}}\n",
		"apps/flux.yaml":               "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: b}\nspec: {chart: {spec: {chart: ./charts/ferry, valuesFiles: [apps/ferry.yaml, missing.yaml, apps/cm.yaml]}}}\n",
		"charts/boat/values-prod.yaml": "a: 1\n", "charts/shared.yaml": "a: 1\n", "apps/x.yaml": "a: 1\n", "apps/ferry.yaml": "a: 1\n",
		"apps/cm.yaml": configMap("cm", "a"), "apps/other.yaml": "a: 1\n",
	}
	f, _ := scan(t, fs.tree(), "", nil)
	g.Expect(f.ValueFiles()).To(Equal(map[string]bool{"charts/boat/values-prod.yaml": true, "charts/shared.yaml": true, "apps/x.yaml": true, "apps/ferry.yaml": true}))
}
