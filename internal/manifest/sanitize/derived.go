// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sanitize

import (
	"reflect"
	"strings"
)

// WithoutDerived takes out of a live object what the API server derived from the object's other fields and the document
// in Git leaves to it (decision 39): a pull policy that follows from the image, a target port that is the port. A file a
// person wrote must not gain them. Values that differ from what would be derived stay, and so does everything in items
// Git does not have. live is changed in place; fixed defaults are the schema's business.
func WithoutDerived(git, live map[string]any, group, kind string) {
	d := derivation{git, live}
	switch group + "/" + kind {
	case "/Pod":
		d.in("spec").podSpec(true)
	case "/PodTemplate":
		d.in("template", "spec").podSpec(false)
	case "apps/Deployment", "apps/StatefulSet", "apps/DaemonSet", "apps/ReplicaSet":
		d.in("spec", "template", "spec").podSpec(false)
	case "/ReplicationController":
		d.replicationController()
	case "batch/Job":
		d.in("spec").drop("manualSelector", false)
		d.in("spec", "template", "spec").podSpec(false)
	case "batch/CronJob":
		d.in("spec", "jobTemplate", "spec").drop("manualSelector", false)
		d.in("spec", "jobTemplate", "spec", "template", "spec").podSpec(false)
	case "/Service":
		d.in("spec").each("ports", []string{"port", "protocol"}, func(p derivation) {
			p.drop("targetPort", p.live["port"])
		})
	case "networking.k8s.io/NetworkPolicy":
		d.in("spec").policyTypes()
	case "apiextensions.k8s.io/CustomResourceDefinition":
		d.definition()
	case "apiregistration.k8s.io/APIService":
		d.in("spec", "service").drop("port", int64(443))
	case "/LimitRange":
		d.in("spec").each("limits", []string{"type"}, derivation.limits)
	case "/PersistentVolumeClaim":
		spec := d.in("spec")
		spec.drop("dataSourceRef", spec.live["dataSource"])
		spec.drop("dataSource", spec.live["dataSourceRef"])
	case "discovery.k8s.io/EndpointSlice":
		d.each("ports", []string{"port", "name"}, func(p derivation) {
			p.drop("name", "")
			p.drop("protocol", "TCP")
		})
	}
}

// derivation is a map in Git and its counterpart in the live object; either may be nil.
type derivation struct{ git, live map[string]any }

func (d derivation) in(fields ...string) derivation {
	for _, f := range fields {
		g, _ := d.git[f].(map[string]any)
		l, _ := d.live[f].(map[string]any)
		d = derivation{g, l}
	}
	return d
}

// drop takes a field out of live when Git lacks it and its value is what the API derives.
func (d derivation) drop(field string, derived any) {
	have, ok := d.live[field]
	if d.git != nil && d.git[field] == nil && ok && reflect.DeepEqual(have, derived) {
		delete(d.live, field)
	}
}

// each visits the items of a list of maps that both sides have. Items are paired by their keys; a key that is absent
// counts as the protocol TCP or as empty, as the API has it.
func (d derivation) each(field string, keys []string, visit func(derivation)) {
	git, _ := d.git[field].([]any)
	live, _ := d.live[field].([]any)
	used := make([]bool, len(git))
	for _, e := range live {
		l, _ := e.(map[string]any)
		for i, c := range git {
			g, _ := c.(map[string]any)
			if l == nil || g == nil || used[i] || !pairs(g, l, keys) {
				continue
			}
			used[i] = true
			visit(derivation{g, l})
			break
		}
	}
}

func pairs(a, b map[string]any, keys []string) bool {
	value := func(m map[string]any, key string) any {
		switch v := m[key]; {
		case v != nil:
			return v
		case key == "protocol":
			return "TCP"
		}
		return ""
	}
	for _, k := range keys {
		if !reflect.DeepEqual(value(a, k), value(b, k)) {
			return false
		}
	}
	return true
}

// podSpec is a pod's or a template's; a pod itself is completed further than a template.
func (d derivation) podSpec(pod bool) {
	d.drop("serviceAccount", d.live["serviceAccountName"])
	if pod {
		// The priority class decides both, and nobody can set them otherwise.
		d.drop("priority", d.live["priority"])
		d.drop("preemptionPolicy", d.live["preemptionPolicy"])
	}
	for _, field := range []string{"containers", "initContainers", "ephemeralContainers"} {
		d.each(field, []string{"name"}, func(c derivation) {
			c.drop("imagePullPolicy", pullPolicy(c.live["image"]))
			c.each("env", []string{"name"}, func(e derivation) {
				e.in("valueFrom", "resourceFieldRef").drop("divisor", "0")
			})
			if pod {
				c.requests()
			}
			if pod && d.live["hostNetwork"] == true {
				c.each("ports", []string{"containerPort", "protocol"}, func(p derivation) {
					p.drop("hostPort", p.live["containerPort"])
				})
			}
		})
	}
	d.each("volumes", []string{"name"}, func(v derivation) {
		image := v.in("image")
		image.drop("pullPolicy", pullPolicy(image.live["reference"]))
		v.in("downwardAPI").items()
		v.in("projected").sources()
	})
}

// requests are the limits where nothing else was said.
func (d derivation) requests() {
	r := d.in("resources")
	limits, _ := r.live["limits"].(map[string]any)
	requests, _ := r.live["requests"].(map[string]any)
	git, _ := r.git["requests"].(map[string]any)
	if r.git == nil || len(limits) == 0 {
		return
	}
	for name, v := range limits {
		if _, said := git[name]; !said && reflect.DeepEqual(requests[name], v) {
			delete(requests, name)
		}
	}
	if len(requests) == 0 && git == nil {
		delete(r.live, "requests")
	}
}

func (d derivation) items() {
	d.each("items", []string{"path"}, func(i derivation) { i.in("resourceFieldRef").drop("divisor", "0") })
}

// sources of a projected volume have no key; they are paired by position.
func (d derivation) sources() {
	git, _ := d.git["sources"].([]any)
	live, _ := d.live["sources"].([]any)
	for i := range min(len(git), len(live)) {
		g, _ := git[i].(map[string]any)
		l, _ := live[i].(map[string]any)
		derivation{g, l}.in("downwardAPI").items()
	}
}

// pullPolicy is Always for the tag latest, which an image without tag and digest has too.
func pullPolicy(image any) any {
	ref, _ := image.(string)
	name, _, digested := strings.Cut(ref, "@")
	tag := ""
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		tag = name[colon+1:]
	}
	if tag == "latest" || tag == "" && !digested {
		return "Always"
	}
	return "IfNotPresent"
}

// replicationController takes its selector and labels from the template.
func (d derivation) replicationController() {
	labels := d.in("spec", "template", "metadata").live["labels"]
	d.in("spec").drop("selector", labels)
	d.in("metadata").drop("labels", labels)
	d.in("spec", "template", "spec").podSpec(false)
}

func (d derivation) policyTypes() {
	want := []any{"Ingress"}
	if egress, _ := d.live["egress"].([]any); len(egress) > 0 {
		want = append(want, "Egress")
	}
	d.drop("policyTypes", want)
}

func (d derivation) definition() {
	spec := d.in("spec")
	spec.drop("conversion", map[string]any{"strategy": "None"})
	spec.in("conversion", "webhook", "clientConfig", "service").drop("port", int64(443))
	names := spec.in("names")
	kind := text(names.live["kind"])
	names.drop("listKind", kind+"List")
	names.drop("singular", strings.ToLower(kind))
}

// limits of containers complete each other: the default is the maximum, and the default request the default or the
// minimum.
func (d derivation) limits() {
	if d.live["type"] != "Container" {
		return
	}
	field := func(name string) map[string]any { m, _ := d.live[name].(map[string]any); return m }
	fill := func(name string, from ...map[string]any) {
		have := field(name)
		git, _ := d.git[name].(map[string]any)
		var gone []string
		for k, v := range have {
			if _, said := git[k]; said {
				continue
			}
			for _, f := range from {
				if w, ok := f[k]; ok {
					if reflect.DeepEqual(v, w) {
						gone = append(gone, k)
					}
					break
				}
			}
		}
		for _, k := range gone {
			delete(have, k)
		}
		if len(gone) > 0 && len(have) == 0 && d.git[name] == nil {
			delete(d.live, name)
		}
	}
	fill("defaultRequest", field("default"), field("min"))
	fill("default", field("max"))
}

// injected are the pointers below which WithoutInjected may remove items.
var injected = []string{"/spec/tolerations/", "/spec/volumes/", "/spec/containers/", "/spec/initContainers/"}

// WithoutInjected takes out of a live Pod what admission put into every pod and the document in Git lacks: the token
// volume of the service account with its mounts, and the tolerations of nodes that are not ready. It does nothing when
// pointers, such as those of a mask, go into the lists it would change.
func WithoutInjected(git, live map[string]any, pointers []string) {
	for _, p := range pointers {
		if hasPrefix(p, injected) {
			return
		}
	}
	d := derivation{git, live}.in("spec")
	if d.git == nil {
		return
	}
	d.drop("serviceAccountName", "default")
	d.drop("serviceAccount", "default")
	d.remove("tolerations", []string{"key", "operator", "effect", "tolerationSeconds"}, func(t map[string]any) bool {
		return (t["key"] == "node.kubernetes.io/not-ready" || t["key"] == "node.kubernetes.io/unreachable") &&
			t["operator"] == "Exists" && t["effect"] == "NoExecute" && t["tolerationSeconds"] == int64(300)
	})
	d.remove("volumes", []string{"name"}, isTokenVolume)
	for _, field := range []string{"containers", "initContainers"} {
		d.each(field, []string{"name"}, func(c derivation) {
			c.remove("volumeMounts", []string{"name"}, func(m map[string]any) bool {
				return m["mountPath"] == "/var/run/secrets/kubernetes.io/serviceaccount"
			})
		})
	}
}

func isTokenVolume(v map[string]any) bool {
	return strings.HasPrefix(text(v["name"]), "kube-api-access-") && v["projected"] != nil
}

// remove takes items out of a list of live that match and that Git does not have.
func (d derivation) remove(field string, keys []string, matches func(map[string]any) bool) {
	git, _ := d.git[field].([]any)
	live, _ := d.live[field].([]any)
	kept := make([]any, 0, len(live))
	for _, e := range live {
		l, _ := e.(map[string]any)
		said := false
		for _, c := range git {
			g, _ := c.(map[string]any)
			said = said || g != nil && l != nil && pairs(g, l, keys)
		}
		if l == nil || said || !matches(l) {
			kept = append(kept, e)
		}
	}
	switch {
	case len(kept) == len(live):
	case len(kept) == 0 && d.git[field] == nil:
		delete(d.live, field)
	default:
		d.live[field] = kept
	}
}
