// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package placement

// Policy is GitTarget.spec.placement as plain values.
type Policy struct {
	// ByType maps "[group/]version/resource" to a template; Default is the template of every other type.
	ByType       map[string]string
	Default      string
	UseKustomize bool
}

// Validate is the static check of git-writer 5.4. additionalSensitive lists "resource" or "group/resource", version
// independent. Errors are sorted and name the field and the cure.
func (p Policy) Validate(additionalSensitive []string) []error { return nil }

// Template is a parsed path template (git-writer 5.3).
type Template struct{}

// Parse reads and validates one template.
func Parse(s string) (*Template, error) { return &Template{}, nil }

// Render returns the path of an object relative to the folder. The error is a runtime refusal (git-writer 5.5).
func (t *Template) Render(o Object) (string, error) { return "", nil }
