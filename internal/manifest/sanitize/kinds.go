// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sanitize

import (
	"slices"
	"strconv"
)

// kind applies what is known of a type, by group and kind: a resource of the same kind in another group is untouched.
func (w *work) kind() {
	switch {
	case w.is("", "Service"):
		w.service()
	case w.is("", "PersistentVolumeClaim"):
		w.claim()
	case w.is("", "PersistentVolume"):
		w.volume()
	case w.is("", "Pod"):
		w.reserve(w.content(false, "spec", "nodeName"), "spec", "nodeName")
	case w.is("", "Namespace"):
		w.namespaceObject()
	case w.is("batch", "Job"):
		w.job()
	case w.is("apps", "StatefulSet"):
		w.claimTemplates()
	case w.is("certificates.k8s.io", "CertificateSigningRequest"):
		// Who asked is written by the API server.
		for _, field := range []string{"username", "uid", "groups", "extra"} {
			w.reserve(false, "spec", field)
		}
	case w.is("resource.k8s.io", "DeviceTaintRule"):
		w.reserve(false, "spec", "taint", "timeAdded")
	case w.is("argoproj.io", "Application"):
		delete(w.obj, "operation") // a request to sync, consumed by Argo CD
	case w.is("kustomize.toolkit.fluxcd.io", "Kustomization"):
		w.heldKustomization()
	}
}

// reserve notes that a value which is there counts only where Git has the field, unless it is content.
func (w *work) reserve(content bool, path ...string) {
	parent := w.at(path[:len(path)-1]...)
	if _, has := parent[path[len(path)-1]]; has && !content {
		w.mask.ifPresent = append(w.mask.ifPresent, pointer(path...))
	}
}

// content reports whether a field that the system may allocate was set by somebody (decisions 38): a person's or a
// tool's manager owns it, or it was applied. Without any evidence a manifest's field is its author's, and a live
// object's is what unknown says.
func (w *work) content(unknown bool, path ...string) bool {
	switch {
	case w.own.userOwns(fieldSteps(path...)) || w.own.applied(fieldSteps(path...)):
		return true
	case w.own.evidence():
		return false
	}
	return !w.facts.live || unknown
}

func (w *work) service() {
	spec := w.at("spec")
	ips := w.content(false, "spec", "clusterIPs")
	// The API wants the first of clusterIPs in clusterIP too.
	ip := ips || w.content(false, "spec", "clusterIP") || spec["clusterIP"] == "None"
	w.reserve(ip, "spec", "clusterIP")
	w.reserve(ips, "spec", "clusterIPs")
	w.reserve(w.content(false, "spec", "ipFamilies"), "spec", "ipFamilies")
	for field, def := range map[string]string{"ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster"} {
		w.reserve(spec[field] != def || w.content(false, "spec", field), "spec", field)
	}
	// A port is often known outside the cluster: in doubt it stays.
	w.reserve(w.content(true, "spec", "healthCheckNodePort"), "spec", "healthCheckNodePort")
	w.doubt("spec", "healthCheckNodePort")
	ports, _ := spec["ports"].([]any)
	for i, p := range ports {
		port, _ := p.(map[string]any)
		if _, has := port["nodePort"]; has && !w.nodePort(port) {
			w.mask.ifPresent = append(w.mask.ifPresent, pointer("spec", "ports", strconv.Itoa(i), "nodePort"))
		}
		w.doubt("spec", "ports", strconv.Itoa(i), "nodePort")
	}
}

// doubt notes a value of a live object that stays although nothing tells who set it.
func (w *work) doubt(path ...string) {
	if p := pointer(path...); w.facts.live && !w.own.evidence() && exists(w.obj, p) {
		w.mask.unsure = append(w.mask.unsure, p)
	}
}

// nodePort reports whether somebody set a port's nodePort.
func (w *work) nodePort(port map[string]any) bool {
	protocol := port["protocol"]
	if protocol == nil {
		protocol = "TCP"
	}
	steps := []step{
		{field: "spec"}, {field: "ports"},
		{key: map[string]any{"port": port["port"], "protocol": protocol}}, {field: "nodePort"},
	}
	switch {
	case w.own.userOwns(steps) || w.own.applied(steps):
		return true
	case w.own.evidence():
		return false
	}
	return true
}

// claim keeps a volumeName that somebody chose. Without managed fields the binder's own annotation tells.
func (w *work) claim() {
	_, bound := w.facts.annotations[boundByController]
	w.reserve(w.content(!bound, "spec", "volumeName"), "spec", "volumeName")
}

// volume keeps the claim somebody reserved a volume for, but not which incarnation of it was bound.
func (w *work) volume() {
	ref := w.at("spec", "claimRef")
	delete(ref, "uid")
	delete(ref, "resourceVersion")
	_, bound := w.facts.annotations[boundByController]
	w.reserve(w.content(!bound, "spec", "claimRef"), "spec", "claimRef")
}

// namespaceObject handles the label and the finalizer that every namespace gets.
func (w *work) namespaceObject() {
	labels := w.at("metadata", "labels")
	if labels[namespaceName] == w.name {
		w.mask.ifPresent = append(w.mask.ifPresent, pointer("metadata", "labels", namespaceName))
	}
	spec := w.at("spec")
	list, ok := spec["finalizers"].([]any)
	if !ok {
		return
	}
	list = slices.DeleteFunc(list, func(f any) bool { return f == "kubernetes" })
	if spec["finalizers"] = list; len(list) > 0 {
		return
	}
	if delete(spec, "finalizers"); len(spec) == 0 {
		delete(w.obj, "spec")
	}
}

// job removes the generated selector and the labels it selects by, which a new Job must not bring.
func (w *work) job() {
	spec := w.at("spec")
	if spec["manualSelector"] == true {
		return
	}
	delete(spec, "selector")
	generated := func(k string) bool {
		switch k {
		case "controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name":
			return true
		}
		return false
	}
	w.filter(w.meta, "labels", generated)
	if meta := w.at("spec", "template", "metadata"); len(meta) > 0 {
		w.filter(meta, "labels", generated)
		if len(meta) == 0 {
			delete(w.at("spec", "template"), "metadata")
		}
	}
}

// claimTemplates drops the status that the API server gives the templates of a StatefulSet.
func (w *work) claimTemplates() {
	list, _ := w.at("spec")["volumeClaimTemplates"].([]any)
	for _, t := range list {
		if m, ok := t.(map[string]any); ok {
			delete(m, "status")
		}
	}
}

// heldKustomization shows a Kustomization as it was before a FluxTrigger suspended it (apply 1.5).
func (w *work) heldKustomization() {
	if _, held := w.facts.annotations[heldBy]; !held {
		return
	}
	spec := w.at("spec")
	if spec == nil {
		return
	}
	before := w.facts.annotations[suspendBeforeHold] == "true"
	spec["suspend"] = before
	w.reserve(before, "spec", "suspend")
}
