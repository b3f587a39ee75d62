// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package layout

// clusterScoped are the kinds Kubernetes itself serves without a namespace, by group. kustomize knows them too and
// leaves their namespace alone.
var clusterScoped = map[string]map[string]bool{
	"": set("Namespace", "Node", "PersistentVolume", "ComponentStatus"),
	"admissionregistration.k8s.io": set("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy",
		"MutatingAdmissionPolicyBinding"),
	"apiextensions.k8s.io":         set("CustomResourceDefinition"),
	"apiregistration.k8s.io":       set("APIService"),
	"authentication.k8s.io":        set("TokenReview", "SelfSubjectReview"),
	"authorization.k8s.io":         set("SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"),
	"certificates.k8s.io":          set("CertificateSigningRequest", "ClusterTrustBundle"),
	"flowcontrol.apiserver.k8s.io": set("FlowSchema", "PriorityLevelConfiguration"),
	"internal.apiserver.k8s.io":    set("StorageVersion"),
	"networking.k8s.io":            set("IngressClass", "IPAddress", "ServiceCIDR"),
	"node.k8s.io":                  set("RuntimeClass"),
	"policy":                       set("PodSecurityPolicy"),
	"rbac.authorization.k8s.io":    set("ClusterRole", "ClusterRoleBinding"),
	"resource.k8s.io":              set("DeviceClass", "ResourceSlice", "DeviceTaintRule"),
	"scheduling.k8s.io":            set("PriorityClass"),
	"storage.k8s.io": set("CSIDriver", "CSINode", "StorageClass", "VolumeAttachment",
		"VolumeAttributesClass"),
	"storagemigration.k8s.io": set("StorageVersionMigration"),
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// ClusterScoped reports whether a built-in kind has no namespace. It is false for every kind of an unknown group: a
// build treats those as namespaced.
func ClusterScoped(group, kind string) bool { return clusterScoped[group][kind] }
