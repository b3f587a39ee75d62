// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package compare

import "github.com/configbutler/gitops-reverser/internal/change"

func Equal(git, live any, o Options) bool                          { return false }
func Normalize(live, git any, o Options) any                       { return live }
func Digest(v any) [32]byte                                        { return [32]byte{} }
func Canonical(v any) []byte                                       { return nil }
func Decode(b []byte) (any, error)                                 { return nil, nil }
func ListKeys(s *change.Schema, field string, a, b []any) []string { return nil }
