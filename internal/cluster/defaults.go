// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"

	"github.com/configbutler/gitops-reverser/internal/change"
)

type (
	obj  = map[string]any
	list = []any
)

// defaultTable holds, per OpenAPI component, the values that the API server fills in without saying so in its OpenAPI
// documents (decision 39). What depends on other fields of the object is not here: see sanitize.WithoutDerived. A path with dots goes into the fields below. Keys are short for io.k8s.api.<key>.
var defaultTable = map[string]map[string]any{
	"core.v1.PodSpec": {
		"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "terminationGracePeriodSeconds": int64(30),
		"schedulerName": "default-scheduler", "securityContext": obj{}, "enableServiceLinks": true,
	},
	"core.v1.Container": {
		"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
	},
	"core.v1.ContainerPort": {"protocol": "TCP"},
	"core.v1.EndpointPort":  {"protocol": "TCP"},
	"core.v1.Probe": {
		"timeoutSeconds": int64(1), "periodSeconds": int64(10), "successThreshold": int64(1), "failureThreshold": int64(3),
	},
	"core.v1.HTTPGetAction":                 {"scheme": "HTTP", "path": "/"},
	"core.v1.GRPCAction":                    {"service": ""},
	"core.v1.ObjectFieldSelector":           {"apiVersion": "v1"},
	"core.v1.SecretVolumeSource":            {"defaultMode": int64(420)},
	"core.v1.ConfigMapVolumeSource":         {"defaultMode": int64(420)},
	"core.v1.DownwardAPIVolumeSource":       {"defaultMode": int64(420)},
	"core.v1.ProjectedVolumeSource":         {"defaultMode": int64(420)},
	"core.v1.ServiceAccountTokenProjection": {"expirationSeconds": int64(3600)},
	"core.v1.HostPathVolumeSource":          {"type": ""},
	"core.v1.ISCSIVolumeSource":             {"iscsiInterface": "default"},
	"core.v1.RBDVolumeSource":               {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
	"core.v1.AzureDiskVolumeSource": {
		"cachingMode": "ReadWrite", "kind": "Shared", "fsType": "ext4", "readOnly": false,
	},
	"core.v1.ServiceSpec": {
		"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster",
		"externalTrafficPolicy": "Cluster", "allocateLoadBalancerNodePorts": true, "ipFamilyPolicy": "SingleStack",
		"sessionAffinityConfig": obj{"clientIP": obj{"timeoutSeconds": int64(10800)}},
	},
	"core.v1.ServicePort":               {"protocol": "TCP"},
	"core.v1.ClientIPConfig":            {"timeoutSeconds": int64(10800)},
	"core.v1.PersistentVolumeClaimSpec": {"volumeMode": "Filesystem"},
	// A claim template is stored as a whole object.
	"core.v1.PersistentVolumeClaim": {
		"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": obj{"phase": "Pending"},
	},
	"core.v1.PersistentVolumeSpec":      {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"},
	"core.v1.Secret":                    {"type": "Opaque"},
	"core.v1.Namespace":                 {"spec": obj{"finalizers": list{"kubernetes"}}},
	"core.v1.NamespaceSpec":             {"finalizers": list{"kubernetes"}},
	"core.v1.ReplicationControllerSpec": {"replicas": int64(1)},

	"apps.v1.DeploymentSpec": {
		"replicas": int64(1), "revisionHistoryLimit": int64(10), "progressDeadlineSeconds": int64(600),
		"strategy": obj{"type": "RollingUpdate", "rollingUpdate": obj{"maxSurge": "25%", "maxUnavailable": "25%"}},
	},
	"apps.v1.DeploymentStrategy": {
		"type": "RollingUpdate", "rollingUpdate": obj{"maxSurge": "25%", "maxUnavailable": "25%"},
	},
	"apps.v1.RollingUpdateDeployment": {"maxSurge": "25%", "maxUnavailable": "25%"},
	"apps.v1.ReplicaSetSpec":          {"replicas": int64(1)},
	"apps.v1.StatefulSetSpec": {
		"replicas": int64(1), "revisionHistoryLimit": int64(10), "podManagementPolicy": "OrderedReady",
		"updateStrategy":                       obj{"type": "RollingUpdate", "rollingUpdate": obj{"partition": int64(0)}},
		"persistentVolumeClaimRetentionPolicy": obj{"whenDeleted": "Retain", "whenScaled": "Retain"},
	},
	"apps.v1.StatefulSetUpdateStrategy": {
		"type": "RollingUpdate", "rollingUpdate": obj{"partition": int64(0)},
	},
	"apps.v1.RollingUpdateStatefulSetStrategy": {"partition": int64(0), "maxUnavailable": int64(1)},
	"apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy": {
		"whenDeleted": "Retain", "whenScaled": "Retain",
	},
	"apps.v1.DaemonSetSpec": {
		"revisionHistoryLimit": int64(10),
		"updateStrategy": obj{
			"type": "RollingUpdate", "rollingUpdate": obj{"maxSurge": int64(0), "maxUnavailable": int64(1)},
		},
	},
	"apps.v1.DaemonSetUpdateStrategy": {
		"type": "RollingUpdate", "rollingUpdate": obj{"maxSurge": int64(0), "maxUnavailable": int64(1)},
	},
	"apps.v1.RollingUpdateDaemonSet": {"maxSurge": int64(0), "maxUnavailable": int64(1)},

	"batch.v1.JobSpec": {
		"parallelism": int64(1), "completions": int64(1), "backoffLimit": int64(6), "completionMode": "NonIndexed",
		"suspend": false, "podReplacementPolicy": "TerminatingOrFailed",
	},
	"batch.v1.CronJobSpec": {
		"concurrencyPolicy": "Allow", "suspend": false, "successfulJobsHistoryLimit": int64(3),
		"failedJobsHistoryLimit": int64(1),
	},

	"networking.v1.NetworkPolicyPort":               {"protocol": "TCP"},
	"networking.v1.IngressClassParametersReference": {"scope": "Cluster"},

	"autoscaling.v1.HorizontalPodAutoscalerSpec": {"minReplicas": int64(1), "targetCPUUtilizationPercentage": int64(80)},
	"autoscaling.v2.HorizontalPodAutoscalerSpec": {
		"minReplicas": int64(1),
		"metrics": list{obj{"type": "Resource", "resource": obj{
			"name": "cpu", "target": obj{"type": "Utilization", "averageUtilization": int64(80)},
		}}},
	},
	"autoscaling.v2.HorizontalPodAutoscalerBehavior": {
		"scaleUp":                            scaleUp,
		"scaleUp.stabilizationWindowSeconds": int64(0),
		"scaleUp.selectPolicy":               "Max",
		"scaleUp.policies":                   scaleUp["policies"],
		"scaleDown":                          scaleDown,
		"scaleDown.selectPolicy":             "Max",
		"scaleDown.policies":                 scaleDown["policies"],
	},

	"flowcontrol.v1.FlowSchemaSpec": {"matchingPrecedence": int64(1000)},
	"flowcontrol.v1.LimitedPriorityLevelConfiguration": {
		"lendablePercent": int64(0), "nominalConcurrencyShares": int64(30),
	},
	"flowcontrol.v1.QueuingConfiguration": {
		"handSize": int64(8), "queueLengthLimit": int64(50), "queues": int64(64),
	},
	"resource.v1.ExactDeviceRequest": {"allocationMode": "ExactCount", "count": int64(1)},
	"resource.v1.DeviceSubRequest":   {"allocationMode": "ExactCount", "count": int64(1)},

	"rbac.v1.RoleRef": {"apiGroup": "rbac.authorization.k8s.io"},
	"rbac.v1.Subject": {"apiGroup": "rbac.authorization.k8s.io"},

	"storage.v1.StorageClass": {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
	"storage.v1.CSIDriverSpec": {
		"attachRequired": true, "podInfoOnMount": false, "storageCapacity": false, "requiresRepublish": false,
		"seLinuxMount": false, "preventPodSchedulingIfMissing": false, "fsGroupPolicy": "ReadWriteOnceWithFSType", "volumeLifecycleModes": list{"Persistent"},
	},
	"scheduling.v1.PriorityClass": {"preemptionPolicy": "PreemptLowerPriority"},

	"admissionregistration.v1.ValidatingWebhook": {
		"failurePolicy": "Fail", "matchPolicy": "Equivalent", "namespaceSelector": obj{}, "objectSelector": obj{},
		"timeoutSeconds": int64(10),
	},
	"admissionregistration.v1.MutatingWebhook": {
		"failurePolicy": "Fail", "matchPolicy": "Equivalent", "namespaceSelector": obj{}, "objectSelector": obj{},
		"timeoutSeconds": int64(10), "reinvocationPolicy": "Never",
	},
	"admissionregistration.v1.RuleWithOperations":            {"scope": "*"},
	"admissionregistration.v1.NamedRuleWithOperations":       {"scope": "*"},
	"admissionregistration.v1.ServiceReference":              {"port": int64(443)},
	"admissionregistration.v1.ValidatingAdmissionPolicySpec": {"failurePolicy": "Fail"},
	"admissionregistration.v1.MutatingAdmissionPolicySpec":   {"failurePolicy": "Fail"},
	"admissionregistration.v1.MatchResources": {
		"matchPolicy": "Equivalent", "namespaceSelector": obj{}, "objectSelector": obj{},
	},
}

var (
	scaleUp = obj{
		"stabilizationWindowSeconds": int64(0), "selectPolicy": "Max",
		"policies": list{
			obj{"type": "Pods", "value": int64(4), "periodSeconds": int64(15)},
			obj{"type": "Percent", "value": int64(100), "periodSeconds": int64(15)},
		},
	}
	scaleDown = obj{
		"selectPolicy": "Max",
		"policies":     list{obj{"type": "Percent", "value": int64(100), "periodSeconds": int64(15)}},
	}
)

// orderedFields are lists of maps whose order means something (decision 40).
var orderedFields = map[string][]string{
	"core.v1.PodSpec":            {"containers", "initContainers", "ephemeralContainers"},
	"core.v1.Container":          {"env", "envFrom", "volumeMounts"},
	"core.v1.EphemeralContainer": {"env", "envFrom", "volumeMounts"},
}

// setFields are atomic lists that are compared as sets (decision 40).
var setFields = map[string][]string{
	"autoscaling.v2.HorizontalPodAutoscalerSpec": {"metrics"},
}

const apiPrefix = "io.k8s.api."

// applyTable adds to a component what its document does not say.
func applyTable(component string, s *change.Schema) {
	short, ok := strings.CutPrefix(component, apiPrefix)
	if !ok {
		return
	}
	if short == "core.v1.EphemeralContainer" {
		applyDefaults(s, defaultTable["core.v1.Container"])
	}
	applyDefaults(s, defaultTable[short])
	for _, f := range orderedFields[short] {
		edit(s, f, func(p *change.Schema) { p.Ordered = true })
	}
	for _, f := range setFields[short] {
		edit(s, f, func(p *change.Schema) { p.ListType = "set" })
	}
}

func applyDefaults(s *change.Schema, table map[string]any) {
	for path, value := range table {
		edit(s, path, func(p *change.Schema) { p.Default = value })
	}
}

// edit changes the schema of a field below s. Schemas on the way are copied first: they may be shared with other uses.
// A field the document lacks is left alone: this server does not have it.
func edit(s *change.Schema, path string, f func(*change.Schema)) {
	name, rest, deeper := strings.Cut(path, ".")
	p := s.Properties[name]
	if p == nil {
		return
	}
	own := *p
	s.Properties[name] = &own
	if !deeper {
		f(&own)
		return
	}
	fields := make(map[string]*change.Schema, len(own.Properties))
	for k, v := range own.Properties {
		fields[k] = v
	}
	own.Properties = fields
	edit(&own, rest, f)
}
