// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/placement"
)

// Policy is what a GitTarget's spec asks for, as plain values.
type Policy struct {
	// Placement says where new documents go.
	Placement placement.Policy
	// SerializeNamespace: nil infers per document, true always writes metadata.namespace, false never (git-writer 4.8).
	SerializeNamespace *bool
	// SourceNamespaces are the namespaces of the source cluster that reach the folder; "*" stands for all.
	SourceNamespaces []string
	// Prune is the mode in force now. A replay uses the tighter of this and the decided one.
	Prune PruneMode
	// Suspended plans a preview: the report is complete, edits and decision are empty (git-writer 7.6, decision 65).
	Suspended bool
	// Sensitive reports whether a type is encrypted besides core Secrets, which always are; nil means no further type.
	Sensitive func(change.Type) bool
	// SOPSConfig is the .sops.yaml to bootstrap, with its marker comment as the first line; nil writes none.
	SOPSConfig []byte
	// EscapeSubstitution escapes "${" of new values, because a Flux postBuild reads the folder (decision 48).
	EscapeSubstitution bool
}

// IsSensitive reports whether objects of a type must be encrypted.
func (p *Policy) IsSensitive(t change.Type) bool {
	return t.Group == "" && t.Kind == "Secret" || p.Sensitive != nil && p.Sensitive(t)
}

// defaultNamespace is where documents without any namespace belong: the one source namespace of the folder.
func (p *Policy) defaultNamespace() string {
	if p.SerializeNamespace != nil && *p.SerializeNamespace {
		return ""
	}
	if len(p.SourceNamespaces) == 1 && p.SourceNamespaces[0] != "*" {
		return p.SourceNamespaces[0]
	}
	return ""
}

// sensitiveKind answers by kind, for documents in Git whose served type may not be known.
func (p *Policy) sensitiveKind(kinds change.Kinds) func(group, kind string) bool {
	if p.Sensitive == nil || kinds == nil {
		return nil
	}
	return func(group, kind string) bool {
		t, ok := kinds.Kind(group, kind)
		return ok && p.Sensitive(t)
	}
}
