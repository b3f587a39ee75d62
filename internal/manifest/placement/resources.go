// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"path"
	"slices"
	"strings"
)

// InsertResource returns a resources list with an entry added: in its order when the list is sorted, else at the end;
// unchanged when it is listed already, however it is spelled. Where every entry starts with "./", the new one does too.
func InsertResource(list []string, entry string) []string {
	if slices.ContainsFunc(list, func(e string) bool { return path.Clean(e) == path.Clean(entry) }) {
		return list
	}
	dotted := len(list) > 0
	for _, e := range list {
		dotted = dotted && (strings.HasPrefix(e, "./") || strings.HasPrefix(e, "../"))
	}
	if dotted && !strings.HasPrefix(entry, "./") && !strings.HasPrefix(entry, "../") {
		entry = "./" + entry
	}
	at := len(list)
	if slices.IsSorted(list) {
		at, _ = slices.BinarySearch(list, entry)
	}
	return slices.Insert(slices.Clone(list), at, entry)
}

// RemoveResource returns the list without an entry, however it is spelled ("./x.yaml" is "x.yaml"). kustomize refuses a
// kustomization without any field, so a caller that empties the list keeps `resources: []` when nothing else is left.
func RemoveResource(list []string, entry string) []string {
	entry = path.Clean(entry)
	return slices.DeleteFunc(slices.Clone(list), func(e string) bool { return path.Clean(e) == entry })
}
