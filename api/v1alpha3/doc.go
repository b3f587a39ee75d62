// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha3 is the API of GitOps Reverser: the kinds of group configbutler.ai.
//
// A KubeProvider names a source cluster, a GitProvider a repository, a GitTarget one folder of one branch that mirrors
// the source. WatchRules and ClusterWatchRules select what is mirrored into a GitTarget, a CommitRequest saves the open
// window of its author, and a FluxTrigger or ArgoCDTrigger names the applier of the folder.
//
// Everything an object can say wrong about itself is refused by the schema (OpenAPI and CEL); whatever needs another
// object is the business of the controllers. Every kind reports the kstatus trio Ready, Reconciling and Stalled; an
// absent Reconciling or Stalled means False.
//
// The package imports nothing of this module, so that other programs can use it.
//
// +kubebuilder:object:generate=true
// +groupName=configbutler.ai
package v1alpha3
