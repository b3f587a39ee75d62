// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sanitize

import (
	"slices"
	"strconv"
)

// fieldRules are the default rules that mask fields, in the order of evaluation. Each returns JSON pointers; it need not
// know whether the object has the fields.
var fieldRules = []struct {
	name  string
	paths func(*work) []string
}{
	{ClusterMade, aggregatedRules},
	{CABundle, injectedBundles},
	{AutoscaledReplicas, autoscaled},
	{RestartAnnotations, restarts},
}

// mask applies the field rules and returns the names of those that masked something the object has.
func (s *Sanitizer) mask(w *work) []string {
	var names []string
	keep := func(name string, paths []string) {
		if slices.ContainsFunc(paths, func(p string) bool { return exists(w.obj, p) }) {
			names = append(names, name)
		}
		w.mask.keep = append(w.mask.keep, paths...)
	}
	for _, r := range fieldRules {
		if !s.off[r.name] {
			keep(r.name, r.paths(w))
		}
	}
	if !s.off[AutoscaledReplicas] && w.unclaimedReplicas() {
		w.mask.ifPresent = append(w.mask.ifPresent, "/spec/replicas")
	}
	for _, r := range s.rules {
		switch {
		case r.skips() || !r.matches(w):
		case len(r.managers) == 0:
			keep(r.Name, r.FieldPaths)
		default:
			keep(r.Name, w.managed(r))
		}
	}
	for _, p := range w.mask.keep {
		w.cut(p)
	}
	return names
}

// aggregatedRules are the rules of a ClusterRole that the control plane gathers from others, whoever wrote some first:
// it overwrites them.
func aggregatedRules(w *work) []string {
	if w.is("rbac.authorization.k8s.io", "ClusterRole") && w.obj["aggregationRule"] != nil {
		return []string{"/rules"}
	}
	return nil
}

// injectors are the annotations that ask for a CA bundle.
var injectors = []string{
	"cert-manager.io/inject-ca-from", "cert-manager.io/inject-ca-from-secret", "cert-manager.io/inject-apiserver-ca",
	"service.beta.openshift.io/inject-cabundle",
}

func (w *work) wantsBundle() bool {
	return slices.ContainsFunc(injectors, func(a string) bool { _, ok := w.facts.annotations[a]; return ok })
}

// injectedBundles are CA bundles that an annotation asks for, or that a manager set who set nothing else beside them.
func injectedBundles(w *work) []string {
	switch {
	case w.t.Group == "admissionregistration.k8s.io":
		var out []string
		list, _ := w.obj["webhooks"].([]any)
		for i, h := range list {
			hook, _ := h.(map[string]any)
			at := []step{{field: "webhooks"}, {key: map[string]any{"name": hook["name"]}}}
			if w.injected(append(at, fieldSteps("clientConfig", "caBundle")...), append(at, fieldSteps("name")...)) {
				out = append(out, pointer("webhooks", strconv.Itoa(i), "clientConfig", "caBundle"))
			}
		}
		return out
	case w.is("apiextensions.k8s.io", "CustomResourceDefinition"):
		at := []string{"spec", "conversion", "webhook", "clientConfig", "caBundle"}
		if w.at(at[:3]...) != nil && w.injected(fieldSteps(at...), fieldSteps("spec", "names")) {
			return []string{pointer(at...)}
		}
	case w.is("apiregistration.k8s.io", "APIService"):
		if w.injected(fieldSteps("spec", "caBundle"), fieldSteps("spec", "group")) {
			return []string{"/spec/caBundle"}
		}
	case w.is("", "ConfigMap"):
		if w.facts.annotations["service.beta.openshift.io/inject-cabundle"] == "true" {
			return []string{pointer("data", "service-ca.crt")}
		}
		if w.facts.labels["config.openshift.io/inject-trusted-cabundle"] == "true" {
			return []string{pointer("data", "ca-bundle.crt")}
		}
	}
	return nil
}

// injected reports a bundle that an annotation asks for, or whose owners do not own the object's anchor field.
func (w *work) injected(bundle, anchor []step) bool {
	if w.wantsBundle() {
		return true
	}
	owners, authors := w.own.owners(bundle), w.own.owners(anchor)
	return len(owners) > 0 && len(authors) > 0 && !slices.ContainsFunc(owners, func(o string) bool { return slices.Contains(authors, o) })
}

// autoscalers own fields through the scale subresource. The horizontal pod autoscaler is part of the control plane.
func (e entry) autoscaler() bool {
	if e.subresource != "scale" {
		return false
	}
	switch e.manager {
	case "keda", "keda-operator", "autoscaler", "cluster-proportional-autoscaler":
		return true
	}
	return e.system()
}

// autoscaled are the fields that an autoscaler owns alone (case S12). A person's scale takes them over.
func autoscaled(w *work) []string {
	var out []string
	for _, e := range w.own.entries {
		if !e.autoscaler() {
			continue
		}
		w.leaves(e.fields, func(p string, steps []step) {
			others := slices.ContainsFunc(w.own.entries, func(o entry) bool { return !o.autoscaler() && owns(o.fields, steps) })
			if !others {
				out = append(out, p)
			}
		})
	}
	return out
}

// unclaimedReplicas reports a replica count that nobody owns. The API server stops tracking who scales once the count was
// applied without replicas, as is usual beside an autoscaler, or went through zero. A document that leaves the count to
// others goes on doing so; one that has it follows live, whoever scaled.
func (w *work) unclaimedReplicas() bool {
	scaled := w.t.Group == "apps" || w.is("", "ReplicationController")
	path := fieldSteps("spec", "replicas")
	return scaled && w.own.evidence() && exists(w.obj, "/spec/replicas") && len(w.own.owners(path)) == 0 && !w.own.applied(path)
}

// restartMasks are masked whether the live object has them or not, so that a copy in Git stays.
var restartMasks = []string{
	pointer("spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt"),
	pointer("spec", "template", "metadata", "annotations", "cattle.io/timestamp"),
	pointer("spec", "template", "metadata", "annotations", "kubesphere.io/restartedAt"),
	pointer("spec", "template", "metadata", "annotations", "reloader.stakater.com/last-reloaded-from"),
}

// restarts are the annotations of a pod template by which tools restart its pods (case S13).
func restarts(w *work) []string {
	if w.at("spec", "template", "spec") == nil {
		return nil
	}
	return restartMasks
}
