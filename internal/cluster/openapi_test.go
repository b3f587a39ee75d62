// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"

	. "github.com/onsi/gomega"
)

const boatDocument = `{"components":{"schemas":{
 "test.x.v1.Boat":{"x-kubernetes-group-version-kind":[{"group":"x.test","version":"v1","kind":"Boat"}],
  "properties":{
   "metadata":{"allOf":[{"$ref":"#/components/schemas/meta"}],"default":{}},
   "spec":{"properties":{
    "sails":{"type":"integer","default":2},
    "ratio":{"type":"number","default":0.5},
    "port":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]},
    "cargo":{"x-kubernetes-int-or-string":true,"pattern":"^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$"},
    "crew":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
      "items":{"properties":{"name":{"type":"string"},"rank":{"type":"string","default":"mate"}}}},
    "tow":{"$ref":"#/components/schemas/test.x.v1.Boat"},
    "flags":{"additionalProperties":{"type":"string"}},
    "open":{"additionalProperties":true},
    "near":{"default":{"sails":1},"allOf":[{"$ref":"#/components/schemas/test.x.v1.Boat"}]}
   }}}},
 "test.x.v1.BoatList":{"x-kubernetes-group-version-kind":[{"group":"x.test","version":"v1","kind":"BoatList"}],
  "properties":{"metadata":{},"items":{"type":"array"}}},
 "meta":{"properties":{"name":{"type":"string"}}}
}}}`

func TestOpenAPIFacts(t *testing.T) {
	g := NewWithT(t)
	kinds, err := parseOpenAPI([]byte(boatDocument), false)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(kinds).To(HaveLen(1), "lists are no objects")
	boat := kinds[kindKey{"x.test", "v1", "Boat"}]
	spec := boat.Field("spec")
	g.Expect(spec.Field("sails").Default).To(Equal(int64(2)))
	g.Expect(spec.Field("ratio").Default).To(Equal(0.5))
	g.Expect(spec.Field("port").IntOrString).To(BeTrue())
	g.Expect(spec.Field("port").Quantity).To(BeFalse())
	g.Expect(spec.Field("cargo").Quantity).To(BeTrue())
	g.Expect(spec.Field("crew").ListType).To(Equal("map"))
	g.Expect(spec.Field("crew").ListMapKeys).To(Equal([]string{"name"}))
	g.Expect(spec.Field("crew").Item().Field("rank").Default).To(Equal("mate"))
	g.Expect(spec.Field("tow")).To(BeIdenticalTo(boat), "schemas may be recursive")
	g.Expect(spec.Field("flags").Field("any")).NotTo(BeNil())
	g.Expect(spec.Field("open").Field("any")).To(BeNil())
	near := spec.Field("near")
	g.Expect(near.Default).To(Equal(map[string]any{"sails": int64(1)}))
	g.Expect(near.Field("spec").Field("sails").Default).To(Equal(int64(2)), "the rest is the component's")
	g.Expect(boat.Default).To(BeNil(), "a default of one use stays there")
	g.Expect(boat.Field("metadata").Default).To(Equal(map[string]any{}))
	_, err = parseOpenAPI([]byte(`{`), false)
	g.Expect(err).To(HaveOccurred())
}

func TestBuiltInGroups(t *testing.T) {
	g := NewWithT(t)
	s := newSchemas(nil)
	g.Expect(s.BuiltIn("")).To(BeTrue())
	g.Expect(s.BuiltIn("networking.k8s.io")).To(BeTrue())
	g.Expect(s.BuiltIn("gateway.networking.k8s.io")).To(BeFalse(), "a CRD of a k8s.io group")
	g.Expect(s.Schema("a", "b", "c")).To(BeNil())
}
