// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sanitize

import (
	"slices"
	"strings"
)

// serverMetadata are the fields of metadata that no document holds (decisions 38).
var serverMetadata = []string{
	"uid", "resourceVersion", "generation", "managedFields", "selfLink", "creationTimestamp", "deletionTimestamp",
	"deletionGracePeriodSeconds", "ownerReferences", "generateName",
}

// toolMarks are the prefixes of labels and annotations with which tools mark what they handle (git-writer 1.2,
// decisions 46).
var toolMarks = []string{
	"kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/", "resourceset.fluxcd.controlplane.io/", "reconcile.fluxcd.io/",
	"reconcile.configbutler.ai/", "applyset.kubernetes.io/", "kapp.k14s.io/", "meta.helm.sh/", "kro.run/",
}

// orders are what people tell Flux about an object under Flux's own prefix. They are intent, not marks: a document
// without them would let Flux prune or overwrite what it must not (decisions 21).
var orders = []string{
	"kustomize.toolkit.fluxcd.io/reconcile", "kustomize.toolkit.fluxcd.io/prune", "kustomize.toolkit.fluxcd.io/ssa",
	"kustomize.toolkit.fluxcd.io/force", "kustomize.toolkit.fluxcd.io/substitute",
}

// annotationMarks are further prefixes, of annotations only.
var annotationMarks = []string{
	"kubectl.kubernetes.io/", "control-plane.alpha.kubernetes.io/", "deployment.kubernetes.io/", "autoscaling.alpha.kubernetes.io/",
}

// markedAnnotations are further annotations, by their whole key.
var markedAnnotations = []string{
	"argocd.argoproj.io/tracking-id", "argocd.argoproj.io/installation-id", "argocd.argoproj.io/refresh",
	"argocd.argoproj.io/hydrate", "kcp.io/cluster", "deprecated.daemonset.template.generation",
	"batch.kubernetes.io/job-tracking", heldBy, suspendBeforeHold,
}

// volumeAnnotations are what the binder and the provisioner write on claims and volumes.
var volumeAnnotations = []string{
	"pv.kubernetes.io/bind-completed", boundByController, "volume.kubernetes.io/selected-node",
	"volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/storage-resizer",
}

const (
	heldBy            = "configbutler.ai/held-by"
	suspendBeforeHold = "configbutler.ai/suspend-before-hold"
	boundByController = "pv.kubernetes.io/bound-by-controller"
	namespaceName     = "kubernetes.io/metadata.name"
)

// strip removes what no document of any type holds.
func (w *work) strip() {
	delete(w.obj, "status")
	for _, k := range serverMetadata {
		delete(w.meta, k)
	}
	w.filter(w.meta, "labels", isToolMark)
	w.filter(w.meta, "annotations", w.isMarkedAnnotation)
	w.finalizers()
	nullTimestamps(w.obj)
}

// filter deletes the keys of a map that match, and the map when nothing is left of it.
func (w *work) filter(in map[string]any, field string, matches func(string) bool) {
	m, ok := in[field].(map[string]any)
	if !ok {
		if in[field] == nil {
			delete(in, field)
		}
		return
	}
	for k := range m {
		if matches(k) {
			delete(m, k)
		}
	}
	if len(m) == 0 {
		delete(in, field)
	}
}

func isToolMark(key string) bool { return hasPrefix(key, toolMarks) && !slices.Contains(orders, key) }

func (w *work) isMarkedAnnotation(key string) bool {
	if isToolMark(key) || hasPrefix(key, annotationMarks) || slices.Contains(markedAnnotations, key) {
		return true
	}
	return w.t.Group == "" && strings.HasPrefix(w.t.Kind, "PersistentVolume") && slices.Contains(volumeAnnotations, key)
}

func hasPrefix(key string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(key, p) })
}

// finalizers drops the system's own; everybody else's are intent, such as the cascade of an Argo CD Application.
func (w *work) finalizers() {
	list, ok := w.meta["finalizers"].([]any)
	if !ok {
		return
	}
	list = slices.DeleteFunc(list, func(f any) bool { return isSystemFinalizer(text(f)) })
	if w.meta["finalizers"] = list; len(list) == 0 {
		delete(w.meta, "finalizers")
	}
}

func isSystemFinalizer(f string) bool {
	switch f {
	case "foregroundDeletion", "orphan", "finalizers.fluxcd.io", "service.kubernetes.io/load-balancer-cleanup",
		"customresourcecleanup.apiextensions.k8s.io":
		return true
	}
	domain, name, _ := strings.Cut(f, "/")
	if domain == "configbutler.ai" || strings.HasSuffix(domain, ".configbutler.ai") {
		return true
	}
	return strings.HasSuffix("."+domain, ".kubernetes.io") && strings.HasSuffix(name, "-protection")
}

// nullTimestamps drops the null creationTimestamp of nested metadata, which Go clients write into templates, and the
// metadata that held nothing else.
func nullTimestamps(v any) {
	switch v := v.(type) {
	case map[string]any:
		if meta, ok := v["metadata"].(map[string]any); ok {
			if t, has := meta["creationTimestamp"]; has && t == nil {
				if delete(meta, "creationTimestamp"); len(meta) == 0 {
					delete(v, "metadata")
				}
			}
		}
		for _, e := range v {
			nullTimestamps(e)
		}
	case []any:
		for _, e := range v {
			nullTimestamps(e)
		}
	}
}
