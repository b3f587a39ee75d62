// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"fmt"

	"github.com/configbutler/gitops-reverser/internal/change"
	"github.com/configbutler/gitops-reverser/internal/manifest/sanitize"
)

// newSanitize returns the function that turns a raw object into its desired form.
func newSanitize(s TargetSpec) (func(raw []byte, t change.Type) (change.Item, error), error) {
	z, err := sanitize.New(s.Ignore)
	if err != nil {
		return nil, fmt.Errorf("the ignore rules of %s: %w", s.Key, err)
	}
	return func(raw []byte, t change.Type) (change.Item, error) {
		o, err := z.Object(raw, t)
		return o.Item, err
	}, nil
}
