// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/discovery"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/tests/harness"
)

var update = flag.Bool("update", false, "write builtin/ from the real API server")

// TestReal_BuiltinTable compares the built-in table with what the pinned API server serves.
func TestReal_BuiltinTable(t *testing.T) {
	g := NewWithT(t)
	cp, err := harness.StartControlPlane(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	defer cp.Stop()
	dc, err := discovery.NewDiscoveryClientForConfig(cp.Config)
	g.Expect(err).NotTo(HaveOccurred())

	list := servedTypes(t, dc)
	doc := openAPI(t, dc)
	if *update {
		b, err := json.MarshalIndent(list, "", " ")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(os.WriteFile("builtin/types.json", append(b, '\n'), 0o600)).To(Succeed())
		var z bytes.Buffer
		w, err := gzip.NewWriterLevel(&z, gzip.BestCompression)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = w.Write(doc)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(w.Close()).To(Succeed())
		g.Expect(os.WriteFile("builtin/openapi.json.gz", z.Bytes(), 0o600)).To(Succeed())
		return
	}
	var have []change.Type
	b, err := builtin.ReadFile("builtin/types.json")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(json.Unmarshal(b, &have)).To(Succeed())
	g.Expect(have).To(Equal(list), "run this test with -update")
	packed, err := builtin.ReadFile("builtin/openapi.json.gz")
	g.Expect(err).NotTo(HaveOccurred())
	z, err := gzip.NewReader(bytes.NewReader(packed))
	g.Expect(err).NotTo(HaveOccurred())
	old, err := io.ReadAll(z)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bytes.Equal(old, doc)).To(BeTrue(), "run this test with -update")
}

// servedTypes are the types in their preferred version that can be listed.
func servedTypes(t *testing.T, dc *discovery.DiscoveryClient) []change.Type {
	t.Helper()
	lists, err := dc.ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	var out []change.Type
	for _, l := range lists {
		group, version := splitVersion(l.GroupVersion)
		for _, r := range l.APIResources {
			if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "list") {
				continue
			}
			out = append(out, change.Type{Group: group, Version: version, Kind: r.Kind, Resource: r.Name, Namespaced: r.Namespaced})
		}
	}
	slices.SortFunc(out, func(a, b change.Type) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// openAPI joins the documents of the API server into one and keeps the fields that comparison reads.
func openAPI(t *testing.T, dc *discovery.DiscoveryClient) []byte {
	t.Helper()
	paths, err := dc.OpenAPIV3().Paths()
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		gv := paths[name]
		if !strings.HasPrefix(name, "api/") && !strings.HasPrefix(name, "apis/") {
			continue
		}
		raw, err := gv.Schema("application/json")
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			Components struct {
				Schemas map[string]any `json:"schemas"`
			} `json:"components"`
		}
		if err := json.Unmarshal(raw, &d); err != nil {
			t.Fatal(err)
		}
		for n, s := range d.Components.Schemas {
			if schemas[n] == nil {
				schemas[n] = slim(s, true)
			}
		}
	}
	b, err := json.Marshal(map[string]any{"components": map[string]any{"schemas": schemas}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var kept = []string{
	"$ref", "allOf", "default", "items", "additionalProperties", "x-kubernetes-int-or-string", "x-kubernetes-list-type",
	"x-kubernetes-list-map-keys", "x-kubernetes-patch-merge-key", "x-kubernetes-group-version-kind", "properties",
}

// slim drops what comparison does not read: descriptions, formats, required fields.
func slim(v any, schema bool) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for k, e := range m {
		switch {
		case schema && k == "properties":
			p := map[string]any{}
			for n, s := range e.(map[string]any) {
				p[n] = slim(s, true)
			}
			out[k] = p
		case schema && (k == "items" || k == "additionalProperties"):
			out[k] = slim(e, true)
		case slices.Contains(kept, k):
			out[k] = e
		}
	}
	return out
}

func TestBuiltinTable(t *testing.T) {
	g := NewWithT(t)
	ty, err := newTypes()
	g.Expect(err).NotTo(HaveOccurred())
	d, ok := ty.Kind("apps", "Deployment")
	g.Expect(ok).To(BeTrue())
	g.Expect(d).To(Equal(change.Type{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Namespaced: true}))
	pod := ty.Schema("apps", "v1", "Deployment").Field("spec").Field("template").Field("spec")
	g.Expect(pod.Field("containers").ListMapKeys).To(Equal([]string{"name"}))
	g.Expect(pod.Field("dnsPolicy").Default).To(Equal("ClusterFirst"))
	g.Expect(pod.Field("containers").Item().Field("resources").Field("limits").Field("cpu").Quantity).To(BeTrue())
	_, err = ty.lookup("event")
	g.Expect(err).To(MatchError(ContainSubstring("name the group too")))

	crds, err := os.ReadFile(filepath.Join("testdata", "crd.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = ty.addCRDs(crds)
	g.Expect(err).NotTo(HaveOccurred())
	b, err := ty.lookup("boats.dock.test")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b).To(Equal(change.Type{Group: "dock.test", Version: "v1", Kind: "Boat", Resource: "boats", Namespaced: true}))
	s := ty.Schema("dock.test", "v1", "Boat").Field("spec")
	g.Expect(s.Field("sails").Default).To(Equal(int64(2)))
	g.Expect(s.Field("crew").ListMapKeys).To(Equal([]string{"role"}))
	g.Expect(ty.BuiltIn("dock.test")).To(BeFalse())
}
