// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamldoc

import "strings"

// Head is what identifies a document, as written: no defaulting, no namespace from a kustomization.
type Head struct {
	APIVersion, Kind, Namespace, Name, GenerateName string
	// Group and Version are APIVersion taken apart; Group is empty for the core group.
	Group, Version string
	// Encrypted reports a top-level map "sops" (git-writer 2.6).
	Encrypted bool
	// IsMap reports that the document is a map at all.
	IsMap bool
}

// ReadHead reads a document's identity. It accepts nil and never fails: what cannot be read stays empty.
func ReadHead(n *Node) Head {
	n = n.Resolve()
	if n == nil || n.Kind != Map {
		return Head{}
	}
	h := Head{
		APIVersion:   text(n.Get("apiVersion")),
		Kind:         text(n.Get("kind")),
		Namespace:    text(n.Get("metadata", "namespace")),
		Name:         text(n.Get("metadata", "name")),
		GenerateName: text(n.Get("metadata", "generateName")),
		IsMap:        true,
	}
	h.Version = h.APIVersion
	if g, v, ok := strings.Cut(h.APIVersion, "/"); ok {
		h.Group, h.Version = g, v
	}
	sops := n.Get("sops")
	h.Encrypted = sops != nil && sops.Kind == Map
	return h
}

func text(n *Node) string {
	if n == nil || n.Kind != Scalar || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}
