// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import "github.com/configbutler/gitops-reverser/internal/manifest/yamledit"

func emit(v any) ([]byte, error) { return yamledit.Emit(v) }
