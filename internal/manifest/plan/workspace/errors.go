// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package workspace

import "errors"

// ioError is a failure to look or to keep state, as opposed to a text that cannot be edited.
type ioError struct{ error }

func (e *ioError) Unwrap() error { return e.error }

// IsIO reports a failure to look or to keep state. Every other error of an edit says why a text cannot be edited.
func IsIO(err error) bool {
	var io *ioError
	return errors.As(err, &io)
}
