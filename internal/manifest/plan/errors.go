// Copyright 2026 The GitOps Reverser authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "errors"

// errUnreadable never quotes: the text holds values.
var errUnreadable = errors.New("what the document in Git says cannot be read")

var errNotSealed = errors.New("the result is no encrypted document of this object")
