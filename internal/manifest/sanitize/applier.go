// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sanitize

import "strings"

// ApplierKind is a kind of applier.
type ApplierKind string

// The appliers whose marks are known.
const (
	// Flux marks with the labels kustomize.toolkit.fluxcd.io/name and /namespace.
	Flux ApplierKind = "Flux"
	// ArgoCD marks with the annotation argocd.argoproj.io/tracking-id.
	ArgoCD ApplierKind = "ArgoCD"
)

// Applier is a Flux Kustomization or an Argo CD Application.
type Applier struct {
	Kind ApplierKind
	// Namespace is empty for an Application of Argo CD's own namespace.
	Namespace string
	Name      string
}

// appliers reads the marks of appliers (apply 4.F4).
func (w *work) appliers() []Applier {
	var out []Applier
	name, namespace := w.facts.labels["kustomize.toolkit.fluxcd.io/name"], w.facts.labels["kustomize.toolkit.fluxcd.io/namespace"]
	if name != "" && namespace != "" {
		out = append(out, Applier{Flux, namespace, name})
	}
	if app, ok := w.trackedBy(w.facts.annotations["argocd.argoproj.io/tracking-id"]); ok {
		out = append(out, app)
	}
	return out
}

// trackedBy reads a tracking id, app:group/kind:namespace/name. One that names another object was copied and proves
// nothing.
func (w *work) trackedBy(id string) (Applier, bool) {
	parts := strings.SplitN(id, ":", 3)
	if len(parts) != 3 || parts[0] == "" || parts[1] != w.t.Group+"/"+w.t.Kind {
		return Applier{}, false
	}
	namespace, name, _ := strings.Cut(parts[2], "/")
	if name != w.name || w.namespace != "" && namespace != w.namespace {
		return Applier{}, false
	}
	app := Applier{Kind: ArgoCD, Name: parts[0]}
	// Names of Kubernetes hold no underscore, so it parts an Application's namespace from its name.
	if ns, n, ok := strings.Cut(parts[0], "_"); ok {
		app.Namespace, app.Name = ns, n
	}
	return app, app.Name != ""
}
