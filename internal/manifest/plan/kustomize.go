// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/inventory"
)

type kustomize struct{ p *planner }

func newKustomize(p *planner) *kustomize { return &kustomize{p: p} }

func (k *kustomize) inherited(*subject) (bool, error)                                { return false, nil }
func (k *kustomize) renders(*inventory.Document) bool                                { return false }
func (k *kustomize) edit(*subject, *inventory.Document) error                        { return nil }
func (k *kustomize) route() error                                                    { return nil }
func (k *kustomize) expect(*subject, string)                                         {}
func (k *kustomize) expectGone(*subject, string)                                     {}
func (k *kustomize) removeInherited(*subject, bool) error                            { return nil }
func (k *kustomize) shows(*inventory.Document, change.ObjectID) bool                 { return true }
func (k *kustomize) sweepInherited(*change.Snapshot, map[change.ObjectID]bool) error { return nil }
func (k *kustomize) keepRenderedMetadata(*subject, *inventory.Document, any)         {}
func (k *kustomize) settle() error                                                   { return nil }
func (k *kustomize) prove() error                                                    { return nil }
