// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package sanitize

import "strings"

// objectRules are the default rules that skip objects, in the order of evaluation.
var objectRules = []struct {
	name    string
	matches func(*work) bool
}{
	{ClusterMade, clusterMade},
	{LeaderElection, leaderElection},
	{HelmOwned, helmOwned},
	{ControllerOwned, controllerOwned},
	{ServiceAccountTokens, serviceAccountToken},
	{HelmReleaseSecrets, helmRelease},
}

// skip returns the name of the first rule that skips the object; empty for none.
func (s *Sanitizer) skip(w *work) string {
	if w.ownKey() {
		return OwnKeys
	}
	for _, r := range objectRules {
		if !s.off[r.name] && r.matches(w) {
			return r.name
		}
	}
	for _, r := range s.rules {
		if r.skips() && r.matches(w) {
			return r.Name
		}
	}
	return ""
}

// clusterMade (case S16) reads the stripped object: what is left of an untouched one is its name.
func clusterMade(w *work) bool {
	if w.own.onlySystem() {
		return true
	}
	switch {
	case w.is("", "ConfigMap"):
		switch w.name {
		case "kube-root-ca.crt", "istio-ca-root-cert", "openshift-service-ca.crt":
			return true
		}
		return w.namespace == "kube-system" && w.name == "extension-apiserver-authentication"
	case w.is("", "ServiceAccount"):
		return w.name == "default" && w.untouched()
	case w.is("", "Namespace"):
		switch w.name {
		case "default", "kube-system", "kube-public", "kube-node-lease":
			return w.untouched()
		}
	case w.is("", "Service"):
		return w.namespace == "default" && w.name == "kubernetes"
	case w.is("", "PersistentVolume"):
		_, provisioned := w.facts.annotations["pv.kubernetes.io/provisioned-by"]
		return provisioned
	}
	// A dump without managed fields does not tell whether somebody changed a built-in role; most nobody did.
	return w.facts.labels["kubernetes.io/bootstrapping"] == "rbac-defaults" && w.facts.live && !w.own.evidence()
}

// ownKeyMarks are the annotations of Secrets that hold a key this operator generated: an age identity, a signing key.
var ownKeyMarks = []string{"configbutler.ai/age-recipient", "configbutler.ai/backup-warning", "configbutler.ai/signing-public-key"}

// ownKey reports a Secret that this operator made for itself. Its keys must not travel with what they protect, whatever
// a rule selects and whichever default rules are switched off.
func (w *work) ownKey() bool {
	if !w.is("", "Secret") {
		return false
	}
	for _, m := range ownKeyMarks {
		if _, ok := w.facts.annotations[m]; ok {
			return true
		}
	}
	return strings.HasPrefix(text(w.obj["type"]), "configbutler.ai/")
}

// untouched reports a stripped object that holds nothing but its identity and the label every namespace gets.
func (w *work) untouched() bool {
	for k := range w.obj {
		if k != "apiVersion" && k != "kind" && k != "metadata" {
			return false
		}
	}
	for k := range w.meta {
		if k != "name" && k != "namespace" && k != "labels" {
			return false
		}
	}
	labels := w.at("metadata", "labels")
	return w.meta["labels"] == nil || len(labels) == 1 && labels[namespaceName] == w.name
}

// leaderElection (case S18).
func leaderElection(w *work) bool {
	if w.is("coordination.k8s.io", "Lease") {
		return true
	}
	_, lock := w.facts.annotations["control-plane.alpha.kubernetes.io/leader"]
	return lock && (w.is("", "ConfigMap") || w.is("", "Endpoints"))
}

// helmOwned (case S17) goes by what Helm and Flux's helm-controller write on everything they install. The label
// app.kubernetes.io/managed-by proves nothing: rendered charts carry it too.
func helmOwned(w *work) bool {
	_, helm := w.facts.annotations["meta.helm.sh/release-name"]
	_, flux := w.facts.labels["helm.toolkit.fluxcd.io/name"]
	return helm || flux
}

// productMarks are annotations and labels on what controllers make without an owner reference.
var productMarks = []string{
	"cert-manager.io/certificate-name",
	"hnc.x-k8s.io/inherited-from",
	"reconcile.external-secrets.io/created-by",
	"reflector.v1.k8s.emberstack.com/auto-reflects",
}

// controllerOwned (case S19).
func controllerOwned(w *work) bool {
	if w.facts.controlled {
		return true
	}
	for _, m := range productMarks {
		if _, ok := w.facts.annotations[m]; ok {
			return true
		}
		if _, ok := w.facts.labels[m]; ok {
			return true
		}
	}
	return false
}

func serviceAccountToken(w *work) bool {
	return w.is("", "Secret") && w.obj["type"] == "kubernetes.io/service-account-token"
}

func helmRelease(w *work) bool {
	if w.is("", "Secret") && w.obj["type"] == "helm.sh/release.v1" {
		return true
	}
	return w.is("", "ConfigMap") && w.facts.labels["owner"] == "helm" && strings.HasPrefix(w.name, "sh.helm.release.v1.")
}
