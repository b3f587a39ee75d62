// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mirrored selects the Secrets of the mirror; the age identity is none of them.
var mirrored = map[string]string{"mirror": "yes"}

// credentialCRD is a type of somebody else whose whole body is sensitive.
const credentialCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: credentials.example.org
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Credential, listKind: CredentialList, plural: credentials, singular: credential}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
            extra: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: source, Name: name, Labels: mirrored}
}

// secrets hold what a value can be: text, bytes, nothing, and what looks like something else.
func secrets() []*corev1.Secret {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	login := &corev1.Secret{ObjectMeta: named("login"), Data: map[string][]byte{
		"username": []byte("admin"), "password": []byte("s3cr3t: {a: 'b'} #c \"d\""), "empty": {},
		"bytes": every, "lines": []byte("one\n two\n\nthree\n\n"), "number": []byte("0123"), "bool": []byte("true"),
		"null": []byte("null"), "token": []byte("${REGION} $(VAR)"), "unicode": []byte("pass wörd ✓\u2028\t"),
	}}
	login.Annotations = map[string]string{"example.org/rotation": "monthly"}
	immutable := true
	return []*corev1.Secret{
		login,
		{ObjectMeta: named("basic"), Type: corev1.SecretTypeBasicAuth, Immutable: &immutable, Data: map[string][]byte{
			corev1.BasicAuthUsernameKey: []byte("admin"), corev1.BasicAuthPasswordKey: []byte("hunter2-hunter2"),
		}},
		{ObjectMeta: named("registry"), Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{
			corev1.DockerConfigJsonKey: []byte(`{"auths":{"registry.example.org":{"auth":"YWRtaW46aHVudGVyMi1odW50ZXIy"}}}`),
		}},
		{ObjectMeta: named("tls"), Type: corev1.SecretTypeTLS, Data: map[string][]byte{
			corev1.TLSCertKey: []byte("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"), corev1.TLSPrivateKeyKey: {},
		}},
		{ObjectMeta: named("own-type"), Type: "example.org/token", Data: map[string][]byte{"token": []byte("abcdefghijkl")}},
		{ObjectMeta: named("without-data")},
	}
}

// plain are objects that are written in clear, some of which the API server completes.
func plain() []client.Object {
	labels := map[string]string{"app": "shop"}
	pod := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: "shop", Image: "registry.example.org/shop:1.0",
			Ports:   []corev1.ContainerPort{{ContainerPort: 8080}},
			EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "login"}}}},
		}},
	}}
	once := pod.DeepCopy()
	once.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	settings := &corev1.ConfigMap{
		ObjectMeta: named("settings"),
		Data: map[string]string{
			"level": "info", "number": "0123", "bool": "yes", "empty": "", "file": "a: 1\nb:\n  - two # 2\n", "edges": " \tx\n\n",
			"template": "{{ .Values.x }}",
		},
		BinaryData: map[string][]byte{"logo": {0, 1, 2, 0xff}},
	}
	settings.Annotations = map[string]string{"example.org/owner": "team: shop"}
	return []client.Object{
		settings,
		&appsv1.Deployment{ObjectMeta: named("shop"), Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: pod,
		}},
		&corev1.Service{ObjectMeta: named("shop"), Spec: corev1.ServiceSpec{
			Selector: labels, Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}},
		}},
		&corev1.Service{ObjectMeta: named("headless"), Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: labels}},
		&batchv1.CronJob{ObjectMeta: named("report"), Spec: batchv1.CronJobSpec{
			Schedule: "0 3 * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: *once}},
		}},
		&networkingv1.NetworkPolicy{ObjectMeta: named("closed"), Spec: networkingv1.NetworkPolicySpec{
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
		}},
	}
}

// credential is sensitive as a whole; each kind of scalar must come back as what it was. The largest integer is the one
// that Flux keeps: kustomize-controller reads a decrypted document through float64.
func credential() *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.org/v1", "kind": "Credential",
		"spec": map[string]any{
			"text": "correct horse", "integer": int64(7), "large": int64(1<<53 - 1), "fraction": 1.5, "yes": true, "no": false,
			"looksLikeNumber": "0123", "looksLikeBool": "true", "empty": "", "lines": "a\nb\n",
			"list":   []any{"first", int64(2), map[string]any{"metadata": map[string]any{"name": "nested"}}},
			"nested": map[string]any{"apiVersion": "v1", "kind": "Hidden"},
		},
		"extra": map[string]any{"pin": "4711-0815"},
	}}
	u.SetNamespace(source)
	u.SetName("bank")
	u.SetLabels(mirrored)
	return u
}
