// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "errors"

// ioError is a failure to look or to keep state, as opposed to a refusal.
type ioError struct{ error }

func (e *ioError) Unwrap() error { return e.error }

// errUnreadable never quotes: the text holds values.
var errUnreadable = errors.New("what the document in Git says cannot be read")

var errNotSealed = errors.New("the result is no encrypted document of this object")

func isIO(err error) bool {
	var io *ioError
	return errors.As(err, &io)
}
