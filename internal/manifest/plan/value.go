// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "maps"

// cloneMap copies a map of JSON values one level deep, so that its own keys can be changed.
func cloneMap(m map[string]any) map[string]any { return maps.Clone(m) }
