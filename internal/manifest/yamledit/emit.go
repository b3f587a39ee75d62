// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/configbutler/gitops-reverser/internal/manifest/compare"
	"github.com/configbutler/gitops-reverser/internal/manifest/yamldoc"
)

// Emit writes a new document in the standard style (git-writer 1.6): apiVersion, kind and metadata first, everything
// else sorted, two spaces, sequences indented, strings quoted where readers would differ, literal blocks for text of
// several lines. The result is parsed again; it is an error, naming no value, when it would not mean desired.
func Emit(desired any) ([]byte, error) {
	return emitSure(desired, standard)
}

// EmitPatch is Emit for a patch, which no cluster holds: the keys of its maps follow each other as people write them,
// so that an item starts with what it is found by.
func EmitPatch(desired any) ([]byte, error) {
	l := standard
	l.order = namedFirst
	return emitSure(desired, l)
}

func emitSure(desired any, l look) ([]byte, error) {
	out, err := emit(desired, l)
	if err != nil {
		return nil, err
	}
	if err := means(out, desired); err != nil {
		return nil, err
	}
	return out, nil
}

func emit(desired any, l look) ([]byte, error) {
	m, ok := desired.(map[string]any)
	if !ok || len(m) == 0 {
		return nil, errors.New("a document must be a map with entries")
	}
	var lines []string
	for _, k := range rootOrder(m, "apiVersion", "kind", "metadata") {
		if meta, ok := m[k].(map[string]any); ok && k == "metadata" && len(meta) > 0 {
			lines = append(lines, "metadata:")
			for _, mk := range rootOrder(meta, "name", "namespace", "labels", "annotations") {
				lines = append(lines, l.entry(mk, meta[mk], l.step, nil)...)
			}
			continue
		}
		lines = append(lines, l.entry(k, m[k], 0, nil)...)
	}
	return []byte(strings.Join(lines, l.nl) + l.nl), nil
}

// rootOrder returns the keys of m: the named ones first, the rest sorted.
func rootOrder(m map[string]any, first ...string) []string {
	keys := make([]string, 0, len(m))
	for _, k := range first {
		if _, ok := m[k]; ok {
			keys = append(keys, k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(first, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// means checks that a document's text has a value.
func means(body []byte, want any) error {
	n, err := yamldoc.Parse(body)
	if err != nil {
		return fmt.Errorf("the written text does not parse: %w", err)
	}
	got, err := n.JSON()
	if err != nil {
		return fmt.Errorf("the written text does not decode: %w", err)
	}
	if !compare.Same(got, want) {
		return errors.New("the written text does not mean the value")
	}
	return nil
}
