// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha3

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of every kind in this package, and the prefix of its annotations and finalizers.
const GroupName = "configbutler.ai"

var (
	// GroupVersion is the group and version under which the kinds are served.
	GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha3"}

	// SchemeBuilder collects the kinds for a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme adds the kinds of this package to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&GitProvider{}, &GitProviderList{},
		&KubeProvider{}, &KubeProviderList{},
		&GitTarget{}, &GitTargetList{},
		&WatchRule{}, &WatchRuleList{},
		&ClusterWatchRule{}, &ClusterWatchRuleList{},
		&CommitRequest{}, &CommitRequestList{},
		&FluxTrigger{}, &FluxTriggerList{},
		&ArgoCDTrigger{}, &ArgoCDTriggerList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
