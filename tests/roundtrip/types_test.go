// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package roundtrip

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/discovery"
)

// notPlayed are the served types without a round trip, and why.
var notPlayed = map[string]string{
	"/ComponentStatus":          "made up by the API server, cannot be created",
	"/Event":                    "never followed",
	"events.k8s.io/Event":       "never followed",
	"coordination.k8s.io/Lease": "never followed",
	"apps/ControllerRevision":   "never followed",
	"/Node":                     "made by kubelets; admission taints one that a person makes",
	"certificates.k8s.io/PodCertificateRequest": "made by kubelets, and only they may",
}

// TestEveryServedTypeIsPlayed: what the pinned API server serves and the operator may mirror has an object in testdata.
func TestEveryServedTypeIsPlayed(t *testing.T) {
	g := NewWithT(t)
	have := map[string]bool{}
	for _, f := range played(g) {
		u := parse(g, string(f.Data))
		have[u.GroupVersionKind().Group+"/"+u.GetKind()] = true
	}
	d, err := discovery.NewDiscoveryClientForConfig(server.Config)
	g.Expect(err).NotTo(HaveOccurred())
	lists, err := d.ServerPreferredResources()
	g.Expect(err).NotTo(HaveOccurred())
	served := map[string]bool{}
	for _, l := range lists {
		group, _, ok := strings.Cut(l.GroupVersion, "/")
		if !ok {
			group = ""
		}
		for _, r := range l.APIResources {
			if !strings.Contains(r.Name, "/") && slices.Contains(r.Verbs, "list") {
				served[group+"/"+r.Kind] = true
			}
		}
	}
	g.Expect(len(served)).To(BeNumerically(">", 50))
	for k := range served {
		_, excused := notPlayed[k]
		if have[k] == excused {
			t.Errorf("%s: played %v, excused %v", k, have[k], excused)
		}
	}
	for k := range notPlayed {
		g.Expect(served).To(HaveKey(k))
	}
}
