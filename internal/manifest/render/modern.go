// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"maps"
	"path"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// oldFields are the deprecated fields a build accepts. For each the library prints a warning to the standard error of
// the process, build after build; layout reports them where a person reads it.
var oldFields = [][]byte{[]byte("bases"), []byte("imageTags"), []byte("commonLabels")}

// modern returns the files of a build with the deprecated fields of kustomizations written as what they stand for.
func modern(files map[string][]byte) map[string][]byte {
	var out map[string][]byte
	for name, b := range files {
		if !slices.Contains(konfig.RecognizedKustomizationFileNames(), path.Base(name)) {
			continue
		}
		if m := modernFile(b); m != nil {
			if out == nil {
				out = maps.Clone(files)
			}
			out[name] = m
		}
	}
	if out == nil {
		return files
	}
	return out
}

// modernFile returns one kustomization without deprecated fields; nil when it has none, or none that could be read.
func modernFile(b []byte) []byte {
	if !slices.ContainsFunc(oldFields, func(f []byte) bool { return bytes.Contains(b, f) }) {
		return nil
	}
	var old types.Kustomization
	if err := old.Unmarshal(b); err != nil || old.Bases == nil && old.ImageTags == nil && old.CommonLabels == nil {
		return nil
	}
	k, err := decode(b)
	if err != nil {
		return nil
	}
	if len(k.CommonLabels) > 0 {
		// The library applies commonLabels behind all labels, and to the same fields as labels with selectors.
		k.Labels = append(slices.Clone(k.Labels), types.Label{Pairs: k.CommonLabels, IncludeSelectors: true})
	}
	k.CommonLabels = nil
	if b, err = yaml.Marshal(k); err != nil {
		return nil
	}
	return b
}
