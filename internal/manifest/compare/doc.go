// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

// Package compare decides whether a document in Git and a live object say the same, and what a document should say
// given what it says now.
//
// Both sides are JSON values (map[string]any, []any, string, bool, nil, int64, float64, json.Number). Git always comes
// first: the rules are asymmetric, because the API server adds defaults and drops empties while people leave them out
// or write them (decisions 22, 23, 34 and 39 to 41).
//
// Equal and Normalize are two views of one walk: Normalize returns the value an existing document should hold, and it
// is the document's own value exactly when Equal is true. yamledit writes what Normalize returns.
package compare
